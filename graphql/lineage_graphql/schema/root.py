"""The schema's roots: what can be asked, changed and watched."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import date, datetime
from typing import Annotated, TypeVar

import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.store.protocol import Direction, JobFilter
from lineage.traversal import Target, resolve_column, resolve_table
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.execution import ReadingExecutor
from lineage_graphql.limits.extension import WithinLimits
from lineage_graphql.schema import diff, extraction, stewardship, traversal
from lineage_graphql.schema.datasets import Column, Table
from lineage_graphql.schema.fields import LONG, Long, argument
from lineage_graphql.schema.jobs import Diagnostic, Job
from lineage_graphql.schema.overview import Hit, Run, Service
from lineage_graphql.schema.paging import After, Connection, Edge, First, page_of, position_of, size_of
from lineage_graphql.schema.paths import Path, paths_between
from lineage_graphql.schema.usage import Usage, usage_of
from lineage_graphql.schema.watching import GraphChange, graph_changes

__all__ = ["schema"]

T = TypeVar("T")

_PATHS = 20
_SEARCHED = 1_000


def _reader(info: LineageInfo) -> None:
    info.context.require(Role.READER)


@strawberry.type(description="What can be asked.")
class Query:
    """What can be asked."""

    @strawberry.field(description="What answers here.")
    async def service(self, info: LineageInfo) -> Service:
        """Return what answers here."""
        _reader(info)
        return await Service.of(info)

    @strawberry.field(description="A table, by key or by name, with a namespace where several have it.")
    async def table(
        self,
        info: LineageInfo,
        key: Annotated[strawberry.ID | None, argument("The table's key.")] = None,
        namespace: Annotated[str | None, argument("The namespace of the table that `name` names.")] = None,
        name: Annotated[str | None, argument("The table's name, in full or in part.")] = None,
    ) -> Table | None:
        """Return a table."""
        _reader(info)
        text = _named(key, namespace, name)
        target: Target = await info.context.ask(lambda store: resolve_table(store, text))
        stored = await info.context.loaders.datasets.load(target.key)
        return Table.of(stored) if stored else None

    @strawberry.field(description="A column, by key or by name, with a namespace where several have it.")
    async def column(
        self,
        info: LineageInfo,
        key: Annotated[strawberry.ID | None, argument("The column's key.")] = None,
        namespace: Annotated[str | None, argument("The namespace of the column that `name` names.")] = None,
        name: Annotated[str | None, argument("The column's name, as `schema.table.column`.")] = None,
    ) -> Column | None:
        """Return a column."""
        _reader(info)
        text = _named(key, namespace, name)
        target: Target = await info.context.ask(lambda store: resolve_column(store, text))
        stored = await info.context.loaders.columns.load(target.key)
        return Column.of(stored) if stored else None

    @strawberry.field(description="Tables and columns whose name holds a text, the best first.")
    async def search(
        self,
        info: LineageInfo,
        text: Annotated[str, argument("A part of a name; case does not matter.")],
        types: Annotated[list[stewardship.NodeType] | None, argument("Only tables, or only columns.")] = None,
        tags: Annotated[list[str] | None, argument("Only what has all these tags.")] = None,
        first: First = 20,
        after: After = None,
    ) -> Connection[Hit]:
        """Return a page of hits."""
        _reader(info)
        size, begin = size_of(info, first), position_of(after, int)
        start = begin[0] + 1 if begin else 0
        if start + size > _SEARCHED:
            raise RefusedError.over_limit("search", _SEARCHED, start + size, "search for a longer text")
        labels = tuple(str(one) for one in types or stewardship.NodeType)
        hits = await info.context.ask(
            lambda store: store.search(text, types=labels, tags=tags or (), limit=start + size + 1)
        )
        rows = list(enumerate(hits[start:], start))
        edges, page = page_of(rows, size, after, lambda row: (row[0],))
        return Connection(edges=[Edge(cursor=edge.cursor, node=Hit.of(edge.node[1])) for edge in edges], page_info=page)

    impact = strawberry.field(
        traversal.reaching(Direction.DOWNSTREAM),
        description="What depends on a column or a table? Downstream, the nearest first.",
    )
    root_cause = strawberry.field(
        traversal.reaching(Direction.UPSTREAM),
        description="Where does a column or a table come from? Upstream, the nearest first.",
    )

    @strawberry.field(description="How does one column or table reach another? The shortest paths downstream.")
    async def paths(
        self,
        info: LineageInfo,
        start: Annotated[str, argument("The column or table that paths begin at.", name="from")],
        end: Annotated[str, argument("The column or table that they lead to.", name="to")],
        limit: Annotated[int, argument("How many paths, at most twenty.")] = 5,
        max_hops: traversal.MaxHops = 20,
        kinds: traversal.Kinds = None,
        as_of: traversal.AsOf = None,
    ) -> list[Path]:
        """Return the shortest paths from one column or table to another."""
        _reader(info)
        if not 1 <= limit <= _PATHS:
            raise RefusedError.over_limit("limit", _PATHS, limit, "ask for 1 to 20 paths")
        options = traversal.bounded(
            info.context, traversal.Question(max_hops, None, kinds, True, as_of, None, limit, None)
        )
        return await paths_between(info, start, end, limit, options)

    @strawberry.field(description="A job with its SQL and the edges that it states.")
    async def job(self, info: LineageInfo, key: Annotated[strawberry.ID, argument("The job's key.")]) -> Job | None:
        """Return a job."""
        _reader(info)
        stored = await info.context.loaders.jobs.load(key)
        return Job.of(stored) if stored else None

    @strawberry.field(description="Jobs, by key.")
    async def jobs(
        self,
        info: LineageInfo,
        kinds: Annotated[list[JobKind] | None, argument("Only jobs of these kinds.")] = None,
        retired: Annotated[bool, argument("Whether to list those that their source no longer holds, too.")] = False,
        first: First = 50,
        after: After = None,
    ) -> Connection[Job]:
        """Return a page of jobs."""
        _reader(info)
        size, begin = size_of(info, first), position_of(after, str)
        wanted = JobFilter(tuple(kinds or ()), retired)
        found = await info.context.ask(lambda store: store.jobs_after(begin[0] if begin else "", size + 1, wanted))
        edges, page = page_of([Job.of(one) for one in found], size, after, lambda one: (one.key,))
        return Connection(edges=edges, page_info=page)

    @strawberry.field(description="Ingests that were stored, the newest first.")
    async def runs(self, info: LineageInfo, first: First = 20, after: After = None) -> Connection[Run]:
        """Return a page of runs."""
        _reader(info)
        size, begin = size_of(info, first), position_of(after, int)
        start = begin[0] + 1 if begin else 0
        found = await info.context.ask(lambda store: store.runs(start + size + 1))
        edges, page = page_of(list(enumerate(found[start:], start)), size, after, lambda row: (row[0],))
        return Connection(edges=[Edge(cursor=edge.cursor, node=Run.of(edge.node[1])) for edge in edges], page_info=page)

    @strawberry.field(description="What ingests could not resolve, and where.")
    async def diagnostics(
        self,
        info: LineageInfo,
        codes: Annotated[list[DiagnosticCode] | None, argument("Only findings with these codes.")] = None,
        severities: Annotated[list[Severity] | None, argument("Only findings of these severities.")] = None,
        source: Annotated[str | None, argument("Only findings in this file or log.")] = None,
        first: First = 50,
        after: After = None,
    ) -> Connection[Diagnostic]:
        """Return a page of diagnostics."""
        _reader(info)
        size, begin = size_of(info, first), position_of(after, str)
        found = await info.context.ask(
            lambda store: store.diagnostics_after(
                begin[0] if begin else "", size + 1, codes=codes or (), severities=severities or (), source=source
            )
        )
        edges, page = page_of(found, size, after, lambda one: (one.key,))
        return Connection(
            edges=[Edge(cursor=edge.cursor, node=Diagnostic.of(edge.node)) for edge in edges], page_info=page
        )

    @strawberry.field(description="How much a table or a column is used, by day.")
    async def usage(
        self,
        info: LineageInfo,
        table: traversal.TableName = None,
        column: traversal.ColumnName = None,
        since: Annotated[date | None, argument("The first day that counts.", name="from")] = None,
        until: Annotated[date | None, argument("The last day that counts.", name="to")] = None,
    ) -> Usage:
        """Return the use of a table or a column."""
        _reader(info)
        find = traversal.finder(column, table)
        target = await info.context.ask(find)
        return await usage_of(info, target.key, since, until)

    @strawberry.field(description="Which edges differ between two times?")
    async def lineage_diff(
        self,
        info: LineageInfo,
        as_of_a: Annotated[datetime, argument("The earlier time.")],
        as_of_b: Annotated[datetime, argument("The later time.")],
        scope: Annotated[
            str | None, argument("Edges into this table; or, with a slash, into all whose key begins with this.")
        ] = None,
        first: First = 100,
        after: After = None,
    ) -> diff.LineageDiff:
        """Return what differs between two times."""
        _reader(info)
        return await diff.difference(info, as_of_a, as_of_b, scope, first, after)

    @strawberry.field(
        description="What would this SQL do? Its edges, and what depends on its targets. Nothing is stored."
    )
    async def extract(
        self,
        info: LineageInfo,
        sql: Annotated[str, argument("One statement or several. It is read, never run.")],
        dialect: Annotated[str, argument("The SQL dialect: postgres, snowflake, bigquery, spark, …")],
        default_database: Annotated[str | None, argument("The database of names that have a schema only.")] = None,
        default_schema: Annotated[str | None, argument("The schema of names that have none.")] = None,
    ) -> list[extraction.ExtractedStatement]:
        """Return what the statements would do."""
        _reader(info)
        return await extraction.extracted(info, sql, dialect, default_database, default_schema)


@strawberry.type(description="What can be watched.")
class Subscription:
    """What can be watched."""

    @strawberry.subscription(description="Ingests and changes by hand, as they are stored.")
    async def graph_changed(self, info: LineageInfo) -> AsyncGenerator[GraphChange, None]:
        """Yield a change whenever one is stored."""
        _reader(info)
        async for change in graph_changes(info):
            yield change


def _named(key: str | None, namespace: str | None, name: str | None) -> str:
    if key is not None and name is None and namespace is None:
        return key
    if key is None and name is not None:
        return f"{namespace}/{name}" if namespace is not None else name
    raise RefusedError(ErrorCode.BAD_ARGUMENT, "give a key, or a name and (if need be) its namespace")


class _Schema(strawberry.Schema):
    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing here: `limits.extension` logs what nobody foresaw, and the rest is the caller's."""


schema = _Schema(
    query=Query,
    mutation=stewardship.Mutation,
    subscription=Subscription,
    config=StrawberryConfig(scalar_map={Long: LONG}),
    extensions=[WithinLimits],
    execution_context_class=ReadingExecutor,
)
