"""Lineage of SQL text given by the caller, and the impact of its targets. Nothing is stored or executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import strawberry

from lineage.model.diagnostics import Span as SourceSpan
from lineage.model.dialects import UnknownDialectError
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.statement import ColumnRef, Completeness, StatementLineage
from lineage.model.statement import Edge as StatementEdge
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.previewing import Preview, preview
from lineage_graphql.schema.fields import doc_field
from lineage_graphql.schema.objects.jobs import Diagnostic, Place, Span
from lineage_graphql.schema.paging import After, Before, First, Last, page_arguments
from lineage_graphql.schema.traversals.starts import find_starts
from lineage_graphql.schema.traversals.traversal import RANK, MaxHops, Question, reach
from lineage_graphql.schema.traversals.traversal_types import ReachedColumns

if TYPE_CHECKING:
    from lineage.sql.outline.cte_steps import QueryStep

__all__ = ["ExtractedStatement", "extracted"]


@strawberry.type(description="A column of a statement; its table is null in the output of a bare SELECT.")
class ColumnName:
    """A column of a statement."""

    table: str | None = doc_field("The table's full name.")
    column: str | None = doc_field("The column's name; null for the rows of the table.")


@strawberry.type(description="An edge of a statement.")
class StatedEdge:
    """An edge of a statement."""

    source: ColumnName = doc_field("Source of the edge.")
    target: ColumnName = doc_field("Target of the edge.")
    kind: EdgeKind = doc_field("CONTRIBUTES if the value flows, REFERENCES if it only has an influence.")
    subtype: Subtype = doc_field("How the value flows, or what its influence is.")
    masking: bool = doc_field("Whether a function masks the value.")
    span: Span | None = doc_field("The range of the SQL that proves it, literals masked.")

    @strawberry.field(description="The earlier name of `span`.", deprecation_reason="Use `span`.")
    async def place(self) -> Place | None:
        """Return the range of the SQL that proves it."""
        return Place.of_span(self.span) if self.span else None


@strawberry.type(description="A column of a table, of a CTE, or (with neither) of the statement's output.")
class StatementColumn:
    """A column that a statement reads or makes."""

    table: str | None = doc_field("The table.")
    cte: str | None = doc_field("The CTE; with a number if several have the name.")
    column: str | None = doc_field("The column; null: all rows.")


@strawberry.type(description="A direct influence within a statement.")
class StatementStep:
    """A step by way of the CTEs."""

    source: StatementColumn = doc_field("What is read.")
    target: StatementColumn = doc_field("What is made of it.")
    kind: EdgeKind = doc_field("CONTRIBUTES or REFERENCES.")
    unchanged: bool = doc_field("Whether the value is passed on as it is.")
    masking: bool = doc_field("Whether the step masks the value.")


@strawberry.type(description="Lineage of one statement.")
class ExtractedStatement:
    """Lineage of one statement."""

    operation: str = doc_field("SELECT, INSERT, CREATE_VIEW, …")
    target: str | None = doc_field("Table that it writes.")
    sources: list[str] = doc_field("Tables that it reads.")
    output_columns: list[str] = doc_field("Output columns, in order.")
    completeness: Completeness = doc_field("How much of the statement was resolved.")
    stated: list[StatedEdge] = doc_field("Edges of the statement.")
    diagnostics: list[Diagnostic] = doc_field("Findings about what could not be resolved.")
    target_key: strawberry.ID | None = doc_field("Key of the target, if the graph has it.")
    steps: list[StatementStep] | None = doc_field(
        "Its lineage by way of its CTEs, a step each; null if it has none, or an output that is not its query's."
    )

    @strawberry.field(description="Current impact of the target; null if the graph does not have it.")
    async def impact(
        self,
        info: LineageInfo,
        max_hops: MaxHops = 20,
        first: First = 100,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> ReachedColumns | None:
        """Return the impact of the target."""
        if self.target_key is None:
            return None
        question = Question(max_hops, None, None, True, None)
        asked = page_arguments(info, "reached", RANK, first, after, last, before, scope=self.target_key)
        find = find_starts(info.context, None, [self.target_key], None)
        return await reach(info, Direction.DOWNSTREAM, find, question, asked)


async def extracted(
    info: LineageInfo, sql: str, dialect: str, database: str | None, schema: str | None
) -> list[ExtractedStatement]:
    """Return the lineage of the statements of a text, resolved with the schemas that the graph has.

    Raises:
        RefusedError: the text is too long, or no dialect has that name.
        StoreError: the store could not be read.
    """
    limits = info.context.limits
    if len(sql) > limits.sql_characters:
        raise RefusedError.over_limit(
            "sql_characters", limits.sql_characters, len(sql), "send fewer statements per request"
        )

    def work(store: GraphStore) -> Preview:
        return preview(store, sql, dialect, database=database, schema=schema, seconds=limits.seconds)

    try:
        found: Preview = await info.context.ask(work)
    except UnknownDialectError as error:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, str(error)) from error
    return [
        _extracted_statement(statement, key, found.masked, steps)
        for statement, key, steps in zip(found.statements, found.target_keys, found.steps, strict=True)
    ]


def _extracted_statement(
    statement: StatementLineage, key: str | None, masked: str, steps: Sequence[QueryStep] | None
) -> ExtractedStatement:
    return ExtractedStatement(
        operation=statement.operation,
        target=statement.target,
        sources=list(statement.sources),
        output_columns=list(statement.output_columns),
        completeness=statement.completeness,
        stated=[_edge(edge, masked) for edge in statement.edges],
        diagnostics=[
            Diagnostic(
                code=diagnostic.code,
                severity=diagnostic.severity,
                message=diagnostic.message,
                hint=diagnostic.hint,
                span=_span(diagnostic.span, masked),
                source=None,
                project=None,
                path=None,
                job_key=None,
            )
            for diagnostic in statement.diagnostics
        ],
        target_key=strawberry.ID(key) if key else None,
        steps=[_step(one) for one in steps] if steps is not None else None,
    )


def _step(step: QueryStep) -> StatementStep:
    return StatementStep(
        source=StatementColumn(table=step.source.table, cte=step.source.cte, column=step.source.column),
        target=StatementColumn(table=step.target.table, cte=step.target.cte, column=step.target.column),
        kind=step.kind,
        unchanged=step.is_unchanged,
        masking=step.masking,
    )


def _edge(edge: StatementEdge, masked: str) -> StatedEdge:
    target = edge.target
    return StatedEdge(
        source=ColumnName(table=edge.source.table, column=edge.source.column),
        target=ColumnName(table=target.table, column=target.column if isinstance(target, ColumnRef) else None),
        kind=edge.kind,
        subtype=edge.subtype,
        masking=edge.masking,
        span=_span(edge.span, masked),
    )


def _span(span: SourceSpan | None, masked: str) -> Span | None:
    return Span.of(span, masked[span.start : span.end]) if span else None
