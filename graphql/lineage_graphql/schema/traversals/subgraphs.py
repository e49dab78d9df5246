"""Sub-graphs around columns or tables, as nodes and edges to draw."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import strawberry

from lineage.model.names import dataset_of, is_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, FeedKey, StoredEdge
from lineage.traversal import Answer, Target, TraversalOptions
from lineage.traversal import impact as find_impact
from lineage.traversal import root_cause as find_root_cause
from lineage.traversal.lineage_reader import columns_at
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import argument, doc_field, in_utc, some_of
from lineage_graphql.schema.objects.datasets import Table, TableOrColumn, nodes_of, table_of
from lineage_graphql.schema.objects.jobs import LineageEdge
from lineage_graphql.schema.objects.related_tables import find_tables
from lineage_graphql.schema.paging import (
    After,
    Before,
    Connection,
    First,
    Last,
    ListedRows,
    connection,
    page_arguments,
)
from lineage_graphql.schema.traversals.starts import ColumnNames, TableNames, Tag, find_starts
from lineage_graphql.schema.traversals.traversal import (
    AsOf,
    Kinds,
    MaxHops,
    MaxReferences,
    Question,
    with_service_limits,
)

__all__ = ["Subgraphs"]

Directions = Annotated[list[Direction] | None, argument("Directions to follow; both if omitted.")]
MaxNodes = Annotated[int, argument("Maximum number of nodes, nearest first.")]
MaxEdges = Annotated[int, argument("Maximum number of edges.")]

_MAX_NODES, _MAX_EDGES = 1_000, 5_000


@strawberry.type(description="Table-level lineage from one table to another.")
class TableFlow:
    """Table-level lineage from one table to another."""

    source_key: strawberry.ID = doc_field("Key of the source table.")
    target_key: strawberry.ID = doc_field("Key of the target table.")
    job_keys: list[strawberry.ID] = doc_field("Keys of the jobs that read one and write the other.")

    @strawberry.field(description="Source table.")
    async def source(self, info: LineageInfo) -> Table:
        """Return the source table."""
        return await table_of(info, self.source_key)

    @strawberry.field(description="Target table.")
    async def target(self, info: LineageInfo) -> Table:
        """Return the target table."""
        return await table_of(info, self.target_key)


@strawberry.type(
    description="Columns and tables, and the edges between them. Both ends of each edge are among the nodes."
)
class Subgraph:
    """Columns and tables, and the edges between them."""

    node_keys: strawberry.Private[list[str]]
    edges: list[LineageEdge] = doc_field("Edges ordered by source, target and kind; one per job.")
    truncated: str | None = doc_field("The limit that truncated it; null if it is complete.")

    @strawberry.field(description="Columns, and tables whose rows have or receive an influence, nearest first.")
    async def nodes(self, info: LineageInfo) -> list[TableOrColumn]:
        """Return the nodes."""
        return list(await nodes_of(info, self.node_keys))


@strawberry.type(description="Tables, and the lineage between them. Both ends of each edge are among the nodes.")
class TableSubgraph:
    """Tables, and the lineage between them."""

    node_keys: strawberry.Private[list[str]]
    all_flows: strawberry.Private[list[TableFlow]]
    edges: list[TableFlow] = doc_field(
        "Lineage between them, ordered by source and target: the first `maxEdges`. `flows` has all of it, by pages."
    )
    truncated: str | None = doc_field("The limit that truncated it; null if it is complete.")

    @strawberry.field(description="Tables, nearest first.")
    async def nodes(self, info: LineageInfo) -> list[Table]:
        """Return the nodes."""
        return list(await asyncio.gather(*(table_of(info, key) for key in self.node_keys)))

    @strawberry.field(description="Lineage between them, by pages, ordered by the keys of source and target.")
    async def flows(
        self, info: LineageInfo, first: First = 100, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[TableFlow]:
        """Return a page of the lineage between them."""
        asked = page_arguments(info, "flows", (str, str), first, after, last, before, scope=self.node_keys)
        rows = ListedRows(self.all_flows, lambda flow: (flow.source_key, flow.target_key))
        return await connection(rows, asked, lambda flow: flow)


@strawberry.type
class Subgraphs:
    """Fields of `Query` that return nodes and edges."""

    @strawberry.field(
        description="Sub-graph around columns: columns that `impact` and `rootCause` reach, and edges between them."
    )
    async def subgraph(
        self,
        info: LineageInfo,
        columns: ColumnNames = None,
        tables: TableNames = None,
        tag: Tag = None,
        directions: Directions = None,
        max_hops: MaxHops = 3,
        max_references: MaxReferences = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
        max_nodes: MaxNodes = 100,
        max_edges: MaxEdges = 500,
    ) -> Subgraph:
        """Return the sub-graph around columns."""
        info.context.require(Role.READER)
        _check(max_nodes, max_edges)
        ways = some_of("directions", directions) or tuple(Direction)
        find = find_starts(info.context, columns, tables, tag)
        options = with_service_limits(info.context, Question(max_hops, max_references, kinds, True, as_of))
        options = replace(options, limit_total=max_nodes)

        def work(store: GraphStore) -> _Around:
            return _look_around(store, find(store), sorted(set(ways)), options, max_nodes, max_edges)

        neighbourhood: _Around = await info.context.ask(work)
        return Subgraph(
            node_keys=list(neighbourhood.nodes),
            edges=[LineageEdge.of(edge) for edge in neighbourhood.edges],
            truncated="; ".join(neighbourhood.cuts) or None,
        )

    @strawberry.field(description="Sub-graph around tables, by table-level lineage.")
    async def table_subgraph(
        self,
        info: LineageInfo,
        tables: TableNames = None,
        columns: ColumnNames = None,
        tag: Tag = None,
        directions: Directions = None,
        max_hops: MaxHops = 3,
        as_of: AsOf = None,
        max_nodes: MaxNodes = 100,
        max_edges: MaxEdges = 500,
    ) -> TableSubgraph:
        """Return the sub-graph around tables, or the tables of columns."""
        info.context.require(Role.READER)
        _check(max_nodes, max_edges)
        ways = some_of("directions", directions) or tuple(Direction)
        find = find_starts(info.context, columns, tables, tag)
        as_of = in_utc(as_of) if as_of else None
        targets: list[Target] = await info.context.ask(find)
        starts = sorted({target.dataset for target in targets})
        traversals = [await find_tables(info, starts, way, max_hops, as_of, max_nodes) for way in sorted(set(ways))]
        hops = {
            key: min(one.hops.get(key, max_hops + 1) for one in traversals) for one in traversals for key in one.hops
        }
        nodes = sorted(hops, key=lambda key: (hops[key], key))
        cuts = [f"{way}: {one.cut}" for way, one in zip(sorted(set(ways)), traversals, strict=True) if one.cut]
        if len(nodes) > max_nodes:
            cuts.append(f"maxNodes={max_nodes}: {len(nodes) - max_nodes} more tables were found")
            nodes = nodes[:max_nodes]
        edges = _join(feed for one in traversals for feed in one.feeds if {feed.source, feed.target} <= set(nodes))
        if len(edges) > max_edges:
            cuts.append(f"maxEdges={max_edges}: {len(edges) - max_edges} more edges were found; `flows` has them")
        return TableSubgraph(
            node_keys=nodes, all_flows=edges, edges=edges[:max_edges], truncated="; ".join(cuts) or None
        )


def _check(max_nodes: int, max_edges: int) -> None:
    for name, value, most in (("maxNodes", max_nodes, _MAX_NODES), ("maxEdges", max_edges, _MAX_EDGES)):
        if value < 1:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{name} is {value}; it must be at least 1")
        if value > most:
            raise RefusedError.over_limit(name, most, value, "request fewer, around fewer start nodes")


def _join(feeds: Iterable[FeedKey]) -> list[TableFlow]:
    jobs: dict[tuple[str, str], set[str]] = {}
    for feed in feeds:
        jobs.setdefault((feed.source, feed.target), set()).add(feed.job)
    return [
        TableFlow(
            source_key=strawberry.ID(source),
            target_key=strawberry.ID(target),
            job_keys=[strawberry.ID(job) for job in sorted(by)],
        )
        for (source, target), by in sorted(jobs.items())
    ]


@dataclass(frozen=True, slots=True)
class _Around:
    nodes: Sequence[str]
    edges: Sequence[StoredEdge]
    cuts: Sequence[str]


def _look_around(
    store: GraphStore,
    starts: list[Target],
    ways: Sequence[Direction],
    options: TraversalOptions,
    max_nodes: int,
    max_edges: int,
) -> _Around:
    """Return the columns that the traversals reach, with the edges between them."""
    edges: dict[tuple[object, ...], StoredEdge] = {}
    hops: dict[str, int] = {}
    cuts: list[str] = []
    for way in ways:
        answer = (find_impact if way is Direction.DOWNSTREAM else find_root_cause)(store, starts, options)
        cuts += [f"{way}: {cut}" for cut in answer.cuts]
        found = _edges_among(store, answer, way, options)
        for key, far in found.hops.items():
            hops[key] = min(far, hops.get(key, far))
        edges |= {(one.source, one.target, one.kind, one.job, one.valid_from): one for one in found.edges}
    first = {start.key for start in starts}
    nodes = sorted(hops, key=lambda key: (hops[key], key not in first, key))
    if len(nodes) > max_nodes:
        cuts.append(f"maxNodes={max_nodes}: {len(nodes) - max_nodes} more nodes were found")
        nodes = nodes[:max_nodes]
    shown = set(nodes)
    kept = [
        edge for _, edge in sorted(edges.items(), key=lambda item: str(item[0])) if {edge.source, edge.target} <= shown
    ]
    if len(kept) > max_edges:
        cuts.append(f"maxEdges={max_edges}: {len(kept) - max_edges} more edges were found")
    return _Around(nodes, kept[:max_edges], cuts)


@dataclass(frozen=True, slots=True)
class _Joined:
    hops: dict[str, int]
    edges: list[StoredEdge]


def _edges_among(store: GraphStore, answer: Answer, way: Direction, options: TraversalOptions) -> _Joined:
    """Return the edges among the reached nodes.

    A table is a node where an edge from or to its rows exists and one of its columns was reached.
    """
    down = way is Direction.DOWNSTREAM
    hops = {one.key: one.hops for one in answer.outlines}
    for start in answer.starts:
        hops[start.key] = 0
        if start.is_table:
            hops |= {one.key: 0 for one in columns_at(store, [start.key], options.as_of)}
    reached = {key for key in hops if is_column_key(key)}
    inside = {dataset_of(key) for key in reached}
    edges: list[StoredEdge] = []
    asked: set[str] = set()
    waiting: Collection[str] = set(hops) if down else set(hops) | inside
    while waiting:
        asked |= set(waiting)
        following: set[str] = set()
        for hop in store.expand(sorted(waiting), way, kinds=options.kinds, as_of=options.as_of):
            edge = hop.edge
            near, far = (edge.source, edge.target) if down else (edge.target, edge.source)
            at = hops.get(
                hop.via, hops.get(near, min((hops[key] for key in reached if dataset_of(key) == near), default=0))
            )
            through_rows = not is_column_key(far) and at < options.max_hops and (not down or far in inside)
            if far not in hops and not through_rows:
                continue
            edges.append(edge)
            for key, distance in ((near, at), (far, at + 1)):
                if key not in hops:
                    hops[key] = distance
                    following |= {key} - asked
        waiting = following
    return _Joined(hops, edges)
