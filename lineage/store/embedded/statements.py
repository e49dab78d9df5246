"""Statements of a connection, each planned once as long as the plan fits the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ladybug

__all__ = ["INTERRUPTED", "Statements"]

INTERRUPTED = "Interrupted"
"""What ladybug says of a statement that took longer than it may."""
ROWS_TO_PLAN_ANEW = 1_000
"""After so many new rows plans are made anew: one made for an emptier graph may scan where it should look up."""


class Statements:
    """Runs statements on a connection of its own."""

    def __init__(self, database: ladybug.Database) -> None:
        self._database = database
        self._connection = ladybug.Connection(database)
        self._prepared: dict[str, ladybug.PreparedStatement] = {}
        self._counts: dict[str, int] = {}
        self._new_rows = 0
        self._limit = 0

    def run(self, statement: str, parameters: Mapping[str, Any]) -> ladybug.QueryResult:
        """Return the result of the statement, which is prepared when it is first run.

        Raises:
            RuntimeError: ladybug cannot plan it or run it.
        """
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = ladybug.PreparedStatement(self._connection, statement)
            if not prepared.is_success():
                raise RuntimeError(prepared.get_error_message())
            self._prepared[statement] = prepared
        return self._connection.execute(prepared, dict(parameters))

    def run_once(self, statement: str, parameters: Mapping[str, Any] | None = None) -> ladybug.QueryResult:
        """Return the result of a statement that is not run again, or that takes a table of rows."""
        return self._connection.execute(statement, dict(parameters or {}))

    def count(self, label: str) -> int:
        """Return about how many nodes of a label there are: as when plans were made anew, or it was first asked."""
        if label not in self._counts:
            [[self._counts[label]]] = self.run_once(f"MATCH (n:{label}) RETURN count(n)").get_all()
        return self._counts[label]

    def limit(self, seconds: float | None) -> None:
        """Let a statement take so long at most from now on, or (None) any time."""
        milliseconds = max(round(seconds * 1000), 1) if seconds is not None else 0
        if milliseconds != self._limit:
            self._connection.set_query_timeout(milliseconds)
            self._limit = milliseconds

    def note_new_rows(self, rows: int) -> None:
        """Count rows that were created; plans are forgotten when there are many."""
        self._new_rows += rows
        if self._new_rows >= ROWS_TO_PLAN_ANEW:
            self._prepared.clear()
            self._counts.clear()
            self._new_rows = 0

    def renew(self) -> None:
        """Go on with another connection: one keeps memory for each COPY that it ran, in the buffer pool too.

        ladybug 0.22: 20 MB for 8,000 rows, for as long as the connection is open.
        """
        connection = ladybug.Connection(self._database)
        self.close()
        self._connection, self._limit = connection, 0

    def close(self) -> None:
        """Close the connection."""
        self._prepared.clear()
        self._counts.clear()
        self._connection.close()
