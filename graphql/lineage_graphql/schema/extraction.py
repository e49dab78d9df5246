"""What would this SQL do? Its edges, and what depends on what it writes. Nothing is stored, nothing is run."""

from __future__ import annotations

from collections.abc import Collection

import strawberry

from lineage.catalog import Catalog
from lineage.model.diagnostics import Span
from lineage.model.dialects import UnknownDialectError
from lineage.model.statement import ColumnRef, Completeness, StatementLineage
from lineage.model.statement import Edge as StatementEdge
from lineage.model.transformations import EdgeKind, Subtype
from lineage.sql import extract_script, mask_literals
from lineage.sql.budget import Budget
from lineage.store.protocol import Direction, GraphStore, StoredColumn, StoredDataset
from lineage.traversal import AmbiguousNameError, NameLookupError, resolve_table
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import told
from lineage_graphql.schema.jobs import Diagnostic, Place
from lineage_graphql.schema.paging import After, First
from lineage_graphql.schema.traversal import MaxHops, Question, ReachedColumns, reach

__all__ = ["ExtractedStatement", "extracted"]


@strawberry.type(description="A column of a statement; its table is null in the output of a bare SELECT.")
class ColumnName:
    """A column of a statement."""

    table: str | None = told("The table's full name.")
    column: str | None = told("The column's name; null where the rows of the table are meant.")


@strawberry.type(description="A flow or influence that a statement states.")
class StatedEdge:
    """A flow or influence that a statement states."""

    source: ColumnName = told("Where the value comes from.")
    target: ColumnName = told("Where it goes to.")
    kind: EdgeKind = told("Whether the value flows or only influences.")
    subtype: Subtype = told("How it flows, or by what it influences.")
    masking: bool = told("Whether a function hides the value.")
    place: Place | None = told("The place in the SQL that proves it, literals masked.")


@strawberry.type(description="What one statement would do.")
class ExtractedStatement:
    """What one statement would do."""

    operation: str = told("SELECT, INSERT, CREATE_VIEW, …")
    target: str | None = told("The table that it would write.")
    sources: list[str] = told("The tables that it would read.")
    output_columns: list[str] = told("The columns that it gives, in order.")
    completeness: Completeness = told("How much of it was resolved.")
    stated: list[StatedEdge] = told("The edges that it states.")
    diagnostics: list[Diagnostic] = told("What could not be resolved, and where.")
    target_key: strawberry.ID | None = told("The key of the target in the graph, if it is there.")

    @strawberry.field(description="What depends on the target now; null if the graph does not know it.")
    async def impact(
        self, info: LineageInfo, max_hops: MaxHops = 20, first: First = 100, after: After = None
    ) -> ReachedColumns | None:
        """Return what depends on the target."""
        if self.target_key is None:
            return None
        question = Question(max_hops, None, None, True, None, None, first, after)
        return await reach(info, Direction.DOWNSTREAM, None, self.target_key, question)


async def extracted(
    info: LineageInfo, sql: str, dialect: str, database: str | None, schema: str | None
) -> list[ExtractedStatement]:
    """Return what the statements of a text would do, resolved with the schemas that the graph knows.

    Raises:
        RefusedError: the text is too long, or no dialect has that name.
        StoreError: the store could not be read.
    """
    limits = info.context.limits
    if len(sql) > limits.sql_characters:
        raise RefusedError.over_limit("sql", limits.sql_characters, len(sql), "ask for fewer statements at once")

    def work(store: GraphStore) -> list[ExtractedStatement]:
        budget = Budget(seconds=limits.seconds)
        options = {"default_database": database, "default_schema": schema, "budget": budget}
        # A first look tells which tables' schemas are needed.
        first_look = extract_script(sql, dialect, **options)  # type: ignore[arg-type]
        names = {name for one in first_look for name in (*one.sources, one.target) if name}
        catalog = Catalog.from_store(_SomeTables(store, names), dialect)
        statements = extract_script(sql, dialect, catalog, **options) if len(catalog) else first_look  # type: ignore[arg-type]
        masked = mask_literals(sql, dialect)
        return [_told(store, statement, masked) for statement in statements]

    try:
        found: list[ExtractedStatement] = await info.context.ask(work)
    except UnknownDialectError as error:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, str(error)) from error
    return found


def _told(store: GraphStore, statement: StatementLineage, masked: str) -> ExtractedStatement:
    key = None
    if statement.target is not None:
        try:
            key = strawberry.ID(resolve_table(store, statement.target).key)
        except AmbiguousNameError as error:
            key = strawberry.ID(error.candidates[0])
        except NameLookupError:
            key = None
    return ExtractedStatement(
        operation=statement.operation,
        target=statement.target,
        sources=list(statement.sources),
        output_columns=list(statement.output_columns),
        completeness=statement.completeness,
        stated=[_edge(edge, masked) for edge in statement.edges],
        diagnostics=[
            Diagnostic(
                code=found.code,
                severity=found.severity,
                message=found.message,
                hint=found.hint,
                place=_place(found.span, masked),
                source=None,
                job_key=None,
            )
            for found in statement.diagnostics
        ],
        target_key=key,
    )


def _edge(edge: StatementEdge, masked: str) -> StatedEdge:
    target = edge.target
    return StatedEdge(
        source=ColumnName(table=edge.source.table, column=edge.source.column),
        target=ColumnName(table=target.table, column=target.column if isinstance(target, ColumnRef) else None),
        kind=edge.kind,
        subtype=edge.subtype,
        masking=edge.masking,
        place=_place(edge.span, masked),
    )


def _place(span: Span | None, masked: str) -> Place | None:
    return Place.of(span, masked[span.start : span.end]) if span else None


class _SomeTables:
    """The store as a catalog reads it, with nothing in it but the tables of some names."""

    def __init__(self, store: GraphStore, names: set[str]) -> None:
        self._store = store
        self._datasets = {found.key: found for name in names for found in store.find_datasets(name)}

    def datasets(self) -> list[StoredDataset]:
        """Return the datasets of the names."""
        return list(self._datasets.values())

    def columns(self, datasets: Collection[str]) -> list[StoredColumn]:
        """Return the columns of datasets."""
        return self._store.columns(datasets)
