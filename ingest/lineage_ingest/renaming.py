"""DDL within one batch of files, or one session: what it builds and then renames had the last name all along.

`CREATE t_new AS …; DROP t; ALTER TABLE t_new RENAME TO t` says what t is. What the batch did not build is moved in
the store as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lineage.model.names import renamed_path
from lineage.model.statement import ChangeKind, StatementLineage, TableChange

__all__ = ["LaterNames", "composed_names", "table_after"]

_AS_IT_IS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class LaterNames:
    """What tables and columns are called in the end, by the names that they have at some statement."""

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By table, as the statement calls it, and path."""

    def table(self, name: str) -> str:
        """Return what a table is called in the end."""
        return self.tables.get(name, name)

    def column(self, table: str, path: str) -> str:
        """Return the path that a column of a table (as the statement calls it) has in the end."""
        renamed = self.columns.get(table)
        return renamed_path(path, renamed) if renamed else path

    def before(self, change: TableChange) -> LaterNames:
        """Return what is called how in the end by the names that count before a change."""
        tables, columns = dict(self.tables), dict(self.columns)
        name, other = change.table, change.other
        if change.kind is ChangeKind.RENAME_COLUMN and change.column is not None and other is not None:
            own = dict(columns.get(name, _AS_IT_IS))
            own[change.column] = own.pop(other, other)
            columns[name] = own
        elif change.kind is ChangeKind.DROP_COLUMN and change.column is not None:
            own = dict(columns.get(name, _AS_IT_IS))
            own.pop(change.column, None)
            columns[name] = own
        elif change.kind is ChangeKind.DROP:
            tables.pop(name, None)
            columns.pop(name, None)
        elif other is not None:
            old_table, old_columns = tables.pop(name, name), columns.pop(name, _AS_IT_IS)
            new_table, new_columns = tables.pop(other, other), columns.pop(other, _AS_IT_IS)
            tables[name], columns[name] = new_table, new_columns
            if change.kind is ChangeKind.SWAP:
                tables[other], columns[other] = old_table, old_columns
        return LaterNames(tables, columns)


def composed_names(statements: Sequence[StatementLineage]) -> tuple[list[LaterNames], list[list[TableChange]]]:
    """Return, for each statement, what is called how in the end (as its own changes leave it); and changes left over.

    Left over are changes of what the statements did not build before, in any case without a DROP of what they build
    again after it, and without one of a column that they read.
    """
    names = [LaterNames()] * len(statements)
    later = LaterNames()
    for position in range(len(statements) - 1, -1, -1):
        changes = statements[position].changes
        names[position] = later
        if changes:
            for change in reversed(changes):
                later = later.before(change)
    return names, _left_over(statements)


def table_after(statement: StatementLineage) -> str | None:
    """Return what the target of a statement is called behind it."""
    renamed = (c.other for c in statement.changes if c.kind is ChangeKind.RENAME and c.table == statement.target)
    return next(renamed, statement.target)


def _left_over(statements: Sequence[StatementLineage]) -> list[list[TableChange]]:
    left: list[list[TableChange]] = [[] for _ in statements]
    if not any(statement.changes for statement in statements):
        return left
    last_built: dict[str, int] = {}
    for position, statement in enumerate(statements):
        if statement.target is not None and not statement.changes:
            last_built[statement.target] = position
        for change in statement.changes:
            if change.other is not None and change.kind is ChangeKind.RENAME:
                last_built[change.other] = position
    read = {edge.source for statement in statements for edge in statement.edges}
    built: set[str] = set()
    for position, statement in enumerate(statements):
        if statement.target is not None and not statement.changes:
            built.update([statement.target] if statement.defines else [])
        for change in statement.changes:
            if change.kind is ChangeKind.DROP:
                if last_built.get(change.table, -1) <= position:
                    left[position].append(change)
                built.discard(change.table)
            elif change.kind.of_column:
                is_read = change.kind is ChangeKind.DROP_COLUMN and (change.table, change.column) in read
                if change.table not in built and not is_read:
                    left[position].append(change)
            elif change.other is not None and (change.table in built or change.other in built):
                both = {change.table, change.other}
                moved = {change.other} if change.kind is ChangeKind.RENAME else both
                built = (built - both) | moved
            else:
                left[position].append(change)
    return left
