"""The part of a store that traversals read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from lineage.model.transformations import EdgeKind
from lineage.store.exploring import Explorer
from lineage.store.values import Direction, FeedKey, SearchHit, StoredColumn, StoredDataset, StoredStep

__all__ = ["LineageReader"]

T = TypeVar("T")


class LineageReader(Protocol):
    """A store as traversals see it; `GraphStore` says what each method returns."""

    def find_datasets(self, name: str) -> list[StoredDataset]:
        """Return the datasets that a typed name means."""

    def datasets(self, keys: Collection[str] | None = None) -> list[StoredDataset]:
        """Return the datasets of these keys."""

    def columns(self, datasets: Collection[str], *, dropped: bool = False) -> list[StoredColumn]:
        """Return the columns and fields of these datasets, with `dropped` those that they once had, too."""

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
        """Return what `work` makes of one state of the graph around columns."""

    def steps(self, pairs: Collection[tuple[str, str, EdgeKind]], *, as_of: datetime | None = None) -> list[StoredStep]:
        """Return what jobs say of these pairs (a column, a column or dataset, a kind of edge)."""

    def dataset_names(self, keys: Collection[str]) -> dict[str, str]:
        """Return the full names of the datasets of these keys, as people write them."""

    def column_spellings(self, keys: Collection[str]) -> dict[str, str]:
        """Return the paths of those of these columns that are written otherwise than their keys have them."""

    def feed_keys(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[FeedKey]:
        """Return one hop of table-level lineage."""

    def feeds_by_columns(self, feeds: Collection[FeedKey], *, as_of: datetime | None = None) -> frozenset[FeedKey]:
        """Return those of the feeds that columns answer for."""

    def search(self, text: str, *, types: Sequence[str] = ("Table", "Column"), limit: int = 20) -> list[SearchHit]:
        """Return datasets and columns whose name holds the text."""
