"""What SQL files drop or rename is dated when it was first stated: an ingest of the same files says nothing new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lineage.model.batch import DatasetChange
from lineage.model.names import column_key
from lineage.model.statement import ChangeKind
from lineage.store.protocol import GraphStore

__all__ = ["with_known_times"]

_ALWAYS = datetime.min.replace(tzinfo=UTC)


def with_known_times(store: GraphStore, changes: Sequence[DatasetChange]) -> tuple[DatasetChange, ...]:
    """Return the changes; one that the graph knows, and that changes nothing there any more, has the known time.

    A DROP of a table or column that is there again, and a rename of one that has its former name again, are new. A swap
    that is known is not: the files do not say that it was done twice.

    Raises:
        StoreError: the store could not be read.
    """
    if not changes:
        return ()
    latest = {_what(one): one.at for one in store.dataset_changes(_ALWAYS, max(one.at for one in changes))}
    known = [one for one in changes if latest.get(_what(one), one.at) < one.at]
    datasets = sorted({one.dataset for one in known})
    there = {one.key for one in store.datasets(datasets) if one.dropped_at is None} if datasets else set()
    there |= {one.key for one in store.columns(datasets)} if datasets else set()

    def is_new(change: DatasetChange) -> bool:
        own = change.dataset if change.column is None else column_key(change.dataset, change.column)
        return change.kind is not ChangeKind.SWAP and own in there

    return tuple(replace(one, at=latest[_what(one)]) if one in known and not is_new(one) else one for one in changes)


def _what(change: DatasetChange) -> tuple[ChangeKind, str, str | None, str | None]:
    return change.kind, change.dataset, change.other, change.column
