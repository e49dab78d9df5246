"""The schema's roots: what can be asked, changed and watched."""

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
from lineage_graphql.schema import diff, extraction, stewardship, traversal
from lineage_graphql.schema.fields import LONG, Long, argument
from lineage_graphql.schema.lists import Lists
from lineage_graphql.schema.lookups import Lookups
from lineage_graphql.schema.paging import After, Before, First, Last, page_arguments
from lineage_graphql.schema.paths import Path, paths_between
from lineage_graphql.schema.starts import ColumnName, TableName, find_one
from lineage_graphql.schema.subgraphs import Subgraphs
from lineage_graphql.schema.table_usage import TableUsages
from lineage_graphql.schema.usage import Usage, usage_of
from lineage_graphql.schema.watching import GraphChange, graph_changes

__all__ = ["schema"]

_PATHS = 20


def _reader(info: LineageInfo) -> None:
    info.context.require(Role.READER)


@strawberry.type(description="What can be asked.")
class Query(Lookups, Lists, TableUsages, Subgraphs):
    """What can be asked."""

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
        options = traversal.bounded(info.context, traversal.Question(max_hops, None, kinds, True, as_of))
        return await paths_between(info, start, end, limit, options)

    @strawberry.field(description="How much a table or a column is used, by day.")
    async def usage(
        self,
        info: LineageInfo,
        table: TableName = None,
        column: ColumnName = None,
        since: Annotated[date | None, argument("The first day that counts.", name="from")] = None,
        until: Annotated[date | None, argument("The last day that counts.", name="to")] = None,
    ) -> Usage:
        """Return the use of a table or a column."""
        _reader(info)
        find = find_one(column, table)
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
        last: Last = None,
        before: Before = None,
    ) -> diff.LineageDiff:
        """Return what differs between two times."""
        _reader(info)
        asked = page_arguments(info, "changed edges", diff.PLACE, first, after, last, before)
        return await diff.difference(info, as_of_a, as_of_b, scope, asked)

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


class _GraphQLSchema(strawberry.Schema):
    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing here: `limits.extension` logs what nobody foresaw, and the rest is the caller's."""


schema = _GraphQLSchema(
    query=Query,
    mutation=stewardship.Mutation,
    subscription=Subscription,
    config=StrawberryConfig(scalar_map={Long: LONG}),
    extensions=[WithinLimits],
)
