"""What changes in the graph that traversals follow: the keys that a store records with each commit.

A reader that keeps the live graph in memory asks for what has changed since the state it has, and reads that again
(`lineage.store.live_graph`). Times, texts and what was retired before are no part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lineage.store.graph.schema import Changes, Node, Relationship
from lineage.store.planning.graph_state import EdgeType

__all__ = ["KEPT", "MOST", "deleted_graph_nodes", "touched"]

KEPT = 2_000
"""Commits (of a lock stripe, in Neo4j) whose keys are kept."""
MOST = 1_000
"""Keys of a commit that are kept; of a larger one only that it was: all is read again then."""

_FOLLOWED = frozenset({str(EdgeType.CONTRIBUTES), str(EdgeType.REFERENCES), "HAS_FIELD"})
_LABELS = ("Table", "Column")
_DROPPED = "dropped_at"


def touched(changes: Changes) -> set[str]:
    """Return the keys of tables and columns whose edges, fields or presence may change."""
    return {key for keys in _keys(changes) for key in keys}


def deleted_graph_nodes(changes: Changes) -> list[str]:
    """Return the keys of the tables and columns that are deleted: their neighbours change as well."""
    return [node.key for node in changes.deleted_nodes if node.label in _LABELS]


def _keys(changes: Changes) -> Iterator[Iterable[str]]:
    for edges in (changes.deleted_relationships, changes.created_relationships, changes.updated_relationships):
        yield from (_ends(edge) for edge in edges if edge.type in _FOLLOWED)
    for nodes in (changes.deleted_nodes, changes.created_nodes):
        yield (node.key for node in nodes if node.label in _LABELS)
    yield (node.key for node in changes.updated_nodes if _may_appear(node))


def _ends(edge: Relationship) -> tuple[str, str]:
    return edge.source, edge.target


def _may_appear(node: Node) -> bool:
    """Return whether a column may be dropped, or there again."""
    return node.label == "Column" and (not node.changed or _DROPPED in node.changed)
