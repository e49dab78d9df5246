"""Tables that may be one: statements that state no database or schema name a table with fewer parts than others do."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lineage.frozen import frozen
from lineage.model.names import dataset_key, format_name, split_dataset_key, split_location, split_name
from lineage.model.statement import DatasetKind
from lineage.store.values import StoredDataset
from lineage.traversal.lineage_reader import LineageReader

__all__ = ["Namesake", "namesakes"]

_KINDS = (DatasetKind.TABLE, DatasetKind.VIEW)


@frozen
class Namesake:
    """The key and full display name of a table, and of another one whose name is the last parts of its name."""

    key: str
    name: str
    short_key: str
    short_name: str


def namesakes(store: LineageReader, datasets: Collection[str]) -> list[Namesake]:
    """Return the pairs of tables that may be one, of which one is among these (by key), sorted.

    Tables that are dropped do not count.

    Raises:
        StoreError: the store could not be read.
    """
    named = {key: name for key in datasets if not split_location(name := split_dataset_key(key)[1])}
    pairs = {(key, short) for key in named for short in _shorter(key)}
    longer = store.dataset_keys_ending(sorted(named.values())) if named else ()
    pairs |= {(key, short) for key in longer for short in _shorter(key) if short in named}
    if not pairs:
        return []
    there = {one.key: one for one in store.datasets(sorted({key for pair in pairs for key in pair})) if _counts(one)}
    return [
        Namesake(key, there[key].display_name, short, there[short].display_name)
        for key, short in sorted(pairs)
        if key in there and short in there
    ]


def _shorter(key: str) -> Iterator[str]:
    """Yield the keys of tables that the last parts of a table's name name."""
    namespace, name = split_dataset_key(key)
    if not split_location(name):
        parts = [part for part, _ in split_name(name)]
        yield from (dataset_key(namespace, format_name(parts[begin:])) for begin in range(1, len(parts)))


def _counts(dataset: StoredDataset) -> bool:
    return dataset.dropped_at is None and dataset.kind in _KINDS
