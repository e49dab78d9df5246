"""Objects by global id, also after a rename."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import strawberry
from graphql import GraphQLError

from lineage.model.names import split_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredDataset
from lineage.traversal import AmbiguousNameError
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import RefusedError, client_error
from lineage_graphql.schema.objects.datasets import Column, Table
from lineage_graphql.schema.objects.ids import Node, NodeKind, parse_global_id
from lineage_graphql.schema.objects.jobs import job_of
from lineage_graphql.schema.objects.overview import Run

__all__ = ["node_by_id", "nodes_by_id"]


async def node_by_id(info: LineageInfo, text: str) -> Node | None:
    """Return the object with a global id; None if it does not exist.

    Raises:
        RefusedError: it is not a global id.
        AmbiguousNameError: several objects had the name that the id encodes.
        StoreError: the store could not be read.
    """
    kind, key = parse_global_id(text)
    loaders = info.context.loaders
    match kind:
        case NodeKind.TABLE:
            dataset = await loaders.datasets.load(key) or await info.context.ask(
                lambda store: _find_renamed(store, key)
            )
            return Table.of(dataset) if dataset else None
        case NodeKind.COLUMN:
            column = await loaders.columns.load(key)
            if column is None or column.dropped_at is not None:
                column = await info.context.ask(lambda store: _renamed_column(store, key)) or column
            return Column.of(column) if column else None
        case NodeKind.JOB:
            return await job_of(info, key)
        case NodeKind.RUN:
            run = await loaders.runs.load(key)
            return Run.of(run) if run else None


async def nodes_by_id(info: LineageInfo, ids: Sequence[strawberry.ID]) -> list[Node | None]:
    """Return the objects with these global ids; an error for each that is not a global id.

    Raises:
        RefusedError: there are more than the limit.
        StoreError: the store could not be read.
    """
    most = info.context.limits.page
    if len(ids) > most:
        raise RefusedError.over_limit("page", most, len(ids), "request fewer per query")
    found = await asyncio.gather(*(node_by_id(info, one) for one in ids), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException) and not isinstance(one, GraphQLError) and client_error(one) is None:
            raise one
    # graphql-core reports an exception among the values as that value's error.
    return found  # type: ignore[return-value]


def _find_renamed(store: GraphStore, key: str) -> StoredDataset | None:
    """Return the dataset that had a key before it was renamed."""
    found = [
        dataset
        for dataset in store.find_datasets(key)
        if key in (dataset.key, *dataset.aliases, *(f"{dataset.namespace}/{alias}" for alias in dataset.aliases))
    ]
    live = [dataset for dataset in found if dataset.dropped_at is None] or found
    if len(live) > 1:
        raise AmbiguousNameError(key, tuple(dataset.key for dataset in live))
    return live[0] if live else None


def _renamed_column(store: GraphStore, key: str) -> StoredColumn | None:
    """Return the column that had a key before it, or its table, was renamed."""
    dataset, path = split_column_key(key)
    table = _find_renamed(store, dataset)
    columns = store.columns([table.key], dropped=True) if table else []
    by_path = [column for column in columns if column.path == path and column.dropped_at is None]
    found = by_path or [column for column in columns if path in column.aliases]
    live = [column for column in found if column.dropped_at is None] or found
    live = live or [column for column in columns if column.path == path]
    if len(live) > 1:
        raise AmbiguousNameError(key, tuple(column.key for column in live))
    return live[0] if live else None
