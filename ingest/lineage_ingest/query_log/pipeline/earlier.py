"""What the stages ask of the time before a log; `earlier_graph.py` answers from a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from lineage.catalog import TableSchema
from lineage.model.batch import EdgeRecord

__all__ = ["Earlier"]


class Earlier(Protocol):
    """What was known just before a log; tables by their names of then."""

    def schemas(self) -> Mapping[tuple[str, str], TableSchema]:
        """Return the tables whose columns earlier ingests know, by namespace and name."""

    def there(self, names: Collection[str]) -> frozenset[str]:
        """Return those of these keys that datasets had then."""

    def views(self, names: Collection[str]) -> frozenset[str]:
        """Return those of these keys that views had then."""

    def edges_into(self, names: Collection[str]) -> Iterable[EdgeRecord]:
        """Return the edges into datasets, by their keys."""
