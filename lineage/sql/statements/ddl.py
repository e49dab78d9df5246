"""DROP and ALTER TABLE: they move or end a dataset as a whole, or change its columns."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.statement import ChangeKind, ColumnSchema, TableChange
from lineage.sql.relations import BaseTable, Relation, Sources
from lineage.sql.resolver import Resolver
from lineage.sql.statements.computed import computed_columns
from lineage.sql.statements.outcome import Outcome, statement_rule, write


@statement_rule(exp.Drop)
def drop(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """DROP TABLE and DROP VIEW, of one or several."""
    kind = (tree.args.get("kind") or "").upper()
    operation = f"DROP_{kind.replace(' ', '_')}"
    listed = tree.args.get("tables") or [tree.this]
    if kind not in ("TABLE", "VIEW"):
        return Outcome(operation)
    names = [_name(resolver, table) for table in listed if isinstance(table, exp.Table)]
    changes = tuple(TableChange(ChangeKind.DROP, name) for name in names)
    return Outcome(operation, names[0] if len(names) == 1 else None, changes=changes)


@statement_rule(exp.Alter)
def alter(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """ALTER TABLE a RENAME TO b; SWAP WITH b; ADD, DROP and RENAME COLUMN, which later statements see."""
    if not isinstance(tree.this, exp.Table):
        return Outcome("ALTER")
    actions = tree.args.get("actions") or ()
    for action in actions:
        if isinstance(action, exp.Delete):  # ClickHouse: ALTER TABLE … DELETE WHERE
            action.set("this", tree.this)
            return write(resolver, action)
        if isinstance(action, exp.ReplacePartition) and isinstance(action.args.get("source"), exp.Table):
            moved = exp.Select(expressions=[exp.Star()], from_=exp.From(this=action.args["source"]))
            return write(resolver, exp.Insert(this=tree.this, expression=moved))
    target = _name(resolver, tree.this)
    outcome = Outcome("ALTER_TABLE", target)
    changes = []
    for action in actions:
        if isinstance(action, exp.AlterRename) and isinstance(action.this, exp.Table):
            new = resolver.naming.qualify(_renamed_parts(resolver, tree, action))
            changes.append(TableChange(ChangeKind.RENAME, target, new))
        elif isinstance(action, exp.SwapTable) and isinstance(action.this, exp.Table):
            changes.append(TableChange(ChangeKind.SWAP, target, _name(resolver, action.this)))
    outcome.changes = tuple(changes)
    _change_columns(resolver, tree, outcome)
    return outcome


def _renamed_parts(resolver: Resolver, tree: exp.Expr, action: exp.Expr) -> list[str]:
    """Return the parts of the name that RENAME TO gives; it stays in the schema of the old name."""
    parts = resolver.identifiers.table_parts(tree.this)
    new = resolver.identifiers.table_parts(action.this)
    return [*parts[: len(parts) - len(new)], *new]


def _change_columns(resolver: Resolver, tree: exp.Expr, outcome: Outcome) -> None:
    """Give the outcome the columns that the table has from here on, where they were known."""
    _, known = resolver.named(resolver.identifiers.table_parts(tree.this))
    actions = tree.args.get("actions") or ()
    parts = [
        part for action in actions for part in (action.expressions if isinstance(action, exp.Schema) else [action])
    ]
    computed_columns(resolver, outcome, parts, known)
    if known.is_open and isinstance(known, BaseTable):
        return
    fold = resolver.identifiers.column
    columns: dict[str, Sources] = dict(known.columns())
    for part in parts:
        if isinstance(part, exp.ColumnDef):
            columns.setdefault(fold(part.this), {})
        elif isinstance(part, exp.Drop) and (part.args.get("kind") or "").upper() in ("COLUMN", ""):
            for column in part.args.get("tables") or [part.this]:
                if isinstance(column, exp.Column | exp.Identifier):
                    columns.pop(fold(column.this if isinstance(column, exp.Column) else column), None)
        elif isinstance(part, exp.RenameColumn):
            columns = _renamed(columns, fold(part.this.this), fold(part.args["to"].this), known)
        elif isinstance(part, exp.ModifyColumn) and (old := part.args.get("rename_from")) is not None:
            columns = _renamed(columns, fold(old), fold(part.this.this), known)
    if not known.is_open:
        outcome.schema = tuple(ColumnSchema(name) for name in columns)
    if not isinstance(known, BaseTable):
        outcome.relation = Relation(list(columns), list(columns.values()), known.rows, known.opens)


def _renamed(columns: dict[str, Sources], old: str, new: str, known: Relation) -> dict[str, Sources]:
    if old not in columns and known.is_open:
        return {**columns, new: known.infer(old) or {}}
    return {new if name == old else name: sources for name, sources in columns.items()}


def _name(resolver: Resolver, table: exp.Expr) -> str:
    assert isinstance(table, exp.Table)
    return resolver.name(table)
