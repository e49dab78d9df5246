"""What is called changed beside the functions of DuckDB; `python -m tests.diff.overclaiming 2000` makes more edits."""

from __future__ import annotations

from pathlib import Path

from tests.diff.overclaiming import Claims, claims_of, duckdb_engine, make_edits


def test_edits_beside_functions(tmp_path: Path) -> None:
    engine = duckdb_engine()
    found = claims_of("duckdb", make_edits(engine, 60, seed=3), tmp_path)
    total = sum(found.values(), Claims())
    assert total.missed == 0
    assert total.changed > 100
    assert total.too_much < 0.15 * total.changed
    assert found["formatting"] == Claims()
