"""Schemas in events precede the store's, and ingesting the same events again changes nothing."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.store import GraphStore
from lineage_ingest.openlineage import EventIngest
from tests.events.event_builders import edges, event
from tests.store.temporary import temporary_store

EXAMPLES = int(os.environ.get("LINEAGE_BATCHES", "12"))
Json = dict[str, Any]

OLD: list[Json] = [
    {"run": 1, "at": 1, "job": "old/u", "outputs": {"pg.u": {"schema": ["old"]}}},
    {"run": 2, "at": 1.5, "job": "old/orders", "outputs": {"pg.orders": {"schema": ["id", "total"]}}},
]
DEFINED: list[Json] = [
    {"run": 3, "at": 3, "job": "etl/u", "sql": "insert into u select k, n from base", "inputs": ["pg.base"]}
    | {"outputs": {"pg.u": {"schema": ["k", "n"]}}},
    {"run": 4, "at": 3.2, "job": "etl/orders", "sql": "insert into orders select id, amount from src"}
    | {"inputs": ["pg.src"], "outputs": {"pg.orders": {"schema": ["id", "amount"]}}},
]
READ: list[Json] = [
    {"run": 5, "at": 4, "job": "etl/v", "sql": "insert into v select * from u", "inputs": ["pg.u"]}
    | {"outputs": ["pg.v"]},
    {"run": 6, "at": 4.2, "job": "etl/m", "sql": "insert into m select k, amount from u join orders on true"}
    | {"inputs": ["pg.u", "pg.orders"], "outputs": ["pg.m"]},
]


def taken(store: GraphStore, all_events: list[Json]) -> None:
    EventIngest(store).take([event(one) for one in all_events])


@pytest.mark.parametrize("events", [DEFINED + READ, READ + DEFINED], ids=["in order", "readers first"])
def test_what_events_define_beats_what_the_store_knew(store: GraphStore, events: list[Json]) -> None:
    with temporary_store() as alone:
        taken(alone, events)
        wanted = edges(alone)
    taken(store, OLD)
    taken(store, events)
    assert edges(store) == wanted
    assert {"u.k -> v.k IDENTITY", "orders.amount -> m.amount IDENTITY"} <= set(wanted)
    first = store.dump()
    taken(store, events)
    assert store.dump() == first


NAMES = ("a", "b", "c", "d", "e")
COLUMNS = ("x", "y", "z")


@st.composite
def events(draw: st.DrawFn) -> list[Json]:
    """Events of runs with SQL; they contain the schema of some tables."""
    all_events: list[Json] = []
    for number in draw(st.lists(st.integers(0, len(NAMES) - 2), min_size=1, max_size=5)):
        name, source = NAMES[number], draw(st.sampled_from(NAMES[number + 1 :]))
        column, more = draw(st.sampled_from(COLUMNS)), draw(st.sampled_from(COLUMNS))
        schemas = [draw(st.lists(st.sampled_from(COLUMNS), unique=True, max_size=3)) for _ in range(2)]
        sql = draw(
            st.sampled_from(
                (
                    f"insert into {name} select * from {source}",
                    f"insert into {name} ({column}) select {more} from {source}",
                    f"create table {name} as select {column}, {more} as w from {source}",
                )
            )
        )
        own, read = ({"schema": one} if one else {} for one in schemas)
        all_events.append(
            {"job": f"etl/{name}", "sql": sql, "inputs": {f"pg.{source}": read}, "outputs": {f"pg.{name}": own}}
        )
    return all_events


def dated(all_events: list[Json], day: int) -> list[Json]:
    return [{**one, "run": 100 * day + number, "at": day + number / 24} for number, one in enumerate(all_events)]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(earlier=events(), then=events(), data=st.data())
def test_the_same_events_again_change_nothing(earlier: list[Json], then: list[Json], data: st.DataObject) -> None:
    with temporary_store() as store:
        taken(store, dated(earlier, 1))
        batch = dated(then, 5)
        taken(store, batch)
        first = store.dump()
        taken(store, data.draw(st.permutations(batch)))
        assert store.dump() == first
