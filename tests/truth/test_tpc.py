"""TPC-H against PostgreSQL's own reading; TPC-DS against Spark's analysed plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage import Catalog, extract
from tests.truth.compare import DATA, differences, read_truth

TPCH = sorted((DATA / "tpch").glob("*.sql"), key=lambda path: int(path.stem))
TPCDS = sorted((DATA / "tpcds").glob("*.sql"))
TPCDS_TRUTH = read_truth("tpcds")
# The file leaves `sum(l_quantity)` unnamed where the standard query, whose truth this is, names it.
OTHER_TEXT = {"18": {"sum(l_quantity)": "total_quantity"}}


def catalog(folder: str) -> Catalog:
    return Catalog.from_json(DATA / folder / "schema.json", "spark")


@pytest.mark.parametrize("path", TPCH, ids=lambda path: path.stem)
def test_tpch_is_resolved_and_exact(path: Path) -> None:
    [statement] = extract(path.read_text(encoding="utf-8"), "spark", catalog("tpch"))
    assert statement.completeness == "full", statement.reason
    truth = read_truth("tpch").get(f"tpch_q{path.stem}")
    if truth is not None:
        names = {theirs: ours for ours, theirs in OTHER_TEXT.get(path.stem, {}).items()}
        assert differences(statement, {names.get(name, name): sources for name, sources in truth.items()}) == []


@pytest.mark.parametrize("path", TPCDS, ids=lambda path: path.stem)
def test_tpcds_is_resolved_and_exact(path: Path) -> None:
    [statement] = extract(path.read_text(encoding="utf-8"), "spark", catalog("tpcds"))
    assert statement.completeness == "full", statement.reason
    assert statement.output_columns
    if path.stem in TPCDS_TRUTH:
        named = {name: sources for name, sources in TPCDS_TRUTH[path.stem].items() if "(" not in name}
        found = differences(statement, named)
        if named != TPCDS_TRUTH[path.stem]:  # the columns that the text does not name are not compared
            found = [one for one in found if not one.startswith("columns differ")]
        assert found == []
