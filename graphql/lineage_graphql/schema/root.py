"""The root types of the schema: queries, mutations, subscriptions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import date, datetime
from typing import Annotated

import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from lineage.store.values import Direction
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import RefusedError
from lineage_graphql.limits.extension import WithinLimits
from lineage_graphql.schema import diff, extraction, stewardship
from lineage_graphql.schema.access_audit import AccessAudits
from lineage_graphql.schema.exposures import PersonalData
from lineage_graphql.schema.fields import LONG, Long, argument
from lineage_graphql.schema.grant_audit import GrantAudits
from lineage_graphql.schema.lists.domains import DomainQueries
from lineage_graphql.schema.lists.groups import Groups
from lineage_graphql.schema.lists.lists import Lists
from lineage_graphql.schema.lists.lookups import Lookups
from lineage_graphql.schema.lists.owners import OwnerQueries
from lineage_graphql.schema.lists.table_usage import TableUsages
from lineage_graphql.schema.objects.usage import Usage, usage_of
from lineage_graphql.schema.paging import After, Before, First, Last, page_arguments
from lineage_graphql.schema.personal_data_marks import HeldClassQueries
from lineage_graphql.schema.plain_execution import PlainExecution
from lineage_graphql.schema.traversals import traversal
from lineage_graphql.schema.traversals.adjacent import AdjacentQueries
from lineage_graphql.schema.traversals.paths import Path, paths_between
from lineage_graphql.schema.traversals.starts import ColumnName, TableName, find_one
from lineage_graphql.schema.traversals.subgraphs import Subgraphs
from lineage_graphql.schema.watching import GraphChange, graph_changes

__all__ = ["schema"]

_PATHS = 20


def _reader(info: LineageInfo) -> None:
    info.context.require(Role.READER)


@strawberry.type(description="Queries. Each needs the role reader.")
class Query(
    Lookups,
    Lists,
    TableUsages,
    Subgraphs,
    AdjacentQueries,
    Groups,
    OwnerQueries,
    DomainQueries,
    PersonalData,
    AccessAudits,
    GrantAudits,
    HeldClassQueries,
):
    """The queries."""

    impact = strawberry.field(
        traversal.reaching(Direction.DOWNSTREAM),
        description="Columns that depend on a column or table: downstream, nearest first.",
    )
    root_cause = strawberry.field(
        traversal.reaching(Direction.UPSTREAM),
        description="Columns that a column or table comes from: upstream, nearest first.",
    )

    @strawberry.field(description="Shortest downstream paths from one column or table to another.")
    async def paths(
        self,
        info: LineageInfo,
        start: Annotated[str, argument("Column or table at which the paths start.", name="from")],
        end: Annotated[str, argument("Column or table at which the paths end.", name="to")],
        limit: Annotated[int, argument("Maximum number of paths, up to 20.")] = 5,
        max_hops: traversal.MaxHops = 20,
        kinds: traversal.Kinds = None,
        as_of: traversal.AsOf = None,
    ) -> list[Path]:
        """Return the shortest paths from one column or table to another."""
        _reader(info)
        if not 1 <= limit <= _PATHS:
            raise RefusedError.over_limit("limit", _PATHS, limit, "request 1 to 20 paths")
        options = traversal.with_service_limits(info.context, traversal.Question(max_hops, None, kinds, True, as_of))
        return await paths_between(info, start, end, limit, options)

    @strawberry.field(description="Usage of a table or column by day.")
    async def usage(
        self,
        info: LineageInfo,
        table: TableName = None,
        column: ColumnName = None,
        since: Annotated[date | None, argument("First day, inclusive.", name="from")] = None,
        until: Annotated[date | None, argument("Last day, inclusive.", name="to")] = None,
    ) -> Usage:
        """Return the usage of a table or column."""
        _reader(info)
        find = find_one(column, table)
        target = await info.context.ask(find)
        return await usage_of(info, target.key, since, until)

    @strawberry.field(description="Edges that differ between two times.")
    async def lineage_diff(
        self,
        info: LineageInfo,
        as_of_a: Annotated[datetime, argument("Earlier time.")],
        as_of_b: Annotated[datetime, argument("Later time.")],
        scope: Annotated[
            str | None,
            argument("Only edges into this table, or, with a slash, into nodes whose key starts with it."),
        ] = None,
        first: First = 100,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> diff.LineageDiff:
        """Return the edges that differ between two times."""
        _reader(info)
        asked = page_arguments(info, "changed edges", diff.POSITION, first, after, last, before)
        return await diff.difference(info, as_of_a, as_of_b, scope, asked)

    @strawberry.field(description="Lineage of SQL text, and the impact of its targets. Nothing is stored or executed.")
    async def extract(
        self,
        info: LineageInfo,
        sql: Annotated[str, argument("One or more statements. They are parsed, never executed.")],
        dialect: Annotated[str, argument("SQL dialect: postgres, snowflake, bigquery, spark, …")],
        default_database: Annotated[str | None, argument("Database of names that have only a schema.")] = None,
        default_schema: Annotated[str | None, argument("Schema of unqualified names.")] = None,
    ) -> list[extraction.ExtractedStatement]:
        """Return the lineage of the statements."""
        _reader(info)
        return await extraction.extracted(info, sql, dialect, default_database, default_schema)


@strawberry.type(description="Subscriptions.")
class Subscription:
    """The subscriptions."""

    @strawberry.subscription(description="Ingests and stewards' changes, as they are stored.")
    async def graph_changed(self, info: LineageInfo) -> AsyncGenerator[GraphChange, None]:
        """Yield a change whenever one is stored."""
        _reader(info)
        async for change in graph_changes(info):
            yield change


class _GraphQLSchema(strawberry.Schema):
    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing here: `limits.extension` logs unexpected errors; all others are the client's."""


schema = _GraphQLSchema(
    query=Query,
    mutation=stewardship.Mutation,
    subscription=Subscription,
    config=StrawberryConfig(scalar_map={Long: LONG}),
    extensions=[WithinLimits],
    execution_context_class=PlainExecution,
)
