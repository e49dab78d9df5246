"""The twelve recorded jobs with our listener: everything that the agent says right, and what it does not say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.model.influence.transformations import StepEffect, Subtype, compose
from lineage_ingest.openlineage.validation.event_validation import check
from tests.spark_plan.agent_events import JOBS, WRONG, edges_by_output, events_of
from tests.spark_plan.conftest import SparkProcess

pytestmark = pytest.mark.xdist_group("spark_plan")
PAGE = Path(__file__).parents[2] / "docs" / "spark.md"
_ENABLED = """
from lineage_ingest.spark_plan import enable
lineage = enable(spark, B + "/events.ndjson", job={job!r})
assert lineage is not None
try:
{code}
finally:
    lineage.close()
result = {{"events": [json.loads(line) for line in open(B + "/events.ndjson")], "counts": lineage.counts()}}
"""


@pytest.fixture(scope="module")
def ours(spark: SparkProcess) -> dict[str, list[dict[str, Any]]]:
    """The events of our listener, by job."""
    found = {}
    for job, code in JOBS.items():
        indented = "".join(f"    {line}\n" for line in code.splitlines())
        ran = spark.run(job, "import json\n" + _ENABLED.format(job=job, code=indented))
        assert ran.error is None, ran.error
        assert ran.result["counts"]["lost"] == ran.result["counts"]["refused"] == 0
        found[job] = ran.result["events"]
    return found


def edges_of_job(events: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the edges by output, those through a view from what the view reads."""
    found = edges_by_output(events)
    for view in [name for name in found if name.startswith("v")]:
        into = found.pop(view)
        for name, edges in found.items():
            found[name] = {one for edge in edges for one in past(edge, view, into)}
    return found


def past(edge: str, view: str, into: set[str]) -> set[str]:
    """Return what an edge from a view's column becomes when the view is left out; other edges are kept."""
    source, arrow, target, kind = parts(edge)
    if not source.startswith(f"{view}."):
        return {edge}
    found = {one for one in into if parts(one)[2] == "*"}
    for one in into:
        before, first_arrow, column, first = parts(one)
        if f"{view}.{column}" == source:
            step = compose(StepEffect(Subtype(first)), StepEffect(Subtype(kind)))
            found.add(f"{before} {arrow if first_arrow == '->' else first_arrow} {target} [{step.subtype}]")
    return found


def parts(edge: str) -> tuple[str, str, str, str]:
    source, arrow, rest = edge.split(" ", 2)
    target, _, kind = rest.rpartition(" [")
    return source, arrow, target, kind.rstrip("]")


@pytest.mark.parametrize("job", JOBS)
def test_we_say_what_the_agent_says_right(ours: dict[str, list[dict[str, Any]]], job: str) -> None:
    mine = edges_of_job(ours[job])
    for output, edges in edges_by_output(events_of(job)).items():
        wrong = WRONG.get(job, set()) if (job, output) != ("10_jdbc", "out2") else set()
        assert edges - wrong <= mine.get(output, set()), output
        assert (edges & wrong).isdisjoint(mine[output]), output


def test_events_are_valid_and_few(ours: dict[str, list[dict[str, Any]]]) -> None:
    for job, events in ours.items():
        for event in events:
            assert check(event).problems == (), (job, event)
        ends = [one for one in events if one["outputs"]]
        targets = [(one["outputs"][0]["name"], one["run"]["runId"]) for one in ends if one["eventType"] != "RUNNING"]
        assert len(targets) == len(set(targets)), job
        assert size(events) < size(events_of(job)) / 2, job


def size(events: list[dict[str, Any]]) -> int:
    return sum(len(json.dumps(one, separators=(",", ":"))) for one in events)


HOLES = {
    "05_cte_subqueries_ctas": ("t5", {"orders.amount -> gmax [AGGREGATION]", "orders.customer_id ~> csum [FILTER]"}),
    "08_python_udfs": ("out1", {"customers.name -> s [TRANSFORMATION]"}),
    "10_jdbc": ("out1", {"items.label -> l [TRANSFORMATION]"}),
    "12_streaming": ("out1", {"orders.order_id -> order_id [IDENTITY]", "orders.amount -> a2 [TRANSFORMATION]"}),
}


@pytest.mark.parametrize("job", HOLES)
def test_its_holes_are_filled(ours: dict[str, list[dict[str, Any]]], job: str) -> None:
    output, expected = HOLES[job]
    assert expected <= edges_of_job(ours[job])[output]


def test_more_holes(ours: dict[str, list[dict[str, Any]]]) -> None:
    udfs = edges_of_job(ours["08_python_udfs"])
    assert "orders.amount -> d [TRANSFORMATION]" in udfs["out2"]
    assert {
        f"orders.{one} -> {two} [TRANSFORMATION]" for one in ("order_id", "amount") for two in ("order_id", "amount")
    } == udfs["out3"]
    streams = edges_of_job(ours["12_streaming"])
    assert streams["out1"] == streams["out2"]  # a file sink, and the writes of foreachBatch
    [created] = [one for one in ours["05_cte_subqueries_ctas"] if one["outputs"]]  # once
    assert created["outputs"][0]["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "CREATE"


def test_the_table_in_the_docs(ours: dict[str, list[dict[str, Any]]]) -> None:
    rows = ["| job | agent | of these right | ours | ours, types as the agent's |", "|---|--:|--:|--:|--:|"]
    for job in JOBS:
        theirs = {(output, edge) for output, edges in edges_by_output(events_of(job)).items() for edge in edges}
        mine = {(output, edge) for output, edges in edges_of_job(ours[job]).items() for edge in edges}
        wrong = {one for one in theirs if one[1] in WRONG.get(job, set()) and one not in mine}
        rows.append(f"| {job} | {len(theirs)} | {len(theirs - wrong)} | {len(mine)} | {len(theirs & mine)} |")
    table = "\n".join(rows)
    assert table in PAGE.read_text(), table
