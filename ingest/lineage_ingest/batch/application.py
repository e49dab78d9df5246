"""Apply a batch of any size to a store, and expand the stars that its schemas make known."""

from __future__ import annotations

from lineage.model.batch import LineageBatch
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges
from lineage_ingest.batch.star_expansion import expand_stars

__all__ = ["apply_batch"]

_LARGE = 75_000
"""Edges. A larger batch is applied in parts, which bounds the memory for planning."""


def apply_batch(store: GraphStore, batch: LineageBatch) -> AppliedChanges:
    """Apply a batch, in parts if it is large; return what has changed.

    Raises:
        StoreError: the store could not be read or written. Ingest again: nothing is lost or doubled.
    """
    if len(batch.edges) < _LARGE:
        applied = store.apply(batch)
    else:
        applied = AppliedChanges()
        for parts in store.parts(batch):
            applied += sum(map(store.apply, parts), start=AppliedChanges())
    described = (record.key for record in batch.datasets if record.schema_known)
    for opened in expand_stars(store, described, batch.run.at):
        applied += store.apply(opened)
    return applied
