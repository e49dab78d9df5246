"""Result types of the MCP tools: short, each with the SQL that proves it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from lineage.model.diagnostics import Span
from lineage.model.influence.edge_effects import masked_subtypes_of
from lineage.model.influence.evidence import Chain, position_in_source, spans_of
from lineage.model.text.expression_text import expression_around
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredJob
from lineage.traversal import Answer, PathStep, Reached, Route, broken_reads, former_holders, gone_sources, namesakes

__all__ = [
    "ColumnAnswer",
    "EdgeAnswer",
    "Evidence",
    "HitAnswer",
    "PathAnswer",
    "PreviewAnswer",
    "ReachedAnswer",
    "StepAnswer",
    "TraversalAnswer",
    "broken_read_texts",
    "evidence_of",
    "namesake_texts",
    "path_answers",
    "traversal_answer",
]

_MAX_HOLDERS = 10
_AROUND = 100
"""Characters of SQL shown before and after the span that proves an edge."""


class Evidence(BaseModel):
    """A piece of a job's SQL, literals masked."""

    job: str = Field(description="Key of the job.")
    source: str | None = Field(description="File or log that contains the job.")
    line: int | None = Field(description="Line in that file; line in the job's SQL if the file's is unknown.")
    sql: str | None = Field(description="SQL around the span where the source is read; » and « mark the span.")
    through: list[str] = Field(
        default=[], description="Expressions that the value passes through, in order, up to the output."
    )


class StepAnswer(BaseModel):
    """A step of a path."""

    source: str
    target: str
    kind: str = Field(description="CONTRIBUTES: the value flows. REFERENCES: it has an influence without flowing.")
    how: list[str] = Field(description="IDENTITY, TRANSFORMATION, AGGREGATION; or JOIN, FILTER, CONDITIONAL, …")
    masking: bool = Field(description="Whether a function masks the value (a hash, a count), in every way of `how`.")
    masked: list[str] = Field(description="The ways of `how` in which a function masks the value.")
    evidence: Evidence | None = Field(description="The SQL that proves it; null if an earlier path has the same step.")


class PathAnswer(BaseModel):
    """A path, from the source to the consumer."""

    how: str = Field(description="Subtype of the whole path.")
    masked: bool
    steps: list[StepAnswer]


class ReachedAnswer(BaseModel):
    """A column that was reached."""

    column: str
    key: str
    hops: int
    influence: list[str] = Field(
        description="CONTRIBUTES: the value flows there. REFERENCES: it has an influence there."
    )
    how: str
    masked: bool = Field(description="Whether the value reaches it, and only masked.")
    root: bool = Field(description="Upstream: whether it has no contributions.")


class TraversalAnswer(BaseModel):
    """Result of impact or root cause."""

    start: str
    direction: str
    total_columns: int
    at_least: bool = Field(description="Whether the total is a lower bound.")
    columns_by_hops: dict[int, int]
    tables: list[str] = Field(description="Up to 50 tables with the most reached columns.")
    total_tables: int
    columns: list[ReachedAnswer] = Field(description="The nearest columns first.")
    possibly_affected: list[str] = Field(description="Up to 50 tables reached by table-level lineage only.")
    cut_short: str | None = Field(description="The limit that truncated the answer, if any.")
    had_this_name_before: list[str] = Field(
        description="Up to 10 tables, or their columns, that had the start's name before it, the latest first: "
        "what used the name then is listed under these; ask for each."
    )
    may_be_one: list[str] = Field(
        description="Up to 10 pairs of tables that may be one, named in short and in full: what uses the other name is "
        "not listed; ask for it."
    )
    broken_reads: list[str] = Field(
        description="Up to 10 reads of columns that are not there, in or from these tables: these readers are broken."
    )
    gone_sources: list[str] = Field(
        description="Up to 10 columns or tables that these came from and that are gone; ask as of an earlier time."
    )
    evidence: list[PathAnswer] = Field(description="A shortest path with its SQL, for the nearest columns.")


class HitAnswer(BaseModel):
    """A table or column whose name matched."""

    key: str
    type: str
    name: str


class ColumnAnswer(BaseModel):
    """A column of a table."""

    name: str
    type: str | None
    description: str | None
    tags: list[str]

    @classmethod
    def of(cls, column: StoredColumn) -> ColumnAnswer:
        """Return a column of a table."""
        return cls(
            name=column.display_path, type=column.data_type, description=column.description, tags=list(column.tags)
        )  # fmt: skip


class EdgeAnswer(BaseModel):
    """An edge by one job."""

    job: str
    job_kind: str | None
    kind: str
    how: list[str]
    masking: bool
    masked: list[str] = Field(description="The ways of `how` in which a function masks the value.")
    evidence: list[Evidence]


class PreviewAnswer(BaseModel):
    """Lineage of one statement."""

    operation: str
    target: str | None
    sources: list[str]
    completeness: str
    edges: list[str] = Field(description="`a -> b`: the value flows; `a ~> b`: it has an influence. At most 200.")
    total_edges: int
    diagnostics: list[str]
    depends_on_target: int | None = Field(description="Number of columns that depend on the target; null if unknown.")


def evidence_of(job: StoredJob | None, key: str, chain: Chain | None) -> Evidence:
    """Return the evidence in a job's SQL, with the text around it."""
    if job is None or job.sql is None or not chain:
        return Evidence(job=key, source=job.source if job else None, line=None, sql=None)
    sql, spans = job.sql, spans_of(chain)
    start, end = spans[0]
    through = dict.fromkeys(sql[slice(*expression_around(sql, *span))] for span in spans)
    before, after = sql[max(0, start - _AROUND) : start], sql[end : end + _AROUND]
    text = f"{before}»{sql[start:end]}«{after}"
    line, _ = position_in_source(sql, job.positions, start) or (Span.locate(sql, start, end).line, None)
    return Evidence(job=key, source=job.source, line=line, sql=" ".join(text.split()), through=list(through))


def path_answers(store: GraphStore, routes: Sequence[Route]) -> list[PathAnswer]:
    """Return paths with the evidence of each step, once."""
    steps = {step for route in routes for step in route.steps}
    keys = {step.job for step in steps}
    jobs = {job.key: job for job in store.jobs(keys)} if keys else {}
    unproved = set(steps)
    answers = []
    for route in routes:
        shown = []
        for step in route.steps:
            shown.append(_step_answer(step, jobs.get(step.job), proved=step not in unproved))
            unproved.discard(step)
        whole = route.transformation
        answers.append(PathAnswer(how=str(whole.subtype), masked=whole.masking, steps=shown))
    return answers


def _step_answer(step: PathStep, job: StoredJob | None, *, proved: bool) -> StepAnswer:
    return StepAnswer(
        source=step.source,
        target=step.target,
        kind=str(step.kind),
        how=[str(subtype) for subtype in step.subtypes],
        masking=step.masking,
        masked=[str(subtype) for subtype in masked_subtypes_of(step)],
        evidence=None if proved else evidence_of(job, step.job, next(iter(step.spans), None)),
    )


def traversal_answer(
    store: GraphStore, answer: Answer, limit: int, proved: int, as_of: datetime | None = None
) -> TraversalAnswer:
    """Return a traversal's answer with at most `limit` columns, and the evidence of the nearest `proved`."""
    shown = answer.page(0, limit)
    held = former_holders(store, answer.starts, as_of)
    tables = {*answer.by_dataset, *(one.dataset for one in answer.starts)}
    counts = {one.table: one.columns for one in answer.datasets}
    most = sorted(counts, key=lambda name: (-counts[name], name))
    return TraversalAnswer(
        start=answer.start.name,
        direction=str(answer.direction),
        total_columns=answer.total,
        at_least=answer.is_lower_bound,
        columns_by_hops=answer.by_hop,
        tables=[f"{name} ({counts[name]})" for name in most[:50]],
        total_tables=len(counts),
        columns=[_reached(one) for one in shown],
        possibly_affected=[one.table for one in answer.possibly_affected[:50]],
        cut_short=answer.truncated,
        had_this_name_before=[f"{one.name} (until {one.until_text})" for one in reversed(held[-_MAX_HOLDERS:])],
        may_be_one=namesake_texts(store, tables),
        broken_reads=broken_read_texts(store, tables) if as_of is None else [],
        gone_sources=_gone_source_texts(store, answer) if as_of is None else [],
        evidence=path_answers(store, [one.route for one in shown[:proved]]),
    )


def namesake_texts(store: GraphStore, datasets: Collection[str]) -> list[str]:
    """Return which tables may be these, named in short or in full; up to 10 pairs."""
    return [f"{one.short_name} may be {one.name}" for one in namesakes(store, datasets)[:_MAX_HOLDERS]]


def _gone_source_texts(store: GraphStore, answer: Answer) -> list[str]:
    """Return what the columns of an answer upstream came from and is gone; up to 10 sources."""
    if answer.direction is not Direction.UPSTREAM:
        return []
    keys = {*(one.key for one in answer.starts), *(one.key for one in answer.outlines)}
    return [str(one) for one in gone_sources(store, keys)[:_MAX_HOLDERS]]


def broken_read_texts(store: GraphStore, datasets: Collection[str]) -> list[str]:
    """Return what reads columns that are not there, in or from these tables; up to 10 reads."""
    return [str(one) for one in broken_reads(store, datasets)[:_MAX_HOLDERS]]


def _reached(reached: Reached) -> ReachedAnswer:
    return ReachedAnswer(
        column=reached.name,
        key=reached.key,
        hops=reached.hops,
        influence=sorted(map(str, reached.influence)),
        how=str(reached.transformation.subtype),
        masked=reached.masked,
        root=reached.root,
    )
