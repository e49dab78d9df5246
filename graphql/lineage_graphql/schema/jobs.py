"""Jobs: what states lineage, its SQL, and the edges that it states."""

from __future__ import annotations

from datetime import datetime

import strawberry

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity, Span
from lineage.model.evidence import Chain, places_of, position_in_source
from lineage.model.expression_text import expression_around
from lineage.model.names import is_column_key
from lineage.model.statement import Completeness
from lineage.model.transformations import EdgeKind, Subtype
from lineage.store.values import StoredDiagnostic, StoredEdge, StoredJob
from lineage.traversal import PathStep
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.datasets import Column, Table, TableOrColumn, column_of, node_of
from lineage_graphql.schema.fields import Long, described
from lineage_graphql.schema.ids import Node, NodeKind, global_id
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
from lineage_graphql.schema.usage import UserQueries, top_users

__all__ = ["Diagnostic", "Job", "LineageEdge", "Place"]


@strawberry.type(description="A place in SQL text, in code points: `text[start:end]`.")
class Place:
    """A place in SQL text."""

    start: int = described("Where it begins, from 0.")
    end: int = described("Where it ends: the first code point behind it.")
    line: int = described("The line on which it begins, from 1.")
    column: int = described("The column on which it begins, from 1.")
    text: str | None = described("What stands there, literals masked.")
    expression: str | None = described(
        "The expression around it, in a job's SQL: the item of SELECT or SET, the condition or the key.", default=None
    )
    source_line: int | None = described(
        "The line of the job's file on which it begins, if that is known.", default=None
    )
    source_column: int | None = described("The column there, from 1.", default=None)

    @classmethod
    def within(cls, job: StoredJob | None, start: int, end: int) -> Place:
        """Return the place in a job's SQL."""
        sql = job.sql or "" if job is not None else ""
        span = Span.locate(sql, start, end)
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
    def of(cls, span: Span, text: str | None = None) -> Place:
        """Return a place whose line and column are known."""
        return cls(start=span.start, end=span.end, line=span.line, column=span.column, text=text)


@strawberry.type(description="What one job says of one pair: a relationship of the graph.")
class LineageEdge:
    """What one job says of one pair."""

    source_key: strawberry.ID = described(
        "The key of the column, or of the table whose rows decide, that it comes from."
    )
    target_key: strawberry.ID = described(
        "The key of the column, or of the table whose rows it influences, that it goes to."
    )
    kind: EdgeKind = described("Whether the value flows or only influences.")
    subtypes: list[Subtype] = described("How it flows, or by what it influences.")
    masking: bool = described("Whether a function hides the value.")
    job_key: strawberry.ID = described("The key of the job that states it.")
    limited: bool = described("Whether a SORT decides, with a LIMIT, which rows there are.")
    ambiguous: bool = described("Whether it is one of several tables that an unprefixed column may belong to.")
    valid_from: datetime | None = described("Since when it holds; null on a path, which joins what several jobs say.")
    valid_to: datetime | None = described("Until when it held; null while it holds.")
    spans: strawberry.Private[tuple[Chain, ...]]

    @classmethod
    def of(cls, stored: StoredEdge) -> LineageEdge:
        """Return the edge as the schema has it."""
        return cls(
            source_key=strawberry.ID(stored.source),
            target_key=strawberry.ID(stored.target),
            kind=stored.kind,
            subtypes=list(stored.subtypes),
            masking=stored.masking,
            job_key=strawberry.ID(stored.job),
            limited=stored.limited,
            ambiguous=stored.ambiguous,
            valid_from=stored.valid_from,
            valid_to=stored.valid_to,
            spans=stored.spans,
        )

    @classmethod
    def on_path(cls, step: PathStep) -> LineageEdge:
        """Return a path's step as an edge: what one of its jobs says."""
        return cls(
            source_key=strawberry.ID(step.source),
            target_key=strawberry.ID(step.target),
            kind=step.kind,
            subtypes=list(step.subtypes),
            masking=step.masking,
            job_key=strawberry.ID(step.job),
            limited=False,
            ambiguous=False,
            valid_from=None,
            valid_to=None,
            spans=step.spans,
        )

    @strawberry.field(description="The column that it comes from; null where the rows of a table decide.")
    async def source(self, info: LineageInfo) -> Column | None:
        """Return its source, if that is a column."""
        return await column_of(info, self.source_key) if is_column_key(self.source_key) else None

    @strawberry.field(description="The column that it comes from, or the table whose rows decide.")
    async def source_node(self, info: LineageInfo) -> TableOrColumn:
        """Return its source."""
        return await node_of(info, self.source_key)

    @strawberry.field(description="The column that it goes to, or the table whose rows it influences.")
    async def target(self, info: LineageInfo) -> TableOrColumn:
        """Return its target."""
        return await node_of(info, self.target_key)

    @strawberry.field(description="The job that states it.")
    async def job(self, info: LineageInfo) -> Job | None:
        """Return its job."""
        stored = await info.context.loaders.jobs.load(self.job_key)
        return Job.of(stored) if stored else None

    @strawberry.field(description="The places in the job's SQL that prove it: where its source is read.")
    async def places(self, info: LineageInfo) -> list[Place]:
        """Return the places where its source is read."""
        stored = await info.context.loaders.jobs.load(self.job_key) if self.spans else None
        return [Place.within(stored, *places_of(chain)[0]) for chain in self.spans]

    @strawberry.field(
        description="Each proof in the job's SQL as places in order: where its source is read, then where what that "
        "gives is read in turn, in the queries around it, up to the output."
    )
    async def proofs(self, info: LineageInfo) -> list[list[Place]]:
        """Return each proof as places in order."""
        stored = await info.context.loaders.jobs.load(self.job_key) if self.spans else None
        return [[Place.within(stored, *place) for place in places_of(chain)] for chain in self.spans]


@strawberry.type(description="A coded, positioned finding about a statement.")
class Diagnostic:
    """A finding about a statement."""

    code: DiagnosticCode = described("What was found.")
    severity: Severity = described("How much of the lineage it puts in doubt.")
    message: str = described("What was found, in words.")
    hint: str | None = described("What to do about it.")
    place: Place | None = described("Where, if it has a place.")
    source: str | None = described("The file or log that it speaks of.")
    project: str | None = described("The project of the SQL file that it speaks of, if that has one.")
    path: str | None = described("The path of that file in its project; absolute without one.")
    job_key: strawberry.ID | None = described("The key of the job that it speaks of.")

    @classmethod
    def of(cls, stored: StoredDiagnostic) -> Diagnostic:
        """Return a diagnostic as the schema has it."""
        found = stored.diagnostic
        return cls(
            code=found.code,
            severity=found.severity,
            message=found.message,
            hint=found.hint,
            place=Place.of(found.span) if found.span else None,
            source=stored.source,
            project=stored.project,
            path=stored.path,
            job_key=strawberry.ID(stored.job) if stored.job else None,
        )

    @strawberry.field(description="The job that it speaks of.")
    async def job(self, info: LineageInfo) -> Job | None:
        """Return its job."""
        stored = await info.context.loaders.jobs.load(self.job_key) if self.job_key else None
        return Job.of(stored) if stored else None


@strawberry.type(description="What states lineage: a view's definition, a SQL file, a query template, a Spark write.")
class Job(Node):
    """What states lineage."""

    key: strawberry.ID = described("What the graph knows it by.")
    kind: JobKind = described("What sort of job it is.")
    sql: str | None = described("Its SQL, literals masked.")
    dialect: str | None = described("The SQL dialect.")
    operation: str | None = described("What it does: CREATE_VIEW, INSERT, MERGE, …")
    source: str | None = described("The file or log that it stands in.")
    project: str | None = described("The project of the SQL file that it stands in, if that has one.")
    path: str | None = described("The path of that file in its project; absolute without one.")
    source_line: int | None = described("The line on which its SQL begins there.")
    completeness: Completeness = described("How much of its SQL was resolved.")
    first_seen: datetime = described("When it was first seen.")
    last_seen: datetime = described("When it was last seen.")
    retired_at: datetime | None = described("Since when its source no longer holds it.")
    observations: Long = described("How often it ran, as far as logs say.")
    mean_seconds: float | None = described("How long a run takes on average, if known.")
    read_keys: strawberry.Private[tuple[str, ...]]
    written_keys: strawberry.Private[tuple[str, ...]]

    @classmethod
    def of(cls, stored: StoredJob) -> Job:
        """Return a job as the schema has it."""
        mean = stored.mean_duration_us
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
            observations=Long(stored.observations),
            mean_seconds=None if mean is None else mean / 1_000_000,
            read_keys=stored.reads,
            written_keys=stored.writes,
        )

    @strawberry.field(description="The tables that it reads.")
    async def reads(self, info: LineageInfo) -> list[Table]:
        """Return the tables that it reads."""
        found = await info.context.loaders.datasets.load_many(list(self.read_keys))
        return [Table.of(one) for one in found if one]

    @strawberry.field(description="The tables that it writes.")
    async def writes(self, info: LineageInfo) -> list[Table]:
        """Return the tables that it writes."""
        found = await info.context.loaders.datasets.load_many(list(self.written_keys))
        return [Table.of(one) for one in found if one]

    @strawberry.field(description="The edges that it states now, by target and source.")
    async def edges(
        self, info: LineageInfo, first: First = 100, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[LineageEdge]:
        """Return a page of its edges."""
        asked = page_arguments(info, "edges", (str, str, str), first, after, last, before, scope=self.key)
        found = await info.context.loaders.edges_of.load(self.key)
        rows = ListedRows(found, lambda edge: (edge.target, edge.source, str(edge.kind)))
        return await connection(rows, asked, LineageEdge.of)

    @strawberry.field(description="The diagnostics about it.")
    async def diagnostics(self, info: LineageInfo) -> list[Diagnostic]:
        """Return its diagnostics."""
        return [Diagnostic.of(one) for one in await info.context.loaders.diagnostics_of.load(self.key)]

    @strawberry.field(description="Who ran it most, at most ten users.")
    async def top_users(self, info: LineageInfo) -> list[UserQueries]:
        """Return the users who ran it most."""
        users = await info.context.loaders.users_of_job.load(self.key)
        return top_users(users) if users else []
