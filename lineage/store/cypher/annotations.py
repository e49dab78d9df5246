"""What people say of the graph by hand: descriptions, tags, edges that no longer hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from lineage.model.names import is_column_key
from lineage.model.transformations import EdgeKind
from lineage.store.cypher.backend import Transaction
from lineage.store.cypher.changes import difference
from lineage.store.cypher.loading import load_edges_between
from lineage.store.cypher.records import column_from, column_node, dataset_from, dataset_node
from lineage.store.cypher.schema import Changes, Node
from lineage.store.cypher.statements import query
from lineage.store.planning.graph_state import EdgeType

__all__ = ["describe", "retire_edges"]


def describe(
    transaction: Transaction, key: str, *, description: str | None = None, tags: Collection[str] | None = None
) -> bool:
    """Set the description or tags of a table or column, if not None; return whether it exists."""
    node = _describe(transaction, key, description, None if tags is None else tuple(sorted(set(tags))))
    if node is not None:
        transaction.write(Changes(updated_nodes=(node,)))
    return node is not None


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


def _describe(transaction: Transaction, key: str, description: str | None, tags: tuple[str, ...] | None) -> Node | None:
    changed: dict[str, object] = {} if description is None else {"description": description or None}
    if tags is not None:
        changed["tags"] = tags
    if is_column_key(key):
        for row in transaction.read(query("columns_by_key"), [{"key": key}]):
            column = replace(column_from(row["n"]), **changed)  # type: ignore[arg-type]
            found = transaction.read(query("datasets_by_key"), [{"key": column.dataset}])
            dataset = dataset_from(found[0]["n"]) if found else None
            return column_node(column, dataset)
        return None
    for row in transaction.read(query("datasets_by_key"), [{"key": key}]):
        return dataset_node(replace(dataset_from(row["n"]), **changed))  # type: ignore[arg-type]
    return None
