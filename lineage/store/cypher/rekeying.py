"""The migration to the keys of schema version 9.

Before, the path of a top-level column was its raw name, with dots and quotes, and only the dataset's name was escaped
in a key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from lineage.model.batch import assertion_job_key, definition_job_key
from lineage.model.names import ColumnPath, column_key, dataset_key, split_name
from lineage.store.cypher.backend import Row, Transaction
from lineage.store.cypher.records import (
    change_from,
    change_node,
    column_from,
    column_node,
    dataset_from,
    dataset_node,
    diagnostic_from,
    diagnostic_node,
    job_from,
    job_node,
    usage_from,
    usage_node,
)
from lineage.store.cypher.schema import RELATIONSHIPS, Changes, Node, Relationship
from lineage.store.cypher.statements import query
from lineage.store.planning.graph_state import change_key, usage_key
from lineage.store.values import StoredColumn

__all__ = ["REKEYED", "rekey"]

REKEYED = 9
"""The first schema version with the current keys."""

_Moved: TypeAlias = "dict[tuple[str, str], Node]"
"""New nodes by label and old key."""


def rekey(transaction: Transaction) -> None:
    """Replace the nodes whose keys change, with their relationships. It is idempotent."""
    tables = {
        dataset.key: replace(dataset, key=key)
        for dataset in map(dataset_from, _nodes(transaction, "all_datasets"))
        if (key := dataset_key(dataset.namespace, dataset.name)) != dataset.key
    }
    names = {old: dataset.key for old, dataset in tables.items()}
    columns = _columns(transaction, names)
    if not tables and not columns:
        return
    moved: _Moved = {("Table", old): dataset_node(dataset) for old, dataset in tables.items()}
    for old, column in columns.items():
        moved["Column", old] = column_node(column, None)
    keys = {old: node.key for (_, old), node in moved.items()}
    moved |= _jobs(transaction, keys)
    moved |= _usage(transaction, keys)
    moved |= _changes(transaction, names)
    transaction.write(_difference(transaction, moved))


def _columns(transaction: Transaction, names: Mapping[str, str]) -> dict[str, StoredColumn]:
    """Return the columns whose key or path changes, by old key; `names` are new keys of datasets."""
    found = {node["key"]: column_from(node) for node in _nodes(transaction, "columns_of_unusual_names")}
    for row in transaction.read(query("columns_of_dataset"), [{"key": key} for key in sorted(names)]):
        found.setdefault(row["n"]["key"], column_from(row["n"]))
    changed: dict[str, StoredColumn] = {}
    for old, column in found.items():
        dataset = names.get(column.dataset, column.dataset)
        path = ColumnPath(_parts(found, column))
        parent = column_key(dataset, str(path.parent)) if path.parent else None
        new = replace(column, key=column_key(dataset, str(path)), dataset=dataset, path=str(path), parent=parent)
        if new != column:
            changed[old] = new
    return changed


def _parts(columns: Mapping[str, StoredColumn], column: StoredColumn) -> tuple[str, ...]:
    """Return the parts of an old path: a top-level column is raw, fields follow dots and may be quoted."""
    if column.parent is None:
        return (_unquote(column.path),)
    above = column.parent[len(column.dataset) + 1 :]
    parent = columns.get(column.parent)
    parts = _parts(columns, parent) if parent is not None else tuple(above.split("."))
    return (*parts, _unquote(column.path[len(above) + 1 :]))


def _unquote(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
    parts = split_name(text) if is_quoted else []
    return parts[0][0] if len(parts) == 1 else text


def _jobs(transaction: Transaction, keys: Mapping[str, str]) -> _Moved:
    """Return the jobs whose keys contain a changed key, and their diagnostics."""
    listed = [row["key"] for row in transaction.read(query("all_job_keys"), [{}])]
    names = {old: new for old in listed if (new := _job_key(old, keys)) != old}
    moved: _Moved = {}
    asked = [{"key": key} for key in names]
    for row in transaction.read(query("jobs_by_key"), asked):
        job = job_from(row["n"])
        moved["Job", job.key] = job_node(replace(job, key=names[job.key]))
    for row in transaction.read(query("diagnostics_of_job"), asked):
        found = diagnostic_from(row["n"])
        job_key = names.get(found.job or "", found.job)
        moved["Diagnostic", row["n"]["key"]] = diagnostic_node(replace(found, job=job_key))
    return moved


def _job_key(key: str, keys: Mapping[str, str]) -> str:
    """Return the key of a job with the new keys of the nodes in it."""
    kind, _, rest = key.partition(":")
    if kind == "definition":
        return definition_job_key(keys.get(rest, rest))
    for place, character in enumerate(key):
        if character != ">":
            continue
        head, tail = key[:place], key[place + 1 :]
        if kind == "assertion":
            source = head.removeprefix("assertion:")
            if source in keys or tail in keys:
                return assertion_job_key(keys.get(source, source), keys.get(tail, tail))
        for old in (tail, tail.rpartition("+")[0]):
            if old in keys:
                return f"{head}>{keys[old]}{tail[len(old) :]}"
    return key


def _usage(transaction: Transaction, keys: Mapping[str, str]) -> _Moved:
    moved: _Moved = {}
    for statement in ("usage_of_dataset", "usage_of_column"):
        for row in transaction.read(query(statement), [{"key": key} for key in sorted(keys)]):
            used = usage_from(row["n"], keys[row["of"]])
            old = usage_key(used.run, row["of"], used.day)
            moved["Usage", old] = usage_node(used)
    return moved


def _changes(transaction: Transaction, names: Mapping[str, str]) -> _Moved:
    moved: _Moved = {}
    for node in _nodes(transaction, "all_changes") if names else ():
        known = change_from(node)
        stated = known.stated
        other = names.get(stated.other, stated.other) if stated.other is not None else None
        new = replace(stated, dataset=names.get(stated.dataset, stated.dataset), other=other)
        if new != stated:
            moved["Change", change_key(stated)] = change_node(replace(known, stated=new))
    return moved


def _difference(transaction: Transaction, moved: _Moved) -> Changes:
    """Return the changes that replace the old nodes by the new ones, with their relationships."""
    created = {(node.label, node.key): node for node in moved.values()}
    # Two old keys may become one: a node that already exists stays, and gets more relationships.
    there = {
        (label, key)
        for label, key in created
        if (label, key) not in moved and transaction.read(query("node_by_key", label=(label,)), [{"key": key}])
    }
    tied = {one.id: one for one in _ties(transaction, moved.keys())}
    kept = {one.id for one in _ties(transaction, there)}

    def end(label: str, key: str) -> str:
        node = moved.get((label, key))
        return node.key if node is not None else key

    relationships: dict[tuple[object, ...], Relationship] = {}
    for one in tied.values():
        properties = dict(one.properties)
        if properties.get("job"):
            properties["job"] = end("Job", properties["job"])
        new = replace(
            one,
            source=end(one.source_label, one.source),
            target=end(one.target_label, one.target),
            properties=properties,
        )
        if new.id not in kept:
            relationships.setdefault(new.id, new)
    return Changes(
        deleted_nodes=tuple(Node(label, key, {}) for label, key in moved),
        created_nodes=tuple(node for named, node in created.items() if named not in there),
        created_relationships=tuple(relationships.values()),
    )


def _ties(transaction: Transaction, nodes: Iterable[tuple[str, str]]) -> Iterator[Relationship]:
    """Yield all relationships of nodes; a relationship between two of them is yielded twice."""
    asked: dict[str, list[Row]] = {}
    for label, key in nodes:
        asked.setdefault(label, []).append({"key": key})
    for name, kind in RELATIONSHIPS.items():
        for source, target in kind.ends:
            names = {"from": (source,), "type": (name,), "to": (target,)}
            for statement, label in (("relationships_out_of", source), ("relationships_into", target)):
                for row in transaction.read(query(statement, **names), asked.get(label, ())):
                    edge: Mapping[str, Any] = row["e"]
                    properties = {one: edge.get(one) for one in kind.properties}
                    yield Relationship(name, source, row["source"], target, row["target"], properties)


def _nodes(transaction: Transaction, statement: str) -> list[Row]:
    return [row["n"] for row in transaction.read(query(statement), [{}])]
