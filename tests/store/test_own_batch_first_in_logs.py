"""A log's own definitions precede the store's, and ingesting the same log again changes nothing."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lineage.store import GraphStore
from tests.query_logs.pipeline.running import Ran, edges, ingested
from tests.store.temporary import temporary_store

EXAMPLES = int(os.environ.get("LINEAGE_BATCHES", "12"))
DAY = 86_400

OLD = ("create table core.orders (id int, total int)", "create table u (old int)", "create view v as select old from u")
LOG = (
    "create table orders as select id, amount from src",
    "create view m as select * from orders join base on true",
    "create table u as select k, n from base",
    "create view v as select * from u",
    "create view w as select * from v",
    "create view x as select n, amount from v join orders on true",
    "insert into y select * from w",
)


def ran(texts: tuple[str, ...], day: int) -> list[Ran]:
    """Return the statements of a day before the ingest, each in its own session."""
    return [Ran(text, f"s{number}", (day - 10) * DAY + number) for number, text in enumerate(texts)]


def test_definitions_of_the_log_beat_those_of_the_store(store: GraphStore) -> None:
    with temporary_store() as alone:
        ingested(alone, ran(LOG, 2))
        wanted = edges(alone)
    ingested(store, ran(OLD, 1))
    ingested(store, ran(LOG, 2))
    assert edges(store) == wanted
    assert any(edge.startswith("postgres/src#amount CONTRIBUTES postgres/orders#amount") for edge in wanted)
    first = store.dump()
    again = ingested(store, ran(LOG, 2)).applied
    assert (again.edges_created, again.edges_ended) == (0, 0)
    assert store.dump() == first


def test_a_table_of_the_log_is_none_of_another_schema(store: GraphStore) -> None:
    """`core.a` is resolved again once the columns of `b` are known; by then the log's own `a` is known, too."""
    log = ("create table a (x int)", "create table b (x int)", "insert into b (x) select x from core.a")
    for _ in range(2):
        ingested(store, ran(log, 2))
        assert {edge.split()[0] for edge in edges(store) if "CONTRIBUTES" in edge} == {"postgres/core.a#x"}


NAMES = ("v", "core.v", "w", "core.w", "t", "core.t")
"""Views `v`, tables `w` that each log creates again, tables `t` that are inserted into; each reads those behind it."""
COLUMNS = ("x", "y", "z")


@st.composite
def logs(draw: st.DrawFn) -> tuple[str, ...]:
    texts: list[str] = []
    for number in draw(st.lists(st.integers(0, len(NAMES) - 1), min_size=1, max_size=5, unique=True)):
        name, later = NAMES[number], (*NAMES[number + 1 :], "src", "core.src")
        source, other = draw(st.sampled_from(later)), draw(st.sampled_from(later))
        column, more = draw(st.sampled_from(COLUMNS)), draw(st.sampled_from(COLUMNS))
        queries = (
            f"select * from {source}",
            f"select {column}, {more} as w from {source}",
            f"select s.*, o.{column} as c from {source} s, {other} o",
            f"select {column} from {source} join {other} on true",
        )
        if name.endswith("t"):
            texts.append(f"create table if not exists {name} (x int, y int)")
            texts.append(f"insert into {name} (x, y) select {column}, {more} from {source}")
        else:
            kind = "view" if name.endswith("v") else "table"
            texts.append(f"create or replace {kind} {name} as {draw(st.sampled_from(queries))}")
    return tuple(texts)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(earlier=logs(), log=logs())
@example(
    ("create or replace view v as select x, x as w from core.t",),
    (
        "create or replace view core.v as select * from core.t",
        "create or replace view v as select * from core.v",
        "create table if not exists core.t (x int, y int)",
        "insert into core.t (x, y) select x, x from src",
    ),
)
def test_the_same_log_again_changes_nothing(earlier: tuple[str, ...], log: tuple[str, ...]) -> None:
    with temporary_store() as store:
        ingested(store, ran(earlier, 1))
        ingested(store, ran(log, 2))
        first = lineage(store)
        again = ingested(store, ran(log, 2)).applied
        assert lineage(store) == first
        assert (again.edges_created, again.edges_ended) == (0, 0)


def lineage(store: GraphStore) -> list[str]:
    """Return the current state: live edges with their meaning, and columns.

    If a later table expands a star, the first ingest cannot know since when the columns exist, nor who read them. The
    next ingest applies its knowledge to the past as well.
    """
    dump = store.dump()
    columns = [
        f"{key} {said['inferred']}"
        for label, key, said in dump.nodes
        if label == "Column" and not said.get("dropped_at")
    ]
    meaning = ("job", "subtypes", "masking", "limited", "ambiguous")
    live = [
        f"{kind} {one} {other} { {name: said[name] for name in meaning} }"
        for kind, one, other, said in dump.relationships
        if kind in ("CONTRIBUTES", "REFERENCES")
    ]
    return sorted([*columns, *live])
