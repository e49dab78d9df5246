"""Query fields that list tables, jobs, runs and diagnostics."""

from __future__ import annotations

from typing import Annotated

import strawberry

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import DatasetKind
from lineage.store.page_requests import DatasetFilter, DiagnosticFilter, JobFilter
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import argument, argument_text, some_of
from lineage_graphql.schema.lists.ordering import (
    JobOrder,
    OrderDirection,
    RunOrder,
    RunOrderField,
    TableOrder,
    order_of,
)
from lineage_graphql.schema.objects.datasets import Table
from lineage_graphql.schema.objects.jobs import Diagnostic, Job
from lineage_graphql.schema.objects.overview import Run
from lineage_graphql.schema.paging import (
    After,
    Before,
    Connection,
    First,
    Last,
    StoredRows,
    connection,
    page_arguments,
)

__all__ = ["Lists"]


@strawberry.type
class Lists:
    """Fields of `Query` that return lists."""

    @strawberry.field(description="Tables, ordered by key unless `orderBy` says otherwise.")
    async def tables(
        self,
        info: LineageInfo,
        namespace: Annotated[str | None, argument("Only tables of this namespace.")] = None,
        schema: Annotated[
            str | None,
            argument("Only tables of this schema: `shop` or `db.shop` of `db.shop.orders`, case-insensitive."),
        ] = None,
        kinds: Annotated[list[DatasetKind] | None, argument("Only tables of these kinds.")] = None,
        tags: Annotated[list[str] | None, argument("Only tables that have all these tags.")] = None,
        dropped: Annotated[bool, argument("Whether to include dropped tables.")] = False,
        order_by: Annotated[TableOrder | None, argument("Order; by key if omitted.")] = None,
        first: First = 50,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Table]:
        """Return a page of tables."""
        info.context.require(Role.READER)
        wanted = DatasetFilter(
            namespace=argument_text("namespace", namespace),
            schema=argument_text("schema", schema),
            kinds=some_of("kinds", kinds),
            tags=tuple(tags or ()),
            dropped=dropped,
        )
        order = order_of(order_by)
        rows = order.rows(
            info,
            lambda store, page: store.page_of_datasets(page, wanted),
            lambda store: store.count_datasets(wanted),
        )
        asked = page_arguments(info, "tables", order.shape, first, after, last, before, scope=order)
        return await connection(rows, asked, Table.of)

    @strawberry.field(description="Jobs, ordered by key unless `orderBy` says otherwise.")
    async def jobs(
        self,
        info: LineageInfo,
        kinds: Annotated[list[JobKind] | None, argument("Only jobs of these kinds.")] = None,
        retired: Annotated[bool, argument("Whether to include jobs that their source no longer contains.")] = False,
        project: Annotated[str | None, argument("Only jobs of this project's SQL files.")] = None,
        file: Annotated[
            str | None,
            argument("Only jobs of this file or folder: a path in the project, or as in `source`."),
        ] = None,
        user: Annotated[
            str | None,
            argument(
                "Only jobs that this user ran, spelled as in the logs; it needs the role steward. "
                "Each job stores its most active users only."
            ),
        ] = None,
        order_by: Annotated[JobOrder | None, argument("Order; by key if omitted.")] = None,
        first: First = 50,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Job]:
        """Return a page of jobs."""
        info.context.require(Role.READER if user is None else Role.STEWARD)
        wanted = JobFilter(
            kinds=some_of("kinds", kinds),
            retired=retired,
            project=argument_text("project", project),
            file=argument_text("file", file),
            user=argument_text("user", user),
        )
        order = order_of(order_by)
        rows = order.rows(
            info,
            lambda store, page: store.page_of_jobs(page, wanted),
            lambda store: store.count_jobs(wanted),
        )
        asked = page_arguments(info, "jobs", order.shape, first, after, last, before, scope=order)
        return await connection(rows, asked, Job.of)

    @strawberry.field(description="Stored ingests, newest first unless `orderBy` says otherwise.")
    async def runs(
        self,
        info: LineageInfo,
        order_by: Annotated[RunOrder | None, argument("Order; last stored first if omitted.")] = None,
        first: First = 20,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Run]:
        """Return a page of runs."""
        info.context.require(Role.READER)
        order = order_of(order_by or RunOrder(field=RunOrderField.LAST_SEEN, direction=OrderDirection.DESC))
        rows = order.rows(info, lambda store, page: store.page_of_runs(page), lambda store: store.count_runs())
        asked = page_arguments(info, "runs", order.shape, first, after, last, before, scope=order)
        return await connection(rows, asked, Run.of)

    @strawberry.field(description="Findings of ingests: what could not be resolved, and where.")
    async def diagnostics(
        self,
        info: LineageInfo,
        codes: Annotated[list[DiagnosticCode] | None, argument("Only findings with these codes.")] = None,
        severities: Annotated[list[Severity] | None, argument("Only findings of these severities.")] = None,
        source: Annotated[str | None, argument("Only findings in this file or log.")] = None,
        first: First = 50,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Diagnostic]:
        """Return a page of diagnostics."""
        info.context.require(Role.READER)
        wanted = DiagnosticFilter(
            some_of("codes", codes), some_of("severities", severities), argument_text("source", source)
        )
        rows = StoredRows(
            lambda one: (one.key,),
            lambda page: info.context.ask(lambda store: store.page_of_diagnostics(page, wanted)),
            lambda: info.context.ask(lambda store: store.count_diagnostics(wanted)),
        )
        asked = page_arguments(info, "diagnostics", (str,), first, after, last, before)
        return await connection(rows, asked, Diagnostic.of)
