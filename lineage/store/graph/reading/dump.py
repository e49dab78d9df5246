"""Dump the whole graph as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lineage.store.graph.backend import Transaction
from lineage.store.graph.schema import LABELS, MOVING_TIMES, NOT_LINEAGE, RELATIONSHIPS
from lineage.store.graph.statements import query
from lineage.store.values import GraphDump

__all__ = ["dump_graph"]


def dump_graph(transaction: Transaction) -> GraphDump:
    """Return all nodes and relationships, sorted, with their non-null properties."""
    nodes = []
    for label in LABELS.keys() - NOT_LINEAGE:
        for row in transaction.read(query("dump_nodes", label=(label,)), [{}]):
            properties = _with_value(row["n"])
            for name in MOVING_TIMES:
                properties.pop(name, None)
            nodes.append((label, properties.pop("key"), properties))
    relationships = []
    for name, kind in RELATIONSHIPS.items():
        for source, target in kind.ends:
            statement = query("dump_relationships", **{"from": (source,), "type": (name,), "to": (target,)})
            for row in transaction.read(statement, [{}]):
                properties = _with_value(row["e"])
                relationships.append((properties.pop("type"), row["source"], row["target"], properties))
    return GraphDump(sorted(nodes, key=_order), sorted(relationships, key=_order))


def _with_value(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}


def _order(item: tuple[Any, ...]) -> str:
    return json.dumps(item, default=str, sort_keys=True)
