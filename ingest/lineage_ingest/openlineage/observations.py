"""From the state of one run to what it adds to the graph: a job for each output, with its lineage."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from lineage.export.openlineage import DATASET_FACET
from lineage.model.batch import (
    ColumnRecord,
    DatasetChange,
    DatasetRecord,
    DiagnosticRecord,
    EdgeRecord,
    JobKind,
    JobRecord,
    event_job_key,
)
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.dialects import dialect_named
from lineage.model.namespaces import normal_namespace
from lineage.model.statement import ChangeKind, ColumnSchema, Completeness, DatasetKind
from lineage.sql.budget import Budget
from lineage.sql.scan import fingerprint, mask_literals
from lineage_ingest.openlineage.dataset_ids import ABSENT_PARTS, DatasetId, dataset_id_of, dataset_id_with_symlinks
from lineage_ingest.openlineage.facets.column_edges import (
    OutputLineage,
    column_lineage,
    deciding_rows,
    explicit_lineage,
)
from lineage_ingest.openlineage.facets.dataset_facets import change_of, listed_of, quoted_names, record_of, symlinks_of
from lineage_ingest.openlineage.facets.facets_and_sql import complete_by_sql, incomplete_facet, speaks_of_all
from lineage_ingest.openlineage.facets.schemas_known import NO_SCHEMAS, Schemas, is_whole
from lineage_ingest.openlineage.facets.sql_text import SqlLineage, lineage_of_sql, tables_written
from lineage_ingest.openlineage.plan_facet import PLAN_FACET, completeness_in, diagnostics_in, write_in
from lineage_ingest.openlineage.run_state import UNKNOWN, Facets, RunState, facet_of, sql_dialect

__all__ = ["Observed", "observe_run", "observed_dataset"]

_PARTITION = re.compile(r"/[^/=]+=[^/]*(?:/.*)?$", re.DOTALL)
_WAREHOUSE_PATH = re.compile(r"(?:^|/)([^/]+)\.db/([^/=]+)(?=/|$)")
"""How Hive's warehouse names the folder of a table: SCHEMA.db/TABLE."""
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


def observe_run(
    state: RunState, at: datetime, budget: Budget, schemas: Schemas = NO_SCHEMAS, *, tie: str = ""
) -> Observed:
    """Return what a run adds to the graph at `at`; `schemas` are those of datasets for which it has no schema.

    `tie` decides between runs of one job with the same time (`JobRecord.ties`).
    """
    found = _EventReading(state, at, budget, schemas).observation()
    found.jobs = [replace(job, ties=(tie, tie)) for job in found.jobs]
    return found


def observed_dataset(namespace: str, name: str, facets: Facets, at: datetime, *, exact: bool) -> Observed:
    """Return what an event adds to the graph about one dataset."""
    observation = Observed(at)
    dataset_id, observation.aliases = dataset_id_with_symlinks(namespace, name, symlinks_of(facets), exact=exact)
    change = change_of(dataset_id, facets, at, exact=exact)
    if change is not None:
        observation.changes.append(change)
    if change is None or change.kind is not ChangeKind.DROP:
        observation.datasets.append(record_of(dataset_id, facets, at, observation.aliases))
    return observation


class _StatedLineage(NamedTuple):
    """The lineage of one output as facets, the SQL or both state it."""

    edges: list[EdgeRecord]
    completeness: Completeness
    operation: str | None
    diagnostics: tuple[Diagnostic, ...] = ()


class _EventReading:
    """Reads one run."""

    def __init__(self, state: RunState, at: datetime, budget: Budget, schemas: Schemas) -> None:
        self._state = state
        self._at = at
        self._schemas = schemas
        self._budget = budget
        self._found = Observed(at)
        self._problems = list(state.problems)
        namespace, name = state.job_name
        self._source = f"{namespace}/{name}"
        self._plan = state.facet(f"run.{PLAN_FACET}")
        self._quoted = {} if state.is_ours else quoted_names(state)
        self._records: dict[str, DatasetRecord] = {}
        self._preferred: dict[tuple[str, str], DatasetId] = {}
        self._names: dict[str, set[str]] = defaultdict(set)
        self._listed = {dataset_id_of(*named, exact=state.is_ours).key for named in (*state.inputs, *state.outputs)}
        for named, facets in (*state.inputs.items(), *state.outputs.items()):
            dataset_id, aliases = dataset_id_with_symlinks(*named, symlinks_of(facets), exact=state.is_ours)
            if aliases:
                self._preferred[named] = dataset_id
                self._names[dataset_id.key].add(named[1])
                self._found.aliases += aliases
            elif not state.is_ours:
                self._note_name(dataset_id, named[1])

    def _note_name(self, dataset_id: DatasetId, name: str) -> None:
        """Report a name with parts that the client does not know, and a path that is that of a catalog's table."""
        if absent := ABSENT_PARTS.match(name):
            self._problems.append(f"a dataset's name begins with {absent.group()}: that is left out")
        if table := _WAREHOUSE_PATH.search(dataset_id.name):
            text = f"{dataset_id.name} may be the table {'.'.join(table.groups())}: no symlink says so"
            hint = "an agent that sends the facet `symlinks` makes them one dataset"
            diagnostic = Diagnostic(DiagnosticCode.SYMLINK_MISSING, Severity.INFO, text, None, hint)
            self._found.diagnostics.append(DiagnosticRecord(diagnostic, self._source))

    def observation(self) -> Observed:
        observation = self._found
        inputs = self._by_key(self._state.inputs)
        outputs = self._by_key(self._state.outputs)
        entries = self._entries()
        for dataset_id, (entry_namespace, entry_name) in ((entry, entry_id) for entry, entry_id, _ in entries):
            outputs.setdefault(dataset_id.key, (dataset_id, self._state.outputs.get((entry_namespace, entry_name), {})))
        written = {key: one for key, one in outputs.items() if not self._add_change(one)}
        for dataset_id, facets in {**inputs, **outputs}.values():
            if dataset_id.key in written or dataset_id.key in inputs:
                observation.datasets.append(self._record(dataset_id, facets))
        lineages = {key: self._lineage(one, [e for p, _, e in entries if p.key == key]) for key, one in written.items()}
        # An output whose facet lists all its inputs needs no SQL; in our own exports the SQL is masked.
        wanted = [
            key for key, one in lineages.items() if not (one.is_complete or (one.is_told and self._state.is_ours))
        ]
        by_sql = self._by_sql(inputs, outputs, wanted)
        for key, lineage in lineages.items():
            self._write(lineage, written[key][1], inputs, by_sql.get(key))
        if not written:
            self._read(inputs)
        for text in self._problems:
            job = observation.jobs[0].key if observation.jobs else None
            diagnostic = Diagnostic(
                DiagnosticCode.INVALID_FACET, Severity.WARNING, text, hint="the rest of the event was accepted"
            )
            observation.diagnostics.append(DiagnosticRecord(diagnostic, self._source, job))
        return observation

    def _by_key(self, state: Mapping[tuple[str, str], Facets]) -> dict[str, tuple[DatasetId, Facets]]:
        """Return the datasets by key; two spellings of one dataset are merged."""
        datasets: dict[str, tuple[DatasetId, Facets]] = {}
        for (namespace, name), facets in sorted(state.items()):
            dataset_id = self._locate(namespace, name)
            known = datasets.get(dataset_id.key)
            together = facets if known is None else {**known[1], **facets}
            datasets[dataset_id.key] = (dataset_id, together)
        return datasets

    def _locate(self, namespace: str, name: str) -> DatasetId:
        dataset_id = self._preferred.get((namespace, name)) or dataset_id_of(namespace, name, exact=self._state.is_ours)
        if dataset_id.kind is DatasetKind.FILE and (partition := _PARTITION.search(name)) and not self._state.is_ours:
            table = name[: partition.start()]  # a facet may name the part of a table that was read
            if dataset_id_of(namespace, table).key in self._listed:
                return self._locate(namespace, table)
        quoted = self._quoted.get((namespace, name))
        return replace(dataset_id, quoted=quoted) if quoted else dataset_id

    def _record(self, dataset_id: DatasetId, facets: Facets) -> DatasetRecord:
        """Return the record of a dataset; of an input that is also written, as written."""
        record = self._records.get(dataset_id.key)
        if record is None:
            record = self._records[dataset_id.key] = record_of(dataset_id, facets, self._at, self._found.aliases)
        return record

    def _entries(self) -> list[tuple[DatasetId, tuple[str, str], Mapping[str, Any]]]:
        """Return the dataset entries of the job's own lineage facet."""
        entries = self._state.facet("job.lineage").get("entries") or ()
        of_datasets = (entry for entry in entries if entry["type"] == "DATASET")
        return [
            (self._locate(entry["namespace"], entry["name"]), (entry["namespace"], entry["name"]), entry)
            for entry in of_datasets
        ]

    def _add_change(self, output: tuple[DatasetId, Facets]) -> bool:
        """Add the DROP or RENAME of an output; return whether the run did nothing else to it."""
        dataset_id, facets = output
        change = change_of(dataset_id, facets, self._at, exact=self._state.is_ours)
        if change is None:
            return False
        self._found.changes.append(change)
        if change.kind is ChangeKind.RENAME:
            self._found.datasets.append(self._record(dataset_id, facets))
        return not facet_of(facets, "columnLineage") and not facet_of(facets, "lineage")

    def _lineage(self, output: tuple[DatasetId, Facets], entries: list[Mapping[str, Any]]) -> OutputLineage:
        dataset_id, facets = output
        lineage = OutputLineage(dataset_id)
        column_lineage(facet_of(facets, "columnLineage"), lineage, self._locate)
        deciding_rows(facet_of(facets, DATASET_FACET), lineage, self._locate)
        for entry in (facet_of(facets, "lineage"), *entries):
            explicit_lineage(entry, lineage, self._locate)
        return lineage

    def _by_sql(
        self,
        inputs: Mapping[str, tuple[DatasetId, Facets]],
        outputs: Mapping[str, tuple[DatasetId, Facets]],
        wanted: list[str],
    ) -> dict[str, SqlLineage]:
        """Return the lineage of these outputs from the job's SQL."""
        query = self._state.facet("job.sql").get("query")
        if not query or not wanted:
            return {}
        dialect = sql_dialect(
            self._state, [dataset_id.namespace for dataset_id, _ in (*outputs.values(), *inputs.values())]
        )
        listed = [
            [listed_of(*one, self._schemas, self._names.get(key, ())) for key, one in dataset_ids.items()]
            for dataset_ids in (outputs, inputs)
        ]
        lineages = lineage_of_sql(str(query), dialect or dialect_named(UNKNOWN), listed[0], listed[1], self._budget)
        return {key: one for key, one in lineages.items() if key in wanted}

    def _write(
        self,
        lineage: OutputLineage,
        facets: Facets,
        inputs: Mapping[str, tuple[DatasetId, Facets]],
        by_sql: SqlLineage | None,
    ) -> None:
        output = lineage.output
        key = event_job_key(*self._job(), output.key, self._kind_of_write(facets))
        reads = dict(lineage.sources)
        if not lineage.is_complete:
            reads.update((one, dataset_id) for one, (dataset_id, _) in inputs.items())
        reads_all = by_sql is not None and by_sql.completeness is Completeness.FULL
        if lineage.is_told and not (lineage.is_complete or reads_all or self._state.is_ours):
            lineage.read_rows(dataset_id for dataset_id, _ in inputs.values())
        described = [column.path for column in self._record(output, facets).columns]
        stated = self._stated_by_facets(lineage, facets, described, key)
        if by_sql is not None:
            reads.update(by_sql.sources)
        if by_sql is not None and lineage.is_told:
            both = complete_by_sql(stated.edges, by_sql, output.key, described, key)
            stated = _StatedLineage(both.edges, both.completeness, stated.operation, tuple(both.diagnostics))
        elif by_sql is not None:
            stated = self._stated_by_sql(by_sql, key)
            if by_sql.columns and not is_whole(facets):
                columns = ColumnRecord.of_schema(map(ColumnSchema, by_sql.columns))
                record = self._record(output, facets)
                self._found.datasets.append(replace(record, columns=columns, schema_known=True))
        elif (completeness := completeness_in(self._plan)) is not None:
            stated = stated._replace(completeness=completeness)
        problems = [*stated.diagnostics, *diagnostics_in(self._plan)]
        if lineage.is_told and stated.completeness is Completeness.PARTIAL and not problems:
            problems = [incomplete_facet(stated.edges, output.key, described)]
        self._found.diagnostics += (DiagnosticRecord(one, self._source, key) for one in problems)
        self._found.edges += stated.edges
        operation = str(self._plan.get("operation") or stated.operation or "") or None
        self._job_record(key, tuple(reads), (output.key,), stated.completeness, operation)

    def _stated_by_facets(
        self, lineage: OutputLineage, facets: Facets, described: Sequence[str], job: str
    ) -> _StatedLineage:
        edges = lineage.edges(job)
        completeness = Completeness.TABLES
        if lineage.is_told:
            is_all = lineage.is_complete or self._state.is_ours or speaks_of_all(edges, lineage.output.key, described)
            completeness = Completeness.FULL if is_all else Completeness.PARTIAL
        return _StatedLineage(edges, completeness, facet_of(facets, "lifecycleStateChange").get("lifecycleStateChange"))

    def _stated_by_sql(self, by_sql: SqlLineage, job: str) -> _StatedLineage:
        edges = [replace(edge, job=job) for edge in by_sql.edges]
        return _StatedLineage(edges, by_sql.completeness, " ".join(by_sql.operations), tuple(by_sql.diagnostics))

    def _read(self, inputs: Mapping[str, tuple[DatasetId, Facets]]) -> None:
        """Add a job without outputs. Report tables that its SQL writes: the event does not identify their datasets."""
        key = event_job_key(*self._state.job_name, None)
        query = self._state.facet("job.sql").get("query")
        unlisted: tuple[str, ...] = ()
        if query and not self._found.changes and not self._state.outputs:
            dialect = sql_dialect(self._state, [dataset_id.namespace for dataset_id, _ in inputs.values()])
            unlisted = tables_written(str(query), dialect or dialect_named(UNKNOWN), self._budget)
        if unlisted:
            self._found.diagnostics.append(DiagnosticRecord(_no_outputs(unlisted), self._source, key))
        if inputs or unlisted:
            completeness = Completeness.NONE if unlisted else Completeness.TABLES
            self._job_record(key, tuple(inputs), (), completeness, None)

    def _job_record(
        self,
        key: str,
        reads: tuple[str, ...],
        writes: tuple[str, ...],
        completeness: Completeness,
        operation: str | None,
    ) -> None:
        query = self._state.facet("job.sql").get("query")
        namespaces = [normal_namespace(one) for one, _ in (*self._state.outputs, *self._state.inputs)]
        dialect = sql_dialect(self._state, namespaces) if query else None
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
        """Return the namespace and name that identify the job: for Spark, those of the application.

        The suffix that Spark's agent appends to the application's name describes the physical plan, and changes when a
        join is added to a query.
        """
        namespace, name = self._state.job_name
        parent = self._state.facet("run.parent").get("job")
        if self._is_of_application and parent and name.startswith(f"{parent['name']}."):
            return parent["namespace"], parent["name"]
        return namespace, name

    @property
    def _is_of_application(self) -> bool:
        engine = self._state.facet("job.jobType").get("integration") or self._state.facet("run.processing_engine").get(
            "name"
        )
        return str(engine or "").upper() in _ENGINES_OF_APPLICATIONS

    def _kind_of_write(self, facets: Facets) -> str:
        """Return a text that distinguishes writes of one application to one output that do not replace each other.

        An overwrite replaces the previous one. Appends are kept by statement. A CREATE TABLE AS is reported as two
        runs: the command and its write.
        """
        if (stated := write_in(self._plan)) is not None:
            return stated
        if not self._is_of_application or not self._state.facet("run.parent"):
            return ""
        change = facet_of(facets, "lifecycleStateChange").get("lifecycleStateChange")
        if change == "CREATE":
            return "create"
        if change is not None:
            return ""
        query = self._state.facet("job.sql").get("query")
        return f"append:{fingerprint(str(query), 'spark')[:12]}" if query else "append"


def _no_outputs(tables: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        DiagnosticCode.NO_DATASETS,
        Severity.WARNING,
        f"the SQL writes {', '.join(tables)}, but the events of the run name no outputs: no lineage is stored",
        hint="only the events tell where a table's data is stored; a newer OpenLineage client may list it",
    )
