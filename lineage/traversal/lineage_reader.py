"""The part of a store that traversals read, and the columns of a table at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from lineage.model.influence.transformations import EdgeKind
from lineage.store.exploring import Explorer
from lineage.store.values import Direction, FeedKey, NameHolder, SearchHit, StoredColumn, StoredDataset, StoredStep

__all__ = ["LineageReader", "columns_at"]

T = TypeVar("T")


class LineageReader(Protocol):
    """The store methods that traversals use; `GraphStore` documents them."""

    def find_datasets(self, name: str) -> list[StoredDataset]:
        """Return the datasets that match a name typed by a user."""

    def datasets(self, keys: Collection[str] | None = None) -> list[StoredDataset]:
        """Return the datasets of these keys."""

    def columns(self, datasets: Collection[str], *, dropped: bool = False) -> list[StoredColumn]:
        """Return the columns and fields of these datasets; with `dropped`, dropped ones too."""

    def explore(
        self,
        work: Callable[[Explorer], T],
        direction: Direction,
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
        hops: int = 1,
        deadline: float | None = None,
    ) -> T:
        """Return the result of `work` on one consistent state of the graph."""

    def steps(self, pairs: Collection[tuple[str, str, EdgeKind]], *, as_of: datetime | None = None) -> list[StoredStep]:
        """Return the jobs' edges for these pairs (source column, target column or dataset, kind of edge)."""

    def dataset_names(self, keys: Collection[str]) -> dict[str, str]:
        """Return the full display names of the datasets with these keys."""

    def name_holders(self, datasets: Collection[str]) -> dict[str, list[NameHolder]]:
        """Return which datasets had the names of these before them, until a RENAME or SWAP, in order of time."""

    def column_spellings(self, keys: Collection[str]) -> dict[str, str]:
        """Return the spellings of columns whose spelling differs from their key, by key."""

    def feed_keys(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[FeedKey]:
        """Return one hop of table-level lineage."""

    def feeds_by_columns(self, feeds: Collection[FeedKey], *, as_of: datetime | None = None) -> frozenset[FeedKey]:
        """Return the feeds that column lineage explains."""

    def dataset_keys_ending(self, names: Collection[str]) -> list[str]:
        """Return the keys of the datasets whose full names end in a dot and one of these names."""

    def search(self, text: str, *, types: Sequence[str] = ("Table", "Column"), limit: int = 20) -> list[SearchHit]:
        """Return datasets and columns whose name contains the text."""


def columns_at(store: LineageReader, datasets: Collection[str], as_of: datetime | None) -> list[StoredColumn]:
    """Return the columns of these datasets now, or as they were: without those dropped before or added later."""
    return [each for each in store.columns(datasets, dropped=as_of is not None) if each.is_there(as_of)]
