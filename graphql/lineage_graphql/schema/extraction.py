"""What would this SQL do? Its edges, and what depends on what it writes. Nothing is stored, nothing is run."""

from __future__ import annotations

import strawberry

from lineage.model.diagnostics import Span
from lineage.model.dialects import UnknownDialectError
from lineage.model.statement import ColumnRef, Completeness, StatementLineage
from lineage.model.statement import Edge as StatementEdge
from lineage.model.transformations import EdgeKind, Subtype
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.previewing import Preview, preview
from lineage_graphql.schema.fields import described
from lineage_graphql.schema.jobs import Diagnostic, Place
from lineage_graphql.schema.paging import After, Before, First, Last, page_arguments
from lineage_graphql.schema.starts import find_starts
from lineage_graphql.schema.traversal import RANK, MaxHops, Question, reach
from lineage_graphql.schema.traversal_types import ReachedColumns

__all__ = ["ExtractedStatement", "extracted"]


@strawberry.type(description="A column of a statement; its table is null in the output of a bare SELECT.")
class ColumnName:
    """A column of a statement."""

    table: str | None = described("The table's full name.")
    column: str | None = described("The column's name; null where the rows of the table are meant.")


@strawberry.type(description="A flow or influence that a statement states.")
class StatedEdge:
    """A flow or influence that a statement states."""

    source: ColumnName = described("Where the value comes from.")
    target: ColumnName = described("Where it goes to.")
    kind: EdgeKind = described("Whether the value flows or only influences.")
    subtype: Subtype = described("How it flows, or by what it influences.")
    masking: bool = described("Whether a function hides the value.")
    place: Place | None = described("The place in the SQL that proves it, literals masked.")


@strawberry.type(description="What one statement would do.")
class ExtractedStatement:
    """What one statement would do."""

    operation: str = described("SELECT, INSERT, CREATE_VIEW, …")
    target: str | None = described("The table that it would write.")
    sources: list[str] = described("The tables that it would read.")
    output_columns: list[str] = described("The columns that it gives, in order.")
    completeness: Completeness = described("How much of it was resolved.")
    stated: list[StatedEdge] = described("The edges that it states.")
    diagnostics: list[Diagnostic] = described("What could not be resolved, and where.")
    target_key: strawberry.ID | None = described("The key of the target in the graph, if it is there.")

    @strawberry.field(description="What depends on the target now; null if the graph does not know it.")
    async def impact(
        self,
        info: LineageInfo,
        max_hops: MaxHops = 20,
        first: First = 100,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> ReachedColumns | None:
        """Return what depends on the target."""
        if self.target_key is None:
            return None
        question = Question(max_hops, None, None, True, None)
        asked = page_arguments(info, "reached", RANK, first, after, last, before, scope=self.target_key)
        find = find_starts(info.context, None, [self.target_key], None)
        return await reach(info, Direction.DOWNSTREAM, find, question, asked)


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
        raise RefusedError.over_limit(
            "sql_characters", limits.sql_characters, len(sql), "ask for fewer statements at once"
        )

    def work(store: GraphStore) -> Preview:
        return preview(store, sql, dialect, database=database, schema=schema, seconds=limits.seconds)

    try:
        found: Preview = await info.context.ask(work)
    except UnknownDialectError as error:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, str(error)) from error
    return [
        _told(statement, key, found.masked) for statement, key in zip(found.statements, found.target_keys, strict=True)
    ]


def _told(statement: StatementLineage, key: str | None, masked: str) -> ExtractedStatement:
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
                project=None,
                path=None,
                job_key=None,
            )
            for found in statement.diagnostics
        ],
        target_key=strawberry.ID(key) if key else None,
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
