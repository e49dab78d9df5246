"""The graph as a metadata file of DataHub: a JSON array of metadata change proposals, one aspect each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from lineage.export.catalogue_tables import CatalogueTable, Losses, Tags, column_flows, exported_tables, namespaces_of
from lineage.export.data_types import type_family
from lineage.model.names import split_name
from lineage.model.namespaces import STORAGE, scheme_of
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredDataset

__all__ = ["datahub_proposals"]

_PLATFORMS = {
    "gs": "gcs", "awsathena": "athena", "unitycatalog": "databricks", "abfss": "abs", "wasbs": "abs", "arn": "glue",
    "azure-synapse": "mssql", "tsql": "mssql", "awsglue": "glue",
}  # fmt: skip
_TYPES = {
    "boolean": "BooleanType", "array": "ArrayType", "map": "MapType", "struct": "RecordType", "json": "RecordType",
    "interval": "TimeType", "integer": "NumberType", "number": "NumberType", "timestamp": "TimeType",
    "date": "DateType", "time": "TimeType", "bytes": "BytesType", "enum": "EnumType", "text": "StringType",
}  # fmt: skip
_SUBTYPES = {DatasetKind.EXPOSURE: "Dashboard"}
_RESERVED = re.compile("[,()␟]")
Json = dict[str, Any]


def datahub_proposals(
    store: GraphStore,
    tags: Tags,
    lost: Losses,
    *,
    namespace: str | None = None,
    instances: Mapping[str, str] | None = None,
    environment: str = "PROD",
) -> Iterator[Json]:
    """Yield the proposals in a fixed order: tags, then each table's aspects, by key.

    `instances` are the platform instances of namespaces. What DataHub has no place for is counted in `lost`.

    Raises:
        ExportNameError: two namespaces of one platform need instances.
        StoreError: the store could not be read.
    """
    names = _DatahubNames(store, instances or {}, environment)
    stated = {one.name for listed in tags.values() for one in listed}
    for name in sorted(stated):
        yield _proposal("tag", _tag(name), "tagProperties", {"name": name, "description": f"Values of class {name}"})
    for table in exported_tables(store, tags, namespace=namespace):
        yield from _aspects(table, names, lost)


def _aspects(table: CatalogueTable, names: _DatahubNames, lost: Losses) -> Iterator[Json]:
    dataset, urn = table.dataset, names.urn(table.dataset)
    about = {"namespace": dataset.namespace} | ({"dialect": dataset.dialect} if dataset.dialect else {})
    described = {"description": dataset.description} if dataset.description else {}
    properties = {"name": dataset.display_name, "qualifiedName": dataset.key, "customProperties": about, **described}
    yield _proposal("dataset", urn, "datasetProperties", properties)
    kind = _SUBTYPES.get(dataset.kind, str(dataset.kind).capitalize())
    yield _proposal("dataset", urn, "subTypes", {"typeNames": [kind]})
    if instance := names.instances.get(dataset.namespace):
        platform = names.platform(dataset.namespace)
        placed = {"platform": platform, "instance": f"urn:li:dataPlatformInstance:({platform},{_encoded(instance)})"}
        yield _proposal("dataset", urn, "dataPlatformInstance", placed)
    if table.columns:
        yield _proposal("dataset", urn, "schemaMetadata", _schema(table, names))
    if table.tags:
        lost["tags' reasons, confidence and authors: DataHub keeps the names of tags"] += len(table.tags)
    if table.feeders:
        yield _proposal("dataset", urn, "upstreamLineage", _lineage(table, urn, names, lost))


def _schema(table: CatalogueTable, names: _DatahubNames) -> Json:
    return {
        "schemaName": table.dataset.name,
        "platform": names.platform(table.dataset.namespace),
        "version": 0,
        "hash": "",
        "platformSchema": {"com.linkedin.schema.OtherSchema": {"rawSchema": ""}},
        "fields": [_field(column, table.tags) for column in table.columns],
    }


def _field(column: StoredColumn, tags: Tags) -> Json:
    kind = _TYPES.get(type_family(column.data_type) or "", "NullType")
    field: Json = {
        "fieldPath": _path(column.path),
        "nullable": True,
        "type": {"type": {f"com.linkedin.schema.{kind}": {}}},
        "nativeDataType": column.data_type or "unknown",
    }
    if column.description:
        field["description"] = column.description
    if stated := tags.get(column.key):
        field["globalTags"] = {"tags": [{"tag": _tag(one.name)} for one in stated]}
    return field


def _lineage(table: CatalogueTable, urn: str, names: _DatahubNames, lost: Losses) -> Json:
    kind = "VIEW" if table.dataset.kind is DatasetKind.VIEW else "TRANSFORMED"
    stamp = {"time": int(table.dataset.last_seen.timestamp() * 1000), "actor": "urn:li:corpuser:unknown"}
    upstreams = [{"dataset": names.urn(table.sources[key]), "type": kind, "auditStamp": stamp} for key in table.feeders]
    fine = [
        {
            "upstreamType": "FIELD_SET",
            "upstreams": [_field_urn(names.urn(table.sources[key]), path) for key, path in flow.sources],
            "downstreamType": "FIELD",
            "downstreams": [_field_urn(urn, flow.target)],
            "transformOperation": flow.how,
            "confidenceScore": 1.0,
        }
        for flow in column_flows(table, lost)
    ]
    return {"upstreams": upstreams, **({"fineGrainedLineages": fine} if fine else {})}


class _DatahubNames:
    """The names of tables in DataHub."""

    def __init__(self, store: GraphStore, instances: Mapping[str, str], environment: str) -> None:
        self.instances = instances
        self._environment = environment
        named = {key: f"{_platform(key)}:{instance}" for key, instance in instances.items()}
        namespaces_of(store, named, lambda one: f"{_platform(one)}{_bucket(one)}", "--instance")

    def platform(self, namespace: str) -> str:
        return f"urn:li:dataPlatform:{_platform(namespace)}"

    def urn(self, dataset: StoredDataset) -> str:
        bucket = _bucket(dataset.namespace)
        name = f"{bucket}/{dataset.name}" if bucket else dataset.name
        instance = self.instances.get(dataset.namespace)
        full = f"{instance}.{name}" if instance else name
        return f"urn:li:dataset:({self.platform(dataset.namespace)},{_encoded(full)},{self._environment})"


def _platform(namespace: str) -> str:
    scheme = scheme_of(namespace)
    return _PLATFORMS.get(scheme) or re.sub(r"[^a-z0-9_-]+", "-", scheme.lower()).strip("-") or "unknown"


def _bucket(namespace: str) -> str:
    """Return what names of files begin with: the bucket or the host of a file system."""
    return namespace.partition("://")[2] if scheme_of(namespace) in STORAGE else ""


def _path(path: str) -> str:
    return ".".join(part for part, _ in split_name(path)) if '"' in path else path


def _field_urn(table: str, path: str) -> str:
    return f"urn:li:schemaField:({table},{_encoded(_path(path))})"


def _tag(name: str) -> str:
    return f"urn:li:tag:{_encoded(name)}"


def _encoded(text: str) -> str:
    """Return a text with the characters escaped that URNs reserve, as DataHub does."""
    return _RESERVED.sub(lambda match: quote(match.group()), text)


def _proposal(entity: str, urn: str, name: str, aspect: Json) -> Json:
    return {
        "entityType": entity, "entityUrn": urn, "changeType": "UPSERT", "aspectName": name, "aspect": {"json": aspect},
    }  # fmt: skip
