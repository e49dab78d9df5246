"""The most used tables, and unused ones."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

import strawberry

from lineage.governance.log_coverage import NoLogError, log_coverage
from lineage.model.statement import DatasetKind
from lineage.store.page_requests import DatasetFilter, PageRequest, Position
from lineage.store.values import DatasetUsage, StoredDataset
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.exposures import refuse_without_log
from lineage_graphql.schema.fields import Long, argument, argument_text, doc_field, some_of
from lineage_graphql.schema.objects.datasets import Table, table_of
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


@strawberry.enum(description="What usage is measured by.")
class UsageMeasure(StrEnum):
    """What usage is measured by."""

    READS = "READS"
    WRITES = "WRITES"


@strawberry.type(description="A table and its usage over the requested days.")
class UsedTable:
    """A table and its usage."""

    table_key: strawberry.ID = doc_field("Key of the table.")
    reads: Long = doc_field("Number of queries that read it.")
    writes: Long = doc_field("Number of queries that wrote it.")
    first_day: date = doc_field("First day with usage.")
    last_day: date = doc_field("Last day with usage.")
    last_read: datetime | None = doc_field("Time of the last read.")

    @classmethod
    def of(cls, total: DatasetUsage) -> UsedTable:
        """Return the GraphQL object of a table's usage."""
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


@strawberry.type(description="A page of tables that no query read, and the days for which usage is known.")
class UnusedTables:
    """A page of tables that no query read."""

    edges: list[Edge[Table]] = doc_field("Tables ordered by key, with cursors.")
    nodes: list[Table] = doc_field("Tables ordered by key.")
    page_info: PageInfo = doc_field("Position of the page.")
    rows: strawberry.Private[StoredRows[StoredDataset]]

    @strawberry.field(description="Number of tables on all pages. They are counted only when this field is selected.")
    async def total_count(self) -> Long:
        """Return the number of tables on all pages."""
        return Long(await self.rows.count())

    @strawberry.field(description="First day with usage of any table; null if no log was ingested.")
    async def usage_first_day(self, info: LineageInfo) -> date | None:
        """Return the first day with usage."""
        totals: list[DatasetUsage] = await info.context.ask(lambda store: store.usage_totals())
        return min((total.first_day for total in totals), default=None)

    @strawberry.field(description="Last day with usage of any table; null if no log was ingested.")
    async def usage_last_day(self, info: LineageInfo) -> date | None:
        """Return the last day with usage."""
        totals: list[DatasetUsage] = await info.context.ask(lambda store: store.usage_totals())
        return max((total.last_day for total in totals), default=None)


@strawberry.type
class TableUsages:
    """Fields of `Query` that return tables by usage."""

    @strawberry.field(description="Tables used by queries, most used first.")
    async def top_tables(
        self,
        info: LineageInfo,
        by: Annotated[UsageMeasure, argument("Measure of usage.")] = UsageMeasure.READS,
        since: Annotated[date | None, argument("First day, inclusive.", name="from")] = None,
        until: Annotated[date | None, argument("Last day, inclusive.", name="to")] = None,
        first: First = 20,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[UsedTable]:
        """Return a page of tables by usage."""
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
        description="Tables that no logged query read since a day, ordered by key. Jobs that read them may exist. "
        "It is refused if no log covers that time; `unused` considers what is made from tables."
    )
    async def unused_tables(
        self,
        info: LineageInfo,
        since: Annotated[date, argument("Leave out tables that were read on this day or later.")],
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
        try:
            await info.context.ask(lambda store: log_coverage(store, since))
        except NoLogError as error:
            raise refuse_without_log(error) from error
        wanted = DatasetFilter(
            namespace=argument_text("namespace", namespace),
            schema=argument_text("schema", schema),
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
        return UnusedTables(**page.fields(Table.of), rows=rows)
