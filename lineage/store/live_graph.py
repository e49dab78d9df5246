"""The live graph as numbers, for a reader that keeps it in memory, and what has changed since a version of it.

A store opens one in a read transaction: all that it returns is of one committed state. Numbers of nodes are those of
the store, and valid in that transaction only; keys are valid beyond it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import NamedTuple, Protocol, TypeAlias

from lineage.store.exploring import Explorer, View
from lineage.store.values import Direction

__all__ = ["EdgeRow", "ExplorerSource", "LiveGraph", "NodeRow", "REFERENCE", "Version"]

Version: TypeAlias = Hashable
"""The state of the graph that traversals follow: two states of equal versions are the same."""

REFERENCE = 2
"""The bit of an edge's code that tells REFERENCES from CONTRIBUTES; the bit 1 says that it masks the value."""


class NodeRow(NamedTuple):
    """A table or column: whether it is there (not dropped), and the key of the column that it is a field of, if any."""

    key: str
    there: bool
    parent: str | None


class EdgeRow(NamedTuple):
    """An edge by the keys of its ends, with its code."""

    source: str
    target: str
    code: int


class LiveGraph(Protocol):
    """One committed state of the live graph."""

    @property
    def version(self) -> Version:
        """Its version."""

    def changed_since(self, version: Version) -> Collection[str] | None:
        """Return the keys of the tables and columns that may have changed since a version; None if not known."""

    def datasets(self) -> Iterable[tuple[int, str]]:
        """Yield the number and key of each dataset."""

    def columns(self) -> Iterable[tuple[int, int, str, bool, int]]:
        """Yield of each column its number, that of its dataset, its key, whether it is there, its parent's or -1."""

    def edges(self) -> Iterable[tuple[int, int, int]]:
        """Yield of each live edge the numbers of its source and target, and its code; once for each job, at most."""

    def nodes_of(self, keys: Collection[str]) -> list[NodeRow]:
        """Return those of these tables and columns that are in the graph."""

    def edges_of(self, keys: Collection[str], direction: Direction) -> list[EdgeRow]:
        """Return the live edges out of (downstream) or into (upstream) these tables and columns."""


class ExplorerSource(Protocol):
    """What explores the graph instead of the store, while it has the same state."""

    def explorer(self, view: View) -> Explorer | None:
        """Return an explorer of the state that the store has now; None if the store itself must be read."""
