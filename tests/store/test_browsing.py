"""Pages of lists, the edges of one job, and differences between two times."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.names import format_name, split_location, split_name
from lineage.model.statement import DatasetKind
from lineage.store import GraphStore, open_store
from lineage.store.graph.statements import query as named_query
from lineage.store.page_requests import JobFilter
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.statements import sql
from lineage.store.values import DatasetWriter
from tests.store.batch_builders import batch, day, drop, job, key, query, table
from tests.store.test_runs import finding, with_findings


def test_pages_of_jobs_hold_each_once(store: GraphStore) -> None:
    names = [f"j{number}" for number in range(5)]
    store.apply(batch(*(job(name, f"a.x -> {name}_out.x", at=1, kind=JobKind.QUERY) for name in names)))
    pages, after = [], ""
    while page := store.jobs_after(after, 2):
        pages.append([one.key for one in page])
        after = page[-1].key
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [one for page in pages for one in page] == [one.key for one in store.jobs()]


def test_jobs_are_listed_by_kind_and_dataset(store: GraphStore) -> None:
    store.apply(
        batch(
            job("file", "a.x -> b.x", at=1, kind=JobKind.SQL_FILE),
            job("query", "b.x -> c.x", at=1, kind=JobKind.QUERY),
            job("apart", "d.x -> e.x", at=1, kind=JobKind.QUERY),
        )
    )
    queries = [one.key for one in store.jobs_after(wanted=JobFilter(kinds=(JobKind.QUERY,)))]
    of_b_and_d = store.job_keys_of([key("b"), key("d"), key("none")])
    assert queries == ["apart", "query"]
    assert of_b_and_d == {key("b"): ["file", "query"], key("d"): ["apart"], key("none"): []}
    assert store.job_keys_of([key("b")], JobFilter(kinds=(JobKind.QUERY,))) == {key("b"): ["query"]}


def test_of_a_job_that_defines_its_output_the_latest_version_counts(store: GraphStore) -> None:
    def versions(name: str, kind: JobKind) -> None:
        store.apply(batch(job(name, "a.x -> b.x", at=1, kind=kind)))
        store.apply(batch(job(name, "c.x -> d.x", at=2, kind=kind)))

    versions("file:v.sql", JobKind.SQL_FILE)
    versions("query:q", JobKind.QUERY)
    keys = [key(one) for one in "abcd"]
    assert store.job_keys_of(keys) == {one: [*(["file:v.sql"] * (one in keys[2:])), "query:q"] for one in keys}
    [file, query_job] = store.jobs()
    assert (file.reads, file.writes) == ((key("c"),), (key("d"),))
    assert (query_job.reads, query_job.writes) == ((key("a"), key("c")), (key("b"), key("d")))
    store.retire_jobs(["file:v.sql"], day(3))
    assert store.job_keys_of(keys[2:]) == {one: ["query:q"] for one in keys[2:]}
    retired = store.job_keys_of(keys, JobFilter(kinds=(JobKind.SQL_FILE,), retired=True))
    assert retired == {one: ["file:v.sql"] for one in keys}


def test_the_jobs_that_write_a_table_or_did(store: GraphStore) -> None:
    store.apply(
        batch(job("now", "a.x -> b.y", at=1), job("moved", "a.x -> b.y", at=1), job("gone", "a.x -> b.y", at=1))
    )
    store.apply(batch(job("moved", "a.x -> c.y", at=2), query("q", "b.y -> c.z", at=2)))
    store.apply(batch(job("moved", "a.x -> c.y", at=4)))
    store.retire_jobs(["gone"], day(3))
    found = store.writers_of([key("b"), key("c"), key("none")], (JobKind.SQL_FILE,))
    assert found == {
        key("b"): [DatasetWriter("gone", day(3)), DatasetWriter("moved", day(2)), DatasetWriter("now")],
        key("c"): [DatasetWriter("moved")],
        key("none"): [],
    }


def test_jobs_tell_their_edges(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", "a.y ~> b", at=1), job("two", "a.x -> b.x", at=1)))
    assert [(edge.job, edge.source, edge.target, str(edge.kind)) for edge in store.edges_of(["two", "one"])] == [
        ("one", key("a.y"), key("b"), "REFERENCES"),
        ("one", key("a.x"), key("b.x"), "CONTRIBUTES"),
        ("two", key("a.x"), key("b.x"), "CONTRIBUTES"),
    ]
    assert store.edges_of(["none"]) == []


def test_what_differs_between_two_times(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", "a.y -> b.y", "a.z -> b.z", at=1)))
    store.apply(batch(job("one", "a.x -> b.x", "a.y -> b.y MASKING", "a.w ~> b", at=3)))

    def changed_between(since: float, until: float, scope: str = "") -> list[tuple[str, str]]:
        changes, cut = store.changed_edges(day(since), day(until), scope=scope)
        assert not cut
        kinds = {(True, False): "ended", (False, True): "began", (True, True): "changed"}
        return [
            ((change.after or change.before).source, kinds[change.before is not None, change.after is not None])  # type: ignore[union-attr]
            for change in changes
        ]

    assert changed_between(2, 4) == [(key("a.w"), "began"), (key("a.y"), "changed"), (key("a.z"), "ended")]
    assert changed_between(3, 4) == []
    assert changed_between(2, 4, scope=key("c")) == []
    assert len(changed_between(2, 4, scope=key("b"))) == 3
    changes, cut = store.changed_edges(day(0), day(2), limit=2)
    assert cut
    assert len(changes) == 2


def test_pages_of_diagnostics(store: GraphStore) -> None:
    findings = [finding("f.sql", "no table t", "etl"), finding("g.sql", "not SQL"), finding("g.sql", "nor this")]
    store.apply(with_findings(batch(job("etl", at=1, source="f.sql")), *findings))
    first = store.diagnostics_after(limit=2)
    rest = store.diagnostics_after(first[-1].key, 2)
    assert sorted([*first, *rest], key=lambda one: one.key) == sorted(store.diagnostics(), key=lambda one: one.key)
    assert [one.diagnostic.message for one in store.diagnostics_of(["etl", "none"])] == ["no table t"]
    assert {one.diagnostic.message for one in store.diagnostics_after(source="g.sql")} == {"not SQL", "nor this"}
    assert store.diagnostics_after(severities=[Severity.ERROR]) == []
    assert len(store.diagnostics_after(codes=[DiagnosticCode.UNKNOWN_TABLE])) == 3


def test_columns_by_key(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", at=1)))
    found = store.columns_by_key([key("b.x"), key("a.x"), key("a.none")])
    assert [(column.key, column.dataset, column.path) for column in found] == [
        (key("a.x"), key("a"), "x"),
        (key("b.x"), key("b"), "x"),
    ]


_NAMES = (
    *(
        "plain",
        "shop.a",
        "shop.b",
        "Shop.c",
        "db.shop.a",
        'db."shop".d',
        "db.gone",
        "s.",
        ".s",
        "a..b",
        "日.本",
        "🜁.🜂.x",
    ),
    *(
        '"a.b".t',
        '"a.b".u',
        '"a.b"."c.d"',
        'a."b.c"',
        '"a"."b".c',
        '"my schema".t',
        'a"b',
        'x."y',
        'x.y"z"',
        'shop."a.b"',
    ),
    *("[a.b].c", "a.[b.c]", "`a.b`.c", "a.`b.c`", "a.b]c", "a.b[c", "/data/in.csv", "/data/in/a", "s3/x.y/z"),
)


def _schema(name: str) -> str:
    """Return the schema of a table; of a file, its path without what follows the last dot."""
    is_path = split_location(name) is not None
    return name.rpartition(".")[0] if is_path else format_name([part for part, _ in split_name(name)][:-1])


def test_tables_are_counted_by_schema(store: GraphStore) -> None:
    chance = random.Random(3)
    drawn = {"".join(chance.choices('ab."`[] ', k=chance.randint(1, 8))) for _ in range(150)}
    named = [table(name, "x") for name in sorted({*_NAMES, *drawn})]
    dashboards = [table(f"shop.board{number}", "x", kind=DatasetKind.EXPOSURE) for number in range(3)]
    store.apply(batch(*named, *dashboards, replace(table("shop.a", "x"), namespace="other")))
    store.apply(batch(drop("db.gone", at=5), drop("shop.b", at=5)))
    live = store.live_datasets()
    schemas = {one.key: (one.namespace, _schema(one.name)) for one in live}
    tables = Counter(schemas.values())
    exposures = Counter(schemas[one.key] for one in live if one.kind == "exposure")
    assert store.schema_counts() == [(*at, number, exposures[at]) for at, number in sorted(tables.items())]
    assert {(one.schema, one.tables, one.exposures) for one in store.schema_counts() if one.namespace == "other"} == {
        ("shop", 1, 0)
    }
    assert ("pg", "shop", 5, 3) in store.schema_counts()
    assert ("pg", "a.b", 0, 0) not in store.schema_counts()


def test_tables_that_feed_others_are_listed_once(store: GraphStore) -> None:
    store.apply(batch(*(job(name, "a.x -> b.x", at=1, kind=JobKind.QUERY) for name in ("q", "r"))))
    for at, source in ((1, "a"), (2, "b")):
        store.apply(batch(job("file:c.sql", f"{source}.x -> c.x", at=at, kind=JobKind.SQL_FILE)))
    assert sorted(store.fed_tables()) == [(key("a"), key("b")), (key("b"), key("c"))]


def test_an_index_has_the_groups_of_schemas(tmp_path: Path) -> None:
    open_store(tmp_path / "store.db").close()
    with closing(SqliteConnection(tmp_path / "store.db", read_only=True)) as connection:
        plan = connection.rows(f"EXPLAIN QUERY PLAN {sql(named_query('schema_counts'))}", {}, None)
    assert [detail for *_, detail in plan] == ["SCAN dataset USING INDEX dataset_by_schema"]
