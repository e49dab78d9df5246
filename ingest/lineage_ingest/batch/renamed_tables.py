"""Renames within one batch of files, or one session: a table that it creates and renames is stored by its last name.

`CREATE t_new AS …; DROP t; ALTER TABLE t_new RENAME TO t` defines t. Tables that the batch did not create are renamed
in the store as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from lineage.frozen import frozen
from lineage.model.names import ColumnPath, renamed_path
from lineage.model.statement import ChangeKind, StatementLineage, TableChange

__all__ = ["LaterNames", "compose_names", "is_gone", "last_path", "table_after"]

_GONE = "\0"
_GONE_PATHS = (_GONE, f'"{_GONE}')
_NO_RENAMES: Mapping[str, str] = {}


@frozen
class LaterNames:
    """Final names of tables and columns, by the names that they have at one statement."""

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By the table's name in the statement, and path."""

    def table(self, name: str) -> str:
        """Return the final name of a table."""
        return self.tables.get(name, name)

    def column(self, table: str, path: str) -> str:
        """Return the final path of a column; `table` is the table's name in the statement."""
        renamed = self.columns.get(table)
        return renamed_path(path, renamed) if renamed else path

    def without(self, tables: Sequence[str]) -> LaterNames:
        """Return the same without renames of these tables: they refer to whatever has the name at the end."""
        return LaterNames(
            {name: later for name, later in self.tables.items() if name not in tables},
            {name: later for name, later in self.columns.items() if name not in tables},
        )

    def before(self, change: TableChange, gone: str) -> LaterNames:
        """Return the final names by the names that are valid before a change.

        A column that the change drops has the final path `gone`.
        """
        tables, columns = dict(self.tables), dict(self.columns)
        name, other = change.table, change.other
        if change.kind is ChangeKind.RENAME_COLUMN and change.column is not None and other is not None:
            own = dict(columns.get(name, _NO_RENAMES))
            own[change.column] = own.pop(other, other)
            columns[name] = own
        elif change.kind is ChangeKind.DROP_COLUMN and change.column is not None:
            columns[name] = {**columns.get(name, _NO_RENAMES), change.column: gone}
        elif change.kind is ChangeKind.DROP:
            tables.pop(name, None)
            columns.pop(name, None)
        elif other is not None:
            old_table, old_columns = tables.pop(name, name), columns.pop(name, _NO_RENAMES)
            new_table, new_columns = tables.pop(other, other), columns.pop(other, _NO_RENAMES)
            tables[name], columns[name] = new_table, new_columns
            if change.kind is ChangeKind.SWAP:
                tables[other], columns[other] = old_table, old_columns
        return LaterNames(tables, columns)


def compose_names(statements: Sequence[StatementLineage]) -> tuple[list[LaterNames], list[list[TableChange]]]:
    """Return the final names for each statement (after its own changes), and the changes left to apply to the store.

    Those are changes of tables that the statements did not create before, without the DROP of a table that they create
    again later. A column that they create and drop has a final path for which `is_gone` is true.
    """
    names = [LaterNames()] * len(statements)
    left = _remaining_changes(statements)
    later = LaterNames()
    for position in range(len(statements) - 1, -1, -1):
        changes = statements[position].changes
        read_by_name = statements[position].read_by_name
        names[position] = later.without(read_by_name) if read_by_name else later
        for number in range(len(changes) - 1, -1, -1):
            change = changes[number]
            if change.kind is ChangeKind.DROP_COLUMN and change in left[position]:
                continue
            later = later.before(change, f"{_GONE}{position}:{number}{_GONE}{change.column}")
    return names, left


def is_gone(path: str) -> bool:
    """Return whether a final path is that of a column that is dropped before the end."""
    return path.startswith(_GONE_PATHS)


def last_path(gone: str) -> str:
    """Return the last path of a column that is dropped before the end, from its final path.

    >>> last_path("\\x003:0\\x00item.price")
    'item.price'
    """
    first, *below = ColumnPath.parse(gone).parts
    name = ColumnPath.parse(first.rpartition(_GONE)[2])
    return str(ColumnPath((*name.parts, *below)))


def table_after(statement: StatementLineage) -> str | None:
    """Return the name of a statement's target after the statement."""
    renamed = (c.other for c in statement.changes if c.kind is ChangeKind.RENAME and c.table == statement.target)
    return next(renamed, statement.target)


def _remaining_changes(statements: Sequence[StatementLineage]) -> list[list[TableChange]]:
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
                if change.table not in built:
                    left[position].append(change)
            elif change.other is not None and (change.table in built or change.other in built):
                both = {change.table, change.other}
                moved = {change.other} if change.kind is ChangeKind.RENAME else both
                built = (built - both) | moved
            else:
                left[position].append(change)
    return left
