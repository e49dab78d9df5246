"""Query fields that look up single objects by global id, key or name, and search."""

from __future__ import annotations

from typing import Annotated

import strawberry

from lineage.store.page_requests import Position
from lineage.store.values import SearchHit
from lineage.traversal import Target, resolve_column, resolve_table
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import argument, some_of
from lineage_graphql.schema.objects.datasets import Column, Table
from lineage_graphql.schema.objects.ids import Node
from lineage_graphql.schema.objects.jobs import Job, job_of
from lineage_graphql.schema.objects.nodes import node_by_id, nodes_by_id
from lineage_graphql.schema.objects.overview import Hit, Service
from lineage_graphql.schema.paging import (
    After,
    Before,
    Connection,
    First,
    Last,
    ListedRows,
    StoredRows,
    connection,
    page_arguments,
)
from lineage_graphql.schema.stewardship import NodeType

__all__ = ["Lookups"]

_SEARCHED = 1_000


@strawberry.type
class Lookups:
    """Fields of `Query` that return single objects."""

    @strawberry.field(description="Version and state of this service.")
    async def service(self, info: LineageInfo) -> Service:
        """Return the version and state of this service."""
        info.context.require(Role.READER)
        return await Service.of(info)

    @strawberry.field(
        description="The object with a global id; null if it does not exist. An id from before a rename works unless "
        "another object has that name now."
    )
    async def node(
        self,
        info: LineageInfo,
        id: Annotated[strawberry.ID, argument("The object's `id`.")],  # noqa: A002
    ) -> Node | None:
        """Return the object with a global id."""
        info.context.require(Role.READER)
        return await node_by_id(info, id)

    @strawberry.field(
        description="The objects with these global ids, in this order; null for each that does not exist."
    )
    async def nodes(
        self,
        info: LineageInfo,
        ids: Annotated[list[strawberry.ID], argument("Global ids, at most as many as the page limit.")],
    ) -> list[Node | None]:
        """Return the objects with these global ids."""
        info.context.require(Role.READER)
        return await nodes_by_id(info, ids)

    @strawberry.field(description="A table by key, or by name with a namespace if the name is ambiguous.")
    async def table(
        self,
        info: LineageInfo,
        key: Annotated[strawberry.ID | None, argument("The table's key.")] = None,
        namespace: Annotated[str | None, argument("Namespace of `name`.")] = None,
        name: Annotated[str | None, argument("Full name, or its last parts.")] = None,
    ) -> Table | None:
        """Return a table."""
        info.context.require(Role.READER)
        text = _key_of(key, namespace, name)
        target: Target = await info.context.ask(lambda store: resolve_table(store, text))
        stored = await info.context.loaders.datasets.load(target.key)
        return Table.of(stored) if stored else None

    @strawberry.field(description="A column by key, or by name with a namespace if the name is ambiguous.")
    async def column(
        self,
        info: LineageInfo,
        key: Annotated[strawberry.ID | None, argument("The column's key.")] = None,
        namespace: Annotated[str | None, argument("Namespace of `name`.")] = None,
        name: Annotated[str | None, argument("The column's name, as `schema.table.column`.")] = None,
    ) -> Column | None:
        """Return a column."""
        info.context.require(Role.READER)
        text = _key_of(key, namespace, name)
        target: Target = await info.context.ask(lambda store: resolve_column(store, text))
        stored = await info.context.loaders.columns.load(target.key)
        return Column.of(stored) if stored else None

    @strawberry.field(description="A job with its SQL and its edges.")
    async def job(self, info: LineageInfo, key: Annotated[strawberry.ID, argument("The job's key.")]) -> Job | None:
        """Return a job."""
        info.context.require(Role.READER)
        return await job_of(info, key)

    @strawberry.field(description="Tables and columns whose name contains a text, best match first.")
    async def search(
        self,
        info: LineageInfo,
        text: Annotated[str, argument("Part of a name, case-insensitive.")],
        types: Annotated[list[NodeType] | None, argument("Only tables, or only columns.")] = None,
        tags: Annotated[list[str] | None, argument("Only nodes that have all these tags.")] = None,
        first: First = 20,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Hit]:
        """Return a page of hits."""
        info.context.require(Role.READER)
        asked = page_arguments(info, "search", (int, int, bool, str), first, after, last, before, scope=text)
        labels = tuple(str(one) for one in some_of("types", types) or tuple(NodeType))
        hits: list[SearchHit] = await info.context.ask(
            lambda store: store.search(text, types=labels, tags=tags or (), limit=_SEARCHED + 1)
        )
        listed = ListedRows(hits, _rank)
        if len(hits) > _SEARCHED and (asked.backwards or hits[-1] in await listed.read(asked.request(asked.size))):
            raise RefusedError.over_limit("search", _SEARCHED, len(hits), "search for a longer text")

        async def count() -> int:
            found: int = await info.context.ask(lambda store: store.count_search(text, types=labels, tags=tags or ()))
            return found

        rows = StoredRows(_rank, listed.read, count)
        return await connection(rows, asked, Hit.of)


def _rank(hit: SearchHit) -> Position:
    return (-round(hit.score * 10), len(hit.name), hit.type != "Table", hit.key)


def _key_of(key: str | None, namespace: str | None, name: str | None) -> str:
    if key is not None and name is None and namespace is None:
        return key
    if key is None and name is not None:
        return f"{namespace}/{name}" if namespace is not None else name
    raise RefusedError(ErrorCode.BAD_ARGUMENT, "give a key, or a name with an optional namespace")
