"""Prepared statements of a connection, prepared again when the graph has grown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ladybug

__all__ = ["INTERRUPTED", "Statements"]

INTERRUPTED = "Interrupted"
"""In ladybug's error about a statement that exceeded its time limit."""
ROWS_TO_PLAN_ANEW = 1_000
"""Number of new rows after which statements are prepared again: a plan for an emptier graph may scan instead of using
the index."""


class Statements:
    """Runs statements on its own connection."""

    def __init__(self, database: ladybug.Database) -> None:
        self._database = database
        self._connection = ladybug.Connection(database)
        self._prepared: dict[str, ladybug.PreparedStatement] = {}
        self._counts: dict[str, int] = {}
        self._new_rows = 0
        self._limit = 0

    def run(self, statement: str, parameters: Mapping[str, Any]) -> ladybug.QueryResult:
        """Return the result of a statement; it is prepared on its first run.

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
        """Return the result of a statement that is run once, or that takes a table of rows."""
        return self._connection.execute(statement, dict(parameters or {}))

    def count(self, label: str) -> int:
        """Return the approximate number of nodes with a label, counted when statements were last prepared."""
        if label not in self._counts:
            [[self._counts[label]]] = self.run_once(f"MATCH (n:`{label}`) RETURN count(n)").get_all()
        return self._counts[label]

    def limit(self, seconds: float | None) -> None:
        """Set the time limit of statements in seconds; None removes it."""
        milliseconds = max(round(seconds * 1000), 1) if seconds is not None else 0
        if milliseconds != self._limit:
            self._connection.set_query_timeout(milliseconds)
            self._limit = milliseconds

    def interrupt(self) -> None:
        """Interrupt what another thread runs on this connection; without effect if nothing runs."""
        self._connection.interrupt()

    def note_new_rows(self, rows: int) -> None:
        """Count created rows; after many, prepared statements are dropped."""
        self._new_rows += rows
        if self._new_rows >= ROWS_TO_PLAN_ANEW:
            self._prepared.clear()
            self._counts.clear()
            self._new_rows = 0

    def renew(self) -> None:
        """Replace the connection, which keeps memory for each COPY it ran, in the buffer pool as well.

        ladybug 0.22: 20 MB for 8,000 rows, until the connection is closed.
        """
        connection = ladybug.Connection(self._database)
        self.close()
        self._connection, self._limit = connection, 0

    def close(self) -> None:
        """Close the connection."""
        self._prepared.clear()
        self._counts.clear()
        self._connection.close()
