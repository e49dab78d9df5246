"""From what runs tell to batches for a store: one observation of a job for each output of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from lineage.export.openlineage import DATASET_FACET
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
    event_job_key,
)
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.dialects import UnknownDialectError, dialect_named
from lineage.model.names import ColumnPath, column_text, split_dataset_key
from lineage.model.namespaces import normal_namespace
from lineage.model.spelling import Spelled, spelling_of
from lineage.model.statement import ChangeKind, ColumnSchema, Completeness, DatasetKind
from lineage.sql.budget import Budget
from lineage.sql.scan import fingerprint, mask_literals
from lineage_ingest.openlineage.column_edges import OutputLineage, column_lineage, deciding_rows, explicit_lineage
from lineage_ingest.openlineage.facets_and_sql import complete_by_sql, speaks_of_all
from lineage_ingest.openlineage.places import Place, place_of, place_with_symlinks
from lineage_ingest.openlineage.schemas_known import NO_SCHEMAS, Schemas, is_whole
from lineage_ingest.openlineage.sql_text import Listed, SqlLineage, lineage_of_sql, tables_written
from lineage_ingest.openlineage.told import UNKNOWN, Facets, Told, facet_of, sql_dialect

__all__ = ["Observed", "batches", "observed", "observed_dataset"]

_KINDS = {kind.value.upper(): kind for kind in DatasetKind} | {"MODEL": DatasetKind.TABLE}
_ENGINES_OF_APPLICATIONS = frozenset({"SPARK"})


@dataclass(slots=True)
class Observed:
    """What one run, or one event without a run, adds to a batch."""

    at: datetime
    jobs: list[JobRecord] = field(default_factory=list)
    edges: list[EdgeRecord] = field(default_factory=list)
    datasets: list[DatasetRecord] = field(default_factory=list)
    changes: list[DatasetChange] = field(default_factory=list)
    diagnostics: list[DiagnosticRecord] = field(default_factory=list)
    aliases: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of keys that name one dataset."""


def observed(told: Told, at: datetime, budget: Budget, schemas: Schemas = NO_SCHEMAS, *, tie: str = "") -> Observed:
    """Return what a run says that counts since `at`; `schemas` are those of datasets of which it gives none.

    `tie` decides between runs of one job that count since the same moment (`JobRecord.ties`).
    """
    found = _Reading(told, at, budget, schemas).observed()
    found.jobs = [replace(job, ties=(tie, tie)) for job in found.jobs]
    return found


def observed_dataset(namespace: str, name: str, facets: Facets, at: datetime, *, exact: bool) -> Observed:
    """Return what an event says of one dataset."""
    found = Observed(at)
    place, found.aliases = place_with_symlinks(namespace, name, _symlinks(facets), exact=exact)
    change = _change(place, facets, at, exact=exact)
    if change is not None:
        found.changes.append(change)
    if change is None or change.kind is not ChangeKind.DROP:
        found.datasets.append(_record(place, facets, at, found.aliases))
    return found


def batches(all_observed: Iterable[Observed]) -> Iterator[LineageBatch]:
    """Yield batches, each of one hour of event time, in which no job is twice.

    A job that was observed several times in it, and said the same, is in one batch from the first time to the last.
    """
    by_hour: dict[datetime, list[Observed]] = defaultdict(list)
    for one in all_observed:
        by_hour[one.at.replace(minute=0, second=0, microsecond=0)].append(one)
    for hour, within in sorted(by_hour.items()):
        within.sort(key=lambda one: one.at)
        rounds: list[_Round] = []
        for one in within:
            _place_in_rounds(one, rounds)
        if rounds and rounds[0].others is not None:
            # Each on its own: whether events come together must not decide what a change of a dataset means.
            changes, rounds[0].others.changes = dict.fromkeys(rounds[0].others.changes), []
            for change in sorted(changes, key=lambda one: one.at):
                yield LineageBatch(run=_run_of(hour, change.at), changes=(change,))
        for number, each in enumerate(rounds):
            yield each.batch(hour, is_first=number == 0)


@dataclass(slots=True)
class _Round:
    jobs: dict[str, tuple[JobRecord, tuple[EdgeRecord, ...]]] = field(default_factory=dict)
    others: Observed | None = None

    def batch(self, hour: datetime, *, is_first: bool) -> LineageBatch:
        at = max((job.last_seen for job, _ in self.jobs.values()), default=None)
        others = self.others if is_first else None
        if others is not None:
            at = max(at, others.at) if at else others.at
        assert at is not None  # a round is made for something
        return LineageBatch(
            run=_run_of(hour, at),
            datasets=_latest(others.datasets) if others else (),
            jobs=tuple(job for job, _ in self.jobs.values()),
            edges=tuple(edge for _, edges in self.jobs.values() for edge in edges),
            diagnostics=tuple(dict.fromkeys(others.diagnostics)) if others else (),
            aliases=tuple(sorted(set(others.aliases))) if others else (),
        )


def _run_of(hour: datetime, at: datetime) -> RunRecord:
    return RunRecord(f"openlineage:{hour:%Y-%m-%dT%H}", "openlineage", f"events of {hour:%Y-%m-%d %H}:00", at)


def _place_in_rounds(one: Observed, rounds: list[_Round]) -> None:
    if not rounds:
        rounds.append(_Round(others=Observed(one.at)))
    others = rounds[0].others
    assert others is not None  # the first round has what is of no job
    others.at = max(others.at, one.at)
    others.datasets += one.datasets
    others.changes += one.changes
    others.diagnostics += one.diagnostics
    others.aliases += one.aliases
    edges: dict[str, list[EdgeRecord]] = defaultdict(list)
    for edge in one.edges:
        edges[edge.job].append(edge)
    for job in one.jobs:
        stated = tuple(edges[job.key])
        for number, each in enumerate(rounds):
            known = each.jobs.get(job.key)
            if known is None:
                each.jobs[job.key] = (job, stated)
                break
            if (
                known[1] == stated
                and _same(known[0], job)
                and not any(job.key in more.jobs for more in rounds[number + 1 :])
            ):
                each.jobs[job.key] = (_joined(known[0], job), stated)
                break
        else:
            rounds.append(_Round({job.key: (job, stated)}))


def _same(one: JobRecord, other: JobRecord) -> bool:
    return one == replace(other, first_seen=one.first_seen, last_seen=one.last_seen, ties=one.ties)


def _joined(one: JobRecord, other: JobRecord) -> JobRecord:
    """Return two records that say the same as one, from the first time to the last."""
    first, tie_of_first = min((each.first_seen, each.ties[0]) for each in (one, other))
    last, tie_of_last = max((each.last_seen, each.ties[1]) for each in (one, other))
    if one.first_seen == other.first_seen:
        tie_of_first = max(one.ties[0], other.ties[0])
    return replace(other, first_seen=first, last_seen=last, ties=(tie_of_first, tie_of_last))


def _latest(records: Iterable[DatasetRecord]) -> tuple[DatasetRecord, ...]:
    """Return at most two records a dataset, with the names of all: the latest with a schema, and the latest without.

    Each has its own time: one that names the kind says nothing of when the schema held.
    """
    found: dict[tuple[str, bool], DatasetRecord] = {}
    for record in records:
        place = record.key, record.schema_known
        known = found.get(place)
        if known is None:
            found[place] = record
            continue
        older, newer = (known, record) if _time_of(record) >= _time_of(known) else (record, known)
        kind = newer.kind if newer.kind is not DatasetKind.TABLE else older.kind
        aliases = tuple(sorted({*older.aliases, *newer.aliases}))
        written = newer if newer.is_spelled or not older.is_spelled else older
        found[place] = replace(
            newer, kind=kind, aliases=aliases, spelling=written.spelling, is_spelled=written.is_spelled
        )
    return tuple(found.values())


def _time_of(record: DatasetRecord) -> datetime:
    assert record.at is not None  # what events say of a dataset, they say at their time
    return record.at


class _Reading:
    """One run, as it is read."""

    def __init__(self, told: Told, at: datetime, budget: Budget, schemas: Schemas) -> None:
        self._told = told
        self._at = at
        self._schemas = schemas
        self._budget = budget
        self._found = Observed(at)
        self._problems = list(told.problems)
        namespace, name = told.job_name
        self._source = f"{namespace}/{name}"
        self._quoted = {} if told.is_ours else _quoted_names(told)
        self._places_of: dict[tuple[str, str], Place] = {}
        self._names: dict[str, set[str]] = defaultdict(set)
        for named, facets in (*told.inputs.items(), *told.outputs.items()):
            place, aliases = place_with_symlinks(*named, _symlinks(facets), exact=told.is_ours)
            if aliases:
                self._places_of[named] = place
                self._names[place.key].add(named[1])
                self._found.aliases += aliases

    def observed(self) -> Observed:
        found = self._found
        inputs = self._places(self._told.inputs)
        outputs = self._places(self._told.outputs)
        entries = self._entries()
        for place, (entry_namespace, entry_name) in ((entry, entry_id) for entry, entry_id, _ in entries):
            outputs.setdefault(place.key, (place, self._told.outputs.get((entry_namespace, entry_name), {})))
        written = {key: one for key, one in outputs.items() if not self._only_changed(one)}
        for place, facets in {**inputs, **outputs}.values():
            if place.key in written or place.key in inputs:
                found.datasets.append(_record(place, facets, self._at, self._found.aliases))
        lineages = {key: self._lineage(one, [e for p, _, e in entries if p.key == key]) for key, one in written.items()}
        # What names all that an output is made of needs no SQL; our own exports hold it masked.
        wanted = [key for key, one in lineages.items() if not (one.is_complete or (one.is_told and self._told.is_ours))]
        by_sql = self._by_sql(inputs, outputs, wanted)
        for key, lineage in lineages.items():
            self._write(lineage, written[key][1], inputs, by_sql.get(key))
        if not written:
            self._read(inputs)
        for text in self._problems:
            job = found.jobs[0].key if found.jobs else None
            diagnostic = Diagnostic(
                DiagnosticCode.INVALID_FACET, Severity.WARNING, text, hint="the rest of the event was read"
            )
            found.diagnostics.append(DiagnosticRecord(diagnostic, self._source, job))
        return found

    def _places(self, told: Mapping[tuple[str, str], Facets]) -> dict[str, tuple[Place, Facets]]:
        """Return the datasets by key; what are two spellings of one is one."""
        found: dict[str, tuple[Place, Facets]] = {}
        for (namespace, name), facets in sorted(told.items()):
            place = self._locate(namespace, name)
            known = found.get(place.key)
            together = facets if known is None else {**known[1], **facets}
            found[place.key] = (place, together)
        return found

    def _locate(self, namespace: str, name: str) -> Place:
        place = self._places_of.get((namespace, name)) or place_of(namespace, name, exact=self._told.is_ours)
        quoted = self._quoted.get((namespace, name))
        return replace(place, quoted=quoted) if quoted else place

    def _entries(self) -> list[tuple[Place, tuple[str, str], Mapping[str, Any]]]:
        """Return what the job's own lineage facet says of datasets."""
        entries = self._told.facet("job.lineage").get("entries") or ()
        of_datasets = (entry for entry in entries if entry["type"] == "DATASET")
        return [
            (self._locate(entry["namespace"], entry["name"]), (entry["namespace"], entry["name"]), entry)
            for entry in of_datasets
        ]

    def _only_changed(self, output: tuple[Place, Facets]) -> bool:
        """Take in that an output was dropped or renamed; answer whether that is all that happened to it."""
        place, facets = output
        change = _change(place, facets, self._at, exact=self._told.is_ours)
        if change is None:
            return False
        self._found.changes.append(change)
        if change.kind is ChangeKind.RENAME:
            self._found.datasets.append(_record(place, facets, self._at, self._found.aliases))
        return not facet_of(facets, "columnLineage") and not facet_of(facets, "lineage")

    def _lineage(self, output: tuple[Place, Facets], entries: list[Mapping[str, Any]]) -> OutputLineage:
        place, facets = output
        lineage = OutputLineage(place)
        column_lineage(facet_of(facets, "columnLineage"), lineage, self._locate)
        deciding_rows(facet_of(facets, DATASET_FACET), lineage, self._locate)
        for entry in (facet_of(facets, "lineage"), *entries):
            explicit_lineage(entry, lineage, self._locate)
        return lineage

    def _by_sql(
        self,
        inputs: Mapping[str, tuple[Place, Facets]],
        outputs: Mapping[str, tuple[Place, Facets]],
        wanted: list[str],
    ) -> dict[str, SqlLineage]:
        """Return what the SQL says of these outputs."""
        query = self._told.facet("job.sql").get("query")
        if not query or not wanted:
            return {}
        dialect = sql_dialect(self._told, [place.namespace for place, _ in (*outputs.values(), *inputs.values())])
        listed = [
            [_listed(*one, self._schemas, self._names.get(key, ())) for key, one in places.items()]
            for places in (outputs, inputs)
        ]
        said = lineage_of_sql(str(query), dialect or dialect_named(UNKNOWN), listed[0], listed[1], self._budget)
        return {key: one for key, one in said.items() if key in wanted}

    def _write(
        self,
        lineage: OutputLineage,
        facets: Facets,
        inputs: Mapping[str, tuple[Place, Facets]],
        by_sql: SqlLineage | None,
    ) -> None:
        output = lineage.output
        key = event_job_key(*self._job(), output.key, self._kind_of_write(facets))
        reads = dict(lineage.sources)
        if not lineage.is_complete:
            reads.update((one, place) for one, (place, _) in inputs.items())
        reads_all = by_sql is not None and by_sql.completeness is Completeness.FULL
        if lineage.is_told and not (lineage.is_complete or reads_all or self._told.is_ours):
            lineage.read_rows(place for place, _ in inputs.values())
        edges = lineage.edges(key)
        described = [column.path for column in _record(output, facets, self._at, self._found.aliases).columns]
        completeness = Completeness.TABLES
        if lineage.is_told:
            is_all = lineage.is_complete or self._told.is_ours or speaks_of_all(edges, output.key, described)
            completeness = Completeness.FULL if is_all else Completeness.PARTIAL
        operation = facet_of(facets, "lifecycleStateChange").get("lifecycleStateChange")
        if by_sql is not None and lineage.is_told:
            both = complete_by_sql(edges, by_sql, output.key, described, key)
            edges, completeness = both.edges, both.completeness
            reads.update(by_sql.sources)
            self._found.diagnostics += (DiagnosticRecord(one, self._source, key) for one in both.diagnostics)
        elif by_sql is not None:
            edges = [replace(edge, job=key) for edge in by_sql.edges]
            reads.update(by_sql.sources)
            completeness = by_sql.completeness
            operation = " ".join(by_sql.operations)
            self._found.diagnostics += (DiagnosticRecord(one, self._source, key) for one in by_sql.diagnostics)
            if by_sql.columns and not is_whole(facets):
                columns = ColumnRecord.of_schema(map(ColumnSchema, by_sql.columns))
                record = _record(output, facets, self._at, self._found.aliases)
                self._found.datasets.append(replace(record, columns=columns, schema_known=True))
        self._found.edges += edges
        self._job_record(key, tuple(reads), (output.key,), completeness, operation)

    def _read(self, inputs: Mapping[str, tuple[Place, Facets]]) -> None:
        """Take in a job without outputs. Its SQL may write: where to, only the event's datasets could say."""
        key = event_job_key(*self._told.job_name, None)
        query = self._told.facet("job.sql").get("query")
        unplaced: tuple[str, ...] = ()
        if query and not self._found.changes and not self._told.outputs:
            dialect = sql_dialect(self._told, [place.namespace for place, _ in inputs.values()])
            unplaced = tables_written(str(query), dialect or dialect_named(UNKNOWN), self._budget)
        if unplaced:
            self._found.diagnostics.append(DiagnosticRecord(_no_outputs(unplaced), self._source, key))
        if inputs or unplaced:
            completeness = Completeness.NONE if unplaced else Completeness.TABLES
            self._job_record(key, tuple(inputs), (), completeness, None)

    def _job_record(
        self,
        key: str,
        reads: tuple[str, ...],
        writes: tuple[str, ...],
        completeness: Completeness,
        operation: str | None,
    ) -> None:
        query = self._told.facet("job.sql").get("query")
        namespaces = [normal_namespace(one) for one, _ in (*self._told.outputs, *self._told.inputs)]
        dialect = sql_dialect(self._told, namespaces) if query else None
        self._found.jobs.append(
            JobRecord(
                key=key,
                kind=JobKind.EVENT,
                first_seen=self._at,
                last_seen=self._at,
                reads=tuple(sorted(reads)),
                writes=writes,
                sql=mask_literals(str(query), dialect or UNKNOWN) if query else None,
                dialect=dialect.name if dialect else None,
                source=self._source,
                operation=operation,
                completeness=completeness,
            )
        )

    def _job(self) -> tuple[str, str]:
        """Return the job that outputs are told apart by: of Spark's the application.

        What Spark's agent puts behind the application's name says how the plan was run, not what it was, and changes
        when a join is added to a query.
        """
        namespace, name = self._told.job_name
        parent = self._told.facet("run.parent").get("job")
        if self._is_of_application and parent and name.startswith(f"{parent['name']}."):
            return parent["namespace"], parent["name"]
        return namespace, name

    @property
    def _is_of_application(self) -> bool:
        engine = self._told.facet("job.jobType").get("integration") or self._told.facet("run.processing_engine").get(
            "name"
        )
        return str(engine or "").upper() in _ENGINES_OF_APPLICATIONS

    def _kind_of_write(self, facets: Facets) -> str:
        """Return what tells writes of one application to one output apart that stand beside each other.

        An overwrite replaces the one before it. What is appended stays beside what was there, by statement; and a
        CREATE TABLE AS comes as two runs, the command and the write that it does.
        """
        if not self._is_of_application or not self._told.facet("run.parent"):
            return ""
        change = facet_of(facets, "lifecycleStateChange").get("lifecycleStateChange")
        if change == "CREATE":
            return "create"
        if change is not None:
            return ""
        query = self._told.facet("job.sql").get("query")
        return f"append:{fingerprint(str(query), 'spark')[:12]}" if query else "append"


def _no_outputs(tables: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        DiagnosticCode.NO_DATASETS,
        Severity.WARNING,
        f"the SQL writes {', '.join(tables)}, but the events of the run name no outputs: no lineage is stored",
        hint="where a table's data is stored only the events can say; a newer OpenLineage client may list it",
    )


def _change(place: Place, facets: Facets, at: datetime, *, exact: bool) -> DatasetChange | None:
    facet = facet_of(facets, "lifecycleStateChange")
    state = facet.get("lifecycleStateChange")
    if state == "DROP":
        return DatasetChange(ChangeKind.DROP, place.key, at)
    previous = facet.get("previousIdentifier")
    if state == "RENAME" and previous:
        before = place_of(previous["namespace"], previous["name"], exact=exact)
        if before.key != place.key:
            spelling = place.name.spelling if isinstance(place.name, Spelled) else None
            return DatasetChange(ChangeKind.RENAME, before.key, at, place.key, spelling=spelling)
    return None


def _record(place: Place, facets: Facets, at: datetime, aliases: Iterable[tuple[str, str]]) -> DatasetRecord:
    fields = facet_of(facets, "schema").get("fields") or ()
    ours = facet_of(facets, DATASET_FACET)
    inferred = set(ours.get("inferred") or ())
    if is_whole(facets) or "schemaKnown" in ours:
        written = ours.get("spellings") if place.exact else None
        spellings = written if isinstance(written, dict) else {}
        columns = [
            ColumnRecord(
                path,
                data_type,
                ordinal,
                path in inferred,
                spelling=spelling_of(path, text) if isinstance(text := spellings.get(path), str) else spelling,
            )
            for path, data_type, ordinal, spelling in _columns(fields, (), place)
        ]
    else:
        columns = [
            ColumnRecord(path, data_type, None, True, spelling=spelling)
            for path, data_type, _, spelling in _columns(fields, (), place)
        ]
    kind = _KINDS.get(str(facet_of(facets, "datasetType").get("datasetType", "")).upper())
    dialect = ours.get("dialect")
    try:
        named = dialect_named(str(dialect)).name if dialect else None
    except UnknownDialectError:
        named = None
    spelling, is_spelled = (place.name.spelling if isinstance(place.name, Spelled) else None), False
    if place.exact and isinstance(ours.get("spelling"), str):
        spelling, is_spelled = ours["spelling"], True
    return DatasetRecord(
        namespace=place.namespace,
        name=str(place.name),
        kind=kind or place.kind,
        dialect=named or (place.dialect.name if place.dialect else None),
        columns=tuple(columns),
        schema_known=is_whole(facets),
        at=at,
        aliases=_further_names(place, facets, aliases),
        spelling=spelling_of(place.name, spelling),
        is_spelled=is_spelled,
    )


def _symlinks(facets: Facets) -> Sequence[Mapping[str, Any]]:
    return facet_of(facets, "symlinks").get("identifiers") or ()


def _further_names(place: Place, facets: Facets, aliases: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the other names of a dataset: of our own export as they stand, else those of its further keys."""
    others = {other for key, other in aliases if key == place.key}
    if others or not place.exact:
        return tuple(sorted("/".join(split_dataset_key(other)) for other in others))
    names = ((normal_namespace(one["namespace"]), str(one["name"])) for one in _symlinks(facets))
    return tuple(dict.fromkeys(f"{namespace}/{name}" if namespace else name for namespace, name in names))


def _quoted_names(told: Told) -> dict[tuple[str, str], frozenset[str]]:
    """Return the columns of each dataset whose names would be read as the paths of nested fields."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for named, facets in (*told.inputs.items(), *told.outputs.items()):
        fields = (str(one["name"]) for one in facet_of(facets, "schema").get("fields") or ())
        if quoted := {name for name in fields if column_text(name) != name}:
            found[named] = found.get(named, frozenset()) | quoted
    return found


def _columns(
    fields: Iterable[Mapping[str, Any]], above: tuple[str, ...], place: Place
) -> Iterator[tuple[str, str | None, int | None, str | None]]:
    """Yield the path, type, ordinal and spelling of each column, and of the fields in it."""
    for position, one in enumerate(fields):
        parts = (*above, place.fold(str(one["name"])))
        told = one.get("ordinal_position")
        ordinal = told - 1 if isinstance(told, int) and told > 0 else (None if place.exact else position)
        path = ColumnPath(parts)
        yield str(path), one.get("type"), ordinal, path.spelling
        yield from _columns(one.get("fields") or (), parts, place)


def _listed(place: Place, facets: Facets, schemas: Schemas, named: Iterable[str]) -> Listed:
    names = (*(str(one["name"]) for one in _symlinks(facets)), *sorted(named))
    if not is_whole(facets):
        return Listed(place, names, schemas.get(place.key, ()))
    fields = facet_of(facets, "schema")["fields"]
    return Listed(place, names, tuple((place.fold(str(one["name"])), one.get("type")) for one in fields))
