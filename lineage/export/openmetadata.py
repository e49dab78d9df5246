"""The graph as requests to OpenMetadata's API, one JSON object per line, in the order in which they can be sent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from lineage.export.catalogue_tables import (
    CatalogueTable,
    ColumnFlow,
    Losses,
    Tags,
    column_flows,
    exported_tables,
    namespaces_of,
    place_of,
)
from lineage.export.data_types import type_family
from lineage.model.names import ColumnPath
from lineage.model.namespaces import scheme_of
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredDataset, StoredTag

__all__ = ["CLASSIFICATION", "openmetadata_requests"]

CLASSIFICATION = "PersonalData"
"""The classification that our classes are tags of."""
_SERVICES = {
    "postgres": "Postgres", "mysql": "Mysql", "snowflake": "Snowflake", "bigquery": "BigQuery", "mssql": "Mssql",
    "databricks": "Databricks", "unitycatalog": "UnityCatalog", "redshift": "Redshift", "hive": "Hive",
    "trino": "Trino", "clickhouse": "Clickhouse", "oracle": "Oracle", "awsathena": "Athena", "sqlite": "SQLite",
}  # fmt: skip
_TYPES = {
    "boolean": "BOOLEAN", "array": "ARRAY", "map": "MAP", "struct": "STRUCT", "json": "JSON", "interval": "INTERVAL",
    "integer": "BIGINT", "number": "NUMERIC", "timestamp": "TIMESTAMP", "date": "DATE", "time": "TIME",
    "bytes": "BYTES", "enum": "ENUM", "text": "STRING",
}  # fmt: skip
_KINDS = {DatasetKind.VIEW: "View", DatasetKind.FILE: "External", DatasetKind.TOPIC: "External"}
_PEOPLE = ("manual", "csv", "description")
_LONGEST = 256
"""The most characters that OpenMetadata takes for a name."""
Json = dict[str, Any]


def openmetadata_requests(
    store: GraphStore,
    tags: Tags,
    lost: Losses,
    *,
    namespace: str | None = None,
    services: Mapping[str, str] | None = None,
) -> Iterator[Json]:
    """Yield the requests: services, schemas, tags and tables first, then the edges between tables.

    `services` are the names of the services of namespaces. What has no place is counted in `lost`.

    Raises:
        ExportNameError: two namespaces would be one service.
        StoreError: the store could not be read.
    """
    names = namespaces_of(store, services or {}, _service, "--service")
    yield from _tag_requests(tags)
    made: set[tuple[str, ...]] = set()
    for table in exported_tables(store, tags, namespace=namespace, edges=False):
        yield from _containers(table.dataset, names, made)
        yield _table(table, names, lost)
    for table in exported_tables(store, {}, namespace=namespace):
        yield from _edges(table, names, lost)


def _put(path: str, body: Json) -> Json:
    return {"method": "PUT", "path": path, "body": body}


def _tag_requests(tags: Tags) -> Iterator[Json]:
    stated = sorted({one.name for listed in tags.values() for one in listed})
    if stated:
        described = "Classes of personal data, as lineage states them"
        yield _put("/v1/classifications", {"name": CLASSIFICATION, "description": described})
    for name in stated:
        yield _put(
            "/v1/tags",
            {"name": _short(name), "classification": CLASSIFICATION, "description": f"Values of class {name}"},
        )


def _containers(dataset: StoredDataset, names: Mapping[str, str], made: set[tuple[str, ...]]) -> Iterator[Json]:
    """Yield the requests that make the service, the database and the schema of a table, each once."""
    service = names[dataset.namespace]
    database, schema, _ = place_of(dataset.name)
    kind = _SERVICES.get(scheme_of(dataset.namespace), "CustomDatabase")
    for place, path, body in (
        ((service,), "services/databaseServices", {"name": service, "serviceType": kind}),
        ((service, database), "databases", {"name": _short(database), "service": _joined(service)}),
        ((service, database, schema), "databaseSchemas",
         {"name": _short(schema), "database": _joined(service, database)}),
    ):  # fmt: skip
        if place not in made:
            made.add(place)
            yield _put(f"/v1/{path}", body)


def _table(table: CatalogueTable, names: Mapping[str, str], lost: Losses) -> Json:
    dataset = table.dataset
    database, schema, name = place_of(dataset.name)
    if len(name) > _LONGEST:
        lost[f"names of more than {_LONGEST} characters: cut"] += 1
    body: Json = {
        "name": _short(name),
        "databaseSchema": _joined(names[dataset.namespace], database, schema),
        "tableType": _KINDS.get(dataset.kind, "Regular"),
        "columns": _columns(table),
    }
    if dataset.description:
        body["description"] = dataset.description
    if table.tags:
        lost["tags' reasons, confidence and authors: people's tags are Confirmed, others Suggested"] += len(table.tags)
    return _put("/v1/tables", body)


def _columns(table: CatalogueTable) -> list[Json]:
    """Return the columns, with fields inside their parents."""
    made = {column.key: _column(column, table.tags) for column in table.columns}
    top = []
    for column in table.columns:
        parent = made.get(column.parent or "")
        if parent is None:
            top.append(made[column.key])
        else:
            parent["dataType"] = parent["dataType"] if parent["dataType"] in ("ARRAY", "MAP") else "STRUCT"
            parent.setdefault("children", []).append(made[column.key])
    return top


def _column(column: StoredColumn, tags: Tags) -> Json:
    name = column.name if column.parent else column.path.strip('"')
    kind = _TYPES.get(type_family(column.data_type) or "", "UNKNOWN")
    made: Json = {"name": _short(name), "dataType": kind}
    if kind == "ARRAY":
        made["arrayDataType"] = "UNKNOWN"
    if column.data_type:
        made["dataTypeDisplay"] = column.data_type
    if column.ordinal is not None:
        made["ordinalPosition"] = column.ordinal + 1
    if column.description:
        made["description"] = column.description
    if stated := tags.get(column.key):
        made["tags"] = [_label(one) for one in stated]
    return made


def _label(tag: StoredTag) -> Json:
    by_people = tag.source in _PEOPLE
    return {
        "tagFQN": _joined(CLASSIFICATION, tag.name),
        "source": "Classification",
        "labelType": "Manual" if by_people else "Automated",
        "state": "Confirmed" if by_people else "Suggested",
    }


def _edges(table: CatalogueTable, names: Mapping[str, str], lost: Losses) -> Iterator[Json]:
    by_source: defaultdict[str, list[ColumnFlow]] = defaultdict(list)
    for flow in column_flows(table, lost):
        for key, sources in groupby(flow.sources, key=lambda one: one[0]):
            by_source[key].append(ColumnFlow(flow.target, flow.how, tuple(sources)))
    target = _name(table.dataset, names)
    for key in table.feeders:
        source = _name(table.sources[key], names)
        flows = [
            {
                "fromColumns": [_of_column(source, path) for _, path in flow.sources],
                "toColumn": _of_column(target, flow.target),
                "function": flow.how,
            }
            for flow in by_source[key]
        ]
        kind = "ViewLineage" if table.dataset.kind is DatasetKind.VIEW else "QueryLineage"
        details = {"source": kind, "columnsLineage": flows}
        edge = {"fromEntity": _reference(source), "toEntity": _reference(target), "lineageDetails": details}
        yield _put("/v1/lineage", {"edge": edge})
    if by_source.get(table.dataset.key):
        lost["flows from a table into itself"] += len(by_source[table.dataset.key])


def _reference(name: str) -> Json:
    return {"id": str(uuid5(NAMESPACE_URL, name)), "type": "table", "fullyQualifiedName": name}


def _name(dataset: StoredDataset, names: Mapping[str, str]) -> str:
    return _joined(names[dataset.namespace], *place_of(dataset.name))


def _of_column(table: str, path: str) -> str:
    return f"{table}.{_joined(*ColumnPath.parse(path).parts)}"


def _joined(*parts: str) -> str:
    """Return a fully qualified name: parts with a dot or a quote are quoted."""
    short = [_short(one) for one in parts]
    return ".".join('"' + one.replace('"', '""') + '"' if "." in one or '"' in one else one for one in short)


def _short(name: str) -> str:
    """Return a name as OpenMetadata takes it: not empty, without `::`, not too long."""
    return name.replace("::", "__")[:_LONGEST] or "-"


def _service(namespace: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", namespace).strip("_") or "lineage"
