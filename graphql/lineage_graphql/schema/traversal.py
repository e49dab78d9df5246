"""Impact, root cause and paths."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

import strawberry

from lineage.model.transformations import EdgeKind, Subtype
from lineage.store.protocol import Direction, GraphStore
from lineage.traversal import (
    Answer,
    Outline,
    PossiblyAffected,
    Reached,
    Route,
    Target,
    TraversalOptions,
    resolve,
    resolve_column,
    resolve_table,
    shortest_paths,
)
from lineage.traversal import impact as find_impact
from lineage.traversal import root_cause as find_root_cause
from lineage_graphql.context import Context, LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.metrics import REACHED, TRAVERSAL_SECONDS
from lineage_graphql.schema.datasets import Column, Node, Table, column_of, node_of, table_of
from lineage_graphql.schema.fields import Long, argument, told
from lineage_graphql.schema.jobs import Job, LineageEdge
from lineage_graphql.schema.paging import Edge, First, PageInfo, page_of, position_of, size_of

__all__ = [
    "AsOf",
    "Kinds",
    "MaxHops",
    "Path",
    "ReachedColumns",
    "ReachedFilter",
    "bounded",
    "finder",
    "paths_between",
    "reach",
]

MaxHops = Annotated[int, argument("How many edges to follow.")]
MaxReferences = Annotated[
    int | None, argument("How many of them may be references (joins, filters, …); any number, without it.")
]
Kinds = Annotated[list[EdgeKind] | None, argument("Follow only these kinds of edge.")]
ThroughMasking = Annotated[bool, argument("Whether to follow edges that hide the value, such as hashes and counts.")]
AsOf = Annotated[datetime | None, argument("Ask the graph as it was then.")]


@strawberry.input(description="Which of the reached columns to list and count.")
class ReachedFilter:
    """Which of the reached columns to list and count."""

    namespace: str | None = told("Only columns of tables in this namespace.", default=None)
    table: str | None = told("Only columns of tables whose name holds this text, without case.", default=None)
    influence: EdgeKind | None = told("Only columns that paths of this kind reach.", default=None)
    masked: bool | None = told("Only columns where every flow of the value is hidden (true), or is not.", default=None)
    min_hops: int | None = told("Only columns at least so far away.", default=None)
    max_hops: int | None = told("Only columns at most so far away.", default=None)
    roots: bool | None = told("Upstream: only columns that nothing contributes to (true), or others.", default=None)

    def admits(self, reached: Outline) -> bool:
        """Return whether a column is one of those."""
        return (
            (self.namespace is None or reached.dataset.startswith(f"{self.namespace}/"))
            and (self.table is None or self.table.casefold() in reached.table.casefold())
            and (self.influence is None or self.influence in reached.influence)
            and (self.masked is None or reached.masked == self.masked)
            and (self.min_hops is None or reached.hops >= self.min_hops)
            and (self.max_hops is None or reached.hops <= self.max_hops)
            and (self.roots is None or reached.root == self.roots)
        )


@strawberry.type(description="A path, from the source to the consumer.")
class Path:
    """A path, from the source to the consumer."""

    hops: int = told("How many edges it has.")
    references: int = told("How many of them are references.")
    transformation: Subtype = told("What its steps amount to, by OpenLineage's rules of composition.")
    masked: bool = told("Whether one of its steps hides the value.")
    steps: list[LineageEdge] = told("Its edges, each with a job that states it and the places in its SQL.")

    @classmethod
    def of(cls, route: Route) -> Path:
        """Return the path as the schema has it."""
        whole = route.transformation
        return cls(
            hops=route.hops,
            references=route.references,
            transformation=whole.subtype,
            masked=whole.masking,
            steps=[LineageEdge.on_path(step) for step in route.steps],
        )


@strawberry.type(description="A column that a traversal reached.")
class ReachedColumn:
    """A column that a traversal reached."""

    key: strawberry.ID = told("The column's key.")
    hops: int = told("The length of a shortest path.")
    references: int = told("How many of its steps are references.")
    influence: list[EdgeKind] = told("The kinds of path that reach it: the value flows there, or influences it.")
    transformation: Subtype = told("What the shortest path amounts to.")
    masked: bool = told("Whether the value flows there and every path that it takes hides it.")
    root: bool = told("Upstream: whether nothing contributes to it.")
    path: Path = told("A shortest path, of those one with the fewest references.")
    contribution: Path | None = told("A shortest path on which the value flows, an unmasked one if there is any.")
    table_key: strawberry.Private[str]

    @classmethod
    def of(cls, reached: Reached) -> ReachedColumn:
        """Return the reached column as the schema has it."""
        return cls(
            key=strawberry.ID(reached.key),
            hops=reached.hops,
            references=reached.references,
            influence=sorted(reached.influence),
            transformation=reached.transformation.subtype,
            masked=reached.masked,
            root=reached.root,
            path=Path.of(reached.route),
            contribution=Path.of(reached.contribution) if reached.contribution else None,
            table_key=reached.dataset,
        )

    @strawberry.field(description="The column.")
    async def column(self, info: LineageInfo) -> Column:
        """Return the column."""
        return await column_of(info, self.key)

    @strawberry.field(description="The table that owns it.")
    async def table(self, info: LineageInfo) -> Table:
        """Return its table."""
        return await table_of(info, self.table_key)


@strawberry.type(description="How many columns are so many hops away.")
class HopCount:
    """How many columns are so many hops away."""

    hops: int = told("The length of a shortest path.")
    columns: Long = told("How many columns.")


@strawberry.type(description="A table with columns that were reached.")
class ReachedTable:
    """A table with columns that were reached."""

    key: strawberry.ID = told("The table's key.")
    name: str = told("Its full name.")
    columns: Long = told("How many of its columns were reached.")
    hops: int = told("How far away the nearest of them is.")

    @strawberry.field(description="The table.")
    async def table(self, info: LineageInfo) -> Table:
        """Return the table."""
        return await table_of(info, self.key)


@strawberry.type(description="A table that only table-level lineage leads to.")
class PossiblyAffectedTable:
    """A table that only table-level lineage leads to."""

    key: strawberry.ID = told("The table's key.")
    name: str = told("Its full name.")
    hops: int = told("How far away it is.")
    neighbour_key: strawberry.ID = told("The key of the table one hop nearer the start.")
    job_key: strawberry.ID = told("The key of the job that ties the two together.")

    @classmethod
    def of(cls, found: PossiblyAffected) -> PossiblyAffectedTable:
        """Return the table as the schema has it."""
        return cls(
            key=strawberry.ID(found.dataset),
            name=found.table,
            hops=found.hops,
            neighbour_key=strawberry.ID(found.neighbour),
            job_key=strawberry.ID(found.job),
        )

    @strawberry.field(description="The job that ties it to its neighbour.")
    async def job(self, info: LineageInfo) -> Job | None:
        """Return the job."""
        stored = await info.context.loaders.jobs.load(self.job_key)
        return Job.of(stored) if stored else None


class _CountedTable(NamedTuple):
    """How far away the nearest reached column of a table is, and how many there are."""

    hops: int
    key: str
    columns: int


class _Feeds:
    """What table-level lineage adds to an answer: asked of the store when a query selects it, once."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._asked: asyncio.Future[Answer] | None = None

    async def of(self, info: LineageInfo) -> Answer:
        """Return the answer, which knows it."""

        def work(_store: GraphStore) -> Answer:
            _ = self._answer.truncated  # it is kept from now on
            return self._answer

        if self._asked is None:
            self._asked = asyncio.ensure_future(info.context.ask(work))
        return await self._asked


@strawberry.type(description="What a traversal reached: a page of columns, and counts of all of them.")
class ReachedColumns:
    """What a traversal reached."""

    edges: list[Edge[ReachedColumn]] = told("The columns, by hops, then references, then key.")
    page_info: PageInfo = told("Where the page lies.")
    total_count: Long = told("How many columns were reached, that the filter admits.")
    total_count_is_lower_bound: bool = told("Whether there may be more: a limit ended the traversal.")
    counts_by_hop: list[HopCount] = told("How many columns lie how many hops away.")
    table_count: Long = told("How many tables they belong to.")
    as_of: datetime | None = told("The time that was asked for; null for now.")
    direction: Direction = told("Which way was looked.")
    start_key: strawberry.Private[str]
    all_tables: strawberry.Private[list[_CountedTable]]
    feeds: strawberry.Private[_Feeds]

    @strawberry.field(description="The column or table that was asked about.")
    async def start(self, info: LineageInfo) -> Node:
        """Return the column or table that was asked about."""
        return await node_of(info, self.start_key)

    @strawberry.field(description="Tables that only table-level lineage leads to.")
    async def possibly_affected(self, info: LineageInfo) -> list[PossiblyAffectedTable]:
        """Return the tables that only table-level lineage leads to."""
        return [PossiblyAffectedTable.of(one) for one in (await self.feeds.of(info)).possibly_affected]

    @strawberry.field(description="Which limit cut the answer short, and how; null if it is whole.")
    async def truncated(self, info: LineageInfo) -> str | None:
        """Return which limit cut the answer short."""
        return (await self.feeds.of(info)).truncated

    @strawberry.field(description="The tables that the columns belong to, the nearest first.")
    async def tables(self, info: LineageInfo, first: First = 100) -> list[ReachedTable]:
        """Return the tables that the columns belong to."""
        shown = self.all_tables[: size_of(info, first)]
        names: dict[str, str] = await info.context.ask(lambda store: store.dataset_names([one.key for one in shown]))
        return [
            ReachedTable(
                key=strawberry.ID(one.key),
                name=names.get(one.key, one.key),
                columns=Long(one.columns),
                hops=one.hops,
            )
            for one in shown
        ]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a traversal, beside where it begins."""

    max_hops: int
    max_references: int | None
    kinds: list[EdgeKind] | None
    through_masking: bool
    as_of: datetime | None
    wanted: ReachedFilter | None
    first: int
    after: str | None


def bounded(context: Context, question: Question) -> TraversalOptions:
    """Return the traversal's options, within the service's limits.

    Raises:
        RefusedError: one is beyond a limit, or wrong.
    """
    if question.max_hops > context.limits.hops:
        raise RefusedError.over_limit("maxHops", context.limits.hops, question.max_hops, "ask for fewer hops")
    as_of = question.as_of
    try:
        return TraversalOptions(
            max_hops=question.max_hops,
            max_references=question.max_references,
            kinds=frozenset(EdgeKind) if question.kinds is None else frozenset(question.kinds),
            through_masking=question.through_masking,
            limit_total=context.limits.reached,
            timeout=context.limits.seconds,
            as_of=as_of.replace(tzinfo=UTC) if as_of and as_of.tzinfo is None else as_of,
        )
    except ValueError as error:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, str(error)) from error


async def reach(
    info: LineageInfo, direction: Direction, column: str | None, table: str | None, question: Question
) -> ReachedColumns:
    """Return what the column or the table reaches.

    Raises:
        RefusedError: neither or both are named, or a bound is wrong.
        NameLookupError: the graph has no such thing, or several.
        StoreError: the store could not be read.
    """
    find = finder(column, table)
    options = bounded(info.context, question)
    size, begin = size_of(info, question.first), position_of(question.after, int)
    start = begin[0] + 1 if begin else 0
    traverse = find_impact if direction is Direction.DOWNSTREAM else find_root_cause

    def work(store: GraphStore) -> _Found:
        answer = traverse(store, find(store), options)
        return _found(answer, question.wanted, start, size)

    with TRAVERSAL_SECONDS.labels(str(direction)).time():
        found: _Found = await info.context.ask(work)
    answer = found.answer
    REACHED.labels(str(direction)).observe(answer.total)
    edges, page = page_of(list(enumerate(found.rows, start)), size, question.after, lambda row: (row[0],))
    page.has_next_page = start + len(found.rows) < found.total
    return ReachedColumns(
        edges=[Edge(cursor=edge.cursor, node=ReachedColumn.of(edge.node[1])) for edge in edges],
        page_info=page,
        total_count=Long(found.total),
        total_count_is_lower_bound=answer.is_lower_bound,
        counts_by_hop=[HopCount(hops=hops, columns=Long(count)) for hops, count in found.by_hop.items()],
        table_count=Long(len(found.tables)),
        as_of=options.as_of,
        direction=direction,
        start_key=answer.start.key,
        all_tables=found.tables,
        feeds=_Feeds(answer),
    )


async def paths_between(info: LineageInfo, start: str, end: str, limit: int, options: TraversalOptions) -> list[Path]:
    """Return the shortest paths from one column or table to another.

    Raises:
        NameLookupError: the graph has no such thing, or several.
        StoreError: the store could not be read.
    """

    def find(store: GraphStore) -> tuple[Route, ...]:
        return shortest_paths(store, resolve(store, start), resolve(store, end), limit=limit, options=options)

    return [Path.of(route) for route in await info.context.ask(find)]


def finder(column: str | None, table: str | None) -> Callable[[GraphStore], Target]:
    """Return what finds the column or the table in a store.

    Raises:
        RefusedError: neither or both are named.
    """
    if column is not None and table is None:
        return lambda store: resolve_column(store, column)
    if table is not None and column is None:
        return lambda store: resolve_table(store, table)
    raise RefusedError(ErrorCode.BAD_ARGUMENT, "name a column or a table, one of both")


@dataclass(frozen=True, slots=True)
class _Found:
    """What a traversal found, as far as a filter admits it, and a page of it."""

    answer: Answer
    rows: tuple[Reached, ...]
    total: int
    by_hop: dict[int, int]
    tables: list[_CountedTable]


def _found(answer: Answer, wanted: ReachedFilter | None, start: int, size: int) -> _Found:
    if wanted is None:
        tables = sorted(_CountedTable(hops, key, count) for key, (count, hops) in answer.by_dataset.items())
        return _Found(answer, answer.page(start, size), answer.total, answer.by_hop, tables)
    admitted = [one for one in answer.outlines if wanted.admits(one)]
    counts = Counter(one.dataset for one in admitted)
    nearest = {one.dataset: one for one in reversed(admitted)}
    return _Found(
        answer,
        answer.shown(one.node for one in admitted[start : start + size]),
        len(admitted),
        dict(sorted(Counter(one.hops for one in admitted).items())),
        sorted(_CountedTable(one.hops, key, counts[key]) for key, one in nearest.items()),
    )
