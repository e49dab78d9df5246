"""Impact, root cause, paths and names over real stores return the same as a graph in memory."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from lineage.model.batch import (
    ColumnRecord,
    DatasetRecord,
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
)
from lineage.model.influence.transformations import Subtype
from lineage.model.names import split_column_key
from lineage.model.statement import Completeness
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredEdge
from lineage.traversal import (
    AmbiguousNameError,
    TraversalOptions,
    UnknownNameError,
    impact,
    resolve,
    root_cause,
    shortest_paths,
)
from tests.traversal.fake_store import NAMESPACE, NOW, FakeStore, edge, key
from tests.traversal.queries import brief, downstream, target, upstream


def batch(
    edges: Iterable[StoredEdge],
    *,
    at: datetime = NOW,
    columns: dict[str, list[str]] | None = None,
    only_tables: dict[str, tuple[str, str]] | None = None,
) -> LineageBatch:
    """Return the batch of an ingest at `at`: these edges and columns, and jobs with table-level lineage only."""
    edges = list(edges)
    reads: defaultdict[str, set[str]] = defaultdict(set)
    writes: defaultdict[str, set[str]] = defaultdict(set)
    for each in edges:
        reads[each.job].add(_dataset(each.source))
        writes[each.job].add(_dataset(each.target))
    jobs = [
        JobRecord(job, JobKind.SQL_FILE, at, at, tuple(sorted(reads[job])), tuple(sorted(writes[job])))
        for job in sorted(reads)
    ]
    jobs += [
        JobRecord(job, JobKind.SQL_FILE, at, at, (key(read),), (key(written),), completeness=Completeness.TABLES)
        for job, (read, written) in sorted((only_tables or {}).items())
    ]
    return LineageBatch(
        run=RunRecord(f"run:{at.isoformat()}", "sql", "test", at),
        datasets=tuple(
            DatasetRecord(NAMESPACE, name, columns=tuple(ColumnRecord(path, ordinal=n) for n, path in enumerate(paths)))
            for name, paths in sorted((columns or {}).items())
        ),
        jobs=tuple(jobs),
        edges=tuple(
            EdgeRecord(
                source=each.source,
                target=each.target,
                kind=each.kind,
                job=each.job,
                output=_dataset(each.target),
                subtypes=each.subtypes,
                masking=each.masking,
            )
            for each in edges
        ),
    )


def _dataset(name: str) -> str:
    return split_column_key(name)[0] if "#" in name else name


def test_a_random_graph_is_answered_as_in_memory(store: GraphStore) -> None:
    choose = random.Random(20240601)
    tables = {f"shop.t{table}": [f"c{column}" for column in range(3)] for table in range(8)}
    columns = [f"{table}#{column}" for table, paths in tables.items() for column in paths]
    edges = {}
    for _ in range(60):
        arrow = choose.choice(["->", "->", "~>"])
        end = choose.choice(columns if arrow == "->" else [*columns, *tables])
        # A job writes one dataset, as jobs do.
        job = f"{choose.choice(['one', 'two'])}>{_dataset(end)}"
        made = edge(f"{choose.choice(columns)} {arrow} {end}", job=job, masking=choose.random() < 0.3)
        edges[made.source, made.target, made.kind, job] = made
    memory = FakeStore(tables, list(edges.values()), FakeStore.of(edges.values()).fed)

    store.apply(batch(edges.values(), columns=tables))

    for name in choose.sample([*columns, *tables], 12):
        for options in (TraversalOptions(), TraversalOptions(max_references=1, max_hops=3)):
            assert downstream(store, name, options) == downstream(memory, name, options)
            assert upstream(store, name, options) == upstream(memory, name, options)
    for start, end in (choose.sample(columns, 2) for _ in range(15)):
        assert shortest_paths(store, target(start), target(end)) == shortest_paths(memory, target(start), target(end))


def test_fields_and_parents_belong_to_a_column_and_siblings_do_not(store: GraphStore) -> None:
    store.apply(
        batch(
            [
                edge("users#address -> whole#address", job="whole"),
                edge("users#address.city -> cities#name", job="cities"),
                edge("users#address.zip -> zips#code", job="zips"),
                edge("raw#city -> users#address.city", job="users"),
                edge("raw#all -> users#address", job="users"),
            ]
        )
    )
    assert brief(downstream(store, "users#address.city")) == {"whole#address": (1, "C"), "cities#name": (1, "C")}
    assert brief(downstream(store, "users#address")) == {
        "cities#name": (1, "C"),
        "whole#address": (1, "C"),
        "zips#code": (1, "C"),
    }
    assert brief(upstream(store, "users#address.zip")) == {"raw#all": (1, "C")}
    assert resolve(store, "users.address.city").key == key("users#address.city")


def test_the_graph_as_it_was(store: GraphStore) -> None:
    later = NOW + timedelta(days=30)
    store.apply(batch([edge("a#x -> b#x", job="b"), edge("a#x ~> c", job="c"), edge("d#y -> c#y", job="c")]))
    store.apply(batch([edge("a#y -> b#x", job="b")], at=later))

    assert brief(downstream(store, "a#x")) == {"c#y": (1, "R")}
    then = TraversalOptions(as_of=NOW + timedelta(days=1))
    assert brief(downstream(store, "a#x", then)) == {"b#x": (1, "C"), "c#y": (1, "R")}
    assert brief(upstream(store, "b#x", then)) == {"a#x": (1, "C")}
    assert brief(upstream(store, "b#x")) == {"a#y": (1, "C")}


def test_what_only_tables_tell_is_kept_apart(store: GraphStore) -> None:
    store.apply(
        batch(
            [edge("orders#amount -> mart#total", job="view")],
            columns={"orders": ["amount", "note"], "model": ["score"]},
            only_tables={"python": ("orders", "model"), "board": ("mart", "board")},
        )
    )
    answer = downstream(store, "orders#amount")
    assert brief(answer) == {"mart#total": (1, "C")}
    assert [(each.table, each.hops, each.job) for each in answer.possibly_affected] == [
        ("model", 1, "python"),
        ("board", 2, "board"),
    ]
    assert [each.table for each in downstream(store, "orders#note").possibly_affected] == ["model"]
    assert [each.table for each in upstream(store, "model#score").possibly_affected] == ["orders"]


def test_names_are_found_and_near_names_offered(store: GraphStore) -> None:
    store.apply(
        batch(
            [edge("db.shop.orders#amount -> db.mart.sales#total", job="sales")],
            columns={"db.shop.orders": ["id", "amount"], "db.shop.customers": ["id"], "db.crm.customers": ["id"]},
        )
    )
    assert resolve(store, "shop.orders.amount").name == "db.shop.orders.amount"
    assert resolve(store, "ORDERS").key == key("db.shop.orders")
    with pytest.raises(AmbiguousNameError, match="means 2 things"):
        resolve(store, "customers.id")
    with pytest.raises(UnknownNameError) as raised:
        resolve(store, "shop.orders.amout")
    assert raised.value.hint == "did you mean `db.shop.orders.amount`?"
    with pytest.raises(UnknownNameError) as raised:
        resolve(store, "oders")
    assert raised.value.hint == "did you mean `db.shop.orders`?"


def test_a_path_names_its_jobs_and_composes(store: GraphStore) -> None:
    store.apply(
        batch(
            [
                edge("raw.users#email -> stage.users#email", Subtype.TRANSFORMATION, job="stage", masking=True),
                edge("stage.users#email -> mart.counts#users", Subtype.AGGREGATION, job="mart"),
            ]
        )
    )
    (route,) = shortest_paths(store, resolve(store, "raw.users.email"), resolve(store, "mart.counts"))
    assert [step.job for step in route.steps] == ["stage", "mart"]
    assert (route.transformation.subtype, route.transformation.masking) == (Subtype.AGGREGATION, True)
    assert [step["masked_subtypes"] for step in route.to_dict()["steps"]] == [["TRANSFORMATION"], []]

    (reached,) = (each for each in impact(store, resolve(store, "raw.users")).columns if each.hops == 2)
    assert (reached.name, reached.masked) == ("mart.counts.users", True)
    causes = root_cause(store, resolve(store, "mart.counts.users"))
    assert causes.direction is Direction.UPSTREAM
    assert [(each.name, each.root) for each in causes.columns] == [
        ("stage.users.email", False),
        ("raw.users.email", True),
    ]


def test_time_zones_are_one_time(store: GraphStore) -> None:
    store.apply(batch([edge("a#x -> b#x", job="b")], at=datetime(2024, 6, 1, tzinfo=UTC)))
    assert brief(downstream(store, "a#x", TraversalOptions(as_of=NOW - timedelta(seconds=1)))) == {}
    assert brief(downstream(store, "a#x", TraversalOptions(as_of=NOW))) == {"b#x": (1, "C")}
