"""The protocol for lineage from before a log; `earlier_graph.py` implements it over a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from lineage.catalog import TableSchema
from lineage.model.batch import EdgeRecord

__all__ = ["Earlier"]


class Earlier(Protocol):
    """The graph just before a log; tables have their names of that time."""

    def schemas(self) -> Mapping[tuple[str, str], TableSchema]:
        """Return the tables whose columns earlier ingests know, by namespace and name."""

    def there(self, names: Collection[str]) -> frozenset[str]:
        """Return those of these keys that are keys of datasets at that time."""

    def views(self, names: Collection[str]) -> frozenset[str]:
        """Return those of these keys that are keys of views at that time."""

    def edges_into(self, names: Collection[str]) -> Iterable[EdgeRecord]:
        """Return the edges into datasets, by their keys."""
