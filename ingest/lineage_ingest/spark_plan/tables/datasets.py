"""Names of what a plan reads and writes, as OpenLineage names datasets: a path, and the catalog table at it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from lineage.frozen import frozen
from lineage.model.names import format_name
from lineage.model.namespaces import normal_place
from lineage_ingest.spark_plan.tables.jdbc_names import jdbc_dataset

__all__ = ["Catalogs", "Dataset", "SchemaField", "of_path", "of_topic", "schema_of"]

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//[^/]*)?(.*)", re.DOTALL)
_PARTITION = re.compile(r"/[^/=]+=[^/]*$")
_SESSION_CATALOG = "spark_catalog"


@frozen
class SchemaField:
    """A column or nested field with its type."""

    name: str
    type: str | None = None
    fields: tuple[SchemaField, ...] = ()


@frozen
class Dataset:
    """A dataset: namespace and name, further names of it (`symlinks`), and its columns if they are known."""

    namespace: str
    name: str
    kind: str = "TABLE"
    symlinks: tuple[tuple[str, str], ...] = ()
    columns: tuple[SchemaField, ...] = field(default=(), compare=False)

    @property
    def key(self) -> str:
        """The text that identifies it within a plan."""
        return f"{self.namespace}/{self.name}"


@frozen
class Catalogs:
    """The namespaces of catalogs: of the session's from its metastore or warehouse, of others from their options."""

    confs: Mapping[str, str] = field(default_factory=dict)
    namespace: str | None = None
    """A namespace for the tables of all catalogs, in place of the one that each has."""

    def table(self, parts: Sequence[str | None]) -> tuple[str, str]:
        """Return the namespace and name of a table: of its catalog, its namespaces in it, and its own name."""
        catalog, *names = [part for part in parts if part] if len(parts) > 2 else [None, *parts]
        if catalog is not None and len(parts) > 2 and parts[0] is None:
            names, catalog = [catalog, *names], None
        named = [str(name) for name in names if name]
        if len(named) == 1:
            named = ["default", *named]
        name = format_name(named)
        if self.namespace is not None:
            return self.namespace, name
        if catalog in (None, _SESSION_CATALOG):
            return self._session_namespace(), name
        prefix = f"spark.sql.catalog.{catalog}"
        uri = self.confs.get(f"{prefix}.uri") or self.confs.get(f"{prefix}.url")
        if uri:
            return (jdbc_dataset(uri, name)[0] if uri.startswith("jdbc:") else _namespace_of_uri(uri)), name
        if warehouse := self.confs.get(f"{prefix}.warehouse"):
            return _path_text(warehouse), name
        return self._session_namespace(), format_name([str(catalog), *named])

    def _session_namespace(self) -> str:
        if metastore := self.confs.get("spark.hadoop.hive.metastore.uris") or self.confs.get("hive.metastore.uris"):
            first = metastore.split(",")[0]
            return re.sub(r"^thrift://", "hive://", first)
        return _path_text(self.confs.get("spark.sql.warehouse.dir", "spark-warehouse"))

    def catalog_table(self, table: Mapping[str, Any], path: str | None = None) -> Dataset:
        """Return a table of a catalog: by its path if it has one, with its name in the catalog as a symlink."""
        namespace, name = self.table(table["table"])
        location = table.get("location") or path
        if table.get("type") == "VIEW" or not location:
            kind = "VIEW" if table.get("type") == "VIEW" else "TABLE"
            return Dataset(namespace, name, kind)
        return replace(of_path(str(location)), kind="TABLE", symlinks=((namespace, name),))


def of_path(path: str) -> Dataset:
    """Return the dataset at a path; the partitions of a folder are the folder.

    >>> one = of_path("s3a://lake/raw/orders/day=2026-01-01")
    >>> one.namespace, one.name
    ('s3://lake', 'raw/orders')
    """
    while _PARTITION.search(path.rstrip("/")):
        path = _PARTITION.sub("", path.rstrip("/"))
    match = _URL.fullmatch(path)
    if match is None:
        return Dataset(*normal_place("file", path), kind="FILE")
    scheme, authority, rest = match.groups()
    if scheme == "file" or not authority or authority == "//":
        return Dataset(*normal_place(scheme, rest), kind="FILE")
    return Dataset(*normal_place(f"{scheme}:{authority}", rest), kind="FILE")


def of_topic(servers: str | None, topic: str) -> Dataset:
    """Return a topic of Kafka; its namespace has the first of the bootstrap servers."""
    return Dataset(f"kafka://{(servers or 'unknown').split(',')[0].strip()}", topic, kind="TOPIC")


def schema_of(columns: Sequence[Sequence[Any]] | None) -> tuple[SchemaField, ...]:
    """Return the columns that the listener wrote: [id, name, type], a nested type as Spark's JSON of it."""
    return tuple(_field(str(name), kind) for _, name, kind in columns or ())


def _field(name: str, kind: Any) -> SchemaField:
    if not isinstance(kind, Mapping):
        return SchemaField(name, str(kind) if kind is not None else None)
    inner = _struct_in(kind)
    fields = tuple(_field(str(one["name"]), one["type"]) for one in inner["fields"]) if inner is not None else ()
    return SchemaField(name, _type_text(kind), fields)


def _struct_in(kind: Any) -> Mapping[str, Any] | None:
    """Return the struct that a type is, or is an array or map of."""
    while isinstance(kind, Mapping):
        if kind.get("type") == "struct":
            return kind
        kind = kind.get("elementType") if kind.get("type") == "array" else kind.get("valueType")
    return None


def _type_text(kind: Any) -> str:
    if not isinstance(kind, Mapping):
        return {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}.get(str(kind), str(kind))
    match kind.get("type"):
        case "struct":
            inside = ",".join(f"{one['name']}:{_type_text(one['type'])}" for one in kind["fields"])
            return f"struct<{inside}>"
        case "array":
            return f"array<{_type_text(kind['elementType'])}>"
        case "map":
            return f"map<{_type_text(kind['keyType'])},{_type_text(kind['valueType'])}>"
    return str(kind.get("type", "unknown"))


def _path_text(path: str) -> str:
    dataset = of_path(path)
    return f"file:{dataset.name}" if dataset.namespace == "file" else f"{dataset.namespace}/{dataset.name}"


def _namespace_of_uri(uri: str) -> str:
    return re.sub(r"^thrift://", "hive://", uri.rstrip("/"))
