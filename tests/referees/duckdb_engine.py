"""DuckDB, asked about cases: the names of columns, and what a changed input column changes."""

from __future__ import annotations

import random

import duckdb

from lineage.model.statement import StatementLineage
from tests.referees.case_tables import ReadCase
from tests.referees.reading import Reading
from tests.soundness.check import Reach, missed
from tests.soundness.experiment import WAYS, Laboratory, RejectedError

__all__ = ["DuckdbEngine"]

_VALUES: dict[str, tuple[object, ...]] = {
    "INTEGER": (0, 1, 2, 3, 5, None),
    "VARCHAR": ("1", "12", "x", "X", "", None),
    "BOOLEAN": (True, False, None),
    "DATE": ("2024-01-01", "2024-02-01", "2025-01-01", None),
    "INTEGER[]": ([1, 2], [3], [], None),
}
"""Of the types whose columns can be changed: with others only names are compared."""


class DuckdbEngine:
    default_types = ("INTEGER", "VARCHAR", "INTEGER[]", "BOOLEAN", "DATE", "JSON")

    def __init__(self) -> None:
        self._database = duckdb.connect(":memory:")
        self._laboratory: Laboratory | None = None

    def begin(self, read: ReadCase, default_type: str) -> None:
        self._database = duckdb.connect(":memory:")
        for schema in sorted({table.schema for table in read.tables} - {""}):
            self.define(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for table in read.tables:
            self.define(table.create(default_type))
        schema = {table.name: {n: (kind or default_type).upper() for n, kind in table.columns} for table in read.tables}
        kinds = {kind for columns in schema.values() for kind in columns.values()}
        plain = not any("." in name for name in schema) and all(schema.values())
        if plain and kinds <= _VALUES.keys() and len(read.statements) == 1:
            domains = {(table, name): _VALUES[kind] for table, each in schema.items() for name, kind in each.items()}
            self._laboratory = Laboratory(schema, domains, random.Random(read.case.name))

    def read(self, text: str, statements: list[StatementLineage]) -> list[Reading]:
        (statement, *_) = statements
        if statement.operation != "SELECT":
            return []
        try:
            described = self._database.execute(f"DESCRIBE {text}").fetchall()
        except duckdb.Error as error:
            raise RejectedError(str(error).partition("\n")[0]) from error
        changed = () if self._laboratory is None else tuple(_unseen(self._laboratory, text, statement))
        return [Reading(tuple(str(row[0]) for row in described), changes=changed)]

    def define(self, text: str) -> None:
        try:
            self._database.execute(text)
        except duckdb.Error as error:
            raise RejectedError(str(error).partition("\n")[0]) from error

    def end(self) -> None:
        self._database.close()
        if self._laboratory is not None:
            self._laboratory.close()
            self._laboratory = None


def _unseen(laboratory: Laboratory, text: str, statement: StatementLineage) -> list[str]:
    """Return what a changed column changes without an edge that says so; nothing if the query does not run."""
    run = ((text,), (), None)
    try:
        before = laboratory.run(*run)
    except RejectedError:
        return []
    reach = Reach.of(statement)
    names = [name.lower() for name in before.names]
    columns = [(table, column) for table, each in laboratory.schema.items() for column in each]
    found = (missed(laboratory, run, (*column, way), before, reach, names) for column in columns for way in WAYS)
    return [detail for finding in found if finding is not None for detail in finding.details]
