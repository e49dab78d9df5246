"""The stage "merge": the lineage of units, merged by job, dataset and edge into batches for the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from lineage.catalog import TableSchema
from lineage.model.batch import (
    DatasetChange,
    DiagnosticRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    definition_job_key,
)
from lineage.model.names import dataset_of
from lineage_ingest.query_log.pipeline.earlier import Earlier
from lineage_ingest.query_log.pipeline.extraction import UnitLineage, moment
from lineage_ingest.query_log.pipeline.merging.merged_datasets import MergedDatasets
from lineage_ingest.query_log.pipeline.merging.merged_jobs import MergedJobs
from lineage_ingest.query_log.pipeline.merging.statistics import JobRuns
from lineage_ingest.query_log.pipeline.versions.copied_tables import (
    declared_by,
    filled_elsewhere,
    state_past_columns,
    state_past_versions,
)
from lineage_ingest.query_log.pipeline.versions.copied_views import state_past_views
from lineage_ingest.query_log.pipeline.versions.replaced_tables import mark_replaced_tables
from lineage_ingest.query_log.pipeline.versions.version_keys import VersionKeys
from lineage_ingest.query_log.pipeline.versions.versions import Versions

__all__ = ["Merger"]

_MOMENT = timedelta(microseconds=1)


class Merger:
    """Merges the units of a log into batches."""

    def __init__(self, versions: Versions, undated_at: datetime) -> None:
        """`versions` has the tables that names mean over time; `undated_at` is the time of lineage without one."""
        self._keys = VersionKeys(versions, undated_at)
        self._anew = versions.anew
        self._jobs = MergedJobs()
        self._datasets = MergedDatasets()
        self._diagnostics: dict[str, DiagnosticRecord] = {}
        self._changes: dict[tuple[object, ...], DatasetChange] = {}

    def add(self, lineage: UnitLineage, runs: Mapping[int, JobRuns], counted: Mapping[int, JobRuns]) -> None:
        """Merge the lineage of a unit, with the runs of each of its parts. The order of units does not matter.

        `counted` has the runs that count for the jobs: those of a procedure's statements are its calls. A part
        without runs adds no lineage: the other parts only need it to be resolved.
        """
        batch = lineage.batch
        if not all(one.runs for one in runs.values()):
            batch = _of_what_ran(lineage, runs)
        start = min((one.first for one in runs.values() if one.first is not None), default=None)
        self._add_jobs(batch, lineage, counted, start)
        self._add_datasets(batch, lineage, runs, None if start is None else moment(start, batch.run.at))
        for diagnostic in batch.diagnostics:
            self.note(diagnostic)
        for change in batch.changes:
            if change.kind.of_column:  # changes of whole tables come from the versions
                self._add_change(change)

    def _add_jobs(
        self, batch: LineageBatch, lineage: UnitLineage, runs: Mapping[int, JobRuns], start: int | None
    ) -> None:
        jobs = {record.key: self._jobs.add(record, moment(start, record.first_seen)) for record in batch.jobs}
        texts = {record.key: record.sql for record in batch.jobs}
        for edge in batch.edges:
            job = jobs[edge.job]
            job.state(edge if texts[edge.job] == job.record.sql else replace(edge, spans=()))
        counted: set[tuple[str, str]] = set()
        for use in lineage.uses:
            if (use.job, use.source) not in counted and int(use.source) in runs and use.job in jobs:
                counted.add((use.job, use.source))
                jobs[use.job].runs.add(runs[int(use.source)])

    def _add_datasets(
        self, batch: LineageBatch, lineage: UnitLineage, runs: Mapping[int, JobRuns], start_of_unit: datetime | None
    ) -> None:
        makers: dict[str, list[JobRecord]] = {}
        if any(dataset.schema_known for dataset in batch.datasets):
            ran = _own_times(lineage, runs)
            makers = _makers([ran[job.key].into(job) if job.key in ran else job for job in batch.jobs])
        for dataset in batch.datasets:
            self._datasets.add(dataset, batch.jobs, makers.get(dataset.key, []), start_of_unit)

    def _add_change(self, change: DatasetChange) -> None:
        """Add a change of a column; of equal ones the last is kept."""
        key = (str(change.kind), change.dataset, change.other, change.column)
        last = self._changes.get(key)
        if last is None or last.at < change.at:
            self._changes[key] = change

    def know(self, namespace: str, table: TableSchema) -> None:
        """Add the schema of a given table if the log mentions the table and does not define it."""
        self._datasets.add_given(namespace, table)

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """The diagnostics of all units, ordered by key."""
        return tuple(self._diagnostics[key] for key in sorted(self._diagnostics))

    def note(self, diagnostic: DiagnosticRecord) -> None:
        """Add a diagnostic."""
        self._diagnostics.setdefault(diagnostic.key, diagnostic)

    def batches(self, run: RunRecord) -> Iterator[LineageBatch]:
        """Yield the batches in the order to apply them: one, unless several texts define one dataset in turn.

        The last has the run's key; those before it have a number behind that key.
        """
        *before, last = self._jobs.rounds()
        for number, jobs in enumerate(before, start=1):
            yield LineageBatch(
                run=replace(run, key=f"{run.key}/{number}", counts={}),
                jobs=tuple(job.record for job in jobs),
                edges=tuple(edge for job in jobs for edge in job.stated()),
            )
        yield LineageBatch(
            run=run,
            datasets=tuple(self._datasets),
            jobs=tuple(job.record for job in last),
            edges=tuple(edge for job in last for edge in job.stated()),
            changes=tuple(self._changes[key] for key in sorted(self._changes, key=str)),
            diagnostics=self.diagnostics,
        )

    def finish(self, earlier: Earlier, begins_at: datetime) -> None:
        """Give everything the keys of the graph; call it before `batches` and `counts`.

        `earlier` answers about the graph before the log, which begins at `begins_at`.
        """
        then = begins_at - _MOMENT  # the log's first statement may rename a column
        for job in self._jobs:
            job.record = job.runs.into(job.record)
        keys, changes, datasets = self._keys, list(self._changes.values()), self._datasets
        jobs = list(self._jobs)
        mark_replaced_tables(jobs, changes, keys, earlier, then, datasets.columns)
        state_past_views(jobs, changes, keys, earlier, then, datasets.is_view, datasets.columns)
        if not keys.plain:
            keys.show(filled_elsewhere(jobs))
            before = keys.then(earlier.edges_into(keys.names_before()))
            state_past_versions(jobs, before, then, changes, keys, datasets.is_view, datasets.may_have)
            self._rename_versions()
        stated = (edge for job in self._jobs for edge in job.stated())
        declared = declared_by(self._jobs)
        copied = {e.source for e in stated if dataset_of(e.source) in declared or not datasets.is_view(e.output)}
        for change in list(datasets.replaced_columns(self._changes.values(), copied)):
            self._changes[str(change.kind), change.dataset, None, change.column] = change
        self._jobs.take_rebuilds_for_definitions(self._anew)
        origins = state_past_columns(list(self._jobs), self._changes.values(), datasets.is_view)
        self._changes = {key: change for key, change in self._changes.items() if change not in origins}

    def named(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the keys in the graph of datasets and columns; those that are not there are left out."""
        if self._keys.plain:
            return tuple(keys)
        return tuple(dict.fromkeys(self._keys.key(key) for key in keys if not self._keys.is_unseen(key)))

    def _rename_versions(self) -> None:
        """Give jobs, datasets, diagnostics and changes the keys of the graph; drop what is not in it."""
        keys = self._keys
        last_seen = self._jobs.last_seen(keys)
        self._jobs.rename_versions(keys)
        self._datasets.rename_versions(keys, last_seen)
        diagnostics = {}
        for diagnostic in self._diagnostics.values():
            job = diagnostic.job and keys.job(diagnostic.job)
            renamed = replace(diagnostic, job=job if job in self._jobs.keys else None)
            diagnostics[renamed.key] = renamed
        self._diagnostics = diagnostics
        changes = [
            replace(change, dataset=keys.key(change.dataset, change.at), at=keys.since(change.dataset, change.at))
            for change in self._changes.values()
            if not keys.is_unseen(change.dataset)
        ]
        prefix = definition_job_key("")
        changes += keys.changes({job.removeprefix(prefix) for job in self._jobs.keys if job.startswith(prefix)})
        self._changes = {(str(one.kind), one.dataset, one.other, one.column, one.at): one for one in changes}

    @property
    def counts(self) -> dict[str, int]:
        """Number of tables, columns, edges, jobs and diagnostics."""
        return {
            "tables": len(self._datasets),
            "columns": self._datasets.column_count,
            "edges": sum(not edge.of_rows for job in self._jobs for edge in job.stated()),
            "jobs": len(self._jobs),
            "diagnostics": len(self._diagnostics),
        }


def _own_times(lineage: UnitLineage, runs: Mapping[int, JobRuns]) -> dict[str, JobRuns]:
    """Return the runs of each job of a unit: those of its own parts, not of all that were resolved with them."""
    found: dict[str, JobRuns] = defaultdict(JobRuns)
    for job, source in dict.fromkeys((use.job, int(use.source)) for use in lineage.uses):
        if source in runs:
            found[job].add(runs[source])
    return found


def _makers(jobs: Iterable[JobRecord]) -> dict[str, list[JobRecord]]:
    """Return the jobs that define each dataset; if none does, those that write it."""
    defining: dict[str, list[JobRecord]] = defaultdict(list)
    writing: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        defines = job.kind.defines_output or (job.operation or "").startswith("CREATE")
        for key in job.writes:
            (defining if defines else writing)[key].append(job)
    return {**writing, **defining}


def _of_what_ran(lineage: UnitLineage, runs: Mapping[int, JobRuns]) -> LineageBatch:
    """Return the lineage of the parts of a unit that have runs."""
    batch = lineage.batch
    silent = {str(part) for part, one in runs.items() if not one.runs}
    ran = {use.job for use in lineage.uses if use.source not in silent}
    ran |= {job.key for job in batch.jobs if job.kind is JobKind.POLICY}
    jobs = tuple(job for job in batch.jobs if job.key in ran)
    others = {key for job in batch.jobs if job.key not in ran for key in (*job.reads, *job.writes)}
    named = {key for job in jobs for key in (*job.reads, *job.writes)}
    return replace(
        batch,
        datasets=tuple(d for d in batch.datasets if jobs and (d.key in named or d.key not in others)),
        jobs=jobs,
        edges=tuple(edge for edge in batch.edges if edge.job in ran),
        diagnostics=tuple(d for d in batch.diagnostics if jobs and (d.job is None or d.job in ran)),
    )
