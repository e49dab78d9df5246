"""What `make growth` measures is what it says: the SQL of its estate states the graph, computed figures are marked."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from lineage import extract
from tests.benchmarks._estate import DIALECT, Estate, _jobs, _statement
from tests.benchmarks._growth_page import exponent, picture, table

MEASURED = {
    "1": {"scale": 1, "columns": 20_000, "edges": 100_000, "ingest": {"runs": 1, "cpu_seconds": 20.0, "peak_mb": 500}},
    "100": {"scale": 100, "columns": 2_000_000, "edges": 10_000_000, "ingest": {"runs": 1, "cpu_seconds": 2_000.0}},
}


def test_a_statement_states_the_edges_of_its_job(tmp_path: Path) -> None:
    graph = Estate(1, tmp_path).graph
    for job, output, edges in islice(_jobs(graph), 0, None, 40):
        [found] = extract(_statement(graph, job, output, edges), DIALECT)
        stated = [edge for edge in found.edges if edge.subtype != "ROWS"]
        assert len(stated) == len(edges)


def test_the_exponent_is_the_slope_of_the_logarithms() -> None:
    assert exponent([(1, 3), (10, 30), (100, 300)]) == 1
    assert exponent([(1, 5), (100, 5)]) == 0
    assert exponent([(1, 5)]) is None


def test_what_was_computed_from_a_part_is_marked() -> None:
    [row] = [line for line in table(MEASURED).splitlines() if "≈" in line]
    assert row.startswith("|  | s of a processor | 20 | ≈ 2,000 | 1.00 |")


def test_the_picture_has_a_line_for_what_is_known() -> None:
    drawn = picture(MEASURED)
    assert drawn.count("<polyline") == 2
    assert ">2 M<" in drawn
