"""The part of the graph that an export shows: some tables, their columns, and all live edges between them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key
from lineage.model.statement import Completeness
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredEdge
from lineage.traversal import Target, TraversalOptions, impact, root_cause

__all__ = ["MOST_DRAWN", "MOST_TABLES", "GraphPart", "TooManyTablesError", "partial_tables", "read_part"]

MOST_TABLES = 2_000
"""A file or a diagram of more is of no use to anybody."""
MOST_DRAWN = 300
"""A picture with the columns of more tables cannot be read."""


class TooManyTablesError(ValueError):
    """More tables than an export can show."""


@dataclass(frozen=True, slots=True)
class GraphPart:
    """Tables, their columns, and the live edges between them. `focus` are the nodes that it is about.

    `feeds` are pairs of tables of which only that is known: a job reads the first and writes the second, and what
    becomes of their columns could not be resolved.
    """

    datasets: Sequence[StoredDataset]
    columns: Sequence[StoredColumn]
    edges: Sequence[StoredEdge]
    focus: Sequence[str] = ()
    feeds: Sequence[tuple[str, str]] = ()


def read_part(
    store: GraphStore,
    focus: Sequence[Target] = (),
    *,
    max_hops: int = 20,
    most: int = MOST_TABLES,
    kinds: Collection[EdgeKind] = frozenset(EdgeKind),
) -> GraphPart:
    """Return the whole graph, or with `focus` what is upstream and downstream of it, by edges of these kinds.

    The whole graph leaves out tables whose jobs are all retired, as a search does. With a focus, the edges
    are those between its columns: of other columns of the tables, nothing is shown.

    Raises:
        TooManyTablesError: it has more tables than `most`.
        StoreError: the store could not be read.
    """
    reached = _reached(store, focus, max_hops, kinds) if focus else None
    if reached is None:
        keys = sorted(set(store.dataset_keys()) - set(store.forgotten_datasets()))
    else:
        keys = sorted({dataset_of(key) for key in reached})
    datasets = [one for one in store.datasets(keys) if one.dropped_at is None or reached is not None]
    if len(datasets) > most:
        hint = "name a column or table with --focus" if reached is None else "set --hops to a lower number"
        raise TooManyTablesError(f"it would have {len(datasets):,} tables, and {most:,} are the limit: {hint}")
    inside = {one.key for one in datasets}
    into = (one for one in store.edges_into(sorted(inside)) if one.kind in kinds)
    edges = [one for one in into if dataset_of(one.source) in inside]
    if reached is not None:
        edges = [one for one in edges if _is_shown(one.source, reached) and _is_shown(one.target, reached)]
    used = {end for edge in edges for end in (edge.source, edge.target)}
    found = store.columns(sorted(inside), dropped=True)
    columns = [one for one in found if one.dropped_at is None or one.key in used]
    return GraphPart(datasets, columns, edges, [target.key for target in focus], _feeds(store, inside))


def _feeds(store: GraphStore, inside: Collection[str]) -> list[tuple[str, str]]:
    found = [one for one in store.feed_keys(sorted(inside), Direction.DOWNSTREAM) if one.target in inside]
    explained = store.feeds_by_columns(found)
    return sorted({(one.source, one.target) for one in found if one not in explained})


def partial_tables(store: GraphStore, part: GraphPart) -> frozenset[str]:
    """Return the tables of a part that jobs write whose lineage is not fully resolved.

    Raises:
        StoreError: the store could not be read.
    """
    inside = {one.key for one in part.datasets}
    keys = {job for jobs in store.job_keys_of(sorted(inside)).values() for job in jobs}
    partial = (job for job in store.jobs(sorted(keys)) if job.completeness is not Completeness.FULL)
    return frozenset(key for job in partial for key in job.writes if key in inside)


def _is_shown(key: str, reached: Collection[str]) -> bool:
    return key in reached or not is_column_key(key)


def _reached(store: GraphStore, focus: Sequence[Target], max_hops: int, kinds: Collection[EdgeKind]) -> set[str]:
    options = TraversalOptions(max_hops=max_hops, kinds=frozenset(kinds))
    keys = {target.key for target in focus}
    for target in focus:
        if target.is_table:
            keys.update(column.key for column in store.columns([target.key]))
    for find in (impact, root_cause):
        answer = find(store, list(focus), options)
        keys.update(one.key for one in answer.outlines)
        keys.update(one.dataset for one in answer.possibly_affected)
    return keys
