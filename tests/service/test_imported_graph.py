"""The store that benchmarks of Neo4j use is one in which names are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import _layered_stores
from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks.graphql_names import run


def test_names_are_found_in_a_graph_that_was_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEAGE_BENCHMARK_CACHE", str(tmp_path))
    monkeypatch.setattr(_layered_stores, "HEAP", "512m")
    monkeypatch.setattr(_layered_stores, "PAGE_CACHE", "256m")
    figures = run(LayeredGraph(layers=4, width=20, columns=10, edges=2_000, hubs=5))
    assert figures["asked"] == 20
