"""Find what a statement writes to from its syntax tree alone."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.dialect import Dialect
from lineage.model.names import parse_table_name
from lineage.sql.resolve.identifiers import Identifiers, identifiers_of, is_temporary_schema

__all__ = ["SHARED_PREFIX", "has_temporary_name", "into_parts", "is_temporary", "select_into"]

_TEMPORARY = (exp.TemporaryProperty, exp.VolatileProperty, exp.StabilityProperty)
"""Teradata's VOLATILE, which the parser takes for the stability of a function after SET or MULTISET."""

SHARED_PREFIX = "##"
"""Name prefix of T-SQL's global temporary tables, which all sessions see."""
_PREFIXES = ("#", "@")
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
    """Return whether a CREATE is of a temporary table or view (`TEMP`, `VOLATILE`, or by its name)."""
    properties = create.args.get("properties")
    listed = properties.expressions if properties is not None else []
    named = create.this.this if isinstance(create.this, exp.Schema) else create.this
    return any(isinstance(item, _TEMPORARY) for item in listed) or has_temporary_name(named, dialect)


def has_temporary_name(table: exp.Expr | None, dialect: Dialect) -> bool:
    """Return whether a name is that of a temporary table: T-SQL's `#name`, `pg_temp.name`."""
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return False
    qualifier = ".".join(part for part in (table.catalog, table.db) if part)
    name = identifiers_of(dialect).table(table.this)
    return name.startswith(_PREFIXES) or is_temporary_schema(qualifier, dialect)
