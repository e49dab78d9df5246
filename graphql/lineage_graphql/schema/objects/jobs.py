"""Jobs, which lineage was read from: their SQL, edges and diagnostics."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Self, TypeVar

import strawberry

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.diagnostics import Span as SourceSpan
from lineage.model.influence.edge_effects import masked_subtypes_of
from lineage.model.influence.evidence import Chain, position_in_source, spans_of
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import is_column_key
from lineage.model.statement import Completeness
from lineage.model.text.expression_text import expression_around
from lineage.store.values import StoredDiagnostic, StoredEdge, StoredJob
from lineage.traversal import PathStep
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import Long, doc_field
from lineage_graphql.schema.objects.datasets import Column, Table, TableOrColumn, column_of, node_of
from lineage_graphql.schema.objects.ids import Node, NodeKind, global_id
from lineage_graphql.schema.objects.usage import UserQueries, top_users
from lineage_graphql.schema.paging import (
    After,
    Before,
    Connection,
    First,
    Last,
    ListedRows,
    connection,
    page_arguments,
)

__all__ = ["Diagnostic", "Job", "LineageEdge", "Place", "Span", "job_of"]

S = TypeVar("S", bound="Span")


@strawberry.type(description="A range of SQL text, in code points: `text[start:end]`.")
class Span:
    """A range of SQL text."""

    start: int = doc_field("Index of the first code point, from 0.")
    end: int = doc_field("Index after the last code point.")
    line: int = doc_field("The line of `start`, from 1.")
    column: int = doc_field("The column of `start`, from 1.")
    text: str | None = doc_field("The text of the range, literals masked.")
    expression: str | None = doc_field(
        "The enclosing expression in the job's SQL: an item of SELECT or SET, a condition or a key.", default=None
    )
    source_line: int | None = doc_field("The line of `start` in the job's file, if known.", default=None)
    source_column: int | None = doc_field("The column of `start` in the job's file, from 1, if known.", default=None)

    @classmethod
    def within(cls, job: StoredJob | None, start: int, end: int) -> Self:
        """Return the span from `start` to `end` of a job's SQL."""
        sql = job.sql or "" if job is not None else ""
        span = SourceSpan.locate(sql, start, end)
        in_source = position_in_source(sql, job.positions, start) if job is not None else None
        line, column = in_source or (None, None)
        return cls(
            start=start,
            end=end,
            line=span.line,
            column=span.column,
            text=sql[start:end] or None,
            expression=sql[slice(*expression_around(sql, start, end))] or None,
            source_line=line,
            source_column=column,
        )

    @classmethod
    def of(cls, span: SourceSpan, text: str | None = None) -> Self:
        """Return a span whose line and column are known."""
        return cls(start=span.start, end=span.end, line=span.line, column=span.column, text=text)


@strawberry.type(description="The earlier name of `Span`.")
class Place(Span):
    """A span, as the deprecated fields return it."""

    @classmethod
    def of_span(cls, span: Span) -> Place:
        """Return a span under its earlier name."""
        return cls(**{field.name: getattr(span, field.name) for field in dataclasses.fields(span)})


@strawberry.type(description="A relationship of the graph: the edge from one node to another by one job.")
class LineageEdge:
    """The edge from one node to another by one job."""

    source_key: strawberry.ID = doc_field("Key of the source: a column, or a table whose rows have the influence.")
    target_key: strawberry.ID = doc_field("Key of the target: a column, or a table whose rows are influenced.")
    kind: EdgeKind = doc_field("CONTRIBUTES if the value flows, REFERENCES if it only has an influence.")
    subtypes: list[Subtype] = doc_field("How the value flows, or what its influence is.")
    masking: bool = doc_field("Whether a function masks the value, for every subtype.")
    masked_subtypes: list[Subtype] = doc_field("The subtypes for which a function masks the value.")
    job_key: strawberry.ID = doc_field("Key of its job.")
    limited: bool = doc_field("Whether the sort is part of ORDER BY with LIMIT and decides which rows remain.")
    ambiguous: bool = doc_field("Whether the source is one of several tables that an unqualified column may belong to.")
    valid_from: datetime | None = doc_field(
        "Start of validity; null on a path, which combines the edges of several jobs."
    )
    valid_to: datetime | None = doc_field("End of validity; null while it is valid.")
    chains: strawberry.Private[tuple[Chain, ...]]

    @classmethod
    def of(cls, stored: StoredEdge) -> LineageEdge:
        """Return the GraphQL object of an edge."""
        return cls(
            source_key=strawberry.ID(stored.source),
            target_key=strawberry.ID(stored.target),
            kind=stored.kind,
            subtypes=list(stored.subtypes),
            masking=stored.masking,
            masked_subtypes=list(masked_subtypes_of(stored)),
            job_key=strawberry.ID(stored.job),
            limited=stored.limited,
            ambiguous=stored.ambiguous,
            valid_from=stored.valid_from,
            valid_to=stored.valid_to,
            chains=stored.spans,
        )

    @classmethod
    def on_path(cls, step: PathStep) -> LineageEdge:
        """Return a step of a path as the edge of one of its jobs."""
        return cls(
            source_key=strawberry.ID(step.source),
            target_key=strawberry.ID(step.target),
            kind=step.kind,
            subtypes=list(step.subtypes),
            masking=step.masking,
            masked_subtypes=list(masked_subtypes_of(step)),
            job_key=strawberry.ID(step.job),
            limited=False,
            ambiguous=False,
            valid_from=None,
            valid_to=None,
            chains=step.spans,
        )

    @strawberry.field(description="Source column; null if the source is the rows of a table.")
    async def source(self, info: LineageInfo) -> Column | None:
        """Return its source, if that is a column."""
        return await column_of(info, self.source_key) if is_column_key(self.source_key) else None

    @strawberry.field(description="Source: a column, or a table whose rows have the influence.")
    async def source_node(self, info: LineageInfo) -> TableOrColumn:
        """Return its source."""
        return await node_of(info, self.source_key)

    @strawberry.field(description="Target: a column, or a table whose rows are influenced.")
    async def target(self, info: LineageInfo) -> TableOrColumn:
        """Return its target."""
        return await node_of(info, self.target_key)

    @strawberry.field(description="Its job.")
    async def job(self, info: LineageInfo) -> Job | None:
        """Return its job."""
        return await job_of(info, self.job_key)

    @strawberry.field(description="Where the job's SQL reads the source.")
    async def spans(self, info: LineageInfo) -> list[Span]:
        """Return the spans at which its source is read."""
        return [evidence[0] for evidence in await self._evidence(info, Span)]

    @strawberry.field(
        description="The evidence for the edge in the job's SQL. Each item is a chain of spans: where the source is "
        "read, then where each enclosing query reads that result, up to the output."
    )
    async def evidence(self, info: LineageInfo) -> list[list[Span]]:
        """Return each chain of spans that proves the edge."""
        return await self._evidence(info, Span)

    @strawberry.field(description="The earlier name of `spans`.", deprecation_reason="Use `spans`.")
    async def places(self, info: LineageInfo) -> list[Place]:
        """Return the spans at which its source is read."""
        return [evidence[0] for evidence in await self._evidence(info, Place)]

    @strawberry.field(description="The earlier name of `evidence`.", deprecation_reason="Use `evidence`.")
    async def proofs(self, info: LineageInfo) -> list[list[Place]]:
        """Return each chain of spans that proves the edge."""
        return await self._evidence(info, Place)

    async def _evidence(self, info: LineageInfo, kind: type[S]) -> list[list[S]]:
        stored = await info.context.loaders.jobs.load(self.job_key) if self.chains else None
        return [[kind.within(stored, *span) for span in spans_of(chain)] for chain in self.chains]


@strawberry.type(description="A finding about a statement, with a code and a position.")
class Diagnostic:
    """A finding about a statement."""

    code: DiagnosticCode = doc_field("Kind of finding.")
    severity: Severity = doc_field("How far it affects the lineage.")
    message: str = doc_field("Message.")
    hint: str | None = doc_field("Suggested action.")
    span: Span | None = doc_field("The range of the SQL that it is about, if known.")
    source: str | None = doc_field("File or log that it is about.")
    project: str | None = doc_field("Project of the SQL file, if any.")
    path: str | None = doc_field("Path of the SQL file in its project; absolute if it has no project.")
    job_key: strawberry.ID | None = doc_field("Key of the job that it is about.")

    @classmethod
    def of(cls, stored: StoredDiagnostic) -> Diagnostic:
        """Return the GraphQL object of a diagnostic."""
        diagnostic = stored.diagnostic
        return cls(
            code=diagnostic.code,
            severity=diagnostic.severity,
            message=diagnostic.message,
            hint=diagnostic.hint,
            span=Span.of(diagnostic.span) if diagnostic.span else None,
            source=stored.source,
            project=stored.project,
            path=stored.path,
            job_key=strawberry.ID(stored.job) if stored.job else None,
        )

    @strawberry.field(description="The job that it is about.")
    async def job(self, info: LineageInfo) -> Job | None:
        """Return its job."""
        return await job_of(info, self.job_key) if self.job_key else None

    @strawberry.field(description="The earlier name of `span`.", deprecation_reason="Use `span`.")
    async def place(self) -> Place | None:
        """Return the range of the SQL that it is about."""
        return Place.of_span(self.span) if self.span else None


@strawberry.type(
    description="What lineage was read from: a view definition, a SQL file, a query template, a Spark write."
)
class Job(Node):
    """What lineage was read from."""

    key: strawberry.ID = doc_field("Key in the graph.")
    kind: JobKind = doc_field("Kind of job.")
    sql: str | None = doc_field("SQL text, literals masked.")
    dialect: str | None = doc_field("SQL dialect.")
    operation: str | None = doc_field("Operation: CREATE_VIEW, INSERT, MERGE, …")
    source: str | None = doc_field("File or log that contains it.")
    project: str | None = doc_field("Project of the SQL file, if any.")
    path: str | None = doc_field("Path of the SQL file in its project; absolute if it has no project.")
    source_line: int | None = doc_field("Line of the file on which its SQL begins.")
    completeness: Completeness = doc_field("How much of its SQL was resolved.")
    first_seen: datetime = doc_field("Time of the first observation.")
    last_seen: datetime = doc_field("Time of the latest observation.")
    retired_at: datetime | None = doc_field("Time at which its source no longer contained it; null if it is live.")

    @classmethod
    def of(cls, stored: StoredJob) -> Job:
        """Return the GraphQL object of a job."""
        return cls(
            id=global_id(NodeKind.JOB, stored.key),
            key=strawberry.ID(stored.key),
            kind=stored.kind,
            sql=stored.sql,
            dialect=stored.dialect,
            operation=stored.operation,
            source=stored.source,
            project=stored.project,
            path=stored.path,
            source_line=stored.source_line,
            completeness=stored.completeness,
            first_seen=stored.first_seen,
            last_seen=stored.last_seen,
            retired_at=stored.retired_at,
        )

    @strawberry.field(description="Number of executions in the ingested logs.")
    async def observations(self, info: LineageInfo) -> Long:
        """Return the number of its executions."""
        found = await info.context.loaders.job_runs.load(self.key)
        return Long(found.observations if found else 0)

    @strawberry.field(description="Mean duration of an execution in seconds, if known.")
    async def mean_seconds(self, info: LineageInfo) -> float | None:
        """Return the mean duration of an execution."""
        found = await info.context.loaders.job_runs.load(self.key)
        mean = found.mean_duration_us if found else None
        return None if mean is None else mean / 1_000_000

    @strawberry.field(description="Tables that it reads.")
    async def reads(self, info: LineageInfo) -> list[Table]:
        """Return the tables that it reads."""
        found = await info.context.loaders.job_runs.load(self.key)
        return await _tables(info, found.reads if found else ())

    @strawberry.field(description="Tables that it writes.")
    async def writes(self, info: LineageInfo) -> list[Table]:
        """Return the tables that it writes."""
        found = await info.context.loaders.job_runs.load(self.key)
        return await _tables(info, found.writes if found else ())

    @strawberry.field(description="Live edges, ordered by target and source.")
    async def edges(
        self, info: LineageInfo, first: First = 100, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[LineageEdge]:
        """Return a page of its edges."""
        asked = page_arguments(info, "edges", (str, str, str), first, after, last, before, scope=self.key)
        found = await info.context.loaders.edges_of.load(self.key)
        rows = ListedRows(found, lambda edge: (edge.target, edge.source, str(edge.kind)))
        return await connection(rows, asked, LineageEdge.of)

    @strawberry.field(description="Diagnostics about it.")
    async def diagnostics(self, info: LineageInfo) -> list[Diagnostic]:
        """Return its diagnostics."""
        return [Diagnostic.of(one) for one in await info.context.loaders.diagnostics_of.load(self.key)]

    @strawberry.field(description="Up to ten users with the most executions; `user 1`, … without the role steward.")
    async def top_users(self, info: LineageInfo) -> list[UserQueries]:
        """Return the users with the most executions."""
        users = await info.context.loaders.users_of_job.load(self.key)
        return top_users(info, users) if users else []


async def _tables(info: LineageInfo, keys: Sequence[str]) -> list[Table]:
    found = await info.context.loaders.datasets.load_many(list(keys))
    return [Table.of(one) for one in found if one]


async def job_of(info: LineageInfo, key: str) -> Job | None:
    """Return the job of a key; None if the graph has none."""
    stored = await info.context.loaders.jobs.load(key)
    return Job.of(stored) if stored else None
