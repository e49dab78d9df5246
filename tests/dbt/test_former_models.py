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


def moment(day: int) -> datetime:
    return datetime(2026, 3, day, tzinfo=UTC)


def sources_of_m(
    folder: Path, order: tuple[str, ...], after: tuple[dict[str, Any], ...], days: tuple[int, ...]
) -> tuple[list[str], list[str]]:
    """Return from where the former table has values now and had on day 22, after a log and two states of the project.

    `days` are those on which the log shows the table built.
    """
    log = folder / "log.jsonl"
    rows = [{"sql": f"create table {relation('m')} as ({SQL})", "ts": moment(day).isoformat()} for day in days]
    log.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    options = LogOptions(dialect="postgres", namespace="postgres", mapping={"query_text": "sql", "started_at": "ts"})
    with open_store(folder / "store.db") as store:
        for step in order:
            if step == "log":
                ingest_log(log, source="generic", store=store, options=options)
                continue
            nodes = (BUILT,) if step == "before" else after
            at = moment(10 if step == "before" else 20).isoformat()
            write(folder / step, manifest(RAW, KEPT, *nodes, at=at))
            ingest_dbt(folder / step, store=store, options=DbtOptions(namespace="postgres"))
        return sources(store, None), sources(store, moment(22))


def sources(store: GraphStore, as_of: datetime | None) -> list[str]:
    edges = store.edges_into(["postgres/wh.main.m"], as_of=as_of)
    return [edge.source.rpartition(".")[2] for edge in edges if "#" in edge.source]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize(("days", "now"), [((5,), []), ((12,), []), ((25,), ["a#x"]), ((5, 25), ["a#x"])])
def test_a_log_of_a_former_model(
    tmp_path: Path, order: tuple[str, ...], later: str, days: tuple[int, ...], now: list[str]
) -> None:
    assert sources_of_m(tmp_path, order, LATER[later], days) == (now, [])
