"""The part of the graph that an export shows: some tables, their columns, and all live edges between them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lineage.model.names import dataset_of, is_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredDataset, StoredEdge
from lineage.traversal import Target, TraversalOptions, impact, root_cause

__all__ = ["MOST_TABLES", "GraphPart", "TooManyTablesError", "read_part"]

MOST_TABLES = 2_000
"""A file or a diagram of more is of no use to anybody."""


class TooManyTablesError(ValueError):
    """More tables than an export can show."""


@dataclass(frozen=True, slots=True)
class GraphPart:
    """Tables, their columns, and the live edges between them. `focus` are the nodes that it is about."""

    datasets: Sequence[StoredDataset]
    columns: Sequence[StoredColumn]
    edges: Sequence[StoredEdge]
    focus: Sequence[str] = ()


def read_part(
    store: GraphStore, focus: Sequence[Target] = (), *, max_hops: int = 20, most: int = MOST_TABLES
) -> GraphPart:
    """Return the whole graph, or with `focus` what is upstream and downstream of it.

    With a focus, the edges are those between its columns: of other columns of the tables, nothing is shown.

    Raises:
        TooManyTablesError: it has more tables than `most`.
        StoreError: the store could not be read.
    """
    reached = _reached(store, focus, max_hops) if focus else None
    keys = store.dataset_keys() if reached is None else sorted({dataset_of(key) for key in reached})
    datasets = [one for one in store.datasets(keys) if one.dropped_at is None or reached is not None]
    if len(datasets) > most:
        hint = "name a column or table with --focus" if reached is None else "set --hops to a lower number"
        raise TooManyTablesError(f"it would have {len(datasets):,} tables, and {most:,} are the limit: {hint}")
    inside = {one.key for one in datasets}
    edges = [one for one in store.edges_into(sorted(inside)) if dataset_of(one.source) in inside]
    if reached is not None:
        edges = [one for one in edges if _is_shown(one.source, reached) and _is_shown(one.target, reached)]
    used = {end for edge in edges for end in (edge.source, edge.target)}
    found = store.columns(sorted(inside), dropped=True)
    columns = [one for one in found if one.dropped_at is None or one.key in used]
    return GraphPart(datasets, columns, edges, [target.key for target in focus])


def _is_shown(key: str, reached: Collection[str]) -> bool:
    return key in reached or not is_column_key(key)


def _reached(store: GraphStore, focus: Sequence[Target], max_hops: int) -> set[str]:
    options = TraversalOptions(max_hops=max_hops)
    keys = {target.key for target in focus}
    for target in focus:
        if target.is_table:
            keys.update(column.key for column in store.columns([target.key]))
    for find in (impact, root_cause):
        keys.update(one.key for one in find(store, list(focus), options).outlines)
    return keys
