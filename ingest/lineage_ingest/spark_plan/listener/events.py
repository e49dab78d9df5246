"""Lineage of writes as OpenLineage events: a START and a COMPLETE for each, with the application as the parent run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from lineage.export.openlineage import DATASET_FACET, ROWS_DECIDED_BY
from lineage.frozen import frozen
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import ColumnPath, short_name
from lineage.model.statement import ChangeKind
from lineage.sql import mask_literals
from lineage.sql.resolve.transformation_codes import LIMITED_SORTS, STEPS
from lineage_ingest.openlineage.plan_facet import PLAN_FACET, PLAN_PRODUCER, plan_facet
from lineage_ingest.spark_plan.plan_lineage import WriteLineage
from lineage_ingest.spark_plan.plan_writes import DropOrRename
from lineage_ingest.spark_plan.tables.datasets import Dataset, SchemaField
from lineage_ingest.spark_plan.traced_values import PlanSource, Sources

__all__ = ["Application", "Moments", "change_events", "failure_events", "write_events"]

Json = dict[str, Any]
_SPEC = "https://openlineage.io/spec"
_CORE = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_DEFINE = ""
"""What a write is called that replaces what the same application wrote there before."""


@frozen
class Application:
    """The Spark application that writes: the job that OpenLineage calls the parent, and its run."""

    namespace: str
    name: str
    run: str
    spark_version: str

    @classmethod
    def of(cls, namespace: str, name: str, application_id: str, spark_version: str) -> Application:
        """Return the application with a run id that follows from Spark's application id."""
        return cls(
            namespace, name, str(uuid5(NAMESPACE_URL, f"{PLAN_PRODUCER}/{namespace}/{application_id}")), spark_version
        )

    def event(self, kind: str, at: datetime) -> Json:
        """Return an event of the application's own run: START, COMPLETE or FAIL."""
        run = {"runId": self.run, "facets": {"processing_engine": self._engine()}}
        job = {"namespace": self.namespace, "name": self.name, "facets": {"jobType": _job_type("APPLICATION", False)}}
        return {**_base(kind, at), "run": run, "job": job, "inputs": [], "outputs": []}

    def run_id(self, execution: str) -> str:
        """Return the run id of one of its writes."""
        return str(uuid5(NAMESPACE_URL, f"{self.run}/{execution}"))

    def parent(self) -> Json:
        """Return the facet that names it as the parent of a run."""
        job = {"namespace": self.namespace, "name": self.name}
        return _facet("1-1-0/ParentRunFacet", run={"runId": self.run}, job=job)

    def _engine(self) -> Json:
        return _facet("1-1-1/ProcessingEngineRunFacet", version=self.spark_version, name="spark")

    def run_facets(self) -> Json:
        """Return the facets of each run of a write."""
        return {"parent": self.parent(), "processing_engine": self._engine()}


@frozen
class Moments:
    """When an execution began and ended."""

    begin: datetime
    end: datetime

    @classmethod
    def of_millis(cls, begin: int, end: int) -> Moments:
        """Return the moments from milliseconds since 1970."""
        first, last = (datetime.fromtimestamp(one / 1000, UTC) for one in (begin, end))
        return cls(first, last)


def write_events(
    application: Application,
    write: WriteLineage,
    execution: str,
    moments: Moments,
    sql: str | None,
    *,
    streaming: str | None = None,
) -> list[Json]:
    """Return the events of a write that succeeded.

    `execution` identifies the write within the application. Literals in `sql` are masked. For a stream, `streaming` is
    the type of the second event: RUNNING while it runs.
    """
    job = _job(application, write.operation, write.target, sql, streaming=streaming is not None)
    run_id = application.run_id(execution)
    mode = f"append:{write.digest[:12]}" if write.appends else _DEFINE
    facets = {
        **application.run_facets(),
        PLAN_FACET: plan_facet(write.completeness, write.operation, mode, write.diagnostics),
    }
    start = {
        **_base("START", moments.begin), "run": {"runId": run_id, "facets": {"parent": application.parent()}},
        "job": {"namespace": job["namespace"], "name": job["name"]}, "inputs": [], "outputs": [],
    }  # fmt: skip
    end = {
        **_base(streaming or "COMPLETE", moments.end), "run": {"runId": run_id, "facets": facets},
        "job": job, "inputs": [_dataset(one) for one in write.inputs], "outputs": [_output(write)],
    }  # fmt: skip
    return [start, end]


def failure_events(
    application: Application, operation: str, target: Dataset, execution: str, moments: Moments, failure: str
) -> list[Json]:
    """Return the events of a write that failed. `failure` is the class of the exception: its message may have data."""
    job = _job(application, operation, target, None, streaming=False)
    run_id = application.run_id(execution)
    error = _facet("1-0-1/ErrorMessageRunFacet", message=failure, programmingLanguage="JAVA")
    run: Json = {"runId": run_id, "facets": {**application.run_facets(), "errorMessage": error}}
    nothing: Json = {"job": job, "inputs": [], "outputs": []}
    start: Json = {**_base("START", moments.begin), "run": {"runId": run_id}, **nothing}
    return [start, {**_base("FAIL", moments.end), "run": run, **nothing}]


def change_events(application: Application, change: DropOrRename, execution: str, moments: Moments) -> list[Json]:
    """Return the event of a DROP or RENAME."""
    target = change.other if change.kind is ChangeKind.RENAME and change.other is not None else change.dataset
    state: Json = {"lifecycleStateChange": change.kind.name}
    if change.kind is ChangeKind.RENAME:
        state["previousIdentifier"] = {"namespace": change.dataset.namespace, "name": change.dataset.name}
    facets = {"lifecycleStateChange": _facet("1-0-1/LifecycleStateChangeDatasetFacet", **state)}
    output = {"namespace": target.namespace, "name": target.name, "facets": facets}
    run = {"runId": application.run_id(execution), "facets": application.run_facets()}
    job = _job(application, change.kind.name, target, None, streaming=False)
    return [{**_base("COMPLETE", moments.end), "run": run, "job": job, "inputs": [], "outputs": [output]}]


def _job(application: Application, operation: str, target: Dataset, sql: str | None, *, streaming: bool) -> Json:
    facets: Json = {"jobType": _job_type("SQL_JOB", streaming)}
    if sql:
        facets["sql"] = _facet("1-1-0/SQLJobFacet", query=mask_literals(sql, "spark"), dialect="spark")
    name = f"{application.name}.{operation.lower()}.{short_name(target.name)}"
    return {"namespace": application.namespace, "name": name, "facets": facets}


def _job_type(kind: str, streaming: bool) -> Json:
    processing = "STREAMING" if streaming else "BATCH"
    return _facet("2-0-4/JobTypeJobFacet", processingType=processing, integration="SPARK", jobType=kind)


def _dataset(dataset: Dataset, facets: Json | None = None) -> Json:
    all_facets: Json = dict(facets or {})
    if dataset.columns:
        all_facets["schema"] = _facet(
            "1-2-0/SchemaDatasetFacet", fields=[_schema_field(one) for one in dataset.columns]
        )
    if dataset.symlinks:
        identifiers = [{"namespace": space, "name": name, "type": "TABLE"} for space, name in dataset.symlinks]
        all_facets["symlinks"] = _facet("1-0-1/SymlinksDatasetFacet", identifiers=identifiers)
    if dataset.kind != "FILE":
        all_facets["datasetType"] = _facet("1-0-1/DatasetTypeDatasetFacet", datasetType=dataset.kind)
    return {"namespace": dataset.namespace, "name": dataset.name, "facets": all_facets}


def _schema_field(schema_field: SchemaField) -> Json:
    field: Json = {"name": schema_field.name}
    if schema_field.type is not None:
        field["type"] = schema_field.type
    if schema_field.fields:
        field["fields"] = [_schema_field(inner) for inner in schema_field.fields]
    return field


def _output(write: WriteLineage) -> Json:
    by_key = {one.key: one for one in (*write.inputs, write.target)}
    facets: Json = {}
    change = "CREATE" if write.creates or write.operation == "CREATE_VIEW" else None if write.appends else "OVERWRITE"
    if change is not None:
        facets["lifecycleStateChange"] = _facet("1-0-1/LifecycleStateChangeDatasetFacet", lifecycleStateChange=change)
    if write.columns or any(source.path is not None for source, _ in write.rows):
        fields = {name: {"inputFields": _inputs(sources, by_key)} for name, sources in write.columns}
        rows = _inputs(write.rows, by_key)
        facets["columnLineage"] = _facet("1-2-0/ColumnLineageDatasetFacet", fields=fields)
        if rows:
            facets["columnLineage"]["dataset"] = rows
        facets["lineage"] = _explicit(write)
        if decided := _rows_decided_by(write, by_key):
            facets[DATASET_FACET] = {
                "_producer": PLAN_PRODUCER, "_schemaURL": "urn:lineage-graph:dataset-facet:1", ROWS_DECIDED_BY: decided,
            }  # fmt: skip
    return _dataset(write.target, facets)


def _explicit(write: WriteLineage) -> Json:
    """Return the facet `lineage`, which lists all inputs; what columns come from is in `columnLineage`, too."""
    inputs = [{"namespace": one.namespace, "name": one.name, "type": "DATASET"} for one in write.inputs]
    return _facet("1-0-0/LineageFacet", definition="LineageDatasetFacet", inputs=inputs)


def _inputs(sources: Sources, by_key: dict[str, Dataset]) -> list[Json]:
    found: list[Json] = []
    for source, codes in _by_source(sources):
        if source.path is not None and source.dataset in by_key:
            dataset = by_key[source.dataset]
            path = source.path[0] if len(source.path) == 1 else str(ColumnPath(source.path))
            found.append(
                {
                    "namespace": dataset.namespace,
                    "name": dataset.name,
                    "field": path,
                    "transformations": [_transformation(code) for code in codes],
                }
            )
    return found


def _rows_decided_by(write: WriteLineage, by_key: dict[str, Dataset]) -> list[Json]:
    """Return the datasets whose rows decide the output's rows, or (`field`) one of its columns."""
    found: list[Json] = []
    targets: Iterable[tuple[str | None, Sources]] = ((None, write.rows), *write.columns)
    for name, sources in targets:
        for source, codes in _by_source(sources):
            if source.path is None and source.dataset in by_key:
                dataset = by_key[source.dataset]
                found.append(
                    {
                        "namespace": dataset.namespace,
                        "name": dataset.name,
                        **({"field": name} if name is not None else {}),
                        "transformations": [_transformation(code) for code in codes],
                    }
                )
    return found


def _by_source(sources: Sources) -> Iterable[tuple[PlanSource, Sequence[int]]]:
    grouped: dict[PlanSource, list[int]] = {}
    for source, code in sources:
        grouped.setdefault(source, []).append(code)
    return grouped.items()


def _transformation(code: int) -> Json:
    step = STEPS[code]
    kind = "DIRECT" if step.kind is EdgeKind.CONTRIBUTES else "INDIRECT"
    found: Json = {"type": kind, "subtype": str(step.subtype), "masking": step.masking}
    if code in LIMITED_SORTS:
        found["description"] = "limited"
    return found


def _facet(schema: str, /, definition: str = "", **properties: Any) -> Json:
    name = definition or schema.partition("/")[2]
    return {"_producer": PLAN_PRODUCER, "_schemaURL": f"{_SPEC}/facets/{schema}.json#/$defs/{name}", **properties}


def _base(kind: str, at: datetime) -> Json:
    time = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"eventType": kind, "eventTime": time, "producer": PLAN_PRODUCER, "schemaURL": _CORE}
