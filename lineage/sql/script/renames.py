"""What tables and columns are called after the statements of a script that rename them.

A temporary table keeps what it read under the names of that time; what reads it later means the same tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from lineage.model.statement import ChangeKind, TableChange
from lineage.sql.resolve.relations import (
    BaseTable,
    BaseTables,
    Composite,
    Relation,
    RowSources,
    Sources,
    TableRows,
    absorb_rows,
)
from lineage.sql.script.definitions import Position

__all__ = ["NamesSince", "Renames"]


@dataclass(frozen=True, slots=True)
class NamesSince:
    """What tables and columns that were read at a statement are called at a later one."""

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By the table's name at the first statement, and the column's there."""

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns)

    def table(self, name: str) -> str:
        """Return what a table is called."""
        return self.tables.get(name, name)

    def column(self, table: str, column: str) -> str:
        """Return what a column of a table is called; both by their names at the first statement."""
        return self.columns.get((table, column), column)

    def in_relation(self, relation: Relation, shared: BaseTables) -> Relation:
        """Return a relation with the names that count later."""
        if not self:
            return relation
        rows: RowSources | None = None
        if relation.rows is not None:
            flat: Sources = {}
            absorb_rows(flat, relation.rows)
            rows = RowSources()
            rows.own = self._in_sources(flat, shared)
        opens = [shared.table(self.table(r.name), None) if isinstance(r, BaseTable) else r for r in relation.opens]
        return Relation(list(relation.names), [self._in_sources(s, shared) for s in relation.sources], rows, opens)

    def _in_sources(self, sources: Sources, shared: BaseTables) -> Sources:
        renamed: Sources = {}
        for (source, effect), place in sources.items():
            table = self.table(source.table)
            if type(source) is TableRows:
                renamed[shared.rows(table), effect] = place
            else:
                column = self.column(source.table, source.column)
                renamed[shared.source(table, column, source.ambiguous), effect] = place
        if not isinstance(sources, Composite):
            return renamed
        fields, whole = sources.fields, sources.whole
        return Composite(
            renamed,
            None if fields is None else {name: self._in_sources(inner, shared) for name, inner in fields.items()},
            None if whole is None else self._in_sources(whole, shared),
        )


_NOTHING = NamesSince()


class Renames:
    """The statements of a script that rename tables and columns."""

    def __init__(self) -> None:
        self._changes: dict[Position, tuple[TableChange, ...]] = {}

    def note(self, position: Position, changes: Iterable[TableChange]) -> None:
        """Take in what a statement changes."""
        found = tuple(c for c in changes if c.kind in (ChangeKind.RENAME_COLUMN, ChangeKind.RENAME, ChangeKind.SWAP))
        if found:
            self._changes[position] = found
        else:
            self._changes.pop(position, None)

    def between(self, since: Position, until: Position) -> NamesSince:
        """Return what is called how behind the last statement between two, by the names that count at the first."""
        inside = [position for position in sorted(self._changes) if since < position < until]
        if not inside:
            return _NOTHING
        now: dict[str, str] = {}
        columns: dict[tuple[str, str], str] = {}
        for change in chain.from_iterable(self._changes[position] for position in inside):
            if change.other is None:
                continue
            tables = _called(change.table, now)
            if change.kind is not ChangeKind.RENAME_COLUMN:
                others = _called(change.other, now) if change.kind is ChangeKind.SWAP else []
                now.update(dict.fromkeys(tables, change.other))
                now.update(dict.fromkeys(others, change.table))
                continue
            old, new = str(change.column), change.other
            for table in tables:
                earlier = [key for key, name in columns.items() if key[0] == table and name == old]
                columns.update(dict.fromkeys(earlier, new))
                columns.setdefault((table, old), new)
        return NamesSince({name: later for name, later in now.items() if name != later}, columns)


def _called(name: str, now: Mapping[str, str]) -> list[str]:
    """Return what the tables of a name were called at first: none, where that table is a new one."""
    return [first for first, later in now.items() if later == name] or ([name] if name not in now else [])
