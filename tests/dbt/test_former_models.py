"""A table that a model no longer builds: the log that shows it built is of before or after, and comes in any order.

docs/dbt.md: "A table that a log shows to be built is an observation of its model, in whichever order".
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from lineage.store import GraphStore, open_store
from lineage_ingest import DbtOptions, LogOptions, ingest_dbt, ingest_log
from tests.dbt.manifests import manifest, model, relation, source, write

RAW = source("t", {"id": "int"})
KEPT = model("a", 'select id as x from "wh"."raw"."t"', "source.shop.raw.t")
SQL = f"select x as y from {relation('a')}"
BUILT = model("m", SQL, "a")
LATER: dict[str, tuple[dict[str, Any], ...]] = {
    "removed": (),
    "moved": ({**BUILT, "alias": "m2", "relation_name": relation("m2")},),
    "renamed": (model("m2", SQL, "a"),),
}
ORDERS = [order for order in permutations(("log", "before", "after")) if order.index("before") < order.index("after")]


def moment(day: int) -> str:
    return datetime(2026, 3, day, tzinfo=UTC).isoformat()


def sources_of_m(folder: Path, order: tuple[str, ...], after: tuple[dict[str, Any], ...], day: int) -> list[str]:
    """Return from where the former table has values, after a log of this day and the two states of the project."""
    log = folder / "log.jsonl"
    log.write_text(json.dumps({"sql": f"create table {relation('m')} as ({SQL})", "ts": moment(day)}), encoding="utf-8")
    options = LogOptions(dialect="postgres", namespace="postgres", mapping={"query_text": "sql", "started_at": "ts"})
    with open_store(folder / "store.lbug") as store:
        for step in order:
            if step == "log":
                ingest_log(log, source="generic", store=store, options=options)
                continue
            nodes = (BUILT,) if step == "before" else after
            at = moment(10 if step == "before" else 20)
            write(folder / step, manifest(RAW, KEPT, *nodes, at=at))
            ingest_dbt(folder / step, store=store, options=DbtOptions(namespace="postgres"))
        return live_sources(store, "postgres/wh.main.m")


def live_sources(store: GraphStore, table: str) -> list[str]:
    return [edge.source.rpartition(".")[2] for edge in store.edges_into([table]) if edge.valid_to is None]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize(("day", "sources"), [(5, []), (12, []), (25, ["a#x"])])
def test_a_log_of_a_former_model(
    tmp_path: Path, order: tuple[str, ...], later: str, day: int, sources: list[str]
) -> None:
    assert [one for one in sources_of_m(tmp_path, order, LATER[later], day) if "#" in one] == sources
