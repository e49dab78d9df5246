"""Start nodes of a traversal: columns, tables, or all nodes with a tag."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated

from lineage.model.names import is_column_key, split_column_key
from lineage.store.protocol import GraphStore
from lineage.traversal import Target, UnknownNameError, resolve, resolve_column, resolve_table
from lineage_graphql.context import Context
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import argument, argument_text, some_of

__all__ = ["ColumnName", "ColumnNames", "TableName", "TableNames", "Tag", "find_keys", "find_one", "find_starts"]

TableName = Annotated[str | None, argument("A table: key, full name, or last parts of the name.")]
ColumnName = Annotated[str | None, argument("A column: key, or name as `schema.table.column`.")]
TableNames = Annotated[list[str] | None, argument("Tables, each by key or name.")]
ColumnNames = Annotated[list[str] | None, argument("Columns, each by key or name.")]
Tag = Annotated[str | None, argument("All tables and columns that have this tag.")]


def find_one(column: str | None, table: str | None) -> Callable[[GraphStore], Target]:
    """Return a function that finds the column or table in a store.

    Raises:
        RefusedError: neither or both are given.
    """
    if column is not None and table is None:
        return lambda store: resolve_column(store, column)
    if table is not None and column is None:
        return lambda store: resolve_table(store, table)
    raise RefusedError(ErrorCode.BAD_ARGUMENT, "give either a column or a table")


def find_starts(
    context: Context, columns: Sequence[str] | None, tables: Sequence[str] | None, tag: str | None
) -> Callable[[GraphStore], list[Target]]:
    """Return a function that finds the columns, tables and tagged nodes in a store, without duplicates, in this order.

    Raises:
        RefusedError: none is given, or more than the limit.
    """
    named = (*some_of("columns", columns), *some_of("tables", tables))
    tag = argument_text("tag", tag)
    if not named and tag is None:
        hint = "give `column`, `table`, `columns`, `tables` or `tag`"
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "no start column or table is given", hint)
    most = context.limits.page
    if len(named) > most:
        raise RefusedError.over_limit("page", most, len(named), "give fewer columns and tables")

    def find(store: GraphStore) -> list[Target]:
        targets = [resolve_column(store, name) for name in columns or ()]
        targets += [resolve_table(store, name) for name in tables or ()]
        if tag is not None:
            hits = store.search("", tags=[tag], limit=most + 1)
            if not hits and not targets:
                raise UnknownNameError(f"no table or column has the tag {tag!r}")
            if len(hits) > most:
                number = store.count_search("", tags=[tag])
                raise RefusedError.over_limit("page", most, number, "give some of the columns instead of the tag")
            targets += [_target(hit.key, hit.name) for hit in hits]
        return list({target.key: target for target in targets}.values())

    return find


async def find_keys(context: Context, of: Sequence[str]) -> list[str]:
    """Return the keys of columns and tables, each given by key or name, without duplicates, in this order.

    Raises:
        RefusedError: none is given, or more than the limit.
        NameLookupError: nothing or several things have a name.
    """
    named = some_of("of", of)
    most = context.limits.page
    if len(named) > most:
        raise RefusedError.over_limit("page", most, len(named), "give fewer columns and tables")
    found = await asyncio.gather(
        context.loaders.columns.load_many([text for text in named if is_column_key(text)]),
        context.loaders.datasets.load_many([text for text in named if not is_column_key(text)]),
    )
    known = {one.key for some in found for one in some if one}
    names = [text for text in named if text not in known]
    resolved = await context.ask(lambda store: {text: resolve(store, text).key for text in names}) if names else {}
    return list(dict.fromkeys(resolved.get(text, text) for text in named))


def _target(key: str, name: str) -> Target:
    dataset, path = split_column_key(key)
    return Target(key, name, dataset, path if is_column_key(key) else None)
