"""The names of a data model: tables, columns and calculations, which DAX compares without case; relationships."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.frozen import frozen
from lineage_ingest.bi.powerbi.dax import made_names, references_of, tables_of

__all__ = ["DaxNames", "ModelNames", "ModelRelationship", "ModelRelationships"]

_MAX_DEPTH = 30


@dataclass(slots=True)
class DaxNames:
    """What an expression names, also by way of other calculations: columns and tables of the model, unknown names."""

    columns: dict[tuple[str, str], None] = field(default_factory=dict)
    tables: dict[str, None] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


class ModelNames:
    """Finds columns and calculations by the names that DAX has for them.

    https://learn.microsoft.com/en-us/dax/dax-syntax-reference
    """

    def __init__(
        self, columns: Mapping[str, Mapping[str, str]], calculated: Mapping[str, Mapping[str, tuple[str, bool]]]
    ) -> None:
        """`columns` are those of sources, `calculated` the expressions of calculated columns and measures, by table."""
        self._calculated = calculated
        self._tables = {one.casefold(): one for one in (*calculated, *columns)}
        self._columns = _by_fold(columns)
        self._calculations = _by_fold(calculated)
        self._anywhere = {name: found for (_, name), found in reversed(list(self._calculations.items()))}

    def table(self, name: str) -> str | None:
        """Return a table of the model; None if there is none of this name."""
        return self._tables.get(name.casefold())

    def column(self, table: str, name: str) -> tuple[str, str] | None:
        """Return a column that comes from a source, with its table."""
        return self._columns.get((table.casefold(), name.casefold()))

    def calculation(self, table: str, name: str) -> tuple[str, str] | None:
        """Return a calculated column or measure, with its table."""
        return self._calculations.get((table.casefold(), name.casefold()))

    def collect(self, table: str, expression: str, names: DaxNames, depth: int = 0) -> None:
        """Add what an expression of a table names. A measure may be named without its table."""
        if depth > _MAX_DEPTH:
            names.unknown.append("a calculation that reads itself")
            return
        for one in tables_of(expression):
            known = self.table(one)
            if known is not None:
                names.tables[known] = None
        for other, name in references_of(expression):
            owner = other if other is not None else table
            column = self.column(owner, name)
            if column is not None:
                names.columns[column] = None
                continue
            calculation = self.calculation(owner, name)
            if calculation is None and other is None:
                calculation = self._anywhere.get(name.casefold())
            if calculation is not None:
                inner = self._calculated[calculation[0]][calculation[1]][0]
                self.collect(calculation[0], inner, names, depth + 1)
            elif other is None and name.casefold() in made_names(expression):
                continue  # a column that the expression makes
            elif other is not None or depth == 0:
                names.unknown.append(f"{other or ''}[{name}]")


@frozen
class ModelRelationship:
    """Two columns by which the model connects two tables."""

    table: str
    column: str
    other: str
    other_column: str


class ModelRelationships:
    """The active relationships of a model: filters go from table to table along them."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], names: ModelNames) -> None:
        self._of: dict[str, list[ModelRelationship]] = {}
        for row in rows:
            left = names.column(str(row.get("FromTableName")), str(row.get("FromColumnName")))
            right = names.column(str(row.get("ToTableName")), str(row.get("ToColumnName")))
            if left is not None and right is not None and row.get("IsActive") not in (0, False, "0", "False"):
                found = ModelRelationship(*left, *right)
                self._of.setdefault(found.table, []).append(found)
                self._of.setdefault(found.other, []).append(found)

    def connecting(self, tables: Collection[str]) -> list[ModelRelationship]:
        """Return the relationships on the shortest ways between tables, also by way of others."""
        found: dict[ModelRelationship, None] = {}
        ordered = sorted(tables)
        for number, start in enumerate(ordered):
            ways = self._ways_from(start)
            for end in ordered[number + 1 :]:
                at = end
                while at != start and at in ways:
                    step = ways[at]
                    found[step] = None
                    at = step.table if step.other == at else step.other
        return list(found)

    def _ways_from(self, start: str) -> dict[str, ModelRelationship]:
        """Return the last relationship on the way to each table that can be reached."""
        ways: dict[str, ModelRelationship] = {}
        waiting = deque([start])
        while waiting:
            at = waiting.popleft()
            for one in self._of.get(at, ()):
                other = one.other if one.table == at else one.table
                if other != start and other not in ways:
                    ways[other] = one
                    waiting.append(other)
        return ways


def _by_fold(by_table: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], tuple[str, str]]:
    return {(table.casefold(), name.casefold()): (table, name) for table, names in by_table.items() for name in names}
