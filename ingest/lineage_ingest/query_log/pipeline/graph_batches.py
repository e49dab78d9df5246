"""The stage "merge": what units state, brought together by job, dataset and edge, into batches for the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from lineage.catalog import TableSchema
from lineage.model.batch import (
    ColumnRecord,
    DatasetChange,
    DatasetRecord,
    DiagnosticRecord,
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    definition_job_key,
)
from lineage.model.names import ColumnPath, is_column_key, split_column_key, split_dataset_key
from lineage.model.spelling import Spelled, likelier_spelling, spelling_of
from lineage.model.statement import ChangeKind, Completeness, DatasetKind
from lineage.model.transformations import EdgeKind
from lineage_ingest.composition import merged_edge
from lineage_ingest.query_log.pipeline.copied_tables import state_past_columns, state_past_versions
from lineage_ingest.query_log.pipeline.copied_views import state_past_views
from lineage_ingest.query_log.pipeline.earlier import Earlier
from lineage_ingest.query_log.pipeline.extraction import UnitLineage, moment
from lineage_ingest.query_log.pipeline.replaced_tables import mark_replaced_tables
from lineage_ingest.query_log.pipeline.statistics import JobRuns
from lineage_ingest.query_log.pipeline.version_keys import VersionKeys
from lineage_ingest.query_log.pipeline.versions import Versions

__all__ = ["Merger"]

_WORST = (Completeness.FULL, Completeness.PARTIAL, Completeness.TABLES, Completeness.NONE)
_NEVER = datetime.max.replace(tzinfo=UTC)
_MOMENT = timedelta(microseconds=1)
_EdgeKey = tuple[str, str, EdgeKind, str]


@dataclass(slots=True)
class _Job:
    record: JobRecord
    edges: dict[_EdgeKey, EdgeRecord] = field(default_factory=dict)
    runs: JobRuns = field(default_factory=JobRuns)
    began: datetime = _NEVER

    def stated(self) -> Iterable[EdgeRecord]:
        """Return its edges."""
        return self.edges.values()

    def state(self, edge: EdgeRecord) -> None:
        """Add an edge; what the job says of the same pair already becomes one with it."""
        key = (edge.source, edge.target, edge.kind, edge.output)
        known = self.edges.get(key)
        self.edges[key] = edge if known is None else merged_edge(known, edge)

    def take_back(self, edge: EdgeRecord) -> None:
        """Remove an edge."""
        self.edges.pop((edge.source, edge.target, edge.kind, edge.output), None)


class _MergedSchema(NamedTuple):
    """The columns that a definition gives a dataset; when it last ran, and first."""

    at: datetime
    began: datetime
    paths: frozenset[str]


class _Spelling(NamedTuple):
    """How a dataset's name is written: by a definition at a time, or by what first reads or writes it."""

    by_definition: bool
    at: datetime | None
    text: str | None

    def joined(self, other: _Spelling) -> _Spelling:
        """Return which one counts: the last definition, else the first reference."""
        if self.by_definition is not other.by_definition:
            return self if self.by_definition else other
        if self.at == other.at or self.at is None or other.at is None:
            return self._replace(at=self.at or other.at, text=likelier_spelling(self.text, other.text))
        return self if (self.at > other.at) is self.by_definition else other

    def into(self, record: DatasetRecord) -> DatasetRecord:
        """Return a dataset with its name written so."""
        if (record.spelling, record.is_spelled) == (self.text, self.by_definition):
            return record
        return replace(record, spelling=self.text, is_spelled=self.by_definition)


class Merger:
    """Takes in the units of a log; `batches` are what they state together."""

    def __init__(self, versions: Versions, undated_at: datetime) -> None:
        """Take which tables the names of the log meant when, and the time of what has none."""
        self._keys = VersionKeys(versions, undated_at)
        self._jobs: dict[str, dict[str, _Job]] = defaultdict(dict)
        """By key, and by SQL where several texts define one dataset."""
        self._datasets: dict[str, DatasetRecord] = {}
        self._spellings: dict[str, _Spelling] = {}
        """How the names of the datasets are written."""
        self._diagnostics: dict[str, DiagnosticRecord] = {}
        self._changes: dict[tuple[object, ...], DatasetChange] = {}
        self._schemas: dict[str, set[_MergedSchema]] = defaultdict(set)
        """The schemas that definitions and ALTERs give the datasets."""

    def add(self, lineage: UnitLineage, runs: Mapping[int, JobRuns]) -> None:
        """Take in what a unit states, and how often each of its parts ran. The order of units does not matter.

        A part without runs states nothing: it is there for what the others mean.
        """
        batch = lineage.batch
        if not all(one.runs for one in runs.values()):
            batch = _of_what_ran(lineage, runs)
        start = min((one.first for one in runs.values() if one.first is not None), default=None)
        start_of_unit = None if start is None else moment(start, batch.run.at)
        jobs = {record.key: self._job(record, moment(start, record.first_seen)) for record in batch.jobs}
        texts = {record.key: record.sql for record in batch.jobs}
        for edge in batch.edges:
            job = jobs[edge.job]
            job.state(edge if texts[edge.job] == job.record.sql else replace(edge, spans=()))
        counted: set[tuple[str, str]] = set()
        for use in lineage.uses:
            if (use.job, use.source) not in counted and int(use.source) in runs and use.job in jobs:
                counted.add((use.job, use.source))
                jobs[use.job].runs.add(runs[int(use.source)])
        makers: dict[str, list[JobRecord]] = {}
        if any(dataset.schema_known for dataset in batch.datasets):
            ran = _own_times(lineage, runs)
            makers = _makers([ran[job.key].into(job) if job.key in ran else job for job in batch.jobs])
        for dataset in batch.datasets:
            known = self._datasets.get(dataset.key)
            made_by = makers.get(dataset.key, [])
            at = dataset.at or max((job.last_seen for job in made_by), default=None)
            found = replace(dataset, at=at) if dataset.schema_known else dataset
            if dataset.schema_known and at is not None:
                began = (job.first_seen for job in made_by)
                paths = frozenset(column.path for column in dataset.columns)
                self._schemas[dataset.key].add(_MergedSchema(at, dataset.at or min(began, default=at), paths))
            merged = found if known is None else _together(known, found)
            at = max((job.last_seen for job in batch.jobs if dataset.key in job.writes), default=at)
            spelling = _Spelling(dataset.is_spelled, at if dataset.is_spelled else start_of_unit, dataset.spelling)
            if known is not None:
                spelling = spelling.joined(self._spellings[dataset.key])
            self._spellings[dataset.key] = spelling
            self._datasets[dataset.key] = spelling.into(merged)
        for diagnostic in batch.diagnostics:
            self._diagnostics.setdefault(diagnostic.key, diagnostic)
        for change in batch.changes:
            if not change.kind.of_column:  # the versions say it
                continue
            key = (str(change.kind), change.dataset, change.other, change.column)
            last = self._changes.get(key)
            if last is None or last.at < change.at:
                self._changes[key] = change

    def know(self, namespace: str, table: TableSchema) -> None:
        """Take in the schema of a table that was given, if the log speaks of the table and does not say itself."""
        record = DatasetRecord(
            namespace,
            str(table.name),
            columns=ColumnRecord.of_schema(table.columns),
            schema_known=True,
            spelling=table.name.spelling if isinstance(table.name, Spelled) else None,
            is_spelled=isinstance(table.name, Spelled),
        )
        known = self._datasets.get(record.key)
        if known is not None and known.is_spelled:
            record = replace(record, spelling=known.spelling, is_spelled=True)
        if known is None or not known.schema_known:
            self._datasets[record.key] = (
                record if known is None else replace(record, kind=known.kind, dialect=known.dialect)
            )

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """What was found on the way."""
        return tuple(self._diagnostics[key] for key in sorted(self._diagnostics))

    def note(self, diagnostic: DiagnosticRecord) -> None:
        """Add a diagnostic about the log as a whole."""
        self._diagnostics.setdefault(diagnostic.key, diagnostic)

    def batches(self, run: RunRecord) -> Iterator[LineageBatch]:
        """Yield the batches, to be applied in this order: all in one, unless several texts define one dataset in turn.

        Each has the run's key, with a number behind it from the second on.
        """
        ordered = {
            key: sorted(
                jobs.values(), key=lambda job: (job.record.last_seen, job.record.first_seen, job.record.sql or "")
            )
            for key, jobs in self._jobs.items()
        }
        turns = max(map(len, ordered.values()), default=1)
        for turn in range(max(turns, 1)):
            # The newest definition comes in the last turn, the one before it in the turn before.
            picked = [
                jobs[table_id] for jobs in ordered.values() if 0 <= (table_id := len(jobs) - turns + turn) < len(jobs)
            ]
            last = turn == turns - 1 or turns == 0
            yield LineageBatch(
                run=run if last else replace(run, key=f"{run.key}/{turn + 1}", counts={}),
                datasets=tuple(self._dated(self._datasets[key]) for key in sorted(self._datasets)) if last else (),
                jobs=tuple(job.record for job in picked),
                edges=tuple(edge for job in picked for edge in job.edges.values()),
                changes=tuple(self._changes[key] for key in sorted(self._changes, key=str)) if last else (),
                diagnostics=self.diagnostics if last else (),
            )

    def _dated(self, dataset: DatasetRecord) -> DatasetRecord:
        """Return a dataset whose columns say since when schemas have them, where that is before its own time."""
        schemas = self._schemas.get(dataset.key, ())
        if dataset.at is None or not any(schema.began < dataset.at for schema in schemas):
            return dataset
        since: dict[str, datetime] = {}
        for schema in schemas:
            for path in schema.paths:
                since[path] = min(schema.began, since.get(path, schema.began))
        return replace(dataset, columns=tuple(replace(c, since=since.get(c.path)) for c in dataset.columns))

    def finish(self, earlier: Earlier, begins_at: datetime) -> None:
        """Bring what was taken in under the names of the graph: ask for batches and counts after it.

        `earlier` is what was known before the log, which begins at a time.
        """
        then = begins_at - _MOMENT  # its first statement may rename a column
        for job in self._every_job():
            job.record = job.runs.into(job.record)
        keys, changes = self._keys, list(self._changes.values())
        mark_replaced_tables(self._every_job(), changes, keys, earlier, then)
        state_past_views(self._every_job(), changes, keys, earlier, then, self._is_view, self._columns)
        if not keys.plain:
            before = keys.then(earlier.edges_into(keys.names_before()))
            state_past_versions(self._every_job(), before, then, changes, keys, self._is_view, self._may_have)
            self._name_versions()
        self._end_replaced_columns()
        self._take_rebuilds_for_definitions()
        state_past_columns(self._every_job(), self._changes.values(), self._is_view)

    def _every_job(self) -> list[_Job]:
        return [job for jobs in self._jobs.values() for job in jobs.values()]

    def named(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return keys of datasets and columns as they are in the graph, but for those that are not."""
        if self._keys.plain:
            return tuple(keys)
        return tuple(dict.fromkeys(self._keys.key(key) for key in keys if not self._keys.is_unseen(key)))

    def _name_versions(self) -> None:
        """Give all that was taken in the keys of the graph; part with what is not in it."""
        keys = self._keys
        jobs: dict[str, dict[str, _Job]] = defaultdict(dict)
        seen: dict[str, datetime] = {}
        for known in self._jobs.values():
            for text, job in known.items():
                record, at = job.record, job.record.last_seen
                for key in filter(keys.moves, (*record.reads, *record.writes)):
                    seen[key] = max(at, seen.get(key, at))
                writes = tuple(dict.fromkeys(keys.key(key, at) for key in record.writes if not keys.is_unseen(key)))
                if record.writes and not writes:
                    continue
                own = keys.job(record.key, at)
                gone = [key for key in record.writes if keys.is_gone(key)]
                if record.kind.defines_output:
                    for key in record.writes:
                        first, last = keys.since(key, record.first_seen), keys.since(key, record.last_seen)
                        record = replace(record, first_seen=first, last_seen=last)
                reads = tuple(dict.fromkeys(keys.key(key, at) for key in record.reads if not keys.is_unseen(key)))
                new = replace(job, record=replace(record, key=own, reads=reads, writes=writes), edges={})
                for edge in job.edges.values():
                    if not (keys.is_unseen(edge.source) or keys.is_unseen(edge.target)):
                        new.state(
                            replace(
                                edge,
                                source=keys.key(edge.source, at),
                                target=keys.key(edge.target, at),
                                output=keys.key(edge.output, at),
                                job=own,
                            )
                        )
                jobs[own][f"{text}\x01{gone[0]}" if gone else text] = new
        self._jobs = jobs
        datasets: dict[str, DatasetRecord] = {}
        for key in sorted(self._datasets, key=lambda one: (not keys.is_gone(one), one)):
            if not keys.is_unseen(key):
                known_as = self._datasets[key]
                if key in seen:
                    known_as = replace(known_as, at=known_as.at or seen[key])
                new_key = keys.key(key, known_as.at)
                namespace, name = split_dataset_key(new_key, known_as.namespace)
                since = known_as.at and keys.since(key, known_as.at)
                spelling = spelling_of(name, known_as.spelling) or spelling_of(name, keys.spelling(new_key))
                datasets[new_key] = replace(known_as, namespace=namespace, name=name, at=since, spelling=spelling)
        self._datasets = datasets
        schemas, self._schemas = self._schemas, defaultdict(set)
        for key, found in schemas.items():
            if not keys.is_unseen(key):
                self._schemas[keys.key(key)] |= {
                    one._replace(at=keys.since(key, one.at), began=keys.since(key, one.began)) for one in found
                }
        diagnostics = {}
        for diagnostic in self._diagnostics.values():
            known_job = diagnostic.job and keys.job(diagnostic.job)
            named = replace(diagnostic, job=known_job if known_job in jobs else None)
            diagnostics[named.key] = named
        self._diagnostics = diagnostics
        changes = [
            replace(change, dataset=keys.key(change.dataset, change.at), at=keys.since(change.dataset, change.at))
            for change in self._changes.values()
            if not keys.is_unseen(change.dataset)
        ]
        defined = {key for job in jobs for key in [job.removeprefix(definition_job_key(""))] if key != job}
        changes += keys.changes(defined)
        self._changes = {(str(one.kind), one.dataset, one.other, one.column, one.at): one for one in changes}

    def _end_replaced_columns(self) -> None:
        """Take in that columns ended which a definition had that was replaced, and the newest one has no more."""
        moves = (ChangeKind.RENAME, ChangeKind.SWAP)
        moved = {key for change in self._changes.values() if change.kind in moves for key in change.datasets}
        named = {(change.dataset, change.column) for change in self._changes.values()}
        for key, schemas in self._schemas.items():
            newest = max(schemas, key=lambda one: (one.at, one.began, sorted(one.paths)))
            for old in schemas - {newest}:
                at = newest.began if newest.began > old.at else newest.at
                for path in sorted(old.paths - newest.paths):
                    if key not in moved and (key, path) not in named and at > old.at:
                        change = DatasetChange(ChangeKind.DROP_COLUMN, key, at, column=path)
                        self._changes[str(change.kind), key, None, path] = change

    def _take_rebuilds_for_definitions(self) -> None:
        """Let a CREATE of a table from itself replace the definition before it, where the log has that.

        Where it has not, it adds to what an earlier log says of the table.
        """
        for key in [key for key, jobs in self._jobs.items() for job in jobs.values() if _is_rebuild(job.record)]:
            for text, job in list(self._jobs[key].items()):
                [dataset] = job.record.writes
                own = definition_job_key(dataset)
                if not any(one.record.first_seen < job.record.first_seen for one in self._jobs.get(own, {}).values()):
                    continue
                record = replace(job.record, key=own, kind=JobKind.DEFINITION)
                edges = {table_id: replace(edge, job=own) for table_id, edge in job.edges.items()}
                self._jobs[own][record.sql or ""] = _Job(record, edges, job.runs, job.began)
                del self._jobs[key][text]
            if not self._jobs[key]:
                del self._jobs[key]

    def _is_view(self, dataset: str) -> bool:
        known = self._datasets.get(dataset)
        return known is not None and known.kind is DatasetKind.VIEW

    def _columns(self, dataset: str) -> tuple[str, ...]:
        """Return the columns of a dataset in their order, as far as a schema tells them."""
        known = self._datasets.get(dataset)
        return tuple(column.path for column in known.columns) if known is not None and known.schema_known else ()

    def _may_have(self, dataset: str | None, column: str) -> bool:
        """Return whether a dataset may have a column that is called as this one (by key)."""
        known = self._datasets.get(dataset) if dataset is not None else None
        if known is None or not known.schema_known or not is_column_key(column):
            return True
        name = ColumnPath.parse(split_column_key(column)[1]).parts[0]
        return any(ColumnPath.parse(one.path).parts[0] == name for one in known.columns)

    @property
    def counts(self) -> dict[str, int]:
        """How much there is: tables, columns, edges, jobs, diagnostics."""
        return {
            "tables": len(self._datasets),
            "columns": sum(len(dataset.columns) for dataset in self._datasets.values()),
            "edges": sum(
                not edge.of_rows for jobs in self._jobs.values() for job in jobs.values() for edge in job.edges.values()
            ),
            "jobs": len(self._jobs),
            "diagnostics": len(self._diagnostics),
        }

    def _job(self, record: JobRecord, began: datetime) -> _Job:
        versions = self._jobs[record.key]
        version = (record.sql or "") if record.kind.defines_output else ""
        known = versions.get(version)
        if known is None:
            known = versions[version] = _Job(record, began=began)
            return known
        known.began = min(known.began, began)
        old = known.record
        if _size(record) < _size(old):  # one text, whatever the order: its spans are kept
            known.edges = {key: replace(edge, spans=()) for key, edge in known.edges.items()}
            old, record = record, old
        known.record = replace(
            old,
            first_seen=min(old.first_seen, record.first_seen),
            last_seen=max(old.last_seen, record.last_seen),
            reads=tuple(sorted({*old.reads, *record.reads})),
            writes=tuple(sorted({*old.writes, *record.writes})),
            completeness=max(old.completeness, record.completeness, key=_WORST.index),
        )
        return known


def _own_times(lineage: UnitLineage, runs: Mapping[int, JobRuns]) -> dict[str, JobRuns]:
    """Return when each job of a unit ran: its own parts, not all that was resolved with them."""
    found: dict[str, JobRuns] = defaultdict(JobRuns)
    for job, source in dict.fromkeys((use.job, int(use.source)) for use in lineage.uses):
        if source in runs:
            found[job].add(runs[source])
    return found


def _makers(jobs: Iterable[JobRecord]) -> dict[str, list[JobRecord]]:
    """Return the jobs that define each dataset; those that write it, where none does."""
    defining: dict[str, list[JobRecord]] = defaultdict(list)
    writing: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        defines = job.kind.defines_output or (job.operation or "").startswith("CREATE")
        for key in job.writes:
            (defining if defines else writing)[key].append(job)
    return {**writing, **defining}


def _is_rebuild(record: JobRecord) -> bool:
    """Return whether a job makes a table anew from itself."""
    return (
        record.kind is JobKind.QUERY
        and record.operation == "CREATE_TABLE_AS"
        and len(record.writes) == 1
        and record.writes[0] in record.reads
    )


def _of_what_ran(lineage: UnitLineage, runs: Mapping[int, JobRuns]) -> LineageBatch:
    """Return what the parts of a unit state that have runs."""
    batch = lineage.batch
    silent = {str(part) for part, one in runs.items() if not one.runs}
    ran = {use.job for use in lineage.uses if use.source not in silent}
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


def _size(record: JobRecord) -> tuple[int, str]:
    return len(record.sql or ""), record.sql or ""


def _together(one: DatasetRecord, other: DatasetRecord) -> DatasetRecord:
    """Return what two units say of a dataset: a schema before what use shows, of two schemas the later."""
    if one == other:
        return one
    ranks = _rank(one), _rank(other)
    first = ranks[0] > ranks[1] or (ranks[0] == ranks[1] and repr(one.columns) > repr(other.columns))
    best, rest = (one, other) if first else (other, one)
    kind = best.kind if best.kind is not DatasetKind.TABLE or best.schema_known else rest.kind
    if best.schema_known:
        return replace(best, kind=kind)
    columns = {column.path: column for column in rest.columns}
    for column in best.columns:
        there = columns.get(column.path)
        if there is None or not column.inferred:
            columns[column.path] = column
        elif there.inferred and there.spelling != column.spelling:
            columns[column.path] = replace(there, spelling=likelier_spelling(there.spelling, column.spelling))
    return replace(best, kind=kind, columns=tuple(columns[path] for path in sorted(columns)))


def _rank(record: DatasetRecord) -> tuple[bool, bool, float, int]:
    at = record.at.timestamp() if record.at is not None else 0.0
    return record.schema_known, record.kind is not DatasetKind.TABLE, at // 1, len(record.columns)
