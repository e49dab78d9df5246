"""Tables and columns."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from lineage.model.batch import JobKind
from lineage.model.names import is_column_key
from lineage.model.statement import DatasetKind
from lineage.store.page_requests import JobFilter, PageRequest
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredJob
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.column_rows import ColumnRows
from lineage_graphql.schema.fields import argument, described, some_of
from lineage_graphql.schema.ids import Node, NodeKind, global_id
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
from lineage_graphql.schema.usage import Usage, usage_of

if TYPE_CHECKING:
    from lineage_graphql.schema.jobs import Job
    from lineage_graphql.schema.related_tables import RelatedTables

__all__ = ["Column", "FormerName", "Table", "TableOrColumn", "column_of", "node_of", "table_of"]


@strawberry.type(description="A name that a table had before it was renamed. By now it may be another's.")
class FormerName:
    """An earlier name."""

    name: str = described("The full name that it had, without its namespace.")
    until: datetime = described("When it was renamed.")


@strawberry.type(description="A dataset: anything with columns that data flows through.")
class Table(Node):
    """A dataset."""

    key: strawberry.ID = described("What the graph knows it by: namespace and name.")
    namespace: str = described("Where it lives, as OpenLineage names it.")
    name: str = described("Its full name there, as people write it.")
    kind: DatasetKind = described("What sort of dataset it is.")
    dialect: str | None = described("The SQL dialect of its database, if known.")
    schema_known: bool = described("Whether `columns` are all it has; else they are what was seen of it.")
    all_names: strawberry.Private[tuple[str, ...]]
    first_seen: datetime = described("When it was first seen.")
    last_seen: datetime = described("When it was last seen.")
    dropped_at: datetime | None = described("Since when it is dropped; null if it is there.")
    description: str | None = described("What a steward says it is.")
    tags: list[str] = described("How stewards tagged it.")

    @classmethod
    def of(cls, stored: StoredDataset) -> Table:
        """Return the dataset as the schema has it."""
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
        )

    @strawberry.field(description="Other names that mean it now, such as the path that a table lies at.")
    async def aliases(self, info: LineageInfo) -> list[str]:
        """Return its names that it was not renamed from."""
        former = {one.name for one in await info.context.loaders.former_names.load(self.key)}
        return [name for name in self.all_names if name not in former and name.casefold() != self.name.casefold()]

    @strawberry.field(description="The names that it had before it was renamed, in order of time.")
    async def former_names(self, info: LineageInfo) -> list[FormerName]:
        """Return its earlier names."""
        found = await info.context.loaders.former_names.load(self.key)
        return [FormerName(name=one.name, until=one.until) for one in found]

    @strawberry.field(description="Its columns, in order, and their fields.")
    async def columns(
        self, info: LineageInfo, first: First = 100, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[Column]:
        """Return a page of its columns."""
        asked = page_arguments(info, "columns", (str, str, int), first, after, last, before, scope=self.key)
        rows = ColumnRows(await info.context.loaders.columns_of.load(self.key))
        return await connection(rows, asked, Column.of)

    @strawberry.field(description="The jobs that read or write it, by key.")
    async def jobs(
        self,
        info: LineageInfo,
        kinds: Annotated[list[JobKind] | None, argument("Only jobs of these kinds.")] = None,
        first: First = 50,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Annotated[Job, strawberry.lazy("lineage_graphql.schema.jobs")]]:
        """Return a page of the jobs that touch it."""
        from lineage_graphql.schema import jobs  # noqa: PLC0415  jobs have tables

        asked = page_arguments(info, "jobs of table", (str,), first, after, last, before, scope=self.key)
        keys = await info.context.loaders.job_keys(self.key, JobFilter(some_of("kinds", kinds)))
        listed = ListedRows(keys, lambda key: (key,))

        async def read(page: PageRequest) -> list[StoredJob]:
            found = await info.context.loaders.jobs.load_many(list(await listed.read(page)))
            return [job for job in found if job]

        rows = StoredRows(lambda job: (job.key,), read, listed.count)
        return await connection(rows, asked, jobs.Job.of)

    @strawberry.field(description="The tables that it is made from, by table-level lineage, the nearest first.")
    async def upstream(
        self,
        info: LineageInfo,
        max_hops: Annotated[int, argument("How many tables to go.")] = 20,
        as_of: Annotated[datetime | None, argument("Ask the graph as it was then.")] = None,
        first: First = 100,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Annotated[RelatedTables, strawberry.lazy("lineage_graphql.schema.related_tables")]:
        """Return a page of the tables that it is made from."""
        asked = page_arguments(info, "upstream", (int, str), first, after, last, before, scope=self.key)
        return await _related(info, self.key, Direction.UPSTREAM, max_hops, as_of, asked)

    @strawberry.field(description="The tables that are made from it, by table-level lineage, the nearest first.")
    async def downstream(
        self,
        info: LineageInfo,
        max_hops: Annotated[int, argument("How many tables to go.")] = 20,
        as_of: Annotated[datetime | None, argument("Ask the graph as it was then.")] = None,
        first: First = 100,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Annotated[RelatedTables, strawberry.lazy("lineage_graphql.schema.related_tables")]:
        """Return a page of the tables that are made from it."""
        asked = page_arguments(info, "downstream", (int, str), first, after, last, before, scope=self.key)
        return await _related(info, self.key, Direction.DOWNSTREAM, max_hops, as_of, asked)

    @strawberry.field(description="How much it is used.")
    async def usage(
        self,
        info: LineageInfo,
        since: Annotated[date | None, argument("The first day that counts.", name="from")] = None,
        until: Annotated[date | None, argument("The last day that counts.", name="to")] = None,
    ) -> Usage:
        """Return its use."""
        return await usage_of(info, self.key, since, until)


@strawberry.type(description="A column of a dataset, or a nested field of one.")
class Column(Node):
    """A column or nested field."""

    key: strawberry.ID = described("What the graph knows it by: its table's key, `#` and its path.")
    path: str = described("Its name, as people write it; a nested field's has dots.")
    data_type: str | None = described("Its type, if known.")
    ordinal: int | None = described("Its place among the columns, from 0, if known.")
    inferred: bool = described("Whether it was concluded from use, and is in no schema.")
    dropped_at: datetime | None = described("Since when its table no longer has it; null if it has.")
    table_key: strawberry.ID = described("The key of its table.")
    parent_key: strawberry.ID | None = described("The key of the column that a nested field lies in.")
    description: str | None = described("What a steward says it is.")
    tags: list[str] = described("How stewards tagged it.")
    aliases: list[str] = described("Paths that it had before it was renamed.")

    @classmethod
    def of(cls, stored: StoredColumn) -> Column:
        """Return the column as the schema has it."""
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
            aliases=list(stored.aliases),
        )

    @strawberry.field(description="The table that it belongs to.")
    async def table(self, info: LineageInfo) -> Table:
        """Return its table."""
        return await table_of(info, self.table_key)

    @strawberry.field(description="Its full name, as people write it: the table's name, a dot, its path.")
    async def name(self, info: LineageInfo) -> str:
        """Return its full name."""
        table = await table_of(info, self.table_key)
        return f"{table.name}.{self.path}"

    @strawberry.field(description="How much it is used.")
    async def usage(
        self,
        info: LineageInfo,
        since: Annotated[date | None, argument("The first day that counts.", name="from")] = None,
        until: Annotated[date | None, argument("The last day that counts.", name="to")] = None,
    ) -> Usage:
        """Return its use."""
        return await usage_of(info, self.key, since, until)


TableOrColumn = Annotated[
    Column | Table, strawberry.union("TableOrColumn", description="A column, or a table as a whole.")
]


async def _related(
    info: LineageInfo, key: str, direction: Direction, max_hops: int, as_of: datetime | None, asked: PageArguments
) -> RelatedTables:
    from lineage_graphql.schema.related_tables import related_tables  # noqa: PLC0415  they are of tables

    as_of = as_of.replace(tzinfo=UTC) if as_of and as_of.tzinfo is None else as_of
    return await related_tables(info, key, direction, max_hops, as_of, asked)


async def column_of(info: LineageInfo, key: str) -> Column:
    """Return the column of a key that something in the graph names.

    Raises:
        LookupError: the graph has no such column.
    """
    stored = await info.context.loaders.columns.load(key)
    if stored is None:
        raise LookupError(f"no column {key}")
    return Column.of(stored)


async def table_of(info: LineageInfo, key: str) -> Table:
    """Return the table of a key that something in the graph names.

    Raises:
        LookupError: the graph has no such table.
    """
    stored = await info.context.loaders.datasets.load(key)
    if stored is None:
        raise LookupError(f"no table {key}")
    return Table.of(stored)


async def node_of(info: LineageInfo, key: str) -> Column | Table:
    """Return the column or table of a key that something in the graph names.

    Raises:
        LookupError: the graph has no such node.
    """
    return await (column_of if is_column_key(key) else table_of)(info, key)
