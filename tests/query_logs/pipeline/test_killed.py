"""An ingest that is killed and started again leaves the graph of one that was not."""

from __future__ import annotations

from pathlib import Path

from tests.query_logs.killing import killed_and_undisturbed


def test_killed_three_times(tmp_path: Path) -> None:
    killed, expected, _ = killed_and_undisturbed(tmp_path, "local", kills=3, seed=3, rows=2_000)
    assert killed.nodes == expected.nodes
    assert killed.relationships == expected.relationships
    assert len(expected.relationships) > 1_000
