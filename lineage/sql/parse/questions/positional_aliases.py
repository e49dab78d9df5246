"""Tables whose columns a query names by their positions: `FROM t AS x(a, b)`."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.dialect import Dialect
from lineage.sql.parse.statements import parse_statements

__all__ = ["tables_named_by_position"]


def tables_named_by_position(text: str, dialect: Dialect) -> frozenset[str]:
    """Return the last parts of the names of such tables, without case.

    >>> from lineage.model.dialects import dialect_named
    >>> sorted(tables_named_by_position("SELECT a FROM s.T AS x(a, b), u AS y", dialect_named("duckdb")))
    ['t']
    """
    trees = (statement.tree for statement in parse_statements(text, dialect) if statement.tree is not None)
    tables = (table for tree in trees for table in tree.find_all(exp.Table))
    return frozenset(table.name.casefold() for table in tables if table.alias_column_names)
