"""The interface of a database that a store is built on: it reads rows and writes changes in transactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from lineage.store.exploring import Explorer, View
from lineage.store.graph.schema import Changes
from lineage.store.graph.statements import NamedStatement
from lineage.store.live_graph import LiveGraph, Version

__all__ = ["Backend", "EndMissingError", "Row", "Transaction"]

T = TypeVar("T")
Row = Mapping[str, Any]


class EndMissingError(Exception):
    """A relationship was not written because one of its nodes is not in the graph."""


class Transaction(Protocol):
    """A transaction. Times are timezone-aware and in UTC, in both directions."""

    def read(self, statement: NamedStatement, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Run a statement for each row of parameters and return all result rows.

        A node is a dictionary of its properties; a relationship also has its `type`.
        """

    def write(self, changes: Changes) -> None:
        """Write the changes.

        Raises:
            EndMissingError: a node of a relationship does not exist, if the database reports that.
        """


class Backend(Protocol):
    """A database with a graph whose schema is up to date."""

    @property
    def address(self) -> str:
        """The address that `--store` takes."""

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema."""

    @property
    def is_file(self) -> bool:
        """Whether it is a file that this program opens itself, not a server."""

    @property
    def last_session(self) -> int | None:
        """The number of the session that wrote last, this one included; None if another one has written meanwhile."""

    def reading(self, work: Callable[[Transaction], T]) -> T:
        """Return the result of `work`, which only reads."""

    def exploring(self, work: Callable[[Explorer], T], view: View) -> T:
        """Return the result of `work`, which reads a consistent state of the graph and may be retried.

        Raises:
            StoreTimeoutError: the view's deadline has passed; running queries were cancelled.
        """

    def graph_version(self) -> Version | None:
        """Return the version of what traversals follow; None while a commit is applied.

        Raises:
            StoreError: the database could not be read.
        """

    def live_graph(self, work: Callable[[LiveGraph], T], *, whole: bool = False) -> T:
        """Return the result of `work`, which reads the live graph of one committed state and may be retried.

        With `whole`, what has changed since the version of that state may be mixed in.

        Raises:
            StoreError: the database could not be read.
        """

    @property
    def reports_missing_ends(self) -> bool:
        """Whether a relationship to a missing node raises EndMissingError; otherwise it is silently lost."""

    def writing(self, work: Callable[[Transaction], T], stripes: Sequence[int] = ()) -> T:
        """Run `work` in one transaction, commit it and return its result; after an error nothing is stored.

        It locks the whole graph, or only `stripes` (numbers below `planning.chunks.LOCK_STRIPES`). `work` may be
        retried after a conflict with another writer.

        Raises:
            StoreError: the database could not be reached, or refused.
        """

    def close(self) -> None:
        """Close files and connections. A second call does nothing."""
