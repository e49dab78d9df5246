"""Tables that may be one: statements that state no database or schema name a table with fewer parts than others do."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lineage.frozen import frozen
from lineage.model.names import dataset_key, format_name, split_dataset_key, split_name
from lineage.model.statement import DatasetKind
from lineage.store.values import StoredDataset
from lineage.traversal.lineage_reader import LineageReader

__all__ = ["Namesake", "namesakes"]

_KINDS = (DatasetKind.TABLE, DatasetKind.VIEW)
_MOST_LONGER, _MOST_SEARCHES = 20, 10


@frozen
class Namesake:
    """The full display names of a table, and of another one whose name is the last parts of it."""

    name: str
    shorter: str


def namesakes(store: LineageReader, asked: Collection[str], reached: Collection[str] = ()) -> list[Namesake]:
    """Return the pairs of tables that may be one, of which one is among these; all are given by key.

    Longer names are looked for of those that are asked, and of the first ten others: each takes a search of all names.
    Tables that are dropped do not count.

    Raises:
        StoreError: the store could not be read.
    """
    pairs = {(key, shorter) for key in {*asked, *reached} for shorter in _shorter(key)}
    for key in (*asked, *sorted(set(reached) - set(asked))[:_MOST_SEARCHES]):
        name = split_dataset_key(key)[1]
        hits = store.search(f".{name}", types=("Table",), limit=_MOST_LONGER) if not _is_path(name) else ()
        pairs |= {(hit.key, key) for hit in hits if key in _shorter(hit.key)}
    if not pairs:
        return []
    there = {one.key: one for one in store.datasets(sorted({key for pair in pairs for key in pair})) if _counts(one)}
    return [
        Namesake(there[key].display_name, there[shorter].display_name)
        for key, shorter in sorted(pairs)
        if key in there and shorter in there
    ]


def _shorter(key: str) -> Iterator[str]:
    """Yield the keys of tables that the last parts of a table's name name."""
    namespace, name = split_dataset_key(key)
    if not _is_path(name):
        parts = [part for part, _ in split_name(name)]
        yield from (dataset_key(namespace, format_name(parts[begin:])) for begin in range(1, len(parts)))


def _is_path(name: str) -> bool:
    return "/" in name


def _counts(dataset: StoredDataset) -> bool:
    return dataset.dropped_at is None and dataset.kind in _KINDS
