"""The stages in this process, and extraction in several: for logs for which Spark need not start."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.pipeline.engines.engine import (
    LogCounts,
    Opener,
    Progress,
    SessionBlock,
    Template,
    Work,
    unit_of,
)
from lineage_ingest.query_log.pipeline.engines.extraction_workers import ExtractionWorkers
from lineage_ingest.query_log.pipeline.extraction import KnownSchemas, LogContext, UnitLineage, results_from
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement, work_batches
from lineage_ingest.query_log.pipeline.fingerprinting import OF_RUNS, RUN_SCHEMA, fingerprint_rows
from lineage_ingest.query_log.pipeline.members import Member
from lineage_ingest.query_log.pipeline.merging.row_counts import count_rows
from lineage_ingest.query_log.pipeline.merging.statistics import COUNTED_SCHEMA, JobRuns, counted, runs_by_unit, summed
from lineage_ingest.query_log.pipeline.schema_rounds import RunInterval
from lineage_ingest.query_log.pipeline.sessions.runs_in_order import events_of, in_order
from lineage_ingest.query_log.pipeline.sessions.session_blocks import TemplateInSession
from lineage_ingest.query_log.pipeline.sessions.sessions import assign_units
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary
from lineage_ingest.query_log.pipeline.versions.column_changes import ColumnChanges
from lineage_ingest.query_log.pipeline.versions.versions import Event, Versions

__all__ = ["LocalEngine"]


class LocalEngine:
    """The engine in this process: rows are in memory, without their texts."""

    def __init__(self, log: Callable[[], Iterable[Any]], jobs: int = 1) -> None:
        """Take a function that yields the rows, as batches of the log schema; extract in up to `jobs` processes."""
        self._log = log
        self._workers = ExtractionWorkers(jobs)
        self._runs: Any = pa.table({name: pa.array([], RUN_SCHEMA.field(name).type) for name in OF_RUNS})
        self._templates: dict[int, Template] = {}
        self._session_blocks: dict[int, SessionBlock] = {}
        self._ran: list[pa.Table] = []
        self._counted: Any = COUNTED_SCHEMA.empty_table()
        self._of_units: dict[int, dict[int, JobRuns]] = {}
        self._spans: dict[int, RunInterval] = {}
        self._lineage: dict[int, bytes] = {}

    def read(self, progress: Progress) -> LogCounts:
        """Read, normalise and fingerprint all rows."""
        counts = LogCounts()
        parts: dict[int, tuple[tuple[int, str], LogStatement]] = {}
        held: list[Any] = []
        for batch in fingerprint_rows(self._log()):
            count_rows(counts, batch)
            given = batch.filter(pc.is_valid(batch.column("part")))
            for key, row in zip(given.column("template").to_pylist(), given.column("part").to_pylist(), strict=True):
                part = LogStatement.of(row)
                rank = (len(part.text), part.text)
                if key not in parts or rank < parts[key][0]:
                    parts[key] = rank, part
            held.append(batch.select(OF_RUNS).filter(pc.is_valid(batch.column("template"))))
            progress("reading", counts.rows, None)
        if held:
            self._runs = pa.Table.from_batches(held)
        times = self._runs.append_column("first", self._runs["started_at"]).append_column(
            "last", self._runs["started_at"]
        )
        for key, runs, _, first, last in zip(*(c.to_pylist() for c in summed(times, "template").columns), strict=True):
            self._templates[key] = Template(key, parts[key][1], RunInterval(first, last), runs)
        return counts

    def templates(self) -> Iterator[Template]:
        """Yield the templates."""
        yield from self._templates.values()

    def samples(self) -> list[LogStatement]:
        """Return the sample of each template."""
        return [template.part for template in self._templates.values()]

    def events(self, wanted: frozenset[tuple[int, int]]) -> Iterable[Event]:
        """Return the runs of the wanted parts of units."""
        return events_of(self._ran, wanted)

    def sessions(
        self,
        templates: Mapping[int, TemplateInSession],
        versions: Versions | None = None,
        changes: ColumnChanges | None = None,
    ) -> list[SessionBlock]:
        """Assign every run to its unit; return the units that are not templates."""
        self._session_blocks.clear()
        runs = self._runs
        if versions is not None or any(one.effects.stateful for one in templates.values()):
            runs = in_order(runs)
        counts = []
        keep_runs = self._ran.append if versions is None and changes is None else None
        for batch in assign_units(runs.to_batches(), templates, versions, changes, keep_runs):
            has_members = pc.is_valid(batch.column("members"))
            first = batch.filter(has_members)
            for key, members in zip(first.column("unit").to_pylist(), first.column("members").to_pylist(), strict=True):
                self._session_blocks[key] = SessionBlock(key, tuple(map(Member.of, members)))
            counts.append(pa.Table.from_batches([batch.filter(pc.invert(has_members)).select(COUNTED_SCHEMA.names)]))
        if counts:
            self._counted = counted(pa.concat_tables(counts))
        self._of_units = runs_by_unit(self._counted)
        self._spans = {key: RunInterval.of(parts.values()) for key, parts in self._of_units.items()}
        return list(self._session_blocks.values())

    def extract(
        self, work: Collection[Work] | None, context: LogContext, known_schemas: KnownSchemas, progress: Progress
    ) -> Iterator[UnitSummary]:
        """Extract units; yield their summaries, and keep their lineage."""
        wanted = [Work(key) for key in self._templates] if work is None else work
        done = 0
        units = work_batches(map(self._unit, wanted), 64)
        characters = sum(map(self._characters, wanted))
        for batch in self._workers.extract(units, context, known_schemas, characters):
            for summary, lineage in results_from(batch):
                self._lineage[summary.key] = lineage
                yield summary
                done += 1
            progress("extracting", done, len(wanted))

    def _found(self, key: int) -> Template | SessionBlock:
        return self._templates.get(key) or self._session_blocks[key]

    def _characters(self, work: Work) -> int:
        found = self._found(work.key)
        members = (found.key,) if isinstance(found, Template) else (member.template for member in found.members)
        return sum(len(self._templates[key].part.text) for key in members)

    def _unit(self, work: Work) -> ExtractionUnit:
        template_or_block = self._found(work.key)
        parts = {}
        if isinstance(template_or_block, SessionBlock):
            parts = {member.template: self._templates[member.template].part for member in template_or_block.members}
        span = self._spans.get(work.key) or (
            template_or_block.span if isinstance(template_or_block, Template) else RunInterval(None, None)
        )
        return unit_of(template_or_block, parts, self._of_units.get(work.key, {}), span, work)

    def runs(self) -> dict[int, dict[int, JobRuns]]:
        """Return the runs of each part of each unit."""
        return self._of_units

    def days(self) -> Iterator[Any]:
        """Yield the counts of runs, a day at a time."""
        for day in sorted(self._counted["day"].unique().to_pylist(), key=lambda d: -1 if d is None else d):
            own = pc.is_null(self._counted["day"]) if day is None else pc.equal(self._counted["day"], day)
            yield self._counted.filter(own)

    def lineage(self, units: Collection[int]) -> Iterator[tuple[int, UnitLineage]]:
        """Yield the lineage of these units."""
        for key in units:
            yield key, pickle.loads(self._lineage[key])  # our own, of this run

    def write(self, parts: Sequence[BatchPart], opener: Opener) -> AppliedChanges:
        """Apply parts of a batch, one after the other."""
        with opener() as store:
            return sum(map(store.apply, parts), start=AppliedChanges())

    def close(self) -> None:
        """End the processes that extracted; all data is in this object."""
        self._workers.close()
