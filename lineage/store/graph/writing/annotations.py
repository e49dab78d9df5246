"""What people say of the graph by hand: descriptions, tags, edges that no longer hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import is_column_key
from lineage.store.graph.backend import Transaction
from lineage.store.graph.records import column_from, column_node, dataset_from, dataset_node
from lineage.store.graph.schema import Changes
from lineage.store.graph.statements import query
from lineage.store.graph.writing.changes import difference
from lineage.store.graph.writing.loading import load_edges_between
from lineage.store.planning.graph_state import EdgeType
from lineage.store.values import NodeAnnotation, StoredColumn, StoredDataset

__all__ = ["describe", "describe_all", "retire_edges"]

T = TypeVar("T", StoredColumn, StoredDataset)


def describe(
    transaction: Transaction, key: str, *, description: str | None = None, tags: Collection[str] | None = None
) -> bool:
    """Set the description or tags of a table or column, if not None; return whether it exists."""
    own = NodeAnnotation(key, description, None if tags is None else tuple(tags))
    return describe_all(transaction, [own]) == 1


def describe_all(transaction: Transaction, annotations: Collection[NodeAnnotation]) -> int:
    """Set the descriptions or tags of tables and columns, if not None; return how many of these exist."""
    columns = {one.key: one for one in annotations if is_column_key(one.key)}
    tables = {one.key: one for one in annotations if not is_column_key(one.key)}
    nodes = [dataset_node(_changed(one, tables[one.key])) for one in _datasets(transaction, tables)]
    if columns:
        rows = transaction.read(query("columns_by_key"), [{"key": key} for key in columns])
        found = [column_from(row["n"]) for row in rows]
        owners = {one.key: one for one in _datasets(transaction, {column.dataset for column in found})}
        nodes += [column_node(_changed(one, columns[one.key]), owners.get(one.dataset)) for one in found]
    if nodes:
        transaction.write(Changes(updated_nodes=tuple(nodes)))
    return len(nodes)


def retire_edges(
    transaction: Transaction, source: str, target: str, kind: EdgeKind, *, job: str | None = None, at: datetime
) -> int:
    """Retire the live edges between two nodes, of one job or of all; return how many."""
    before = load_edges_between(transaction, source, target)
    after = before.copy()
    ended = 0
    for pair, history in before.histories.items():
        newest = history[-1]
        if newest.live and pair.relation is EdgeType(str(kind)) and job in (None, pair.job):
            end = max(at, newest.start)
            after.histories[pair] = (*history[:-1], newest._replace(end=end, last_seen=min(newest.last_seen, end)))
            ended += 1
    transaction.write(difference(before, after))
    return ended


def _datasets(transaction: Transaction, keys: Collection[str]) -> list[StoredDataset]:
    rows = transaction.read(query("datasets_by_key"), [{"key": key} for key in keys]) if keys else []
    return [dataset_from(row["n"]) for row in rows]


def _changed(node: T, annotation: NodeAnnotation) -> T:
    changed: dict[str, object] = {}
    if annotation.description is not None:
        changed["description"] = annotation.description or None
    if annotation.tags is not None:
        changed["tags"] = tuple(sorted(set(annotation.tags)))
    return replace(node, **changed)  # type: ignore[arg-type]
