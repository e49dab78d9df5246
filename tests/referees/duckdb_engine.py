"""DuckDB, asked about cases: the names of columns, and what a changed input column changes."""

from __future__ import annotations

import random
from collections.abc import Mapping

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
    default_types: tuple[str, ...] = ("INTEGER", "VARCHAR", "INTEGER[]", "BOOLEAN", "DATE", "JSON")

    def __init__(self) -> None:
        self._database = duckdb.connect(":memory:")
        self._schema: dict[str, dict[str, str]] = {}
        """Of the tables of a case with one statement."""

    def begin(self, read: ReadCase, default_type: str) -> None:
        self._database = duckdb.connect(":memory:")
        self._schema = {}
        for schema in read.schemas:
            self.define(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for table in read.tables:
            self.define(table.create(default_type))
        if len(read.statements) > 1:
            return
        self._schema = {
            table.name: {n: (kind or default_type).upper() for n, kind in table.columns} for table in read.tables
        }

    def read(self, text: str, statements: list[StatementLineage]) -> list[Reading]:
        (statement, *_) = statements
        if statement.operation != "SELECT":
            return []
        try:
            described = self._database.execute(f"DESCRIBE {text}").fetchall()
        except duckdb.Error as error:
            raise RejectedError(str(error).partition("\n")[0]) from error
        asked = statement.completeness == "full"  # else something may be missed
        changed = _unseen(self._schema, text, statement) if asked else []
        return [Reading(tuple(str(row[0]) for row in described), changes=tuple(changed))]

    def define(self, text: str) -> None:
        try:
            self._database.execute(text)
        except duckdb.Error as error:
            raise RejectedError(str(error).partition("\n")[0]) from error

    def end(self) -> None:
        self._database.close()


def _unseen(schema: Mapping[str, Mapping[str, str]], text: str, statement: StatementLineage) -> list[str]:
    """Return what a changed column changes without an edge that says so; nothing if the query does not run."""
    kinds = {kind for columns in schema.values() for kind in columns.values()}
    if not kinds or not kinds <= _VALUES.keys() or not all(schema.values()) or any("." in name for name in schema):
        return []
    domains = {(table, name): _VALUES[kind] for table, each in schema.items() for name, kind in each.items()}
    laboratory = Laboratory(schema, domains, random.Random(text))
    try:
        return _changes(laboratory, text, statement)
    finally:
        laboratory.close()


def _changes(laboratory: Laboratory, text: str, statement: StatementLineage) -> list[str]:
    run = ((text,), (), None)
    try:
        before = laboratory.run(*run)
    except RejectedError:
        return []
    reach = Reach.of(statement)
    names = statement.output_columns
    if len(names) != len(before.names):
        return []
    columns = [(table, column) for table, each in laboratory.schema.items() for column in each]
    found = (missed(laboratory, run, (*column, way), before, reach, names) for column in columns for way in WAYS)
    return [detail for finding in found if finding is not None for detail in finding.details]
