"""The graph as OpenLineage events: a JobEvent for each job, a DatasetEvent for each dataset that no job writes.

A few hundred jobs are read at a time, so memory does not grow with the graph. Events are ordered by key, so the output
is deterministic. Properties that OpenLineage lacks (a DISTINCT, an inferred column) are written as a custom facet,
which `lineage ingest openlineage` reads back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lineage.export.dataset_chunks import chunks
from lineage.model.influence.edge_effects import effects_of
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key, split_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredEdge, StoredJob, StoredTag

__all__ = ["DATASET_FACET", "JOB_NAMESPACE", "PRODUCER", "ROWS_DECIDED_BY", "openlineage_events"]

PRODUCER = "urn:lineage-graph:export"
"""The producer of these events: it marks names as exactly those of the graph."""

JOB_NAMESPACE = "lineage-graph"
"""The namespace of jobs; their names are the keys of the graph's jobs."""

DATASET_FACET = "lineageGraph_dataset"
"""The custom dataset facet: its SQL dialect, its inferred columns, the datasets that determine its rows."""

ROWS_DECIDED_BY = "rowsDecidedBy"
"""The facet's property for datasets whose rows determine those of the output: columnLineage has columns only."""

_SPEC = "https://openlineage.io/spec"
_CORE = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs"
_JOBS_AT_ONCE = 200
_DATASETS_AT_ONCE = 500

Json = dict[str, Any]


def openlineage_events(
    store: GraphStore,
    *,
    namespace: str | None = None,
    as_of: datetime | None = None,
    tags: Mapping[str, Sequence[StoredTag]] | None = None,
) -> Iterator[Json]:
    """Yield the graph as OpenLineage 2-0-2 events, in a fixed order: jobs by key, then datasets by key.

    With `namespace`, only jobs that write a dataset in it (or read one, if they write none), and its datasets; with
    `as_of`, the lineage that was valid then. `tags` are those of columns, by key.

    Raises:
        StoreError: the store could not be read.
    """
    export = _Export(store, namespace, as_of, tags or {})
    if as_of is not None:
        for keys in chunks(store.dataset_keys(), _DATASETS_AT_ONCE):
            export.look_back(keys)
    for keys in chunks(store.job_keys(), _JOBS_AT_ONCE):
        yield from export.jobs(keys)
    left_out = export.written.union(() if as_of is not None else store.forgotten_datasets())
    for keys in chunks(store.dataset_keys(), _DATASETS_AT_ONCE):
        yield from export.datasets([key for key in keys if key not in left_out])


class _Export:
    def __init__(
        self, store: GraphStore, namespace: str | None, as_of: datetime | None, tags: Mapping[str, Sequence[StoredTag]]
    ) -> None:
        self._store = store
        self._tags = tags
        self._namespace = namespace
        self._as_of = as_of
        self.written: set[str] = set()
        """The datasets that are an output of an exported job."""
        self._then: dict[str, set[str]] = defaultdict(set)
        """The outputs of each job as of the requested time."""
        self._aliases: dict[str, list[str]] = {}
        """The datasets' current aliases; former names are excluded, since another dataset may have them now."""

    def look_back(self, datasets: Sequence[str]) -> None:
        """Find the jobs that wrote these datasets as of the requested time: a job stores its last outputs only."""
        for feed in self._store.feeds(datasets, Direction.UPSTREAM, as_of=self._as_of):
            self._then[feed.job].add(feed.target)

    def jobs(self, keys: Sequence[str]) -> Iterator[Json]:
        """Yield the events of jobs."""
        jobs = [job for job in self._store.jobs(keys) if self._as_of is None or job.first_seen <= self._as_of]
        outputs = {key for job in jobs for key in (job.writes if self._as_of is None else self._then[job.key])}
        columns = self._columns(outputs)
        edges = self._edges({job.key for job in jobs}, outputs, columns)
        reads, writes = self._tables(jobs, outputs, edges)
        known = {
            one.key: one for one in self._store.datasets(sorted({*_all(reads), *_all(writes)})) if self._is_there(one)
        }
        self._read_aliases(known.values())
        for job in jobs:
            written = [known[key] for key in sorted(writes[job.key]) if key in known]
            read = [known[key] for key in sorted(reads[job.key]) if key in known]
            if not written and (writes[job.key] or not read):
                continue  # retired, or its outputs were dropped
            if self._namespace is not None and all(one.namespace != self._namespace for one in written or read):
                continue
            self.written.update(one.key for one in written)
            by_output = edges[job.key]
            described = [self._output(one, columns[one.key], by_output.get(one.key, ()), known) for one in written]
            at = job.last_seen if self._as_of is None else min(job.last_seen, self._as_of)
            yield _job_event(job, at, [{"namespace": one.namespace, "name": one.name} for one in read], described)

    def datasets(self, keys: Sequence[str]) -> Iterator[Json]:
        """Yield the events of datasets."""
        stored_datasets = [
            one
            for one in self._store.datasets(keys)
            if self._is_there(one) and self._namespace in (None, one.namespace)
        ]
        columns = self._columns({one.key for one in stored_datasets})
        self._read_aliases(stored_datasets)
        for stored_dataset in stored_datasets:
            facets = self._facets(stored_dataset, columns[stored_dataset.key])
            dataset = {"namespace": stored_dataset.namespace, "name": stored_dataset.name, "facets": facets}
            at = stored_dataset.last_seen if self._as_of is None else min(stored_dataset.last_seen, self._as_of)
            yield {**_base("DatasetEvent", at), "dataset": dataset}

    def _read_aliases(self, datasets: Iterable[StoredDataset]) -> None:
        named = {one.key: one for one in datasets if one.aliases and one.key not in self._aliases}
        if named:
            for key, names in self._store.former_names(sorted(named)).items():
                former = {one.name for one in names}
                self._aliases[key] = [alias for alias in named[key].aliases if alias not in former]

    def _is_there(self, dataset: StoredDataset) -> bool:
        if self._as_of is None:
            return dataset.dropped_at is None
        return dataset.first_seen <= self._as_of and (dataset.dropped_at is None or dataset.dropped_at > self._as_of)

    def _columns(self, datasets: Iterable[str]) -> dict[str, list[StoredColumn]]:
        found: dict[str, list[StoredColumn]] = defaultdict(list)
        for column in self._store.columns(sorted(datasets), dropped=self._as_of is not None):
            if column.is_there(self._as_of):
                found[column.dataset].append(column)
        return found

    def _edges(
        self, jobs: set[str], outputs: set[str], columns: dict[str, list[StoredColumn]]
    ) -> dict[str, dict[str, list[StoredEdge]]]:
        """Return the edges of jobs, by job and by output."""
        owner = {column.key: dataset for dataset in outputs for column in columns.get(dataset, ())}
        owner.update((key, key) for key in outputs)
        found: dict[str, dict[str, list[StoredEdge]]] = defaultdict(lambda: defaultdict(list))
        hops = self._store.expand(sorted(owner), Direction.UPSTREAM, as_of=self._as_of)
        for edge in {
            (hop.edge.job, hop.edge.source, hop.edge.target, hop.edge.kind): hop.edge for hop in hops
        }.values():
            if edge.job in jobs and edge.target in owner:
                found[edge.job][owner[edge.target]].append(edge)
        return found

    def _tables(
        self, jobs: Sequence[StoredJob], outputs: set[str], edges: dict[str, dict[str, list[StoredEdge]]]
    ) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """Return the inputs and outputs of each job, as of the requested time."""
        reads = {
            job.key: {_dataset(edge.source) for of_output in edges[job.key].values() for edge in of_output}
            for job in jobs
        }
        writes = {job.key: set(edges[job.key]) for job in jobs}
        if self._as_of is None:
            for job in jobs:
                reads[job.key].update(job.reads)
                writes[job.key].update(job.writes)
            return reads, writes
        for feed in self._store.feeds(sorted(outputs), Direction.UPSTREAM, as_of=self._as_of):
            if feed.job in reads:
                reads[feed.job].add(feed.source)
                writes[feed.job].add(feed.target)
        return reads, writes

    def _facets(self, dataset: StoredDataset, columns: Sequence[StoredColumn]) -> Json:
        facets = _describe(dataset, columns, self._aliases.get(dataset.key, ()))
        tags = [
            {"key": tag.name, "value": "true", "source": tag.source.upper(), "field": column.path}
            for column in columns
            for tag in self._tags.get(column.key, ())
        ]
        return facets | ({"tags": _facet("1-0-0/TagsDatasetFacet", tags=tags)} if tags else {})

    def _output(
        self,
        dataset: StoredDataset,
        columns: Sequence[StoredColumn],
        edges: Iterable[StoredEdge],
        known: dict[str, StoredDataset],
    ) -> Json:
        facets = self._facets(dataset, columns)
        by_column = [edge for edge in edges if is_column_key(edge.source)]
        facets["columnLineage"] = _column_lineage(dataset, by_column, known)
        if by_rows := _rows_decided_by(dataset, [edge for edge in edges if not is_column_key(edge.source)], known):
            facets[DATASET_FACET][ROWS_DECIDED_BY] = by_rows
        return {"namespace": dataset.namespace, "name": dataset.name, "facets": facets}


def _job_event(job: StoredJob, at: datetime, inputs: list[Json], outputs: list[Json]) -> Json:
    kind = {"processingType": "BATCH", "integration": "LINEAGE_GRAPH", "jobType": job.kind.upper()}
    facets: Json = {"jobType": _facet("2-0-4/JobTypeJobFacet", **kind)}
    if job.sql:
        dialect = {"dialect": job.dialect} if job.dialect else {}
        facets["sql"] = _facet("1-1-0/SQLJobFacet", query=job.sql, **dialect)
    described = {"namespace": JOB_NAMESPACE, "name": job.key, "facets": facets}
    return {**_base("JobEvent", at), "job": described, "inputs": inputs, "outputs": outputs}


def _describe(dataset: StoredDataset, columns: Sequence[StoredColumn], aliases: Sequence[str]) -> Json:
    """Return a dataset's facets: its type, its columns, its aliases and the custom facet."""
    facets: Json = {"datasetType": _facet("1-0-1/DatasetTypeDatasetFacet", datasetType=dataset.kind.upper())}
    if columns:
        facets["schema"] = _facet("1-2-0/SchemaDatasetFacet", fields=_fields(columns))
    if aliases:
        named = ((alias.rpartition("/"), alias) for alias in aliases)
        identifiers = [
            {"namespace": parts[0] or dataset.namespace, "name": parts[2], "type": "TABLE"} for parts, _ in named
        ]
        facets["symlinks"] = _facet("1-0-1/SymlinksDatasetFacet", identifiers=identifiers)
    written = {column.path: column.spelling for column in columns if column.spelling is not None}
    facets[DATASET_FACET] = {
        "_producer": PRODUCER,
        "_schemaURL": "urn:lineage-graph:dataset-facet:1",
        "dialect": dataset.dialect,
        "schemaKnown": dataset.schema_known,
        "inferred": [column.path for column in columns if column.inferred],
        **({"spelling": dataset.spelling} if dataset.spelling is not None else {}),
        **({"spellings": written} if written else {}),
    }
    return facets


def _fields(columns: Sequence[StoredColumn]) -> list[Json]:
    """Return columns as schema fields, with nested fields inside their parents."""
    keys = {column.key for column in columns}
    made = {column.key: _field(column, nested=column.parent in keys) for column in columns}
    top: list[Json] = []
    for column in columns:
        if column.parent in made:
            made[column.parent].setdefault("fields", []).append(made[column.key])
        else:
            top.append(made[column.key])
    return top


def _field(column: StoredColumn, *, nested: bool) -> Json:
    field: Json = {"name": column.name if nested or column.parent is None else column.path}
    if column.data_type is not None:
        field["type"] = column.data_type
    if column.ordinal is not None:
        field["ordinal_position"] = column.ordinal + 1
    return field


def _column_lineage(dataset: StoredDataset, edges: Iterable[StoredEdge], known: dict[str, StoredDataset]) -> Json:
    """Return the facet: the edges into columns by column, and the edges into the dataset's rows."""
    into: dict[str, dict[str, list[Json]]] = defaultdict(lambda: defaultdict(list))
    for edge in sorted(edges, key=lambda one: (one.target, one.source, one.kind)):
        into[edge.target][edge.source] += _transformations(edge)
    fields = {
        split_column_key(target)[1]: {"inputFields": _input_fields(sources, known)}
        for target, sources in into.items()
        if target != dataset.key
    }
    rows = _input_fields(into.get(dataset.key, {}), known)
    return _facet("1-2-0/ColumnLineageDatasetFacet", fields=fields, **({"dataset": rows} if rows else {}))


def _rows_decided_by(
    dataset: StoredDataset, edges: Iterable[StoredEdge], known: dict[str, StoredDataset]
) -> list[Json]:
    """Return the datasets whose rows determine those of the output, or (`field`) one of its columns."""
    return [
        {
            "namespace": known[edge.source].namespace,
            "name": known[edge.source].name,
            **({"field": split_column_key(edge.target)[1]} if edge.target != dataset.key else {}),
            "transformations": _transformations(edge),
        }
        for edge in sorted(edges, key=lambda one: (one.target, one.source))
        if edge.source in known
    ]


def _input_fields(sources: dict[str, list[Json]], known: dict[str, StoredDataset]) -> list[Json]:
    fields = []
    for source, transformations in sources.items():
        key, path = split_column_key(source)
        if key in known:
            dataset = known[key]
            fields.append(
                {
                    "namespace": dataset.namespace,
                    "name": dataset.name,
                    "field": path,
                    "transformations": transformations,
                }
            )
    return fields


def _transformations(edge: StoredEdge) -> list[Json]:
    marks = ", ".join(mark for mark in ("limited", "ambiguous") if getattr(edge, mark))
    kind = "DIRECT" if edge.kind is EdgeKind.CONTRIBUTES else "INDIRECT"
    return [
        {"type": kind, "subtype": str(effect.subtype), "description": marks, "masking": effect.masking}
        for effect in effects_of(edge)
    ]


def _facet(schema: str, **properties: Any) -> Json:
    name = schema.partition("/")[2]
    return {"_producer": PRODUCER, "_schemaURL": f"{_SPEC}/facets/{schema}.json#/$defs/{name}", **properties}


def _base(kind: str, at: datetime) -> Json:
    time = at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return {"eventTime": time, "producer": PRODUCER, "schemaURL": f"{_CORE}/{kind}"}


def _dataset(column: str) -> str:
    return dataset_of(column)


def _all(by_job: dict[str, set[str]]) -> set[str]:
    return {key for keys in by_job.values() for key in keys}
