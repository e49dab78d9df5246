"""MERGE, UPDATE, DELETE and other writes of Iceberg and Delta tables on Spark 4.1: by plan as by SQL."""

from __future__ import annotations

from typing import Any

import pytest

from lineage import Catalog, extract
from lineage.model.names import short_name
from lineage_ingest.spark_plan.listener.events import Application
from lineage_ingest.spark_plan.listener.executions import Executions
from tests.spark_plan.conftest import SparkProcess, lineages
from tests.spark_plan.lineage_text import edges_by_sql, edges_of

pytestmark = pytest.mark.xdist_group("spark_4_1")

SCHEMA = {
    "t": {"id": "bigint", "name": "string", "country": "string"},
    "o": {"order_id": "bigint", "customer_id": "bigint", "amount": "double", "tags": "string"},
    "n": {"id": "bigint", "p": "struct<city: string, zip: string>"},
    "customers": {"id": "bigint", "name": "string", "country": "string"},
    "orders": {"order_id": "bigint", "customer_id": "bigint", "amount": "double", "tags": "string"},
}
STATEMENTS = {
    "create as": "create table {c}.t {using} as select id, name, country from customers",
    "insert": "insert into {c}.o select * from orders",
    "insert, with names": "insert into {c}.o (tags, order_id) select name, id from customers",
    "insert by name": "insert into {c}.o by name select tags, order_id, amount, customer_id from orders",
    "insert overwrite": "insert overwrite {c}.o select order_id, customer_id, amount * 2, tags from orders",
    "update": "update {c}.t set name = upper(country), country = 'x' where id > 1",
    "update of all rows": "update {c}.t set name = concat(name, country)",
    "update with CASE": "update {c}.t set name = case when id = 1 then country else name end where id < 9",
    "update to constants": "update {c}.t set id = 1, name = 'x', country = 'y' where id > 1000",
    "delete": "delete from {c}.t where name = 'zz' and id > 3",
    "delete all": "delete from {c}.r",
    "merge, all columns": "merge into {c}.t using (select customer_id id, max(tags) name, 'c' country from {c}.o "
    "group by 1) s on t.id = s.id when matched then update set * when not matched then insert *",
    "merge, all branches": "merge into {c}.t using {c}.o s on t.id = s.customer_id and s.order_id = 2 "
    "when matched and s.amount > 3 then update set name = s.tags, id = t.id + 1 "
    "when matched and t.country = 'x' then delete "
    "when not matched and s.amount < 2 then insert (id, name) values (s.customer_id, s.tags) "
    "when not matched by source and t.name = 'q' then update set country = upper(name)",
    "merge that deletes": "merge into {c}.t using {c}.o s on t.id = s.order_id when matched and s.tags = 'zz' then "
    "delete when not matched by source and t.name = 'qq' then delete",
    "merge that updates": "merge into {c}.t using (select * from {c}.o where amount > 90) s on t.id = s.order_id "
    "when matched then update set t.name = coalesce(s.tags, t.name)",
    "merge that inserts": "merge into {c}.t using {c}.o s on t.id = s.order_id when not matched then "
    "insert (id, name, country) values (s.order_id, upper(s.tags), 'c')",
    "merge that inserts under a condition": "merge into {c}.t using {c}.o s on t.id = s.order_id "
    "when not matched and s.amount > 2 then insert (id, name) values (s.order_id, s.tags)",
    "merge with two inserts": "merge into {c}.t using {c}.o s on t.id = s.order_id "
    "when not matched and s.amount > 2 then insert (id, name) values (s.order_id, s.tags) "
    "when not matched and s.customer_id = 1 then insert (id, country) values (s.customer_id, s.tags)",
    "update of a field": "update {c}.n set p.zip = cast(id + 1 as string) where id = 3",
    "merge that updates fields": "merge into {c}.n using {c}.o s on n.id = s.order_id when matched then "
    "update set n.p.city = s.tags, n.id = s.customer_id",
    "create or replace as": "create or replace table {c}.r {using} as select order_id, amount * 2 a from {c}.o",
}
SUBQUERIES = {
    "update with IN": "update {c}.t set name = country where id in (select customer_id from {c}.o where amount > 1)",
    "update with EXISTS": "update {c}.t set name = country where exists (select 1 from {c}.o x where x.amount = t.id)",
    "update from a sub-query": "update {c}.t set name = (select max(tags) from {c}.o) where id = 1",
    "delete with IN": "delete from {c}.t where id in (select customer_id from {c}.o where amount > 100)",
    "delete with NOT EXISTS": "delete from {c}.t where not exists (select 1 from {c}.o x where x.customer_id = t.id)",
}
"""Delta refuses these."""
FEW = {
    "iceberg, merge on read": [one for one in STATEMENTS if one.startswith(("create as", "update", "delete", "merge"))],
    "delta": [
        "create as", "insert", "insert, with names", "insert overwrite", "update with CASE", "update of a field",
        "delete", "merge, all columns", "merge, all branches", "create or replace as",
    ],
}  # fmt: skip
"""Where a format takes the same way for several statements, one is run: each takes Delta two seconds."""

_SETUP = """
spark.sql("create table {c}.o (order_id bigint, customer_id bigint, amount double, tags string) {using}")
spark.sql("create table {c}.r (x bigint) {using}")
spark.sql("create table {c}.n (id bigint, p struct<city: string, zip: string>) {using}")
"""
FORMATS = {
    "iceberg": ("ice.db", "using iceberg"),
    "iceberg, merge on read": (
        "ice.mor",
        "using iceberg tblproperties ('format-version'='2', 'write.merge.mode'='merge-on-read', "
        "'write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read')",
    ),
    "delta": ("delta", "using delta"),
}


def statements_of(kind: str) -> dict[str, str]:
    """Return the statements that a format takes, by name."""
    catalog, using = FORMATS[kind]
    listed = {name: STATEMENTS[name] for name in FEW.get(kind, STATEMENTS)}
    if kind != "delta":
        listed |= SUBQUERIES
    return {name: text.format(c=catalog, using=using) for name, text in listed.items()}


@pytest.mark.parametrize("kind", FORMATS)
def test_plans_equal_sql(spark_4_1: SparkProcess, kind: str) -> None:
    catalog, using = FORMATS[kind]
    statements = statements_of(kind)
    setup = f"spark.sql('create database if not exists {catalog}')\n{_SETUP.format(c=catalog, using=using)}"
    marked = "listener.flush(20.0); ends.append(len(frames))\n"
    code = "".join(f"spark.sql({text!r}); {marked}" for text in statements.values())
    ran = spark_4_1.run(kind, f"{setup}listener.flush(20.0); frames.clear(); ends = []\n{code}result = ends")
    assert ran.error is None, ran.error
    known = {**{f"{catalog}.{name}": SCHEMA[name] for name in ("t", "o", "n")}, "customers": SCHEMA["customers"]}
    schemas = Catalog.from_dict({**known, "orders": SCHEMA["orders"]}, "spark")
    differences = {}
    for name, start, end in zip(statements, [0, *ran.result], ran.result, strict=False):
        frames = ran.frames[start:end]
        [write] = lineages([one for one in frames if one["id"] == one["root"]], spark_4_1.catalogs)[0].writes
        [by_sql] = extract(statements[name], "spark", schemas)
        assert by_sql.completeness == "full", (name, by_sql.diagnostics)
        if set(edges_of(write)) != (expected := edges_by_sql(by_sql)):
            differences[name] = (sorted(set(edges_of(write)) - expected), sorted(expected - set(edges_of(write))))
        operation = by_sql.operation.replace("INSERT_OVERWRITE", "INSERT")
        assert (write.operation, write.diagnostics, str(write.completeness)) == (operation, (), "full"), name
        assert {one.name for one in write.target.columns} <= {"id", "name", "country", *SCHEMA["o"], "a", "x", "p"}, (
            name
        )
        assert outputs_of(frames, spark_4_1) == [short_name(by_sql.target or "")], name
    assert differences == {}


def outputs_of(frames: list[dict[str, Any]], spark: SparkProcess) -> list[str]:
    """Return the names of what the frames' events say is written, each as often as they say it."""
    events: list[dict[str, Any]] = []
    executions = Executions(Application.of("spark", "test", "app", "4.1"), spark.catalogs, events.extend)
    for frame in frames:
        executions.take(frame)
    return [short_name(output["name"].rpartition("/")[2]) for event in events for output in event["outputs"]]
