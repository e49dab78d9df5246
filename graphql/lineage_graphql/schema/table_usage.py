"""Which tables are used most, and which are not used."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

import strawberry

from lineage.model.statement import DatasetKind
from lineage.store.page_requests import DatasetFilter, PageRequest, Position
from lineage.store.values import DatasetUsage, StoredDataset
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.datasets import Table, table_of
from lineage_graphql.schema.fields import Long, argument, described, given, some_of
from lineage_graphql.schema.paging import (
    After,
    Before,
    Connection,
    Edge,
    First,
    Last,
    ListedRows,
    PageInfo,
    StoredRows,
    connection,
    page_arguments,
    read_page,
)

__all__ = ["TableUsages"]


@strawberry.enum(description="What counts as use of a table.")
class UsageMeasure(StrEnum):
    """What counts as use of a table."""

    READS = "READS"
    WRITES = "WRITES"


@strawberry.type(description="A table, and how much it was used over the days that were asked for.")
class UsedTable:
    """A table, and how much it was used."""

    table_key: strawberry.ID = described("The table's key.")
    reads: Long = described("Queries that read it.")
    writes: Long = described("Queries that wrote it.")
    first_day: date = described("The first day with any use.")
    last_day: date = described("The last day with any use.")
    last_read: datetime | None = described("When it was last read.")

    @classmethod
    def of(cls, total: DatasetUsage) -> UsedTable:
        """Return the use of a table as the schema has it."""
        return cls(
            table_key=strawberry.ID(total.of),
            reads=Long(total.reads),
            writes=Long(total.writes),
            first_day=total.first_day,
            last_day=total.last_day,
            last_read=total.last_read,
        )

    @strawberry.field(description="The table.")
    async def table(self, info: LineageInfo) -> Table:
        """Return the table."""
        return await table_of(info, self.table_key)


@strawberry.type(description="A page of tables that no query read, and of which days anything is known.")
class UnusedTables:
    """A page of tables that no query read."""

    edges: list[Edge[Table]] = described("The tables, by key, with their cursors.")
    nodes: list[Table] = described("The tables, by key.")
    page_info: PageInfo = described("Where the page lies.")
    rows: strawberry.Private[StoredRows[StoredDataset]]

    @strawberry.field(description="How many tables there are on all pages. They are counted when this is asked for.")
    async def total_count(self) -> Long:
        """Return how many tables there are on all pages."""
        return Long(await self.rows.count())

    @strawberry.field(description="The first day of which use of any table is known; null if no log was ingested.")
    async def usage_first_day(self, info: LineageInfo) -> date | None:
        """Return the first day of which use is known."""
        totals: list[DatasetUsage] = await info.context.ask(lambda store: store.usage_totals())
        return min((total.first_day for total in totals), default=None)

    @strawberry.field(description="The last day of which use of any table is known; null if no log was ingested.")
    async def usage_last_day(self, info: LineageInfo) -> date | None:
        """Return the last day of which use is known."""
        totals: list[DatasetUsage] = await info.context.ask(lambda store: store.usage_totals())
        return max((total.last_day for total in totals), default=None)


@strawberry.type
class TableUsages:
    """Fields of `Query` that answer with tables by their use."""

    @strawberry.field(description="The tables that queries used, the most used first.")
    async def top_tables(
        self,
        info: LineageInfo,
        by: Annotated[UsageMeasure, argument("What counts.")] = UsageMeasure.READS,
        since: Annotated[date | None, argument("The first day that counts.", name="from")] = None,
        until: Annotated[date | None, argument("The last day that counts.", name="to")] = None,
        first: First = 20,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[UsedTable]:
        """Return a page of tables by use."""
        info.context.require(Role.READER)
        if since and until and since > until:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"from ({since}) is after to ({until})")
        asked = page_arguments(info, "top tables", (int, str), first, after, last, before, scope=(by, since, until))

        def rank(total: DatasetUsage) -> Position:
            return (-(total.reads if by is UsageMeasure.READS else total.writes), total.of)

        totals: list[DatasetUsage] = await info.context.ask(lambda store: store.usage_totals(since=since, until=until))
        rows = ListedRows(sorted((one for one in totals if rank(one)[0]), key=rank), rank)
        return await connection(rows, asked, UsedTable.of)

    @strawberry.field(
        description="Tables that no query of a log read on a day or later, by key. Jobs that read them may be defined."
    )
    async def unused_tables(
        self,
        info: LineageInfo,
        since: Annotated[date, argument("The day: tables that were read then or later are left out.")],
        namespace: Annotated[str | None, argument("Only tables of this namespace.")] = None,
        schema: Annotated[str | None, argument("Only tables of this schema, as in `tables`.")] = None,
        kinds: Annotated[list[DatasetKind] | None, argument("Only tables of these kinds.")] = None,
        first: First = 50,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> UnusedTables:
        """Return a page of tables that no query read."""
        info.context.require(Role.READER)
        asked = page_arguments(info, "unused tables", (str,), first, after, last, before)
        wanted = DatasetFilter(
            namespace=given("namespace", namespace),
            schema=given("schema", schema),
            kinds=some_of("kinds", kinds),
            unread_since=since,
        )

        async def read(page: PageRequest) -> list[StoredDataset]:
            found: list[StoredDataset] = await info.context.ask(lambda store: store.page_of_datasets(page, wanted))
            return found

        async def count() -> int:
            found: int = await info.context.ask(lambda store: store.count_datasets(wanted))
            return found

        rows: StoredRows[StoredDataset] = StoredRows(lambda one: (one.key,), read, count)
        page = await read_page(rows, asked)
        nodes = [Table.of(one) for one in page.rows]
        return UnusedTables(
            edges=[Edge(cursor=cursor, node=node) for cursor, node in zip(page.cursors, nodes, strict=True)],
            nodes=nodes,
            page_info=page.info,
            rows=rows,
        )
