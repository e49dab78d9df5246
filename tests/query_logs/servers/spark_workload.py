"""A workload for Spark: one application, whose temporary views and USE its event log shows; what fails, fails late."""

from __future__ import annotations

from tests.query_logs.servers.workload import Sent, own, same

__all__ = ["SPARK_WORKLOAD"]

_TABLES = same(
    "app",
    "CREATE TABLE core.orders (id int, customer int, amount double, placed date) USING parquet",
    "CREATE TABLE core.customers (id int, name string, email string) USING parquet",
    "INSERT INTO core.customers VALUES (1, 'a', 'b')",
    "CREATE TABLE mart.kept (a int, b int) USING parquet",
)
_VIEWS = [
    *same(
        "app", "CREATE TEMPORARY VIEW recent AS SELECT customer, amount FROM core.orders WHERE placed > '2026-01-01'"
    ),
    *same("app", "CREATE TABLE mart.recent USING parquet AS SELECT customer, sum(amount) AS s FROM recent GROUP BY 1"),
    *same("app", "CREATE OR REPLACE TEMPORARY VIEW named AS SELECT id, upper(name) AS name FROM core.customers"),
    *same("app", "CREATE TABLE mart.named USING parquet AS SELECT name FROM named"),
    *own("app", "DROP VIEW recent"),
]
_JOINED = (
    "CREATE TABLE mart.joined USING parquet AS SELECT o.id, email FROM {0}orders AS o JOIN {0}customers AS c USING (id)"
)
_KEPT = "INSERT INTO {0}kept SELECT id, customer FROM core.orders"
_NAMES = [
    *own("app", "USE mart"),
    Sent("app", _KEPT.format(""), _KEPT.format("mart.")),
    *own("app", "USE core"),
    Sent("app", _JOINED.format(""), _JOINED.format("core.")),
    *own("app", "USE default"),
    *same("app", "INSERT OVERWRITE mart.kept SELECT id, id FROM core.customers"),
    *same("app", "FROM core.orders INSERT INTO mart.kept SELECT id, 1"),
]
_FAILS = own(
    "app",
    "INSERT INTO mart.kept SELECT id, assert_true(id > 5) IS NULL FROM core.customers",
    "INSERT INTO mart.kept SELECT nothing, id FROM core.customers",
    "CREATE TABLE mart.gone USING parquet AS SELECT id, raise_error(name) AS e FROM core.customers",
)
_CHANGES = same(
    "app",
    "CREATE TABLE mart.old USING parquet AS SELECT id FROM core.orders",
    "ALTER TABLE mart.old RENAME TO mart.older",
    "CREATE TABLE mart.old USING parquet AS SELECT id FROM core.customers",
    "CREATE TABLE mart.of_new USING parquet AS SELECT id FROM mart.old",
    "CREATE VIEW mart.v AS SELECT id FROM mart.older",
)


def _many() -> list[Sent]:
    """Return the same few statements over many tables: in the schema of the session, over a view that changes."""
    found: list[Sent] = []
    for number in range(6):
        table, source = f"t{number}", ("core.orders", "core.customers")[number % 2]
        view = f"CREATE OR REPLACE TEMPORARY VIEW one AS SELECT id AS a, {number} AS b FROM {source}"
        schema = "mart" if number % 3 else "core"
        insert = f"\n  SELECT b, a /* {number} */ FROM one"
        found += own("app", f"USE {schema}")
        found += same("app", f"CREATE TABLE mart.{table} (a int, b int) USING parquet", view)
        name = table if schema == "mart" else f"mart.{table}"
        found.append(Sent("app", f"INSERT INTO {name}{insert}", f"INSERT INTO mart.{table}{insert}"))
        found += same("app", f"CREATE VIEW mart.v{number} AS SELECT a AS {table} FROM mart.{table} WHERE b > {number}")
        found += own("app", f"SELECT * FROM mart.v{number}", f"SELECT nothing{number} FROM mart.{table}")
        found += own("app", "SHOW TABLES", f"ALTER TABLE mart.{table} SET TBLPROPERTIES ('n' = '{number}')")
    return [*found, *own("app", "USE default")]


SPARK_WORKLOAD = (*_TABLES, *_VIEWS, *_NAMES, *_FAILS, *_CHANGES, *_many())
