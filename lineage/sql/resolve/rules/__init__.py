"""The resolver's rules, one subject a file. Importing this package registers them."""

from lineage.sql.resolve.rules import (
    aggregates,
    column_choice,
    conditional,
    ctes,
    from_clause,
    from_items,
    function_arguments,
    generators,
    passthrough,
    select,
    select_list,
    set_operation_columns,
    set_operations,
    stars,
    subqueries,
    windows,
)

__all__ = [
    "aggregates",
    "set_operation_columns",
    "column_choice",
    "function_arguments",
    "conditional",
    "ctes",
    "from_clause",
    "generators",
    "passthrough",
    "select_list",
    "select",
    "set_operations",
    "from_items",
    "stars",
    "subqueries",
    "windows",
]
