"""Column changes of ALTER TABLE, in the syntax of every dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import TypeAlias, TypeVar

from sqlglot import exp

from lineage.frozen import frozen
from lineage.model.names import ColumnPath, split_name

__all__ = [
    "COMPUTED",
    "MOVED",
    "Alteration",
    "ColumnAlteration",
    "column_alterations",
    "new_table_name",
    "reorder_columns",
    "swapped_table",
]

ColumnValue = TypeVar("ColumnValue")
Fold: TypeAlias = "Callable[[exp.Expr], str]"

COMPUTED = "__computed"
"""Marker function: `ALTER COLUMN a TYPE t USING __computed(b)` stands for a column whose default is b; t is ignored."""
MOVED = ("__first", "__after")
"""Marker functions: the rewrite `ALTER COLUMN a TYPE t USING __after(b)` stands for a column that is moved."""

_NO_COLUMN = frozenset(
    ("CONSTRAINT", "PRIMARY", "FOREIGN", "INDEX", "KEY", "CHECK", "PARTITION", "PARTITIONS", "UNIQUE", "UNUSED",
     "CLUSTERING", "ROW", "SEARCH", "STORAGE", "AGGREGATION", "TAG", "PROJECTION", "STATISTICS", "SUPPLEMENTAL")
)  # fmt: skip


class Alteration(StrEnum):
    """What happens to a column."""

    ADD = "add"
    DROP = "drop"
    RENAME = "rename"
    TYPE = "type"
    MOVE = "move"
    """The column gets another position; nothing else changes."""
    COMPUTE = "compute"
    """The column is computed from `node` from now on, or has it as its default."""
    ONLY = "only"
    """The column is one of a list that replaces all columns (Hive's REPLACE COLUMNS)."""


@frozen
class ColumnAlteration:
    """One change of a column (or of a nested field, by its path); `to` is the path after a RENAME.

    `node` is the column's definition or the expression that computes it, if the statement has one. `first` and `after`
    are the new position (FIRST, AFTER other), if the statement gives one.
    """

    kind: Alteration
    column: ColumnPath
    to: ColumnPath | None = None
    data_type: exp.Expr | None = None
    node: exp.Expr | None = None
    first: bool = False
    after: ColumnPath | None = None

    @property
    def name(self) -> str | None:
        """The name of a top-level column; None for a field."""
        return self.column.name if self.column.parent is None else None


def reorder_columns(columns: dict[str, ColumnValue], alteration: ColumnAlteration) -> dict[str, ColumnValue]:
    """Return the columns in their order after an alteration, all other effects of which are already applied."""
    name, after = alteration.name, alteration.after
    if name not in columns or not (alteration.first or (after is not None and after.name in columns)):
        return columns
    others = [(key, value) for key, value in columns.items() if key != name]
    index = 0 if after is None else next((i + 1 for i, (key, _) in enumerate(others) if key == after.name), len(others))
    return dict([*others[:index], (name, columns[name]), *others[index:]])


def new_table_name(alter: exp.Expr) -> exp.Table | None:
    """Return the table's new name, if ALTER TABLE renames it."""
    for action in alter.args.get("actions") or ():
        if isinstance(action, exp.AlterRename) and isinstance(action.this, exp.Table) and _column_to(alter) is None:
            return action.this
    return None


def swapped_table(tree: exp.Expr | None) -> exp.Table | None:
    """Return the table with which ALTER TABLE … SWAP WITH changes places."""
    for action in tree.args.get("actions") or () if isinstance(tree, exp.Alter) else ():
        if isinstance(action, exp.SwapTable) and isinstance(action.this, exp.Table):
            return action.this
    return None


def column_alterations(alter: exp.Expr, fold: Fold) -> Iterator[ColumnAlteration]:
    """Yield the column changes of an ALTER TABLE in order; `fold` returns a name as the dialect compares it."""
    for action in alter.args.get("actions") or ():
        if isinstance(action, exp.AlterRename) and isinstance(action.this, exp.Table):
            to = _column_to(alter)
            if to is not None:  # RENAME a TO b: sqlglot parses `a` as a table
                yield ColumnAlteration(Alteration.RENAME, _path(action.this.this, fold), _path(to, fold))
        elif isinstance(action, exp.Schema):
            for item in action.expressions:
                yield from _alterations_of(item, fold)
        else:
            yield from _alterations_of(action, fold)


def _alterations_of(action: exp.Expr, fold: Fold) -> Iterator[ColumnAlteration]:
    args = action.args
    if isinstance(action, exp.ColumnDef):
        added = ColumnAlteration(Alteration.ADD, _path(action.this, fold), None, args.get("kind"), action)
        yield _with_position(added, args.get("position"), fold)
    elif isinstance(action, exp.RenameColumn):
        yield ColumnAlteration(
            Alteration.RENAME, _path(action.this, fold), _path_after_rename(action.this, args["to"], fold)
        )
    elif isinstance(action, exp.ModifyColumn):
        for one in _type_changes(args.get("rename_from"), action.this, action.this.args.get("kind"), fold):
            yield _with_position(one, action.this.args.get("position"), fold)
    elif isinstance(action, exp.AlterColumn):
        renamed = args.get("rename_to")
        old = action.this if renamed is not None else None
        using = args.get("using")
        node = using if isinstance(using, exp.Expr) else None
        if isinstance(node, exp.Anonymous) and node.name == COMPUTED:
            yield ColumnAlteration(Alteration.COMPUTE, _path(action.this, fold), node=node.expressions[0])
            return
        if isinstance(node, exp.Anonymous) and node.name in MOVED:
            other = _path(node.expressions[0], fold) if node.expressions else None
            yield ColumnAlteration(Alteration.MOVE, _path(action.this, fold), first=other is None, after=other)
            return
        yield from _type_changes(old, renamed or action.this, args.get("dtype"), fold, node)
    elif isinstance(action, exp.Drop) and (args.get("kind") or "").upper() in ("COLUMN", "COLUMNS", ""):
        for column in _dropped_columns(args.get("tables") or [action.this]):
            yield ColumnAlteration(Alteration.DROP, _path(column, fold))
    elif isinstance(action, exp.Command) and str(action.this).upper() == "DROP":
        for column in _columns_in_text(str(args.get("expression") or "")):
            yield ColumnAlteration(Alteration.DROP, _path(column, fold))
    elif isinstance(action, exp.ReplaceColumns):
        for item in action.expressions:
            kind = item.args.get("kind")
            yield ColumnAlteration(Alteration.ONLY, _path(item.this, fold), None, kind, item)


def _with_position(alteration: ColumnAlteration, position: exp.Expr | None, fold: Fold) -> ColumnAlteration:
    if position is None or alteration.kind is Alteration.RENAME:
        return alteration
    after = position.args.get("this")
    return replace(alteration, first=after is None, after=None if after is None else _path(after, fold))


def _type_changes(
    old: exp.Expr | None,
    column: exp.Expr,
    data_type: exp.Expr | None,
    fold: Fold,
    node: exp.Expr | None = None,
) -> Iterator[ColumnAlteration]:
    """CHANGE a b type, MODIFY a type, ALTER COLUMN a TYPE type USING …: a new name, a new type, or both."""
    if isinstance(column, exp.ColumnDef):
        column = column.this
    path = _path(column, fold)
    if old is not None and (before := _path(old, fold)) != path:
        yield ColumnAlteration(Alteration.RENAME, before, path)
    if isinstance(data_type, exp.Expr):
        yield ColumnAlteration(Alteration.TYPE, path, None, data_type, node)


def _dropped_columns(listed: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    for item in listed:
        if isinstance(item, exp.Schema):
            yield from item.expressions
        elif isinstance(item, exp.Column | exp.Identifier):
            yield item


def _columns_in_text(text: str) -> Iterator[exp.Identifier]:
    """Yield the columns of DuckDB's `DROP a` and Oracle's `DROP (a, b)`, which sqlglot keeps as text."""
    listed = text.strip()
    if listed.startswith("("):
        listed = listed[1:].partition(")")[0]
    elif (listed.split() or [""])[0].upper() in _NO_COLUMN:
        return
    for name in listed.split(","):
        parts = split_name(name.strip().removeprefix("IF EXISTS ").partition(" ")[0])
        if len(parts) == 1 and parts[0][0]:
            yield exp.Identifier(this=parts[0][0], quoted=parts[0][1])


def _path_after_rename(old: exp.Expr, to: exp.Expr, fold: Fold) -> ColumnPath:
    """Return the path after a RENAME: a field keeps its parent, which the new name may omit."""
    parts = (*_parts(old)[:-1], _parts(to)[-1])
    return ColumnPath(tuple(fold(part) for part in parts))


def _path(column: exp.Expr, fold: Fold) -> ColumnPath:
    return ColumnPath(tuple(fold(part) for part in _parts(column)))


def _parts(column: exp.Expr) -> list[exp.Expr]:
    if isinstance(column, exp.Column):
        return list(column.parts)
    if isinstance(column, exp.Dot):
        return [*_parts(column.this), *_parts(column.expression)]
    return [column]


def _column_to(alter: exp.Expr) -> exp.Expr | None:
    """Return the new column name in `RENAME a TO b`, which sqlglot parses as a table with an option."""
    for option in alter.args.get("options") or ():
        if isinstance(option, exp.ToTableProperty) and isinstance(option.this, exp.Table):
            found = option.this.this
            return found if isinstance(found, exp.Identifier) else None
    return None
