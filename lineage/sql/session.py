"""What a session's own statements change about names: USE, SET search_path, ALTER SESSION."""

from __future__ import annotations

import re
from dataclasses import replace

from sqlglot import exp

from lineage.model.dialects import Dialect
from lineage.model.names import Naming, parse_table_name
from lineage.sql.identifiers import Identifiers
from lineage.sql.parsing import parse_statements

__all__ = ["naming_after", "session_defaults"]

# `USE x` names a database where databases hold schemas, else what others call a schema.
_USE_NAMES_A_DATABASE = frozenset(("tsql", "fabric", "snowflake", "redshift"))
_SEARCH_PATH = re.compile(
    r"^(?:(?:local|session)\s+)?(?:search_path|schema|current_schema)\s*(?:=|to)?\s*(.+)$", re.I | re.S
)
_ALTER_SESSION = re.compile(r"^session\s+set\s+current_schema\s*=\s*(\S+)", re.I)
# Schemas of a search path that hold no tables of one's own.
_SYSTEM = frozenset(("pg_catalog", "information_schema", "$user"))


def naming_after(naming: Naming, tree: exp.Expr | None) -> Naming:
    """Return how names are completed after a statement.

    >>> import sqlglot
    >>> from lineage.model.dialects import dialect_named
    >>> statement = sqlglot.parse_one("USE SCHEMA prod.shop", dialect="snowflake")
    >>> after = naming_after(Naming(dialect_named("snowflake")), statement)
    >>> after.default_database, after.default_schema
    ('PROD', 'SHOP')
    """
    if isinstance(tree, exp.Use) and isinstance(tree.this, exp.Table):
        return _after_use(naming, tree)
    if isinstance(tree, exp.Command):
        text = str(tree.args.get("expression") or "").strip()
        pattern = {"SET": _SEARCH_PATH, "ALTER": _ALTER_SESSION}.get(str(tree.this).upper())
        if pattern is not None and (found := pattern.match(text)):
            return _with_schema(naming, found.group(1))
    if isinstance(tree, exp.Set):
        for item in tree.expressions:
            assignment = item.this
            if isinstance(assignment, exp.EQ) and assignment.this.name.lower() in ("search_path", "schema"):
                return _with_schema(naming, assignment.expression.name)
    return naming


def session_defaults(text: str, dialect: Dialect) -> tuple[str | None, str | None]:
    """Return the default database and schema that a text leaves its session with; None for what it leaves as it was.

    >>> from lineage.model.dialects import dialect_named
    >>> session_defaults("SET search_path = mart, public", dialect_named("postgres"))
    (None, 'mart')
    """
    naming = Naming(dialect)
    for parsed in parse_statements(text, dialect):
        naming = naming_after(naming, parsed.tree)
    return naming.default_database, naming.default_schema


def _after_use(naming: Naming, tree: exp.Use) -> Naming:
    parts = Identifiers(naming.dialect).table_parts(tree.this)
    kind = tree.args.get("kind")
    what = kind.name.upper() if kind is not None else ""
    if not parts or what in ("ROLE", "WAREHOUSE", "SECONDARY ROLES"):
        return naming
    if len(parts) > 1:
        return replace(naming, default_database=parts[-2], default_schema=parts[-1])
    if what in ("DATABASE", "CATALOG") or (not what and naming.dialect.name in _USE_NAMES_A_DATABASE):
        return replace(naming, default_database=parts[0])
    return replace(naming, default_schema=parts[0])


def _with_schema(naming: Naming, path: str) -> Naming:
    """Return the naming with the first schema of a search path that holds tables; DEFAULT changes nothing."""
    for entry in path.split(","):
        name = entry.strip().strip("'")
        parts = parse_table_name(name, naming.dialect)
        if parts and parts[-1].lower() not in _SYSTEM and name.lower() != "default":
            return replace(naming, default_schema=parts[-1])
    return naming
