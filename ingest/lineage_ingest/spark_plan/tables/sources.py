"""The datasets that a plan reads: files, catalog tables, views, JDBC, Kafka, streams, and relations by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lineage.frozen import frozen
from lineage.sql.resolve.transformation_codes import IDENTITY, ROWS
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.tables.datasets import Catalogs, Dataset, of_path, of_topic, schema_of
from lineage_ingest.spark_plan.tables.jdbc_names import jdbc_dataset
from lineage_ingest.spark_plan.tables.jdbc_queries import is_query, query_relation
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, PlanSource, Value

if TYPE_CHECKING:
    from lineage_ingest.spark_plan.tables.leaf_reader import LeafReader

__all__ = ["Reads", "ViewRead", "leaf_relation", "stored_relation", "table_of", "view_relation"]

_KAFKA_TOPICS = ("subscribe", "topic", "assign", "subscribepattern")
_LOCAL = frozenset({"LocalRelation", "Range", "OneRowRelation", "UnionLoopRef"})

_GENERATED = frozenset({"RateStreamTable", "RatePerMicroBatchTable", "RateStreamSource", "RatePerMicroBatchStream"})
"""Sources of streams that make their rows up."""


@frozen
class ViewRead:
    """A persisted view that a plan reads, with the relation of its definition."""

    dataset: Dataset
    node: PlanNode
    relation: PlanRelation


@dataclass(slots=True)
class Reads:
    """The datasets that a plan reads, by key, and the views among them."""

    catalogs: Catalogs
    datasets: dict[str, Dataset] = field(default_factory=dict)
    views: dict[str, ViewRead] = field(default_factory=dict)

    def add(self, dataset: Dataset) -> Dataset:
        """Add a dataset; its columns are kept if they were known before."""
        known = self.datasets.get(dataset.key)
        if known is not None and (known.columns or not dataset.columns):
            dataset = replace(dataset, columns=known.columns, symlinks=dataset.symlinks or known.symlinks)
        self.datasets[dataset.key] = dataset
        return dataset

    def of_paths(self, paths: Iterable[str]) -> list[Dataset]:
        """Add the datasets at these paths, each once."""
        found = {one.key: one for one in map(of_path, paths)}
        return [self.add(one) for one in found.values()]


def leaf_relation(reader: LeafReader, node: PlanNode) -> PlanRelation:
    """Return the relation of a node without children: of a dataset, or of values of the plan itself."""
    columns = node.properties.get("columns") or []
    output = [int(one[0]) for one in columns]
    table = node.properties.get("v2") or node.properties.get("source") or {}
    if node.name == "LocalRelation" and output:
        reader.report_local_rows(node)
    if node.name in _LOCAL or table.get("class") in _GENERATED:
        return PlanRelation(output, {key: Value({}) for key in output}, PlanRows())
    source = node.properties.get("source") or {}
    url, query = source.get("url"), source.get("tableOrQuery")
    if url and query and is_query(str(query)):
        relation = query_relation(reader, str(url), str(query), columns)
        if relation is not None:
            return relation
    datasets = table_of(reader.reads.catalogs, node)
    if not datasets:
        reader.report_unknown_source(node)
        return PlanRelation(output, {key: Value({}) for key in output}, PlanRows())
    return stored_relation(reader.reads, [replace(one, columns=schema_of(columns)) for one in datasets], columns)


def stored_relation(reads: Reads, datasets: list[Dataset], columns: Iterable[Any]) -> PlanRelation:
    """Return the relation of stored datasets with these columns; several of them are read as one."""
    added = [reads.add(one) for one in datasets]
    listed = list(columns)
    values = {
        int(key): Value({(PlanSource(one.key, (str(name),)), IDENTITY): None for one in added})
        for key, name, _ in listed
    }
    rows = PlanRows({(PlanSource(one.key, None), ROWS): None for one in added})
    return PlanRelation([int(one[0]) for one in listed], values, rows)


def view_relation(reads: Reads, node: PlanNode, children: list[PlanRelation]) -> PlanRelation | None:
    """Return the relation of a persisted view, which is a dataset of its own; None for a temporary one."""
    described = node.properties.get("desc")
    if node.properties.get("isTempView") or not isinstance(described, Mapping) or not children:
        return None
    child = children[0]
    names = node.properties.get("columns") or []
    dataset = reads.catalogs.catalog_table({**described, "type": "VIEW"})
    dataset = replace(dataset, columns=schema_of(names))
    reads.views.setdefault(dataset.key, ViewRead(dataset, node, child))
    return stored_relation(reads, [dataset], names)


def table_of(catalogs: Catalogs, node: PlanNode) -> list[Dataset]:
    """Return the datasets that a leaf of a plan, or the table of a write, stands for; none if that is not known."""
    properties = node.properties
    table = properties.get("catalogTable") or properties.get("tableMeta")
    if isinstance(table, Mapping) and "table" in table:
        return [catalogs.catalog_table(table)]
    source = properties.get("source") or {}
    if source.get("url") and source.get("tableOrQuery"):
        return [Dataset(*jdbc_dataset(str(source["url"]), str(source["tableOrQuery"])))]
    if topics := source.get("topics"):
        return [of_topic(source.get("servers"), str(topic)) for topic in topics]
    if base := source.get("basePath"):
        return [of_path(str(base))]
    if paths := source.get("paths"):
        return list({one.key: one for one in map(of_path, map(str, paths))}.values())
    return _v2_table(catalogs, properties) or _by_options(properties.get("options") or {})


def _v2_table(catalogs: Catalogs, properties: Mapping[str, Any]) -> list[Dataset]:
    table = properties.get("v2") or {}
    identifier = properties.get("identifier") or properties.get("ident")
    options = properties.get("options") or {}
    if "Kafka" in str(table.get("class", "")) or "Kafka" in str(table.get("name", "")):
        return _by_options(options)
    if table.get("url") and (identifier or options.get("dbtable")):
        name = options.get("dbtable") or ".".join(map(str, identifier or ()))
        return [Dataset(*jdbc_dataset(str(table["url"]), str(name)))]
    if paths := table.get("paths"):
        return list({one.key: one for one in map(of_path, map(str, paths))}.values())
    if isinstance(identifier, list) and "/" not in str(identifier[-1]):  # else a table by its path
        names = [properties.get("catalog"), *identifier]
        return [catalogs.catalog_table({"table": names, "location": table.get("location")})]
    return [of_path(str(table["location"]))] if table.get("location") else _by_options(options)


def _by_options(options: Mapping[str, Any]) -> list[Dataset]:
    servers = options.get("kafka.bootstrap.servers")
    for name in _KAFKA_TOPICS:
        if servers and (topics := options.get(name)):
            listed = [str(topics)] if name == "subscribepattern" else str(topics).split(",")
            return [of_topic(str(servers), topic.strip()) for topic in listed]
    if options.get("url") and options.get("dbtable"):
        return [Dataset(*jdbc_dataset(str(options["url"]), str(options["dbtable"])))]
    return [of_path(str(options["path"]))] if options.get("path") else []
