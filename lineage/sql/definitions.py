"""What a statement defines, seen from its syntax tree alone, before anything is resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from sqlglot import exp

from lineage.model.names import Naming
from lineage.sql.identifiers import Identifiers

__all__ = ["Definition", "defined_by", "definitions_of", "is_bare_query", "is_temporary", "named_after_text"]

_MARKS = ("#", "@")
"""T-SQL's temporary tables and table variables."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A table that a statement creates, or (`only_adds`) writes rows to; `temporary` ones live in one session.

    `alters`: it changes the columns or the name of a table that is there, and counts for later statements only.
    """

    name: str
    temporary: bool = False
    only_adds: bool = False
    alters: bool = False


def defined_by(tree: exp.Expr | None, naming: Naming) -> Definition | None:
    """Return the table that a statement defines or inserts into, if it does."""
    identifiers = Identifiers(naming.dialect)
    if isinstance(tree, exp.Create) and (tree.args.get("kind") or "").upper().endswith(("TABLE", "VIEW")):
        table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        return _definition(table, identifiers, naming, temporary=is_temporary(tree))
    if isinstance(tree, exp.Cache):
        return _definition(tree.this, identifiers, naming, temporary=True)
    if isinstance(tree, exp.Insert):
        table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        return _definition(table, identifiers, naming, only_adds=True)
    if isinstance(tree, exp.Alter) and isinstance(tree.this, exp.Table):
        return _altered(tree, identifiers, naming)
    into = tree.args.get("into") if isinstance(tree, exp.Select) else None
    if into is not None and isinstance(into.this, exp.Table):
        temporary = bool(into.args.get("temporary")) or into.this.name.startswith(_MARKS)
        return _definition(into.this, identifiers, naming, temporary=temporary)
    return None


def _altered(tree: exp.Alter, identifiers: Identifiers, naming: Naming) -> Definition | None:
    parts = identifiers.table_parts(tree.this)
    for action in tree.args.get("actions") or ():
        if isinstance(action, exp.AlterRename) and isinstance(action.this, exp.Table):
            new = identifiers.table_parts(action.this)
            return Definition(naming.qualify([*parts[: len(parts) - len(new)], *new]), alters=True)
        if isinstance(action, exp.ColumnDef | exp.Schema | exp.Drop | exp.RenameColumn | exp.ModifyColumn):
            return Definition(naming.qualify(parts), alters=True)
    return None


def definitions_of(trees: Sequence[exp.Expr | None], namings: Sequence[Naming]) -> list[Definition | None]:
    """Return what each statement of one text defines, its names read as its session reads them there.

    A table that the text creates and drops again, and does not create after that, is temporary in all but name.
    """
    found = [defined_by(tree, naming) for tree, naming in zip(trees, namings, strict=True)]
    gone: set[str] = set()
    for position in range(len(trees) - 1, -1, -1):
        tree, definition, naming = trees[position], found[position], namings[position]
        if isinstance(tree, exp.Drop):
            tables = (t for t in tree.args.get("tables") or [tree.this] if isinstance(t, exp.Table))
            identifiers = Identifiers(naming.dialect)
            gone.update(naming.qualify(identifiers.table_parts(table)) for table in tables)
        elif definition is not None and not definition.only_adds and not definition.alters:
            if definition.name in gone:
                found[position] = replace(definition, temporary=True)
            gone.discard(definition.name)
    temporary: set[str] = set()
    for position, definition in enumerate(found):
        if definition is None or definition.only_adds:
            continue
        if definition.alters and definition.name in temporary:
            found[position] = replace(definition, temporary=True)
        elif definition.temporary:
            temporary.add(definition.name)
    return found


def named_after_text(name: str, tree: exp.Expr | None, naming: Naming) -> str | None:
    """Return the dataset that a text defines which holds one query and nothing else: it is named after the text.

    >>> import sqlglot
    >>> from lineage.model.dialects import dialect_named
    >>> naming = Naming(dialect_named("postgres"), default_schema="mart")
    >>> named_after_text("models/Orders.sql", sqlglot.parse_one("SELECT 1 AS id"), naming)
    'mart.orders'
    """
    if not name or not is_bare_query(tree):
        return None
    return naming.qualify([naming.dialect.fold_table(PurePath(name).stem)])


def is_bare_query(tree: exp.Expr | None) -> bool:
    """Return whether a statement is a query whose result goes to whoever asked."""
    return isinstance(tree, exp.Query) and tree.args.get("into") is None


def is_temporary(create: exp.Create) -> bool:
    """Return whether a CREATE makes a table or view for its session only (`TEMP`, T-SQL's `#name`)."""
    properties = create.args.get("properties")
    listed = properties.expressions if properties is not None else []
    named = create.this.this if isinstance(create.this, exp.Schema) else create.this
    identifier = named.this if isinstance(named, exp.Table) else None
    return (
        any(isinstance(item, exp.TemporaryProperty) for item in listed)
        or (isinstance(identifier, exp.Identifier) and bool(identifier.args.get("temporary")))
        or str(getattr(named, "name", "")).startswith(_MARKS)
    )


def _definition(
    table: exp.Expr, identifiers: Identifiers, naming: Naming, *, temporary: bool = False, only_adds: bool = False
) -> Definition | None:
    if not isinstance(table, exp.Table):
        return None
    parts = identifiers.table_parts(table)
    return Definition(naming.qualify(parts), temporary, only_adds) if parts else None
