"""The resolver's rules, one subject a file. Importing this package registers them."""

from lineage.sql.rules import (
    aggregates,
    branches,
    column_choice,
    combinators,
    conditional,
    ctes,
    from_clause,
    generators,
    passing,
    projection,
    select,
    set_operations,
    sources,
    stars,
    subqueries,
    windows,
)

__all__ = [
    "aggregates",
    "branches",
    "column_choice",
    "combinators",
    "conditional",
    "ctes",
    "from_clause",
    "generators",
    "passing",
    "projection",
    "select",
    "set_operations",
    "sources",
    "stars",
    "subqueries",
    "windows",
]
