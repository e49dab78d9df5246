"""A workload for MariaDB: temporary tables, transactions, USE, prepared statements, procedures; nothing that fails.

The server's logs do not say what failed.
"""

from __future__ import annotations

from tests.query_logs.servers.workload import Sent, own, same

__all__ = ["MARIADB_WORKLOAD"]

_SCHEMAS = same(
    "ann",
    "CREATE DATABASE core",
    "CREATE DATABASE stage",
    "CREATE DATABASE mart",
    "CREATE TABLE core.orders (id int, customer int, amount decimal(10, 2), placed date)",
    "CREATE TABLE core.customers (id int, name varchar(99), email varchar(99), country varchar(9))",
    "CREATE TABLE core.items (order_id int, sku varchar(9), price decimal(10, 2), quantity int)",
    "CREATE TABLE mart.kept (a int, b int)",
    "CREATE TABLE mart.gone (a int, b int)",
)
_TEMPORARY = [
    *own("ann", "USE stage"),
    *own("bob", "USE stage"),
    Sent(
        "ann",
        "CREATE TEMPORARY TABLE recent AS SELECT id, customer, amount FROM core.orders WHERE placed > '2026-01-01'",
        "CREATE TEMPORARY TABLE stage.recent AS SELECT id, customer, amount FROM core.orders WHERE placed > 1",
    ),
    Sent(
        "bob",
        "CREATE TEMPORARY TABLE recent AS SELECT id, id AS customer, 1 AS amount FROM core.customers",
        "CREATE TEMPORARY TABLE stage.of_bob AS SELECT id, id AS customer, 1 AS amount FROM core.customers",
    ),
    Sent(
        "ann",
        "CREATE TABLE mart.recent_of_ann AS SELECT customer, sum(amount) AS total FROM recent GROUP BY customer",
        "CREATE TABLE mart.recent_of_ann AS SELECT customer, sum(amount) AS total FROM stage.recent GROUP BY customer",
    ),
    Sent(
        "bob",
        "CREATE TABLE mart.recent_of_bob AS SELECT customer, amount FROM recent",
        "CREATE TABLE mart.recent_of_bob AS SELECT customer, amount FROM stage.of_bob",
    ),
    *own("bob", "DROP TEMPORARY TABLE recent"),
]
_TRANSACTIONS = [
    *own("ann", "BEGIN", "INSERT INTO mart.gone SELECT id, customer FROM core.orders", "ROLLBACK"),
    *own("ann", "START TRANSACTION"),
    *own("bob", "BEGIN"),
    *same("bob", "INSERT INTO mart.kept SELECT id, customer FROM core.orders"),
    *own("ann", "INSERT INTO mart.gone SELECT order_id, quantity FROM core.items"),
    *own("bob", "COMMIT"),
    *own("ann", "ROLLBACK WORK"),
    *own("ann", "BEGIN"),
    *same("ann", "INSERT INTO mart.kept (a) SELECT quantity FROM core.items"),
    *own(
        "ann", "SAVEPOINT one", "INSERT INTO mart.gone SELECT id, id FROM core.customers", "ROLLBACK TO SAVEPOINT one"
    ),
    *same("ann", "INSERT INTO mart.kept (b) SELECT id FROM core.customers"),
    *own("ann", "RELEASE SAVEPOINT one", "COMMIT"),
    *own("ann", "SET autocommit = 0", "INSERT INTO mart.gone SELECT id, 3 FROM core.orders", "ROLLBACK"),
    *own("ann", "INSERT INTO mart.gone SELECT id, 4 FROM core.orders", "ROLLBACK"),
    *same("ann", "UPDATE mart.kept SET b = a * 2 WHERE b IS NULL"),
    *own("ann", "COMMIT", "SET autocommit = 1"),
    *own("ann", "BEGIN"),
    *same("ann", "INSERT INTO mart.kept SELECT 5, id FROM core.orders"),
    *same("ann", "CREATE TABLE mart.commits (a int)"),  # DDL commits
    *own("ann", "ROLLBACK"),
    *own("ann", "BEGIN"),
    *same("ann", "DELETE FROM mart.kept WHERE a IN (SELECT id FROM core.orders)"),
    *own("ann", "COMMIT AND CHAIN", "UPDATE mart.kept SET a = b + 7", "ROLLBACK"),
    *own("eve", "BEGIN", "INSERT INTO mart.gone SELECT id, 11 FROM core.orders", "ROLLBACK"),
]
_NAMES = [
    *own("cat", "USE stage"),
    Sent("cat", "CREATE TABLE a AS SELECT id FROM core.orders", "CREATE TABLE stage.a AS SELECT id FROM core.orders"),
    *own("cat", "USE mart"),
    Sent("cat", "CREATE TABLE b AS SELECT id FROM stage.a", "CREATE TABLE mart.b AS SELECT id FROM stage.a"),
    *own("cat", "USE `core`"),
    Sent("cat", "INSERT INTO mart.b SELECT id FROM customers", "INSERT INTO mart.b SELECT id FROM core.customers"),
]
_PREPARED = [
    *same("dan", "CREATE TABLE mart.prepared (a int, b int)"),
    *own(
        "dan", "PREPARE fill FROM 'INSERT INTO mart.prepared (a) SELECT id FROM core.orders WHERE id > ?'", "SET @x = 1"
    ),
    Sent("dan", "EXECUTE fill USING @x", "INSERT INTO mart.prepared (a) SELECT id FROM core.orders WHERE id > 1"),
    *own("dan", "PREPARE lost FROM 'INSERT INTO mart.gone SELECT id, 14 FROM core.orders'", "BEGIN", "EXECUTE lost"),
    *own("dan", "ROLLBACK", "DEALLOCATE PREPARE fill"),
]
_PROGRAMS = [
    *same("ann", "CREATE TABLE mart.made (a int, b decimal(10, 2))"),
    Sent(
        "ann",
        "CREATE PROCEDURE mart.fill() BEGIN INSERT INTO mart.made (a) SELECT id FROM core.orders; END//",
        "CREATE PROCEDURE mart.fill() INSERT INTO mart.made (a) SELECT id FROM core.orders",
    ),
    *same("ann", "CALL mart.fill()"),
]
_CHANGES = [
    *same("bob", "CREATE TABLE mart.old AS SELECT id, amount FROM core.orders"),
    *same("ann", "CREATE TABLE mart.copy AS SELECT * FROM mart.old", "RENAME TABLE mart.old TO mart.older"),
    *same("bob", "CREATE TABLE mart.old AS SELECT id, email FROM core.customers"),
    *same("ann", "CREATE TABLE mart.copy_of_new AS SELECT * FROM mart.old", "DROP TABLE mart.copy"),
    *same("bob", "CREATE VIEW mart.v AS SELECT amount FROM mart.older"),
]


def _many() -> list[Sent]:
    """Return the same few statements over many tables, of two sessions in turn."""
    found: list[Sent] = []
    for number in range(20):
        session, other = ("ann", "bob") if number % 2 else ("bob", "ann")
        found += same(session, f"CREATE TABLE mart.t{number} AS SELECT id, customer FROM core.orders")
        found += own(
            session, "BEGIN", f"INSERT INTO mart.t{number} SELECT order_id, {number} FROM core.items", "ROLLBACK"
        )
        found += same(other, f"INSERT INTO mart.t{number} (id)\n  SELECT id /* {number} */\n  FROM core.customers")
        found += own(session, f"SELECT * FROM mart.t{number}")
    return found


MARIADB_WORKLOAD = (*_SCHEMAS, *_TEMPORARY, *_TRANSACTIONS, *_NAMES, *_PREPARED, *_PROGRAMS, *_CHANGES, *_many())
