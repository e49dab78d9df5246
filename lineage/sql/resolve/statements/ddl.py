"""DROP and ALTER TABLE: they drop or rename a dataset, or change its columns."""

from __future__ import annotations

from sqlglot import exp

from lineage.catalog.ddl import type_text
from lineage.model.names import ColumnPath, plain_name, split_name
from lineage.model.spelling import Spelled
from lineage.model.statement import ChangeKind, ColumnSchema, TableChange
from lineage.sql.parse.alterations import (
    Alteration,
    ColumnAlteration,
    column_alterations,
    new_table_name,
    reorder_columns,
    swapped_table,
)
from lineage.sql.resolve.relations import BaseTable, Relation, Sources
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.computed import computed_columns
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule, write
from lineage.sql.resolve.transformation_codes import TRANSFORMATION


@statement_rule(exp.Drop)
def drop(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """DROP TABLE and DROP VIEW, of one or more objects."""
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
    """ALTER TABLE a RENAME TO b; SWAP WITH b; ADD, DROP and RENAME COLUMN, which affect later statements."""
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
    changes = _change_columns(resolver, tree, outcome)
    if (to := new_table_name(tree)) is not None:
        parts = resolver.identifiers.table_parts(to)
        new = str(resolver.naming.renamed(target, parts))
        outer = _written_parts(target, resolver.spellings.get(target, target))[: -len(parts)]
        outcome.spells = True
        resolver.spellings.pop(new, None)
        resolver.as_written(new, [*outer, *parts])
        if new != target:  # otherwise only the spelling changes: it is the same table
            spelling = resolver.spellings.get(new)
            to_name = new if spelling is None else Spelled(new, spelling)
            changes.append(TableChange(ChangeKind.RENAME, target, to_name))
    if (swapped := swapped_table(tree)) is not None:
        outcome.swapped = Outcome(outcome.operation, _name(resolver, swapped))
        changes.append(TableChange(ChangeKind.SWAP, target, outcome.swapped.target))
        for one, table in ((outcome.swapped, tree.this), (outcome, swapped)):
            _leave(one, resolver.look_up(resolver.identifiers.table_parts(table))[1])
    outcome.changes = tuple(changes)
    return outcome


def _leave(outcome: Outcome, known: Relation) -> None:
    """Set the columns and the relation of an outcome to those of a table, if they are known."""
    columns = dict(known.columns())
    outcome.schema = () if known.is_open else tuple(ColumnSchema(name) for name in columns)
    if not isinstance(known, BaseTable):
        outcome.relation = Relation(list(columns), list(columns.values()), known.rows, known.opens)


def _change_columns(resolver: Resolver, tree: exp.Expr, outcome: Outcome) -> list[TableChange]:
    """Set the outcome's columns to those after the change, if they were known before; return the changes.

    The sources of a new column or a new type are lineage; unchanged columns have none.
    """
    target, known = resolver.look_up(resolver.identifiers.table_parts(tree.this))
    altered = _AlteredColumns(target, known)
    for alteration in column_alterations(tree, resolver.identifiers.column):
        if alteration.name is not None and alteration.kind in (Alteration.ADD, Alteration.TYPE, Alteration.ONLY):
            altered.types[alteration.name] = ColumnSchema(
                alteration.name, type_text(alteration.data_type, resolver.naming.dialect)
            )
        if alteration.kind is Alteration.ADD and alteration.name is not None:
            altered.add(alteration.name, alteration)
            computed_columns(resolver, outcome, [alteration.node] if alteration.node is not None else [], known)
        elif alteration.kind in (Alteration.TYPE, Alteration.COMPUTE) and alteration.node is not None:
            _convert(resolver, outcome, alteration, known)
        elif alteration.kind is Alteration.ONLY and alteration.name is not None:
            altered.only[alteration.name] = altered.columns.get(alteration.name, {})
        elif alteration.kind is Alteration.DROP:
            altered.drop(alteration)
        elif alteration.kind is Alteration.RENAME and alteration.to is not None:
            altered.rename(alteration, alteration.to)
        altered.columns = reorder_columns(altered.columns, alteration)
    redefined = [action.this for action in tree.args.get("actions") or () if isinstance(action, exp.ModifyColumn)]
    computed_columns(resolver, outcome, redefined, known)
    outcome.altered, outcome.added = tuple(altered.types.values()), tuple(altered.added)
    columns = altered.only or altered.columns
    if altered.only or not known.is_open:
        outcome.schema = tuple(altered.types.get(name) or ColumnSchema(name) for name in columns)
    if not isinstance(known, BaseTable):
        outcome.relation = Relation(list(columns), list(columns.values()), known.rows, known.opens)
    return altered.changes


class _AlteredColumns:
    """The columns of a table as one ALTER changes them, step by step; `only` are those that REPLACE COLUMNS keeps."""

    def __init__(self, target: str, known: Relation) -> None:
        self.columns: dict[str, Sources] = dict(known.columns())
        self.only: dict[str, Sources] = {}
        self.types: dict[str, ColumnSchema] = {}
        self.added: list[str] = []
        self.changes: list[TableChange] = []
        self._target = target
        self._known = known

    def add(self, name: str, one: ColumnAlteration) -> None:
        if name not in self.columns or one.node is None or not one.node.args.get("exists"):  # IF NOT EXISTS
            self.added.append(name)
        self.columns.setdefault(name, {})

    def drop(self, alteration: ColumnAlteration) -> None:
        self.columns.pop(alteration.name or "", None)
        self.types.pop(alteration.name or "", None)
        self.changes.append(TableChange(ChangeKind.DROP_COLUMN, self._target, column=str(alteration.column)))

    def rename(self, alteration: ColumnAlteration, new: ColumnPath) -> None:
        if alteration.name is not None:
            self.columns = _rename_column(self.columns, alteration.name, new.name, self._known)
        to = str(new) if new.spelling is None else Spelled(str(new), new.spelling)
        self.changes.append(TableChange(ChangeKind.RENAME_COLUMN, self._target, to, str(alteration.column)))


def _convert(resolver: Resolver, outcome: Outcome, alteration: ColumnAlteration, known: Relation) -> None:
    """ALTER COLUMN a TYPE t USING expression: add the other columns from which the new values are computed."""
    if alteration.node is None or outcome.target is None:
        return
    scope = resolver.new_scope()
    scope.add(outcome.target, known)
    sources: Sources = {}
    resolver.evaluate(scope, alteration.node, TRANSFORMATION, sources)
    itself = (outcome.target, str(alteration.column))
    others = {key: place for key, place in sources.items() if (key[0].table, key[0].column) != itself}
    if others and alteration.name is not None:
        outcome.names.append(alteration.name)
        outcome.columns.append(others)


def _rename_column(columns: dict[str, Sources], old: str, new: str, known: Relation) -> dict[str, Sources]:
    if old not in columns and known.is_open:
        return {**columns, new: known.infer(old) or {}}
    return {new if name == old else name: sources for name, sources in columns.items()}


def _written_parts(name: str, spelling: str) -> list[str]:
    """Return the parts of a full name with their spelling."""
    pairs = zip(split_name(plain_name(name)), split_name(spelling), strict=False)
    return [part if part == written else Spelled(part, written) for (part, _), (written, _) in pairs]


def _name(resolver: Resolver, table: exp.Expr) -> str:
    assert isinstance(table, exp.Table)
    return resolver.existing_name(table)
