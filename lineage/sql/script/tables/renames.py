"""Names of tables and columns after the statements of a script that rename them.

The content of a temporary table refers to names at the time it was written; later readers need the current names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from itertools import chain

from lineage.frozen import frozen
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


@frozen
class NamesSince:
    """The names at a later statement of tables and columns that were read at an earlier one."""

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By the names of table and column at the earlier statement."""

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns)

    def table(self, name: str) -> str:
        """Return the current name of a table."""
        return self.tables.get(name, name)

    def column(self, table: str, column: str) -> str:
        """Return the current name of a column; `table` and `column` are the names at the earlier statement."""
        return self.columns.get((table, column), column)

    def in_relation(self, relation: Relation, shared: BaseTables) -> Relation:
        """Return a relation with the current names."""
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
        return sources.changed(renamed, lambda inner: self._in_sources(inner, shared))


_NOTHING = NamesSince()


class Renames:
    """The statements of a script that rename tables and columns."""

    def __init__(self) -> None:
        self._changes: dict[Position, tuple[TableChange, ...]] = {}

    def note(self, position: Position, changes: Iterable[TableChange]) -> None:
        """Record the renames of a statement."""
        found = tuple(c for c in changes if c.kind in (ChangeKind.RENAME_COLUMN, ChangeKind.RENAME, ChangeKind.SWAP))
        if found:
            self._changes[position] = found
        else:
            self._changes.pop(position, None)

    def between(self, since: Position, until: Position) -> NamesSince:
        """Return the names after all statements between two, by the names at the first one."""
        inside = [position for position in sorted(self._changes) if since < position < until]
        if not inside:
            return _NOTHING
        now: dict[str, str] = {}
        columns: dict[tuple[str, str], str] = {}
        for change in chain.from_iterable(self._changes[position] for position in inside):
            if change.other is None:
                continue
            tables = _original_names(change.table, now)
            if change.kind is not ChangeKind.RENAME_COLUMN:
                others = _original_names(change.other, now) if change.kind is ChangeKind.SWAP else []
                now.update(dict.fromkeys(tables, change.other))
                now.update(dict.fromkeys(others, change.table))
                continue
            old, new = str(change.column), change.other
            for table in tables:
                earlier = [key for key, name in columns.items() if key[0] == table and name == old]
                columns.update(dict.fromkeys(earlier, new))
                columns.setdefault((table, old), new)
        return NamesSince({name: later for name, later in now.items() if name != later}, columns)


def _original_names(name: str, now: Mapping[str, str]) -> list[str]:
    """Return the original names of the tables that now have this name; none for a new table."""
    return [first for first, later in now.items() if later == name] or ([name] if name not in now else [])
