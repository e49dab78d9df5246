"""Result types of impact and root cause."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import NamedTuple

import strawberry

from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage.traversal import (
    Answer,
    PossiblyAffected,
    Reached,
    Target,
    broken_reads,
    former_holders,
    gone_sources,
    namesakes,
)
from lineage.traversal import GoneSource as FoundGoneSource
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import Long, doc_field
from lineage_graphql.schema.objects.datasets import (
    BrokenRead,
    Column,
    FormerHolder,
    GoneSource,
    Namesake,
    Table,
    TableOrColumn,
    column_of,
    node_of,
    table_of,
)
from lineage_graphql.schema.objects.jobs import Job, job_of
from lineage_graphql.schema.paging import Edge, First, PageInfo, size_of
from lineage_graphql.schema.traversals.paths import Path

__all__ = ["CountedTable", "Feeds", "HopCount", "ReachedColumn", "ReachedColumns"]


@strawberry.type(description="A column reached by a traversal.")
class ReachedColumn:
    """A column reached by a traversal."""

    key: strawberry.ID = doc_field("Key of the column.")
    hops: int = doc_field("Length of a shortest path.")
    references: int = doc_field("Number of references on that path.")
    influence: list[EdgeKind] = doc_field(
        "Kinds of the paths that reach it: the value flows there, or has an influence."
    )
    transformation: Subtype = doc_field("Subtype of the whole shortest path.")
    how: list[Subtype] = doc_field(
        "Subtypes, strongest first: of the flow of the value, if any; then of the shortest path, if different."
    )
    masked: bool = doc_field("Whether the value reaches it, and only masked.")
    root: bool = doc_field("Upstream: whether it has no contributions.")
    path: Path = doc_field("A shortest path; among these, one with the fewest references.")
    contribution: Path | None = doc_field("A shortest path on which the value flows; an unmasked one if possible.")
    table_key: strawberry.Private[str]

    @classmethod
    def of(cls, reached: Reached) -> ReachedColumn:
        """Return the GraphQL object of a reached column."""
        return cls(
            key=strawberry.ID(reached.key),
            hops=reached.hops,
            references=reached.references,
            influence=sorted(reached.influence),
            transformation=reached.transformation.subtype,
            how=list(reached.how),
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

    @strawberry.field(description="Its table.")
    async def table(self, info: LineageInfo) -> Table:
        """Return its table."""
        return await table_of(info, self.table_key)


@strawberry.type(description="Number of columns at a distance.")
class HopCount:
    """Number of columns at a distance."""

    hops: int = doc_field("Length of a shortest path.")
    columns: Long = doc_field("Number of columns.")


@strawberry.type(description="A table of which columns were reached.")
class ReachedTable:
    """A table of which columns were reached."""

    key: strawberry.ID = doc_field("Key of the table.")
    name: str = doc_field("Full name.")
    columns: Long = doc_field("Number of its columns that were reached.")
    hops: int = doc_field("Distance of the nearest in hops.")

    @strawberry.field(description="The table.")
    async def table(self, info: LineageInfo) -> Table:
        """Return the table."""
        return await table_of(info, self.key)


@strawberry.type(description="A table reached by table-level lineage only.")
class PossiblyAffectedTable:
    """A table reached by table-level lineage only."""

    key: strawberry.ID = doc_field("Key of the table.")
    name: str = doc_field("Full name.")
    hops: int = doc_field("Distance in hops.")
    neighbour_key: strawberry.ID = doc_field("Key of the neighbouring table, one hop nearer the start.")
    job_key: strawberry.ID = doc_field("Key of the job that connects the two.")

    @classmethod
    def of(cls, affected_table: PossiblyAffected) -> PossiblyAffectedTable:
        """Return the GraphQL object of such a table."""
        return cls(
            key=strawberry.ID(affected_table.dataset),
            name=affected_table.table,
            hops=affected_table.hops,
            neighbour_key=strawberry.ID(affected_table.neighbour),
            job_key=strawberry.ID(affected_table.job),
        )

    @strawberry.field(description="Job that connects it to its neighbour.")
    async def job(self, info: LineageInfo) -> Job | None:
        """Return the job."""
        return await job_of(info, self.job_key)


class CountedTable(NamedTuple):
    """The distance of the nearest reached column of a table, and the number of reached columns."""

    hops: int
    key: str
    columns: int


class Feeds:
    """The table-level part of an answer, read from the store once, and only if a query selects it."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._asked: asyncio.Future[Answer] | None = None

    @property
    def starts(self) -> tuple[Target, ...]:
        """The starts of the traversal."""
        return self._answer.starts

    async def gone_sources(self, info: LineageInfo) -> list[FoundGoneSource]:
        """Return what the starts and all reached columns came from that is gone."""
        keys = {*(one.key for one in self.starts), *(one.key for one in self._answer.outlines)}
        found: list[FoundGoneSource] = await info.context.ask(lambda store: gone_sources(store, keys))
        return found

    async def of(self, info: LineageInfo) -> Answer:
        """Return the answer with its table-level part read."""

        def work(_store: GraphStore) -> Answer:
            _ = self._answer.truncated  # reads it; it is cached
            return self._answer

        if self._asked is None:
            self._asked = asyncio.ensure_future(info.context.ask(work))
        return await self._asked


@strawberry.type(description="Result of a traversal: a page of columns, and counts over all of them.")
class ReachedColumns:
    """Result of a traversal."""

    edges: list[Edge[ReachedColumn]] = doc_field("Columns ordered by hops, references and key, with cursors.")
    nodes: list[ReachedColumn] = doc_field("Columns ordered by hops, references and key.")
    page_info: PageInfo = doc_field("Position of the page.")
    total_count: Long = doc_field("Number of reached columns that pass the filter.")
    total_count_is_lower_bound: bool = doc_field("Whether a limit ended the traversal, so that there may be more.")
    counts_by_hop: list[HopCount] = doc_field("Number of columns by distance.")
    table_count: Long = doc_field("Number of tables that they belong to.")
    as_of: datetime | None = doc_field("Time as of which the graph was read; null for now.")
    direction: Direction = doc_field("Direction of the traversal.")
    start_keys: strawberry.Private[list[str]]
    all_tables: strawberry.Private[list[CountedTable]]
    feeds: strawberry.Private[Feeds]

    @strawberry.field(description="Start columns and tables.")
    async def starts(self, info: LineageInfo) -> list[TableOrColumn]:
        """Return the start columns and tables."""
        return list(await asyncio.gather(*(node_of(info, key) for key in self.start_keys)))

    @strawberry.field(
        description="First start column or table.",
        deprecation_reason="There can be several: use `starts`.",
    )
    async def start(self, info: LineageInfo) -> TableOrColumn:
        """Return the first start."""
        return await node_of(info, self.start_keys[0])

    @strawberry.field(description="Tables reached by table-level lineage only.")
    async def possibly_affected(self, info: LineageInfo) -> list[PossiblyAffectedTable]:
        """Return the tables reached by table-level lineage only."""
        return [PossiblyAffectedTable.of(one) for one in (await self.feeds.of(info)).possibly_affected]

    @strawberry.field(
        description="Tables that had the names of the starts before them, until a rename or swap, "
        "or their columns of these names: what used the names then is reached from there. Oldest first, by start."
    )
    async def former_holders(self, info: LineageInfo) -> list[FormerHolder]:
        """Return the tables that had the names of the starts before them."""
        starts, as_of = self.feeds.starts, self.as_of
        found = await info.context.ask(lambda store: former_holders(store, starts, as_of))
        return [FormerHolder.of(one) for one in found]

    @strawberry.field(
        description="Tables that may be one of the starts, or one of the reached tables, named in short or in full: "
        "what uses the other name is not in the answer."
    )
    async def namesakes(self, info: LineageInfo) -> list[Namesake]:
        """Return the tables that may be starts or reached tables."""
        tables = {one.key for one in self.all_tables} | {one.dataset for one in self.feeds.starts}
        return [Namesake.of(one) for one in await info.context.ask(lambda store: namesakes(store, tables))]

    @strawberry.field(
        description="Reads of columns that are not there, by or from the tables of the starts and the reached columns."
    )
    async def broken_reads(self, info: LineageInfo) -> list[BrokenRead]:
        """Return the reads of columns that are not there; none for a time in the past."""
        if self.as_of is not None:
            return []
        tables = {one.key for one in self.all_tables} | {one.dataset for one in self.feeds.starts}
        return [BrokenRead.of(one) for one in await info.context.ask(lambda store: broken_reads(store, tables))]

    @strawberry.field(description="Columns and tables that starts and reached columns came from and that are dropped.")
    async def gone_sources(self, info: LineageInfo) -> list[GoneSource]:
        """Return the sources that are gone; none downstream, nor for a time in the past."""
        if self.as_of is not None or self.direction is not Direction.UPSTREAM:
            return []
        found = await self.feeds.gone_sources(info)
        return [GoneSource.of(one) for one in found]

    @strawberry.field(description="The limit that truncated the answer; null if it is complete.")
    async def truncated(self, info: LineageInfo) -> str | None:
        """Return the limit that truncated the answer."""
        return (await self.feeds.of(info)).truncated

    @strawberry.field(description="Tables of the reached columns, nearest first.")
    async def tables(self, info: LineageInfo, first: First = 100) -> list[ReachedTable]:
        """Return the tables of the reached columns."""
        shown = self.all_tables[: size_of(info, first)]
        names: dict[str, str] = await info.context.ask(lambda store: store.dataset_names([one.key for one in shown]))
        return [
            ReachedTable(
                key=strawberry.ID(table.key),
                name=names.get(table.key, table.key),
                columns=Long(table.columns),
                hops=table.hops,
            )
            for table in shown
        ]
