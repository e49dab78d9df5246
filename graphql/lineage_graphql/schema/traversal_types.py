"""What impact and root cause answer with."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import NamedTuple

import strawberry

from lineage.model.transformations import EdgeKind, Subtype
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage.traversal import Answer, PossiblyAffected, Reached
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.datasets import Column, Table, TableOrColumn, column_of, node_of, table_of
from lineage_graphql.schema.fields import Long, described
from lineage_graphql.schema.jobs import Job
from lineage_graphql.schema.paging import Edge, First, PageInfo, size_of
from lineage_graphql.schema.paths import Path

__all__ = ["CountedTable", "Feeds", "HopCount", "ReachedColumn", "ReachedColumns"]


@strawberry.type(description="A column that a traversal reached.")
class ReachedColumn:
    """A column that a traversal reached."""

    key: strawberry.ID = described("The column's key.")
    hops: int = described("The length of a shortest path.")
    references: int = described("How many of its steps are references.")
    influence: list[EdgeKind] = described("The kinds of path that reach it: the value flows there, or influences it.")
    transformation: Subtype = described("What the shortest path amounts to.")
    how: list[Subtype] = described(
        "How it is reached, the strongest way first: how the value flows, if it does; then the shortest path, if other."
    )
    masked: bool = described("Whether the value flows there and every path that it takes hides it.")
    root: bool = described("Upstream: whether nothing contributes to it.")
    path: Path = described("A shortest path, of those one with the fewest references.")
    contribution: Path | None = described("A shortest path on which the value flows, an unmasked one if there is any.")
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

    @strawberry.field(description="The table that owns it.")
    async def table(self, info: LineageInfo) -> Table:
        """Return its table."""
        return await table_of(info, self.table_key)


@strawberry.type(description="How many columns are so many hops away.")
class HopCount:
    """How many columns are so many hops away."""

    hops: int = described("The length of a shortest path.")
    columns: Long = described("How many columns.")


@strawberry.type(description="A table with columns that were reached.")
class ReachedTable:
    """A table with columns that were reached."""

    key: strawberry.ID = described("The table's key.")
    name: str = described("Its full name.")
    columns: Long = described("How many of its columns were reached.")
    hops: int = described("How far away the nearest of them is.")

    @strawberry.field(description="The table.")
    async def table(self, info: LineageInfo) -> Table:
        """Return the table."""
        return await table_of(info, self.key)


@strawberry.type(description="A table that only table-level lineage leads to.")
class PossiblyAffectedTable:
    """A table that only table-level lineage leads to."""

    key: strawberry.ID = described("The table's key.")
    name: str = described("Its full name.")
    hops: int = described("How far away it is.")
    neighbour_key: strawberry.ID = described("The key of the table one hop nearer the start.")
    job_key: strawberry.ID = described("The key of the job that ties the two together.")

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


class CountedTable(NamedTuple):
    """How far away the nearest reached column of a table is, and how many there are."""

    hops: int
    key: str
    columns: int


class Feeds:
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

    edges: list[Edge[ReachedColumn]] = described("The columns, by hops, then references, then key, with their cursors.")
    nodes: list[ReachedColumn] = described("The columns, by hops, then references, then key.")
    page_info: PageInfo = described("Where the page lies.")
    total_count: Long = described("How many columns were reached, that the filter admits.")
    total_count_is_lower_bound: bool = described("Whether there may be more: a limit ended the traversal.")
    counts_by_hop: list[HopCount] = described("How many columns lie how many hops away.")
    table_count: Long = described("How many tables they belong to.")
    as_of: datetime | None = described("The time that was asked for; null for now.")
    direction: Direction = described("Which way was looked.")
    start_keys: strawberry.Private[list[str]]
    all_tables: strawberry.Private[list[CountedTable]]
    feeds: strawberry.Private[Feeds]

    @strawberry.field(description="The columns and tables that were asked about.")
    async def starts(self, info: LineageInfo) -> list[TableOrColumn]:
        """Return the columns and tables that were asked about."""
        return list(await asyncio.gather(*(node_of(info, key) for key in self.start_keys)))

    @strawberry.field(
        description="The column or table that was asked about; the first, where several were.",
        deprecation_reason="Several can be asked about: use `starts`.",
    )
    async def start(self, info: LineageInfo) -> TableOrColumn:
        """Return the first that was asked about."""
        return await node_of(info, self.start_keys[0])

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
