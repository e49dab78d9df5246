"""A workload for PostgreSQL: temporary tables, transactions, search paths, prepared statements, procedures, errors."""

from __future__ import annotations

from tests.query_logs.servers.workload import Sent, own, same

__all__ = ["END", "POSTGRES_WORKLOAD", "TERMINATE"]

END = "\\q"
"""The session ends."""
TERMINATE = "\\terminate"
"""Another session ends it."""

_SCHEMAS = same(
    "ann",
    "CREATE SCHEMA core",
    "CREATE SCHEMA stage",
    "CREATE SCHEMA mart",
    "CREATE TABLE core.orders (id int, customer int, amount numeric, placed date)",
    "CREATE TABLE core.customers (id int, name text, email text, country text)",
    "CREATE TABLE core.items (order_id int, sku text, price numeric, quantity int)",
    "CREATE TABLE stage.log (step text, number int)",
)
_TEMPORARY = [
    *same(
        "ann", "CREATE TEMP TABLE recent AS SELECT id, customer, amount FROM core.orders WHERE placed > '2026-01-01'"
    ),
    Sent(
        "bob",
        "CREATE TEMP TABLE recent AS SELECT id, email AS customer, 1 AS amount FROM core.customers",
        "CREATE TEMP TABLE recent_of_bob AS SELECT id, email AS customer, 1 AS amount FROM core.customers",
    ),
    *same(
        "ann", "CREATE TABLE mart.recent_of_ann AS SELECT customer, sum(amount) AS total FROM recent GROUP BY customer"
    ),
    Sent(
        "bob",
        "CREATE TABLE mart.recent_of_bob AS SELECT customer, amount FROM recent",
        "CREATE TABLE mart.recent_of_bob AS SELECT customer, amount FROM recent_of_bob",
    ),
    *own("bob", "DROP TABLE recent", "CREATE TEMP TABLE recent (a int)", "DROP TABLE recent"),
    *same("ann", "INSERT INTO recent SELECT id, id, price FROM core.items JOIN core.orders ON id = order_id"),
    *same("ann", "CREATE TABLE mart.recent_twice AS SELECT customer, amount FROM recent"),
    *own("ann", "DISCARD TEMP"),
]
_TRANSACTIONS = [
    *same("ann", "CREATE TABLE mart.kept (a int, b int)", "CREATE TABLE mart.gone (a int, b int)"),
    *own("ann", "BEGIN", "INSERT INTO mart.gone SELECT id, customer FROM core.orders", "ROLLBACK"),
    *own("ann", "BEGIN"),
    *own("bob", "BEGIN"),
    *same("bob", "INSERT INTO mart.kept SELECT id, customer FROM core.orders"),
    *own("ann", "INSERT INTO mart.gone SELECT order_id, quantity FROM core.items"),
    *own("bob", "COMMIT"),
    *own("ann", "ROLLBACK"),
    *own("ann", "START TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
    *same("ann", "INSERT INTO mart.kept (a) SELECT quantity FROM core.items"),
    *own(
        "ann", "SAVEPOINT one", "INSERT INTO mart.gone SELECT id, id FROM core.customers", "ROLLBACK TO SAVEPOINT one"
    ),
    *same("ann", "INSERT INTO mart.kept (b) SELECT id FROM core.customers"),
    *own("ann", "SAVEPOINT two", "SELECT 1/0", "ROLLBACK TO two", "RELEASE SAVEPOINT two", "END"),
    *own("ann", "BEGIN", "INSERT INTO mart.gone SELECT id, 1 FROM core.orders", "SELECT 1/0", "SELECT 1", "COMMIT"),
    *own("ann", "BEGIN", "INSERT INTO mart.gone SELECT 1, id FROM core.orders", "SELECT nothing FROM nowhere", "END"),
    *own("ann", "BEGIN", "INSERT INTO mart.gone SELECT 3, id FROM core.orders", "ABORT"),
    *own("ann", "BEGIN"),
    *same("ann", "UPDATE mart.kept SET b = a * 2 WHERE b IS NULL"),
    *own("ann", "COMMIT AND CHAIN", "UPDATE mart.kept SET a = b + 7", "ROLLBACK AND CHAIN"),
    *same("ann", "DELETE FROM mart.kept USING core.orders WHERE kept.a = orders.id"),
    *own("ann", "COMMIT"),
    *own("ann", "BEGIN\\; INSERT INTO mart.gone SELECT id, 5 FROM core.orders\\; ROLLBACK"),
    Sent(
        "ann",
        "BEGIN\\; INSERT INTO mart.kept SELECT 6, id FROM core.orders\\; COMMIT",
        "INSERT INTO mart.kept SELECT 6, id FROM core.orders",
    ),
    *own("ann", "INSERT INTO mart.gone SELECT 8, id FROM core.orders\\; SELECT 1/0"),
    *same(
        "ann", "CREATE TABLE mart.child (a int PRIMARY KEY, b int REFERENCES mart.child DEFERRABLE INITIALLY DEFERRED)"
    ),
    *own("ann", "BEGIN", "INSERT INTO mart.child SELECT 4, 5 FROM core.orders RIGHT JOIN (VALUES (1)) AS v ON true"),
    *own("ann", "COMMIT"),
    *own("eve", "BEGIN", "INSERT INTO mart.gone SELECT id, 11 FROM core.orders", END),
    *own("kim", "BEGIN", "INSERT INTO mart.gone SELECT id, 12 FROM core.orders", TERMINATE),
    *own("ann", "SET statement_timeout = 20"),
    *own("ann", "INSERT INTO mart.gone SELECT id, 13 FROM core.orders, pg_sleep(5)"),
    *own("ann", "RESET statement_timeout"),
]
_PATHS = [
    *own("cat", "SET search_path = stage"),
    Sent("cat", "CREATE TABLE a AS SELECT id FROM core.orders", "CREATE TABLE stage.a AS SELECT id FROM core.orders"),
    *own("cat", "SET search_path TO mart, stage"),
    Sent("cat", "CREATE TABLE b AS SELECT id FROM a", "CREATE TABLE mart.b AS SELECT id FROM stage.a"),
    *own("cat", "BEGIN", "SET LOCAL search_path = core"),
    Sent(
        "cat",
        "INSERT INTO mart.b SELECT order_id FROM items",
        "INSERT INTO mart.b SELECT order_id FROM core.items",
    ),
    *own("cat", "COMMIT"),
    Sent("cat", "INSERT INTO b SELECT id + 1 FROM a", "INSERT INTO mart.b SELECT id + 1 FROM stage.a"),
    *own("cat", "BEGIN", "SET search_path = core", "ROLLBACK"),
    Sent("cat", "INSERT INTO b SELECT id + 2 FROM a", "INSERT INTO mart.b SELECT id + 2 FROM stage.a"),
    *own("cat", "RESET search_path"),
    Sent("cat", "CREATE TABLE c AS SELECT id FROM mart.b", "CREATE TABLE public.c AS SELECT id FROM mart.b"),
    *own("cat", "SELECT set_config('search_path', 'stage, mart', false)"),
    Sent("cat", "CREATE VIEW d AS SELECT id FROM b", "CREATE VIEW stage.d AS SELECT id FROM mart.b"),
    *own("cat", "SET search_path TO DEFAULT"),
    Sent("cat", "CREATE VIEW e AS SELECT id FROM stage.d", "CREATE VIEW public.e AS SELECT id FROM stage.d"),
]
_PREPARED = [
    *same("dan", "CREATE TABLE mart.prepared (a int, b int, c text)"),
    *own("dan", "PREPARE fill (int) AS INSERT INTO mart.prepared (a) SELECT id FROM core.orders WHERE id > $1"),
    Sent("dan", "EXECUTE fill(1)", "INSERT INTO mart.prepared (a) SELECT id FROM core.orders WHERE id > 1"),
    *own(
        "dan",
        "BEGIN",
        "PREPARE lost AS INSERT INTO mart.gone SELECT id, 14 FROM core.orders",
        "EXECUTE lost",
        "ROLLBACK",
    ),
    *own("dan", "DEALLOCATE ALL"),
    Sent(
        "dan",
        "INSERT INTO mart.prepared (b) SELECT customer FROM core.orders WHERE id = $1 \\bind 5 \\g",
        "INSERT INTO mart.prepared (b) SELECT customer FROM core.orders WHERE id = 5",
    ),
    *own("dan", "INSERT INTO mart.prepared (c) SELECT name FROM core.customers WHERE id = $1 \\parse named"),
    Sent(
        "dan",
        "\\bind_named named 5 \\g",
        "INSERT INTO mart.prepared (c) SELECT name FROM core.customers WHERE id = 5",
    ),
    *own("dan", "BEGIN", "INSERT INTO mart.gone SELECT id, $1 FROM core.orders \\bind 15 \\g", "ROLLBACK"),
    *own("dan", "INSERT INTO mart.gone SELECT nothing, $1 FROM core.orders \\bind 16 \\g"),
    *own("dan", "INSERT INTO mart.gone SELECT id / $1::int, 1 FROM (VALUES (1)) AS core (id) \\bind 0 \\g"),
]
_PROGRAMS = [
    *same("ann", "CREATE TABLE mart.made (a int, b numeric)"),
    *same(
        "ann",
        "CREATE PROCEDURE mart.fill() LANGUAGE sql AS $$ INSERT INTO mart.made (a) SELECT id FROM core.orders $$",
        "CREATE FUNCTION mart.twice() RETURNS int LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO mart.made (b) SELECT price FROM core.items; RETURN 1; END $$",
    ),
    *same("ann", "CALL mart.fill()", "SELECT mart.twice()"),
    *same("bob", "DO $$ BEGIN INSERT INTO mart.made SELECT customer, amount FROM core.orders; END $$"),
]
_CHANGES = [
    *same("bob", "CREATE TABLE mart.old AS SELECT id, amount FROM core.orders"),
    *same("ann", "CREATE TABLE mart.copy AS SELECT * FROM mart.old", "ALTER TABLE mart.old RENAME TO older"),
    *same("bob", "CREATE TABLE mart.old AS SELECT id, email FROM core.customers"),
    *same("ann", "CREATE TABLE mart.copy_of_new AS SELECT * FROM mart.old", "DROP TABLE mart.copy"),
    *same(
        "bob",
        "ALTER TABLE mart.older RENAME COLUMN amount TO value",
        "CREATE VIEW mart.v AS SELECT value FROM mart.older",
    ),
    *same("ann", "COPY mart.kept TO STDOUT"),
    *own("ann", "EXPLAIN SELECT * FROM mart.kept", "VACUUM mart.kept"),
]


def _many() -> list[Sent]:
    """Return the same few statements over many tables, of two sessions in turn."""
    found: list[Sent] = []
    for number in range(20):
        session, other = ("ann", "bob") if number % 2 else ("bob", "ann")
        found += same(session, f"CREATE TABLE mart.t{number} AS SELECT id, customer FROM core.orders")
        found += own(session, "BEGIN", f"INSERT INTO mart.t{number} SELECT order_id, {number} FROM core.items")
        found += same(other, f"INSERT INTO mart.t{number} (id)\n  SELECT id -- {number}\n  FROM core.customers")
        found += own(session, "ROLLBACK", f"SELECT * FROM mart.t{number}")
    return found


POSTGRES_WORKLOAD = (
    *_SCHEMAS, *_TEMPORARY, *_TRANSACTIONS, *_PATHS, *_PREPARED, *_PROGRAMS, *_CHANGES, *_many(),
)  # fmt: skip
