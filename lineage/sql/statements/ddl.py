"""DROP, ALTER TABLE … RENAME and SWAP: they move or end a dataset as a whole."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.statement import ChangeKind, TableChange
from lineage.sql.resolver import Resolver
from lineage.sql.statements.outcome import Outcome, statement_rule


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
    """ALTER TABLE a RENAME TO b; ALTER TABLE a SWAP WITH b."""
    if not isinstance(tree.this, exp.Table):
        return Outcome("ALTER")
    target = _name(resolver, tree.this)
    changes = []
    for action in tree.args.get("actions") or ():
        if isinstance(action, exp.AlterRename) and isinstance(action.this, exp.Table):
            parts = resolver.identifiers.table_parts(tree.this)
            new = resolver.identifiers.table_parts(action.this)
            # RENAME TO b stays in the schema of the old name.
            full = [*parts[: len(parts) - len(new)], *new]
            changes.append(TableChange(ChangeKind.RENAME, target, resolver.naming.qualify(full)))
        elif isinstance(action, exp.SwapTable) and isinstance(action.this, exp.Table):
            changes.append(TableChange(ChangeKind.SWAP, target, _name(resolver, action.this)))
    return Outcome("ALTER_TABLE", target, changes=tuple(changes))


def _name(resolver: Resolver, table: exp.Expr) -> str:
    assert isinstance(table, exp.Table)
    return resolver.name(table)
