"""The order of the stages that extract a log's lineage, the same for every engine."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from lineage.catalog import TableSchema
from lineage.model.batch import DiagnosticRecord, LineageBatch, RunRecord, UsageRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import dataset_key
from lineage.model.statement import Completeness
from lineage.model.text.name_lists import name_list
from lineage_ingest.query_log.log_schema import Problem
from lineage_ingest.query_log.pipeline.earlier import Earlier
from lineage_ingest.query_log.pipeline.engines.engine import Engine, LogCounts, Progress, SessionBlock, Work
from lineage_ingest.query_log.pipeline.extraction import KnownSchemas, LogContext, moment
from lineage_ingest.query_log.pipeline.log_problems import UndatedLogError, notes_of, problems_of
from lineage_ingest.query_log.pipeline.members import Member
from lineage_ingest.query_log.pipeline.merging.graph_batches import Merger
from lineage_ingest.query_log.pipeline.merging.statistics import JobRuns, usage_by_day
from lineage_ingest.query_log.pipeline.routines.procedure_runs import ProcedureRuns
from lineage_ingest.query_log.pipeline.schema_rounds import Definitions, RunInterval
from lineage_ingest.query_log.pipeline.sessions.session_blocks import TemplateInSession
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary
from lineage_ingest.query_log.pipeline.versions.column_changes import (
    ColumnChanges,
    column_changes_of,
    parts_that_change_columns,
)
from lineage_ingest.query_log.pipeline.versions.existence import Existence, steps_on
from lineage_ingest.query_log.pipeline.versions.names_of_parts import (
    NamesOfPart,
    deciding_parts,
    made_and_left,
    made_in,
    new_in,
    only_unless_there,
    read_before_made,
)
from lineage_ingest.query_log.pipeline.versions.version_walk import versions_of
from lineage_ingest.query_log.pipeline.versions.versions import Event, Versions

__all__ = ["Extraction", "extract_log"]

_USES_AT_ONCE = 20_000
_MAX_NAMED = 5
"""Maximum number of tables that a note names."""
_MAX_ROUNDS = 50
"""Maximum number of resolution rounds: one per level of views over views. What is open after that is a cycle."""

_COUNTED = {
    Completeness.FULL: "resolved",
    Completeness.PARTIAL: "partial",
    Completeness.TABLES: "tables_only",
    Completeness.NONE: "unresolved",
}


@dataclass
class Extraction:
    """The lineage of a log, before it is stored."""

    log: LogCounts
    merger: Merger
    runs: dict[int, dict[int, JobRuns]]
    uses: dict[tuple[int, int], tuple[tuple[str, ...], tuple[str, ...]]]
    counts: dict[str, int]
    failures: list[tuple[str, int]]
    """Reasons why statements are not fully resolved, with the number of their runs; most frequent first."""
    engine: Engine
    context: LogContext
    notes: tuple[str, ...] = ()
    """Notes for the summary, for example about runs without a time."""
    templates: dict[int, UnitSummary] = field(default_factory=dict)
    """The summary of each template, extracted on its own."""
    session_blocks: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By unit that is not a template: the template of each of its parts."""

    @property
    def key(self) -> str:
        """The log's key: a hash of what ran in it, when and how often, whatever its files are.

        Unlike the units, it does not depend on the known schemas: the same log ingested again has the same key.
        """
        context = self.context
        digest = hashlib.sha256(repr((context.namespace, context.database, context.schema)).encode())
        ran: dict[int, JobRuns] = defaultdict(JobRuns)
        for unit, parts in self.runs.items():
            for part, job_runs in parts.items():
                ran[self.session_blocks[unit][part] if unit in self.session_blocks else unit].add(job_runs)
        for template, job_runs in sorted(ran.items()):
            if job_runs.runs:
                digest.update(
                    repr((template, 0, job_runs.runs, job_runs.first, job_runs.last, job_runs.duration_us)).encode()
                )
        return f"log:{digest.hexdigest()[:24]}"

    def note_open_transactions(self, blocks: Iterable[SessionBlock], found: Mapping[int, UnitSummary]) -> None:
        """Report the sessions that end inside a transaction which wrote something, once for the log.

        Also those at the log's end count: what a later log says about the transaction is not applied to this one.
        """
        sessions = 0
        tables: dict[str, None] = {}
        for block in () if self.context.goes_on else blocks:
            for part, member in enumerate(block.members):
                if not member.left_open:
                    continue
                ran = self.runs.get(block.key, {}).get(part, JobRuns()).runs
                if found[member.template].session.transaction:
                    sessions += ran
                names = found[block.key].parts[part]
                if ran and names.writes:
                    written = [name for name in names.names if name not in names.reads] or names.names
                    keys = self.merger.named(dataset_key(names.namespace, name) for name in written)
                    tables.update(dict.fromkeys(key.removeprefix(f"{names.namespace}/") for key in keys))
        if tables:
            ends = "1 session ends" if sessions == 1 else f"{sessions:,} sessions end"
            text = f"{ends} inside a transaction, without COMMIT or ROLLBACK"
            hint = f"what it wrote may not be in: {name_list(sorted(tables), _MAX_NAMED)}; the edges are kept"
            problem = Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, text, None, hint)
            self.merger.note(DiagnosticRecord(problem, self.context.source))
            self.notes = (*self.notes, f"{text}; {hint}")

    def batches(self, run: RunRecord) -> Iterator[LineageBatch]:
        """Yield the batches to store, in order: the lineage, then usage records in batches that span several days."""
        held: list[UsageRecord] = []
        *before, last = self.merger.batches(run)
        nothing = LineageBatch(run=run)
        yield from before
        for table in self.engine.days():
            for usage in usage_by_day(table, self.uses, self.context.observed_at):
                held += usage
                if len(held) >= _USES_AT_ONCE:
                    yield replace(last, usage=tuple(held))
                    last, held = nothing, []
        if held or last is not nothing:  # a DROP alone is stored, as is a run without lineage
            yield replace(last, usage=tuple(held))


def extract_log(
    engine: Engine,
    context: LogContext,
    given: tuple[TableSchema, ...],
    progress: Progress,
    earlier: Callable[[datetime | None], Earlier],
) -> Extraction:
    """Return a log's lineage, extracted by an engine.

    Args:
        engine: the engine over the log's rows.
        context: default namespace, database and schema, the time of observation, and other settings.
        given: the tables of the catalog, valid at all times.
        progress: called with each stage and its progress.
        earlier: returns the graph just before a time; for None, the graph as it is now.

    Raises:
        UndatedLogError: no run has a time, and `context` has no time of observation.
    """
    progress("reading", 0, None)
    log = engine.read(progress)
    ran = _templates_of(engine)
    templates = ran.settings
    if log.undated and ran.began is None and context.observed_at is None:
        raise UndatedLogError(log.undated, log.unread_time)
    context = replace(context, begins_at=moment(ran.began, context.at) if ran.began is not None else None)
    before = earlier(context.begins_at or context.observed_at)
    base = KnownSchemas(given, before.schemas())
    first: dict[int, UnitSummary] = {}
    progress("extracting", 0, len(templates))
    for summary in engine.extract(None, context, base, progress):
        first[summary.key] = summary

    def again(_stage: str, done: int, total: int | None) -> None:
        progress("extracting in context", done, total)

    base = _without_made_since(engine, context, base, first, before, again)
    progress("sessions", 0, None)
    known = _in_sessions(first, templates)
    session_blocks = engine.sessions(known)
    summaries = dict(first)
    if session_blocks:
        summaries.update(
            (summary.key, summary)
            for summary in engine.extract([Work(s.key) for s in session_blocks], context, base, again)
        )
        base = _without_made_since(engine, context, base, summaries, before, again)
    summaries.update(_search_names(engine, context, base, summaries, _existence(engine, summaries, base)))
    existence = _existence(engine, summaries, base)
    versions = _versions(engine, summaries, before)
    if versions is not None and versions.units():
        versions.defaults = {key: own[1:] for key, own in templates.items() if key in versions.units()}
        versions.searched = {key: summary.searched for key, summary in summaries.items() if summary.searched}
    changes = _column_changes(engine, known, summaries, session_blocks, templates, versions)
    if (versions is not None and versions.units()) or changes:
        session_blocks = engine.sessions(known, versions, changes)
        new = [Work(one.key) for one in session_blocks if one.key not in summaries]
        summaries.update((summary.key, summary) for summary in engine.extract(new, context, base, again))
    definitions, rounds = _resolved(engine, context, base, summaries, existence, again)
    extraction = _merge(engine, context, base, definitions, log, versions, before, rounds, progress, ran.fingerprints)
    extraction.templates = first
    extraction.note_open_transactions(session_blocks, summaries)
    extraction.session_blocks = {one.key: tuple(member.template for member in one.members) for one in session_blocks}
    return extraction


class _TemplatesRan(NamedTuple):
    """The templates of a log. `began` is when the first one with a time ran, `fingerprints` are those that ran."""

    settings: dict[int, tuple[str, str | None, str | None]]
    """Each one's dialect, database and schema."""
    began: int | None
    fingerprints: frozenset[str]


def _templates_of(engine: Engine) -> _TemplatesRan:
    settings: dict[int, tuple[str, str | None, str | None]] = {}
    begins: list[int] = []
    fingerprints: set[str] = set()
    for template in engine.templates():
        settings[template.key] = template.part.dialect, template.part.database, template.part.schema
        if template.runs:
            fingerprints.add(template.part.fingerprint)
            begins += [] if template.span.first is None else [template.span.first]
    return _TemplatesRan(settings, min(begins, default=None), frozenset(fingerprints))


def _resolved(
    engine: Engine,
    context: LogContext,
    base: KnownSchemas,
    found: Mapping[int, UnitSummary],
    existence: Existence,
    progress: Progress,
) -> tuple[Definitions, int]:
    """Extract units again until none depends on schemas that others have since defined; return these, and the rounds.

    What is left after the last round are definitions in a cycle.
    """
    definitions, spans = _definitions(engine, base, found, existence)
    rounds = 1
    while rounds < _MAX_ROUNDS and (stale := definitions.stale()):
        rounds += 1
        work = [Work(key, overlay or None) for key, overlay in stale.items()]
        for summary in engine.extract(work, context, definitions.known_schemas(), progress):
            definitions.add(summary, *spans(summary.key))
    return definitions, rounds


def _without_made_since(
    engine: Engine,
    context: LogContext,
    base: KnownSchemas,
    summaries: dict[int, UnitSummary],
    before: Earlier,
    progress: Progress,
) -> KnownSchemas:
    """Return the known schemas without tables that came after the log; re-extract the units that mention these."""
    came = _tables_made_since(summaries, base, before)
    if not came:
        return base
    base = KnownSchemas(
        base.given, {table_id: table for table_id, table in base.tables.items() if table_id not in came}
    )
    again = [Work(key) for key, summary in summaries.items() if any(part.names_any(came) for part in summary.parts)]
    summaries.update((summary.key, summary) for summary in engine.extract(again, context, base, progress))
    return base


def _tables_made_since(
    found: Mapping[int, UnitSummary], base: KnownSchemas, before: Earlier
) -> frozenset[tuple[str, str]]:
    """Return the known tables that did not exist before the log, and whose names it gives or takes away.

    What it drops or renames away is not the table that a later log, ingested before it, makes under that name.
    """
    made = {
        (part.namespace, name)
        for summary in found.values()
        for part in summary.parts
        for _, table, other in part.steps
        for name in (table, other)
        if name is not None
    }
    known = {dataset_key(*table_id): table_id for table_id in made if table_id in base.tables}
    return frozenset(known[key] for key in known.keys() - before.there(sorted(known))) if known else frozenset()


def _in_sessions(first: dict[int, UnitSummary], templates: dict[int, Any]) -> dict[int, TemplateInSession]:
    """Return the effect of each template on its session; empty if no template changes session state."""
    stateful = any(summary.session.stateful for summary in first.values())
    return (
        {key: TemplateInSession(summary.session, *templates[key]) for key, summary in first.items()} if stateful else {}
    )


def _existence(engine: Engine, summaries: Mapping[int, UnitSummary], base: KnownSchemas) -> Existence:
    """Return when the tables existed that units search for in several schemas."""
    searched = {key: summary.searched for key, summary in summaries.items() if summary.searched}
    names = [(summaries[key].namespace, name) for key, paths in searched.items() for path in paths for name in path]
    if not names:
        return Existence()
    parts = _parts(engine, summaries)
    return Existence(engine.events(steps_on(names, parts)), parts, searched, base.tables.keys())


def _parts(engine: Engine, found: Mapping[int, UnitSummary]) -> dict[tuple[int, int], NamesOfPart]:
    """Return the parts that ran, for all units."""
    runs = engine.runs()
    return {(key, n): part for key in runs for n, part in enumerate(found[key].parts) if n in runs[key]}


def _definitions(
    engine: Engine, base: KnownSchemas, found: Mapping[int, UnitSummary], existence: Existence
) -> tuple[Definitions, Callable[[int], tuple[RunInterval, Mapping[int, RunInterval]]]]:
    """Return the schemas that units define, and a function that returns when a unit and each of its parts ran."""
    runs = engine.runs()

    def spans(key: int) -> tuple[RunInterval, Mapping[int, RunInterval]]:
        parts = runs[key]
        listed = parts.items() if len(parts) > 1 else ()
        return RunInterval.of(parts.values()), {number: RunInterval(one.first, one.last) for number, one in listed}

    definitions = Definitions(base, existence)
    for key, summary in found.items():
        if key in runs:
            definitions.add(summary, *spans(key))
    return definitions, spans


def _search_names(
    engine: Engine, context: LogContext, base: KnownSchemas, found: Mapping[int, UnitSummary], existence: Existence
) -> Iterator[tuple[int, UnitSummary]]:
    """Yield re-extracted units until each table that is searched for in several schemas is found in one of them."""
    if not any(summary.searched for summary in found.values()):
        return
    definitions, spans = _definitions(engine, base, found, existence)
    for _ in range(_MAX_ROUNDS):  # a search can depend on columns that other units define
        work = [Work(key, overlay or None) for key, overlay in definitions.stale().items()]
        if not work:
            return
        for summary in engine.extract(work, context, definitions.known_schemas(), lambda *_: None):
            definitions.add(summary, *spans(summary.key))
            yield summary.key, summary


def _versions(engine: Engine, found: dict[int, UnitSummary], earlier: Earlier) -> Versions | None:
    """Return the tables that the log's names refer to over time; None if each name refers to one table throughout."""
    runs, parts = engine.runs(), _parts(engine, found)
    began = {(key, n): runs[key][n].first or 0 for key, n in parts}
    taken = read_before_made(parts, began, made_in(parts)) | made_and_left(parts.values()) | only_unless_there(parts)
    taken -= new_in(parts, began)
    there = earlier.there([dataset_key(*table_id) for table_id in sorted(taken)]) if taken else ()
    before = [table_id for table_id in taken if dataset_key(*table_id) in there]
    wanted = deciding_parts(parts, before)
    return versions_of(engine.events(wanted), parts, before) if wanted else None


def _column_changes(
    engine: Engine,
    known: dict[int, TemplateInSession],
    found: Mapping[int, UnitSummary],
    session_blocks: Iterable[SessionBlock],
    templates: Mapping[int, tuple[str, str | None, str | None]],
    versions: Versions | None,
) -> ColumnChanges | None:
    """Return the changes of columns that may run between statements that share a temporary table; None if none can."""
    if not any(one.effects.temporary for one in known.values()):
        return None
    parts = _parts(engine, found)
    wanted = parts_that_change_columns(parts)
    if not wanted:
        return None
    members = {one.key: one.members for one in session_blocks}

    def member(event: Event) -> Member:
        own = (
            members[event.unit][event.part] if event.unit in members else Member(event.unit, *templates[event.unit][1:])
        )
        return own._replace(bound=versions.bindings(*event[1:], event.at)) if versions is not None else own

    return column_changes_of(((event, member(event)) for event in engine.events(wanted)), parts)


def _merge(
    engine: Engine,
    context: LogContext,
    base: KnownSchemas,
    definitions: Definitions,
    log: LogCounts,
    versions: Versions | None,
    before: Earlier,
    rounds: int,
    progress: Progress,
    fingerprints: Collection[str],
) -> Extraction:
    runs = engine.runs()
    merger = Merger(versions or Versions(), context.undated_at)
    procedures = ProcedureRuns(definitions.summaries(), runs, fingerprints)
    uses: dict[tuple[int, int], tuple[tuple[str, ...], tuple[str, ...]]] = {}
    namespaces: set[str] = set()
    for done, (key, lineage) in enumerate(engine.lineage(sorted(runs))):
        merger.add(lineage, runs[key], procedures.counted(key))
        for use in lineage.uses:
            read, written = uses.get((key, int(use.source)), ((), ()))
            uses[key, int(use.source)] = (
                tuple(dict.fromkeys((*read, *use.reads))),
                tuple(dict.fromkeys((*written, *use.writes))),
            )
        if done % 1_000 == 0:
            progress("merging", done, len(runs))
    merger.finish(before, context.begins_at or context.undated_at)
    uses = procedures.used({use: (merger.named(read), merger.named(written)) for use, (read, written) in uses.items()})
    counts: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for summary in definitions.summaries():
        namespaces.add(summary.namespace)
        ran = sum(part.runs for part in runs[summary.key].values())
        if not ran:  # a unit without runs only provides context for other units
            continue
        unknown = procedures.unknown(summary)
        for number, (part, completeness) in enumerate(summary.completeness):
            if runs[summary.key].get(part, JobRuns()).runs:
                counts[_COUNTED[Completeness.PARTIAL if number in unknown else Completeness(completeness)]] += 1
        for diagnostic in unknown.values():
            merger.note(DiagnosticRecord(diagnostic, context.source))
        reasons = (f"{diagnostic.code}: {diagnostic.message}" for diagnostic in unknown.values())
        for reason in dict.fromkeys((*summary.problems, *reasons)):
            failures[reason] += ran
    for table in base.given:
        for namespace in sorted(namespaces):
            merger.know(namespace, table)
    for problem in problems_of(log, context):
        merger.note(problem)
    for kind, count in log.left_out.items():
        example = log.samples.get(kind) if kind == Problem.UNKNOWN_STATUS else None
        failures[kind if example is None else f"{kind}; such as {example}"] += count
    figures = {
        "rows": log.rows,
        "left_out": sum(log.left_out.values()),
        "undated": log.undated,
        "failed_files": len(log.files.failed()),
        "empty_files": len(log.files.empty()),
        "templates": sum(any(part.runs for part in parts.values()) for parts in runs.values()),
        "statements": sum(counts.values()),
        **{name: counts[name] for name in _COUNTED.values()},
        "rounds": rounds,
        **merger.counts,
    }
    notes = tuple(notes_of(log, context))
    listed = sorted(failures.items(), key=lambda one: (-one[1], one[0]))
    return Extraction(log, merger, runs, uses, figures, listed, engine, context, notes)
