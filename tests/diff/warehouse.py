"""Build a shop on DuckDB as dbt does: a first build on the older data, then a later one on all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import duckdb

from tests.diff.shop import Model, Shop, relation

__all__ = ["Content", "Warehouse", "PartialBuilds", "build"]

_DAYS = {"raw_orders": "ordered", "raw_visits": "at"}
_UNTIL = "2026-02-20"


@dataclass(frozen=True)
class Content:
    """What a table contains: its columns by name with their types, and its rows as a multiset."""

    types: dict[str, str]
    rows: list[tuple[Any, ...]]

    def of(self, columns: list[str]) -> Counter[tuple[str, ...]]:
        """Return the rows of some columns, joined, as a multiset."""
        order = list(self.types)
        numbers = [order.index(name) for name in columns]
        return Counter(tuple(_text(row[at]) for at in numbers) for row in self.rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Content):
            return NotImplemented
        names = sorted(self.types)
        return sorted(other.types.items()) == sorted(self.types.items()) and self.of(names) == other.of(names)

    __hash__ = None  # type: ignore[assignment]


def _text(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else repr(value)


@dataclass
class Warehouse:
    """A built shop; `failed` is the model whose SQL the database refused, with its message."""

    connection: duckdb.DuckDBPyConnection
    contents: dict[str, Content] = field(default_factory=dict)
    failed: tuple[str, str] | None = None

    def evaluate(self, sql: str) -> Content:
        """Return what a query returns."""
        return _content(self.connection, sql)


def build(shop: Shop) -> Warehouse:
    """Return the warehouse after two builds."""
    built = _new_warehouse()
    for later in (False, True):
        _build_once(built, shop, later)
    return _with_contents(built, shop)


class PartialBuilds:
    """Builds parts of edited shops over the tables of one shop."""

    def __init__(self, before: Shop) -> None:
        self._before = before
        self._built = _new_warehouse()
        self._tables = [one.name for one in before.models.values() if one.materialized != "view"]
        for later in (False, True):
            _build_once(self._built, before, later)
            self._built.connection.execute(f"CREATE SCHEMA kept_{later}")
            for name in self._tables:
                self._built.connection.execute(f"CREATE TABLE kept_{later}.{name} AS SELECT * FROM {relation(name)}")

    def build(self, after: Shop, rebuilt: Collection[str]) -> Warehouse:
        """Return the warehouse in which these tables are built as in `after`, in two builds; valid until the next call.

        A table that is not rebuilt has the rows that it had; a view is read as it was defined.
        """
        before, connection = self._before, self._built.connection
        listed = "SELECT table_name, table_type FROM information_schema.tables WHERE table_catalog = 'shop'"
        for name, kind in connection.execute(f"{listed} AND table_schema = 'main'").fetchall():
            connection.execute(f"DROP {'VIEW' if kind == 'VIEW' else 'TABLE'} {relation(name)}")
        mixed = Shop(
            {name: rows if name in rebuilt else before.seeds.get(name, rows) for name, rows in after.seeds.items()},
            {name: one if name in rebuilt else before.models.get(name, one) for name, one in after.models.items()},
        )
        built = Warehouse(connection)
        for later in (False, True):
            _build_once(built, mixed, later, [name for name in self._tables if name not in rebuilt])
        return _with_contents(built, mixed)


def _new_warehouse() -> Warehouse:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("ATTACH ':memory:' AS shop")
    connection.execute("USE shop")
    return Warehouse(connection)


def _build_once(built: Warehouse, shop: Shop, later: bool, kept: Collection[str] = ()) -> None:
    """Build all models, except that the rows of those in `kept` are copied."""
    if built.failed is not None:
        return
    for name, rows in shop.seeds.items():
        _seed(built.connection, name, rows, later)
    for model in _in_order(shop):
        try:
            if model.name in kept:
                sql = f"CREATE OR REPLACE TABLE {relation(model.name)} AS SELECT * FROM kept_{later}.{model.name}"
                built.connection.execute(sql)
            else:
                _run(built.connection, model, later)
        except duckdb.Error as error:
            built.failed = (model.name, str(error))
            return


def _with_contents(built: Warehouse, shop: Shop) -> Warehouse:
    connection = built.connection
    if built.failed is not None:
        return built
    for name in (*shop.seeds, *shop.models):
        try:
            built.contents[name] = _content(connection, f"select * from {relation(name)}")
        except duckdb.Error as error:
            built.failed = (name, str(error))
            return built
    return built


def _in_order(shop: Shop) -> list[Model]:
    done: dict[str, Model] = {}

    def add(model: Model) -> None:
        for name in model.refs:
            if name in shop.models and name not in done:
                add(shop.models[name])
        done.setdefault(model.name, model)

    for model in shop.models.values():
        add(model)
    return list(done.values())


def _seed(connection: duckdb.DuckDBPyConnection, name: str, rows: list[list[str]], later: bool) -> None:
    header = rows[0]
    day = header.index(_DAYS[name]) if name in _DAYS else None
    kept = [row for row in rows[1:] if later or day is None or row[day] <= _UNTIL]
    types = [_type([row[at] for row in rows[1:]]) for at in range(len(header))]
    listed = ", ".join(f'"{column}" {kind}' for column, kind in zip(header, types, strict=True))
    connection.execute(f"CREATE OR REPLACE TABLE {relation(name)} ({listed})")
    values = ", ".join(f"({', '.join(_literal(value) for value in row)})" for row in kept)
    connection.execute(f"INSERT INTO {relation(name)} VALUES {values}")


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'" if value else "NULL"


def _type(values: list[str]) -> str:
    return "INTEGER" if all(value.lstrip("-").isdigit() for value in values if value) else "VARCHAR"


def _run(connection: duckdb.DuckDBPyConnection, model: Model, later: bool) -> None:
    target = relation(model.name)
    if model.materialized == "incremental" and later:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE new_rows AS {model.text(later=True)}")
        key = model.config.get("unique_key")
        keys = [key] if isinstance(key, str) else list(key or [])
        if keys:
            listed = ", ".join(keys)
            connection.execute(f"DELETE FROM {target} WHERE ({listed}) IN (SELECT ({listed}) FROM new_rows)")
        connection.execute(f"INSERT INTO {target} BY NAME SELECT * FROM new_rows")
        return
    kind = "VIEW" if model.materialized == "view" else "TABLE"
    connection.execute(f"CREATE OR REPLACE {kind} {target} AS {model.text()}")


def _content(connection: duckdb.DuckDBPyConnection, sql: str) -> Content:
    result = connection.execute(sql)
    types = {str(one[0]): str(one[1]) for one in result.description or []}
    return Content(types, result.fetchall())
