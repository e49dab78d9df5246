"""The twelve recorded jobs: their code, and what the OpenLineage agent said of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lineage.model.names import short_name

RECORDED = Path(__file__).parents[1] / "data" / "openlineage" / "spark"
JOBS = {path.name.partition(".")[0]: path.read_text() for path in sorted(RECORDED.glob("*.py.txt"))}

WRONG = {
    # The optimizer adds IS NOT NULL for the keys of inner joins, and the agent reads the optimized plan.
    "02_join_agg": {"orders.customer_id ~> * [FILTER]", "customers.id ~> * [FILTER]"},
    # PIVOT's column chooses the column of the output that a value goes to; no row depends on it.
    "09_cache_pivot": {
        "orders.customer_id ~> * [FILTER]",
        "customers.id ~> * [FILTER]",
        "customers.country -> DE [AGGREGATION]",
        "customers.country -> FR [AGGREGATION]",
        "customers.country ~> * [GROUP_BY]",
    },
    # A correlated sub-query becomes a join with an aggregate in the optimized plan. Its key decides one column, no row.
    "05_cte_subqueries_ctas": {
        "customers.id -> csum [TRANSFORMATION]",
        "customers.id ~> * [JOIN]",
        "orders.customer_id ~> * [JOIN]",
        "orders.customer_id ~> * [GROUP_BY]",
    },
    # WHERE on an aggregated column is a filter, and a key of GROUP BY that is selected is not changed.
    "07_view_chain": {"base7.amount ~> * [AGGREGATION]", "base7.customer_id -> customer_id [TRANSFORMATION]"},
    # upper(label) is a transformation.
    "10_jdbc": {"items.label -> l [IDENTITY]"},
}
"""Edges of the agent that are not right, each with the reason. In 10_jdbc that of the other output is."""


def events_of(job: str) -> list[dict[str, Any]]:
    """Return the agent's events of a job."""
    return [json.loads(line) for line in (RECORDED / f"{job}.ndjson").read_text().splitlines()]


def edges_by_output(events: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the edges that complete events state, by the last part of the output's name."""
    found: dict[str, set[str]] = {}
    for event in events:
        for output in event["outputs"] if event["eventType"] == "COMPLETE" else ():
            facet = output["facets"].get("columnLineage", {"fields": {}})
            into = [(name, one) for name, field in facet["fields"].items() for one in field["inputFields"]]
            edges = found.setdefault(short_name(output["name"]), set())
            for target, one in [*into, *(("*", one) for one in facet.get("dataset", ()))]:
                for way in one["transformations"]:
                    arrow = "->" if way["type"] == "DIRECT" and target != "*" else "~>"
                    mark = " masking" if way.get("masking") else ""
                    edges.add(f"{short_name(one['name'])}.{one['field']} {arrow} {target} [{way['subtype']}{mark}]")
    return found
