"""One hop around columns and tables, with its edges: what a picture that grows hop by hop asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime
from typing import Annotated, NamedTuple

import strawberry

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredEdge
from lineage.traversal.lineage_reader import columns_at
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, argument, doc_field, in_utc, some_of
from lineage_graphql.schema.objects.datasets import TableOrColumn, node_of
from lineage_graphql.schema.objects.jobs import Job, LineageEdge
from lineage_graphql.schema.traversals.starts import find_keys
from lineage_graphql.schema.traversals.traversal import AsOf, Kinds

__all__ = ["Adjacent", "AdjacentQueries"]

_MAX_EDGES = 5_000

Of = Annotated[list[str], argument("Columns and tables, each by key or name. A table stands for its columns and rows.")]


@strawberry.type(description="Number of columns and tables one hop away.")
class AdjacentCount:
    """Number of columns and tables one hop away."""

    key: strawberry.ID = doc_field("Key of the column or table that was asked about.")
    nodes: Long = doc_field("Number of columns and tables.")


@strawberry.type(description="The edges of columns and tables in one direction, with what is at their other ends.")
class Adjacent:
    """The edges of columns and tables in one direction."""

    node_keys: strawberry.Private[list[str]]
    job_keys: strawberry.Private[list[str]]
    edges: list[LineageEdge] = doc_field("Edges ordered by source, target and kind; one per job. The first `maxEdges`.")
    total_edges: Long = doc_field("Number of all these edges.")
    total_nodes: Long = doc_field("Number of columns and tables at the other ends of all these edges.")
    total_tables: Long = doc_field("Number of tables that these belong to.")
    counts: list[AdjacentCount] = doc_field("Number of columns and tables one hop away, of each that was asked about.")

    @strawberry.field(description="Both ends of each edge, by key.")
    async def nodes(self, info: LineageInfo) -> list[TableOrColumn]:
        """Return both ends of each edge."""
        return list(await asyncio.gather(*(node_of(info, key) for key in self.node_keys)))

    @strawberry.field(description="The jobs of the edges, by key.")
    async def jobs(self, info: LineageInfo) -> list[Job]:
        """Return the jobs of the edges."""
        found = await info.context.loaders.jobs.load_many(self.job_keys)
        return [Job.of(one) for one in found if one]


@strawberry.type
class AdjacentQueries:
    """The field of `Query` that returns one hop with its edges."""

    @strawberry.field(
        description="One hop: the edges out of (DOWNSTREAM) or into (UPSTREAM) columns and tables, their fields and "
        "parents included."
    )
    async def adjacent(
        self,
        info: LineageInfo,
        of: Of,
        direction: Annotated[Direction, argument("Direction to follow.")],
        kinds: Kinds = None,
        as_of: AsOf = None,
        max_edges: Annotated[int, argument("Maximum number of edges.")] = 500,
        within: Annotated[
            list[str] | None,
            argument("Return only edges whose ends are both of these keys; `counts` and the other totals are of all."),
        ] = None,
    ) -> Adjacent:
        """Return one hop with its edges."""
        info.context.require(Role.READER)
        if not 1 <= max_edges <= _MAX_EDGES:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"maxEdges is {max_edges}; it must be 1 to {_MAX_EDGES}")
        wanted = some_of("kinds", kinds) or tuple(EdgeKind)
        find = find_keys(info.context, of)
        at = in_utc(as_of) if as_of else None
        inside = None if within is None else frozenset(within)
        hop: _EdgesAround = await info.context.ask(
            lambda store: _find(store, find(store), direction, wanted, at, inside)
        )
        ends = {end for near in hop.ends.values() for end in near}
        shown = hop.edges[:max_edges]
        return Adjacent(
            node_keys=sorted({end for edge in shown for end in (edge.source, edge.target)}),
            job_keys=sorted({edge.job for edge in shown}),
            edges=[LineageEdge.of(edge) for edge in shown],
            total_edges=Long(len(hop.edges)),
            total_nodes=Long(len(ends)),
            total_tables=Long(len({dataset_of(end) for end in ends})),
            counts=[AdjacentCount(key=strawberry.ID(key), nodes=Long(len(of))) for key, of in hop.ends.items()],
        )


class _EdgesAround(NamedTuple):
    edges: list[StoredEdge]
    """Sorted; only those within some keys, if there are any."""
    ends: dict[str, set[str]]
    """What is at the other ends, by the key that was asked about."""


def _find(
    store: GraphStore,
    keys: Collection[str],
    direction: Direction,
    kinds: Collection[EdgeKind],
    as_of: datetime | None,
    within: Collection[str] | None,
) -> _EdgesAround:
    tables = [key for key in keys if not is_column_key(key)]
    columns = [column.key for column in columns_at(store, tables, as_of)] if tables else []
    ends: dict[str, set[str]] = {key: set() for key in keys}
    edges: dict[tuple[str, ...], StoredEdge] = {}
    hops = store.expand(sorted({*keys, *columns}), direction, kinds=kinds, as_of=as_of)
    asked = {via: [ends[key] for key in {via, dataset_of(via)} & ends.keys()] for via in {hop.via for hop in hops}}
    for hop in hops:
        edge = hop.edge
        end = edge.target if direction is Direction.DOWNSTREAM else edge.source
        for near in asked[hop.via]:
            near.add(end)
        if within is None or (edge.source in within and edge.target in within):
            edges[edge.source, edge.target, edge.kind, edge.job, str(edge.valid_from)] = edge
    return _EdgesAround([edges[key] for key in sorted(edges)], ends)
