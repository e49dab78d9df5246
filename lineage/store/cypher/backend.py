"""What a database has to offer for a store to be built on it: rows out, changes in, transactions around both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from lineage.store.cypher.schema import Changes
from lineage.store.exploring import Explorer, View

__all__ = ["Backend", "EndMissingError", "Row", "Transaction"]

T = TypeVar("T")
Row = Mapping[str, Any]


class EndMissingError(Exception):
    """A relationship was not written: a node that it joins is not in the graph."""


class Transaction(Protocol):
    """One view of the graph. Times are aware and in UTC, both ways."""

    def read(self, statement: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return what the statement answers for each row of parameters; nothing for no row.

        A node is a dictionary of its properties, a relationship one with its `type` as well.
        """

    def write(self, changes: Changes) -> None:
        """Write the changes.

        Raises:
            EndMissingError: a relationship has an end that is not there, as far as the database says so.
        """


class Backend(Protocol):
    """A database with a graph whose schema is up to date."""

    @property
    def address(self) -> str:
        """What `--store` would name it by."""

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema."""

    @property
    def is_exclusive(self) -> bool:
        """Whether no other process can write to it as long as it is open."""

    def reading(self, work: Callable[[Transaction], T]) -> T:
        """Return what `work` returns, which only reads."""

    def exploring(self, work: Callable[[Explorer], T], view: View) -> T:
        """Return what `work`, which may run again, makes of one state of the graph around columns.

        Raises:
            StoreTimeoutError: the view's deadline is past; what ran in the database was ended.
        """

    @property
    def reports_missing_ends(self) -> bool:
        """Whether a relationship with an end that is not there raises EndMissingError. Else it may be lost."""

    def writing(self, work: Callable[[Transaction], T], stripes: Sequence[int] = ()) -> T:
        """Return what `work` returns, committed in one transaction, or raise with nothing stored.

        It is alone with the graph; in lanes (numbers below `planning.parts.LANES`), alone in these, beside writers in
        others. `work` may run again, after a conflict with another writer.

        Raises:
            StoreError: the database could not be reached, or refused.
        """

    def close(self) -> None:
        """Let go of files and connections. A second call does nothing."""
