"""Paths: what one side states in several steps, whether the value flows on them, and fields of structs between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import ingest_dbt
from lineage_ingest.compare_api import compare_lineage
from tests.compare.exports import Said, dbt
from tests.compare.test_verdicts import compare, ingest, lines
from tests.dbt.manifests import model, relation, source

RAW = '"wh"."raw"."orders"'
SELECT = f"select id, amount from {RAW}"
ORDERS = source("orders", {"id": "int", "amount": "int"})
STAGE = model("stg", SELECT, "source.shop.raw.orders")
EPHEMERAL = model("eph", SELECT, "source.shop.raw.orders", config={"materialized": "ephemeral"})


def said(*edges: str) -> list[Said]:
    """Return edges of dbt: `orders.amount -> stg.amount`, with `~>` for what is only read."""
    found = []
    for edge in edges:
        before, arrow, after = edge.split()
        before = f"source.shop.raw.{before}" if before.startswith("orders") else f"model.shop.{before}"
        found.append(Said(before, f"model.shop.{after}", influence=arrow == "~>"))
    return found


@pytest.mark.parametrize(
    ("nodes", "sql", "stated", "expected"),
    [
        (
            [EPHEMERAL],
            f"with __dbt__cte__eph as ({SELECT}) "
            f"select e.amount from __dbt__cte__eph e join {RAW} o on o.amount = e.id",
            ["orders.amount -> eph.amount", "eph.amount -> daily.amount", "orders.amount ~> daily.amount"],
            "agree: main.daily.amount <- raw.orders.amount",
        ),
        (
            [STAGE],
            f"select amount as x from {RAW}",
            ["orders.amount -> stg.amount", "stg.amount ~> daily.x"],
            "kind differs: main.daily.x <- raw.orders.amount via main.stg.amount (value)",
        ),
        (
            [STAGE],
            f"select amount as x from {RAW}",
            ["orders.amount -> stg.amount", "stg.amount -> daily.x"],
            "through: main.daily.x <- raw.orders.amount via main.stg.amount",
        ),
        (
            [STAGE],
            f"select amount as x from {relation('stg')}",
            ["orders.amount ~> daily.x"],
            "kind differs: main.daily.x <- raw.orders.amount via main.stg.amount (value)",
        ),
        (
            [STAGE],
            f"select amount as x from {relation('stg')} where amount > 1",
            ["orders.amount ~> daily.x"],
            "through: main.daily.x <- raw.orders.amount via main.stg.amount",
        ),
    ],
)
def test_whether_the_value_flows_on_a_path(
    tmp_path: Path, nodes: list[dict[str, Any]], sql: str, stated: list[str], expected: str
) -> None:
    daily = model("daily", sql, *(one["name"] for one in nodes), "source.shop.raw.orders")
    target = dbt(tmp_path / "target", [ORDERS, *nodes, daily], said(*stated), "2026-03-01T06:00:00Z")
    ingest_dbt(target, store=tmp_path / "s.db")
    found = lines(compare_lineage("dbt", target, store=tmp_path / "s.db"))
    assert [one for one in found if "daily" in one and "raw.orders.amount" in one] == [expected]


def test_a_value_flows_by_one_of_two_unknown_tables(tmp_path: Path) -> None:
    """Whichever of the two is looked at first."""
    target = tmp_path / "target"
    eph = [model(name, SELECT, "source.shop.raw.orders", config={"materialized": "ephemeral"}) for name in "abcd"]
    edges = ["orders.amount -> a.x", "a.x ~> b.x", "a.x -> c.x", "b.x -> d.x", "c.x -> d.x", "d.x -> daily.x"]
    for order in (edges, edges[::-1]):
        dbt(
            target,
            [ORDERS, *eph, model("daily", f"select amount as x from {RAW}", "d")],
            said(*order),
            "2026-03-01T06:00:00Z",
        )
        ingest_dbt(target, store=tmp_path / "s.db")
        found = compare_lineage("dbt", target, store=tmp_path / "s.db")
        assert [one.verdict for one in found.edges if "daily" in one.target] == ["through"]


@pytest.mark.parametrize(
    ("shown", "first", "second", "expected"),
    [
        ("addr.city", ("addr", "addr"), ("addr.city", "c"), "src.addr"),
        ("addr", ("addr.city", "addr.city"), ("addr", "c"), "src.addr.city"),
        ("addr.city", ("addr.zip", "addr.zip"), ("addr.city", "c"), None),
    ],
)
@pytest.mark.parametrize("between", ["tmp", "mid"])
def test_a_struct_and_its_fields_between(
    tmp_path: Path, shown: str, first: tuple[str, str], second: tuple[str, str], expected: str | None, between: str
) -> None:
    """One step writes the whole struct, the next reads a field of it: `mid` is in the graph, `tmp` is not."""
    sql = f"""create table p.d.src (addr struct<city string, zip string>);
    create table p.d.mid as select addr from p.d.src; create table p.d.out as select {shown} as c from p.d.src;"""
    store = ingest(tmp_path, sql, "bigquery")

    def end(table: str, path: str) -> dict[str, Any]:
        return {"fullyQualifiedName": f"bigquery:p.d.{table}", "field": path.split(".")}

    links = [
        {"source": end("src", first[0]), "target": end(between, first[1])},
        {"source": end(between, second[0]), "target": end("out", second[1])},
    ]
    (tmp_path / "links.json").write_text(json.dumps({"links": links}))
    found = compare_lineage("bigquery", tmp_path / "links.json", store=store)
    through = [one for one in lines(found) if "through: p.d.out.c" in one]
    assert bool(through) == (expected is not None)
    if between == "tmp":
        assert through == ([f"through: p.d.out.c <- p.d.{expected} via p.d.tmp"] if expected else [])


VIEWS = """create table wh.raw.src (id int, a int, b int, k int);
create view wh.raw.v as select id, a, a + b as ab, 1 as one from wh.raw.src;
create view wh.raw.w as select v.*, id + ab as s from wh.raw.v v;
create table wh.mart.t as
select w.a, w.ab, w.s, w.one, src.k + w.id as k from wh.raw.w join wh.raw.src on src.id = w.id;
"""


def views_resolved(*edges: str) -> list[Said]:
    """Return edges of `src` and the table, which reads views only: `a -> ab`."""
    return [Said(f"wh.raw.src.{one}", f"wh.mart.t.{other}") for one, _, other in map(str.split, edges)]


@pytest.mark.parametrize("name", ["trino", "databricks csv"])
def test_views_that_a_product_resolves(tmp_path: Path, name: str) -> None:
    """The sources of a view's column are stated in its place: an edge of ours from the view is no difference."""
    all_of = views_resolved("a -> a", "a -> ab", "b -> ab", "id -> s", "a -> s", "b -> s", "k -> k", "id -> k")
    found = lines(compare(tmp_path, all_of, VIEWS, name=name))
    assert [one for one in found if not one.startswith(("through: mart.t", "agree"))] == [
        "only ours: mart.t.one <- raw.w.one (source not stated)"
    ]
    assert {"through: mart.t.a <- raw.w.a", "through: mart.t.s <- raw.w.s"} <= set(found)
    less = views_resolved("a -> a", "a -> ab", "id -> s", "a -> s", "k -> k", "k -> s")
    assert [one for one in lines(compare(tmp_path, less, VIEWS, name=name)) if not one.startswith("through")] == [
        "agree: mart.t.k <- raw.src.k",
        "only ours: mart.t.ab <- raw.w.ab (unexplained)",  # b
        "only ours: mart.t.k <- raw.w.id (source not stated)",  # nothing stated is of the view
        "only ours: mart.t.one <- raw.w.one (source not stated)",
        "only ours: mart.t.s <- raw.w.s (unexplained)",  # b
        "only theirs: mart.t.s <- raw.src.k (unexplained)",
    ]


def test_a_view_that_a_product_names_is_not_resolved(tmp_path: Path) -> None:
    said = [*views_resolved("a -> a"), Said("wh.raw.w.ab", "wh.mart.t.ab")]
    assert "only ours: mart.t.a <- raw.w.a (unexplained)" in lines(compare(tmp_path, said, VIEWS))


@pytest.mark.parametrize(
    ("shown", "field", "verdict"),
    [("addr", "city", "only theirs"), ("addr", "zip", "agree"), ("struct(addr.zip as city)", "city", "agree")],
)
def test_a_copy_of_a_struct_has_its_fields_in_their_places(
    tmp_path: Path, shown: str, field: str, verdict: str
) -> None:
    sql = f"""create table p.d.src (addr struct<city string, zip string>);
    create table p.d.out as select {shown} as addr from p.d.src;"""
    store = ingest(tmp_path, sql, "bigquery")
    source, target = (
        {"fullyQualifiedName": f"bigquery:p.d.{table}", "field": ["addr", name]}
        for table, name in (("src", "zip"), ("out", field))
    )
    (tmp_path / "links.json").write_text(json.dumps({"links": [{"source": source, "target": target}]}))
    [line] = lines(compare_lineage("bigquery", tmp_path / "links.json", store=store))
    assert line.startswith(f"{verdict}: p.d.out.addr.{field} <- p.d.src.addr.zip")


def test_influence_on_the_rows_of_a_table(tmp_path: Path) -> None:
    """OpenLineage's `dataset`: a column that decides the rows is compared as such, and is no statement of tables."""
    sql = """create table s.t (a int, b int, c int); create table s.u (a int, b int);
    create view s.v as select a, case when b > 1 then a end as k from s.t where c > 3;
    create table s.w as select a, sum(k) as k from s.v group by a;"""
    store = ingest(tmp_path, sql, "postgres")

    def facet(**read: list[str]) -> list[dict[str, Any]]:
        transformation = [{"type": "INDIRECT", "subtype": "FILTER"}]
        names = {table: f"s.{table}" for table in read}
        return [
            {"namespace": "postgres", "name": names[table], "field": column, "transformations": transformation}
            for table, columns in read.items()
            for column in columns
        ]

    outputs = [
        {"namespace": "postgres", "name": name, "facets": {"columnLineage": {"fields": {}, "dataset": listed}}}
        for name, listed in (("s.v", facet(t=["a", "b", "c"])), ("s.w", facet(v=["a"], t=["c"])))
    ]
    event = {"eventTime": "2026-03-01T10:00:00Z", "eventType": "COMPLETE", "job": {"namespace": "n", "name": "j"}}
    (tmp_path / "events.ndjson").write_text(json.dumps({**event, "outputs": outputs}))
    found = lines(compare_lineage("openlineage", tmp_path / "events.ndjson", store=store))
    assert [one for one in found if "only ours" not in one] == [
        "agree: s.v <- s.t.b",
        "agree: s.v <- s.t.c",
        "agree: s.w <- s.v.a",
        "only theirs: s.v <- s.t.a (unexplained)",
        "through: s.w <- s.t.c via s.v",
    ]
