"""Find what a statement writes to from its syntax tree alone."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.dialect import Dialect
from lineage.model.names import parse_table_name
from lineage.sql.resolve.identifiers import Identifiers, is_temporary_schema

__all__ = ["TEMPORARY_PREFIXES", "into_parts", "is_temporary", "select_into"]

TEMPORARY_PREFIXES = ("#", "@")
"""Name prefixes of T-SQL's temporary tables and table variables."""


def select_into(tree: exp.Expr | None) -> exp.Expr | None:
    """Return the INTO of a query, which a set operation has in its first branch; None if there is none."""
    while isinstance(tree, exp.SetOperation):
        tree = tree.this
    into = tree.args.get("into") if isinstance(tree, exp.Select) else None
    return into if isinstance(into, exp.Expr) else None


def into_parts(into: exp.Expr | None, identifiers: Identifiers, dialect: Dialect) -> list[str]:
    """Return the name parts of the table that T-SQL's OUTPUT … INTO writes to; empty for other statements."""
    if not isinstance(into, exp.Identifier | exp.Anonymous | exp.Table):
        return []
    as_written = isinstance(into, exp.Identifier) and not into.args.get("quoted") and set(into.name) & set('.["')
    if isinstance(into, exp.Identifier) and not as_written:
        return [identifiers.table(into)]
    name = into.name if isinstance(into, exp.Table) else str(into.this)
    return list(parse_table_name(name, dialect))


def is_temporary(create: exp.Create, dialect: Dialect) -> bool:
    """Return whether a CREATE is of a temporary table or view (`TEMP`, T-SQL's `#name`, `pg_temp.name`)."""
    properties = create.args.get("properties")
    listed = properties.expressions if properties is not None else []
    named = create.this.this if isinstance(create.this, exp.Schema) else create.this
    identifier = named.this if isinstance(named, exp.Table) else None
    return (
        any(isinstance(item, exp.TemporaryProperty) for item in listed)
        or (isinstance(identifier, exp.Identifier) and bool(identifier.args.get("temporary")))
        or (isinstance(named, exp.Table) and bool(named.db) and is_temporary_schema(named.db.lower(), dialect))
        or str(getattr(named, "name", "")).startswith(TEMPORARY_PREFIXES)
    )
