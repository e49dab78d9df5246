"""DDL within one file: a table that the file builds and then renames was the renamed table all along.

`CREATE t_new AS …; DROP t; ALTER TABLE t_new RENAME TO t` says what t is. What the file did not build is moved in
the store instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from lineage.model.statement import ChangeKind, StatementLineage, TableChange

__all__ = ["composed_names"]


def composed_names(statements: Sequence[StatementLineage]) -> tuple[list[dict[str, str]], list[list[TableChange]]]:
    """Return, for each statement, the later names of tables built before their renaming; and its changes left over.

    A DROP before the table is built again says nothing more and is left out.
    """
    names: list[dict[str, str]] = [{} for _ in statements]
    left: list[list[TableChange]] = [[] for _ in statements]
    built: dict[str, int] = {}
    for position, statement in enumerate(statements):
        if statement.target is not None and not statement.changes:
            built[statement.target] = position
        for change in statement.changes:
            if change.kind is ChangeKind.DROP:
                if not _built_later(statements, position, change.table):
                    left[position].append(change)
                built.pop(change.table, None)
            elif change.other is not None and (change.table in built or change.other in built):
                _compose(names, built, position, change)
            else:
                left[position].append(change)
    return names, left


def _built_later(statements: Sequence[StatementLineage], position: int, table: str) -> bool:
    renamed = (
        change.other == table
        for statement in statements[position + 1 :]
        for change in statement.changes
        if change.kind is not ChangeKind.DROP
    )
    built = (s.target == table and not s.changes for s in statements[position + 1 :])
    return any(built) or any(renamed)


def _compose(names: list[dict[str, str]], built: dict[str, int], position: int, change: TableChange) -> None:
    assert change.other is not None
    moves = {change.table: change.other}
    if change.kind is ChangeKind.SWAP:
        moves[change.other] = change.table
    for earlier in names[:position]:
        for old, new in list(earlier.items()):
            if new in moves:
                earlier[old] = moves[new]
        for old, new in moves.items():
            if old in built and old not in earlier:
                earlier[old] = new
    moved = {moves.get(name, name): place for name, place in built.items()}
    built.clear()
    built.update(moved)
