"""Tables and columns."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from lineage import traversal
from lineage.model.batch import JobKind
from lineage.model.facts import facts_from
from lineage.model.names import dataset_of, is_column_key
from lineage.model.statement import DatasetKind
from lineage.store.page_requests import JobFilter, PageRequest
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredJob
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import argument, doc_field, in_utc, some_of
from lineage_graphql.schema.objects.column_rows import ColumnRows
from lineage_graphql.schema.objects.facts import StatedFacts, facts_of
from lineage_graphql.schema.objects.ids import Node, NodeKind, global_id
from lineage_graphql.schema.objects.usage import Usage, usage_of
from lineage_graphql.schema.paging import (
    After,
    Before,
    Connection,
    First,
    Last,
    ListedRows,
    PageArguments,
    StoredRows,
    connection,
    page_arguments,
)

if TYPE_CHECKING:
    from lineage_graphql.schema.objects.jobs import Job
    from lineage_graphql.schema.objects.related_tables import RelatedTables

__all__ = [
    "AsOf",
    "BrokenRead",
    "Column",
    "FormerHolder",
    "GoneSource",
    "FormerName",
    "Namesake",
    "Table",
    "TableOrColumn",
    "column_of",
    "node_of",
    "nodes_of",
    "table_of",
]


AsOf = Annotated[datetime | None, argument("Read the graph as of this time.")]


@strawberry.type(description="A name that a table had before a rename. Another table may have it now.")
class FormerName:
    """An earlier name."""

    name: str = doc_field("The full name, without the namespace.")
    until: datetime = doc_field("Time of the rename.")


@strawberry.type(description="A dataset: anything with columns that data flows through.")
class Table(Node):
    """A dataset."""

    key: strawberry.ID = doc_field("Key in the graph: namespace and name.")
    namespace: str = doc_field("OpenLineage namespace.")
    name: str = doc_field("Full name within the namespace, as SQL writes it.")
    kind: DatasetKind = doc_field("Kind of dataset.")
    dialect: str | None = doc_field("SQL dialect of its database, if known.")
    schema_known: bool = doc_field("Whether `columns` is complete; otherwise it holds the columns seen so far.")
    all_names: strawberry.Private[tuple[str, ...]]
    first_seen: datetime = doc_field("Time of the first observation.")
    last_seen: datetime = doc_field("Time of the latest observation.")
    dropped_at: datetime | None = doc_field("Time of the drop; null if the table exists.")
    description: str | None = doc_field("Description written by a steward.")
    tags: list[str] = doc_field("Tags set by stewards.")
    stored_facts: strawberry.Private[str | None]

    @classmethod
    def of(cls, stored: StoredDataset) -> Table:
        """Return the GraphQL object of a dataset."""
        return cls(
            id=global_id(NodeKind.TABLE, stored.key),
            key=strawberry.ID(stored.key),
            namespace=stored.namespace,
            name=stored.display_name,
            kind=stored.kind,
            dialect=stored.dialect,
            schema_known=stored.schema_known,
            all_names=stored.aliases,
            first_seen=stored.first_seen,
            last_seen=stored.last_seen,
            dropped_at=stored.dropped_at,
            description=stored.description,
            tags=list(stored.tags),
            stored_facts=stored.facts,
        )

    @strawberry.field(description="What sources state of it, such as a dbt project: documentation, tests, ….")
    def facts(self) -> list[StatedFacts]:
        """Return the facts of each source."""
        return facts_of(facts_from(self.stored_facts))

    @strawberry.field(description="Other current names, such as the path of the table's files.")
    async def aliases(self, info: LineageInfo) -> list[str]:
        """Return its aliases that are not former names."""
        former = {one.name for one in await info.context.loaders.former_names.load(self.key)}
        return [name for name in self.all_names if name not in former and name.casefold() != self.name.casefold()]

    @strawberry.field(description="Earlier names, oldest first.")
    async def former_names(self, info: LineageInfo) -> list[FormerName]:
        """Return its earlier names."""
        found = await info.context.loaders.former_names.load(self.key)
        return [FormerName(name=one.name, until=one.until) for one in found]

    @strawberry.field(description="Existing tables that had its name before it, oldest first.")
    async def former_holders(self, info: LineageInfo) -> list[FormerHolder]:
        """Return the tables that had its name before it."""
        return [FormerHolder.of(one) for one in await info.context.loaders.former_holders.load(self.key)]

    @strawberry.field(description="Tables that may be this one: the name of one is the last parts of the other's.")
    async def namesakes(self, info: LineageInfo) -> list[Namesake]:
        """Return the tables that may be this one, named in short or in full."""
        return [Namesake.of(one) for one in await info.context.loaders.namesakes.load(self.key)]

    @strawberry.field(description="Reads of columns that it does not have, and its own reads of such columns.")
    async def broken_reads(self, info: LineageInfo) -> list[BrokenRead]:
        """Return the reads of columns that are not there."""
        return [BrokenRead.of(one) for one in await info.context.loaders.broken_reads.load(self.key)]

    @strawberry.field(description="Columns in order, with their nested fields.")
    async def columns(
        self, info: LineageInfo, first: First = 100, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[Column]:
        """Return a page of its columns."""
        asked = page_arguments(info, "columns", (str, str, int), first, after, last, before, scope=self.key)
        rows = ColumnRows(await info.context.loaders.columns_of.load(self.key))
        return await connection(rows, asked, Column.of)

    @strawberry.field(description="Jobs that read or write it, ordered by key.")
    async def jobs(
        self,
        info: LineageInfo,
        kinds: Annotated[list[JobKind] | None, argument("Only jobs of these kinds.")] = None,
        first: First = 50,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Annotated[Job, strawberry.lazy("lineage_graphql.schema.objects.jobs")]]:
        """Return a page of the jobs that read or write it."""
        from lineage_graphql.schema.objects import jobs  # noqa: PLC0415  circular: jobs have tables

        asked = page_arguments(info, "jobs of table", (str,), first, after, last, before, scope=self.key)
        keys = await info.context.loaders.job_keys(self.key, JobFilter(some_of("kinds", kinds)))
        listed = ListedRows(keys, lambda key: (key,))

        async def read(page: PageRequest) -> list[StoredJob]:
            found = await info.context.loaders.jobs.load_many(list(await listed.read(page)))
            return [job for job in found if job]

        rows = StoredRows(lambda job: (job.key,), read, listed.count)
        return await connection(rows, asked, jobs.Job.of)

    @strawberry.field(description="Tables upstream by table-level lineage, nearest first.")
    async def upstream(
        self,
        info: LineageInfo,
        max_hops: Annotated[int, argument("Maximum number of hops.")] = 20,
        as_of: AsOf = None,
        first: First = 100,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Annotated[RelatedTables, strawberry.lazy("lineage_graphql.schema.objects.related_tables")]:
        """Return a page of the tables upstream."""
        asked = page_arguments(info, "upstream", (int, str), first, after, last, before, scope=self.key)
        return await _related(info, self.key, Direction.UPSTREAM, max_hops, as_of, asked)

    @strawberry.field(description="Tables downstream by table-level lineage, nearest first.")
    async def downstream(
        self,
        info: LineageInfo,
        max_hops: Annotated[int, argument("Maximum number of hops.")] = 20,
        as_of: AsOf = None,
        first: First = 100,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Annotated[RelatedTables, strawberry.lazy("lineage_graphql.schema.objects.related_tables")]:
        """Return a page of the tables downstream."""
        asked = page_arguments(info, "downstream", (int, str), first, after, last, before, scope=self.key)
        return await _related(info, self.key, Direction.DOWNSTREAM, max_hops, as_of, asked)

    @strawberry.field(description="Usage by day.")
    async def usage(
        self,
        info: LineageInfo,
        since: Annotated[date | None, argument("First day, inclusive.", name="from")] = None,
        until: Annotated[date | None, argument("Last day, inclusive.", name="to")] = None,
    ) -> Usage:
        """Return its usage."""
        return await usage_of(info, self.key, since, until)


@strawberry.type(description="A column of a dataset, or a nested field of one.")
class Column(Node):
    """A column or nested field."""

    key: strawberry.ID = doc_field("Key in the graph: the table's key, `#` and the path.")
    path: str = doc_field("Name as SQL writes it; dots separate nested fields.")
    data_type: str | None = doc_field("Data type, if known.")
    ordinal: int | None = doc_field("Position among the columns, from 0, if known.")
    inferred: bool = doc_field("Whether it was inferred from queries and is not part of a known schema.")
    dropped_at: datetime | None = doc_field("Time at which it was dropped; null if it exists.")
    table_key: strawberry.ID = doc_field("Key of its table.")
    parent_key: strawberry.ID | None = doc_field("Key of the enclosing column, for a nested field.")
    description: str | None = doc_field("Description written by a steward.")
    tags: list[str] = doc_field("Tags set by stewards.")
    stored_facts: strawberry.Private[str | None]
    aliases: list[str] = doc_field("Earlier paths, before renames.")
    loaded_table: strawberry.Private[Table | None] = None
    """Its table, if that was read with it."""

    @classmethod
    def of(cls, stored: StoredColumn, table: Table | None = None) -> Column:
        """Return the GraphQL object of a column."""
        return cls(
            id=global_id(NodeKind.COLUMN, stored.key),
            key=strawberry.ID(stored.key),
            path=stored.display_path,
            data_type=stored.data_type,
            ordinal=stored.ordinal,
            inferred=stored.inferred,
            dropped_at=stored.dropped_at,
            table_key=strawberry.ID(stored.dataset),
            parent_key=strawberry.ID(stored.parent) if stored.parent else None,
            description=stored.description,
            tags=list(stored.tags),
            stored_facts=stored.facts,
            aliases=list(stored.aliases),
            loaded_table=table,
        )

    @strawberry.field(description="What sources state of it, such as a dbt project: documentation, tests, ….")
    def facts(self) -> list[StatedFacts]:
        """Return the facts of each source."""
        return facts_of(facts_from(self.stored_facts))

    @strawberry.field(description="Its table.")
    async def table(self, info: LineageInfo) -> Table:
        """Return its table."""
        return self.loaded_table or await table_of(info, self.table_key)

    @strawberry.field(
        description="Number of columns and tables one hop upstream: those with an edge into it, its fields or parents."
    )
    async def upstream_count(self, info: LineageInfo, as_of: AsOf = None) -> int:
        """Return the number of columns and tables one hop upstream."""
        return await info.context.loaders.neighbours(self.key, Direction.UPSTREAM, in_utc(as_of) if as_of else None)

    @strawberry.field(
        description="Number of columns and tables one hop downstream: those that it, its fields or parents lead to."
    )
    async def downstream_count(self, info: LineageInfo, as_of: AsOf = None) -> int:
        """Return the number of columns and tables one hop downstream."""
        return await info.context.loaders.neighbours(self.key, Direction.DOWNSTREAM, in_utc(as_of) if as_of else None)

    @strawberry.field(description="Full name as SQL writes it: the table's name, a dot, the path.")
    async def name(self, info: LineageInfo) -> str:
        """Return its full name."""
        table = await table_of(info, self.table_key)
        return f"{table.name}.{self.path}"

    @strawberry.field(description="Usage by day.")
    async def usage(
        self,
        info: LineageInfo,
        since: Annotated[date | None, argument("First day, inclusive.", name="from")] = None,
        until: Annotated[date | None, argument("Last day, inclusive.", name="to")] = None,
    ) -> Usage:
        """Return its usage."""
        return await usage_of(info, self.key, since, until)


TableOrColumn = Annotated[
    Column | Table, strawberry.union("TableOrColumn", description="A column, or a table as a whole.")
]


@strawberry.type(
    description="A table that had the name of another one before it, until a rename or swap. "
    "What used the name then is found under the name that the table has now."
)
class FormerHolder:
    """A table that had the name of another one before it."""

    key: strawberry.ID = doc_field("Key of the table, or of its column of the same name if a column was asked.")
    name: str = doc_field("Full name of the table or column now.")
    until: datetime = doc_field("Time of the rename or swap.")
    start_key: strawberry.ID = doc_field("Key of the table or column that has the name now.")

    @classmethod
    def of(cls, found: traversal.FormerHolder) -> FormerHolder:
        """Return the GraphQL object of such a table."""
        return cls(
            key=strawberry.ID(found.key), name=found.name, until=found.until, start_key=strawberry.ID(found.start)
        )

    @strawberry.field(description="The table, or its column.")
    async def node(self, info: LineageInfo) -> TableOrColumn:
        """Return the table or column."""
        return await node_of(info, self.key)


@strawberry.type(
    description="Two tables that may be one: statements that state no database or schema name a table with fewer "
    "parts than others do. What uses one is not found under the other."
)
class Namesake:
    """Two tables that may be one."""

    key: strawberry.ID = doc_field("Key of the table with the longer name.")
    name: str = doc_field("Full name of this table.")
    short_key: strawberry.ID = doc_field("Key of the table whose name is the last parts of the longer one.")
    short_name: str = doc_field("Full name of that table.")

    @classmethod
    def of(cls, namesake: traversal.Namesake) -> Namesake:
        """Return the GraphQL object of such tables."""
        return cls(
            key=strawberry.ID(namesake.key),
            name=namesake.name,
            short_key=strawberry.ID(namesake.short_key),
            short_name=namesake.short_name,
        )


@strawberry.type(
    description="A read of a column that its table does not have: a newer schema lacks it, or none ever had it."
)
class BrokenRead:
    """A read of a column that is not there."""

    column_key: strawberry.ID = doc_field("Key of the column.")
    name: str = doc_field("Full name of the column.")
    reader_key: strawberry.ID = doc_field("Key of the table that reads it.")
    reader_name: str = doc_field("Full name of that table.")
    job_key: strawberry.ID = doc_field("Key of the job that reads it.")
    since: datetime | None = doc_field("Time of the schema that lacks the column; null if no schema had it.")

    @classmethod
    def of(cls, broken_read: traversal.BrokenRead) -> BrokenRead:
        """Return the GraphQL object of such a read."""
        return cls(
            column_key=strawberry.ID(broken_read.column),
            name=broken_read.name,
            reader_key=strawberry.ID(broken_read.reader),
            reader_name=broken_read.reader_name,
            job_key=strawberry.ID(broken_read.job),
            since=broken_read.since,
        )


@strawberry.type(description="A column or table that another one came from, and that is dropped.")
class GoneSource:
    """A source that is gone."""

    source_key: strawberry.ID = doc_field("Key of the source.")
    name: str = doc_field("Full name of the source.")
    target_key: strawberry.ID = doc_field("Key of the column or table that came from it.")
    target_name: str = doc_field("Full name of that column or table.")
    job_key: strawberry.ID = doc_field("Key of the job that made it.")
    until: datetime = doc_field("Time since when the source is gone.")

    @classmethod
    def of(cls, gone_source: traversal.GoneSource) -> GoneSource:
        """Return the GraphQL object of such a source."""
        return cls(
            source_key=strawberry.ID(gone_source.source),
            name=gone_source.name,
            target_key=strawberry.ID(gone_source.target),
            target_name=gone_source.target_name,
            job_key=strawberry.ID(gone_source.job),
            until=gone_source.until,
        )


async def _related(
    info: LineageInfo, key: str, direction: Direction, max_hops: int, as_of: datetime | None, asked: PageArguments
) -> RelatedTables:
    from lineage_graphql.schema.objects.related_tables import related_tables  # noqa: PLC0415  circular: they have tables

    return await related_tables(info, key, direction, max_hops, in_utc(as_of) if as_of else None, asked)


async def column_of(info: LineageInfo, key: str) -> Column:
    """Return the column of a key.

    Raises:
        LookupError: the graph has no such column.
    """
    stored = await info.context.loaders.columns.load(key)
    if stored is None:
        raise LookupError(f"no column {key}")
    return Column.of(stored)


async def table_of(info: LineageInfo, key: str) -> Table:
    """Return the table of a key.

    Raises:
        LookupError: the graph has no such table.
    """
    stored = await info.context.loaders.datasets.load(key)
    if stored is None:
        raise LookupError(f"no table {key}")
    return Table.of(stored)


async def node_of(info: LineageInfo, key: str) -> Column | Table:
    """Return the column or table of a key.

    Raises:
        LookupError: the graph has no such node.
    """
    return await (column_of if is_column_key(key) else table_of)(info, key)


async def nodes_of(info: LineageInfo, keys: Collection[str]) -> list[Column | Table]:
    """Return the columns and tables of some keys, in their order; columns with their tables.

    Raises:
        LookupError: the graph lacks one of them.
    """
    loaders = info.context.loaders
    columns, tables = await asyncio.gather(
        loaders.columns.load_many([key for key in keys if is_column_key(key)]),
        loaders.datasets.load_many(list(dict.fromkeys(map(dataset_of, keys)))),
    )
    found: dict[str, Column | Table] = {}
    table_by_key = {one.key: Table.of(one) for one in tables if one}
    found |= table_by_key
    found |= {one.key: Column.of(one, table_by_key.get(one.dataset)) for one in columns if one}
    for key in keys:
        if key not in found:
            raise LookupError(f"no {'column' if is_column_key(key) else 'table'} {key}")
    return [found[key] for key in keys]
