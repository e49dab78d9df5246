"""SQLite, with an ear to what it reads: https://www.sqlite.org/c3ref/set_authorizer.html"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from types import TracebackType

from tests.referees.reading import Reading, short_column
from tests.soundness.experiment import RejectedError

__all__ = ["SqliteSession"]

_STEPS = 1_000_000
"""Virtual machine instructions after which a statement is interrupted."""


class SqliteSession:
    """One database in memory."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self._database.set_progress_handler(lambda: 1, _STEPS)

    def run(self, sql: str) -> None:
        """Run a statement.

        Raises:
            RejectedError: SQLite does not accept it.
        """
        try:
            self._database.execute(sql)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise RejectedError(str(error)) from error

    def read(self, sql: str, views: Sequence[str] = ()) -> Reading:
        """Return the names of a statement's columns, and which columns of tables it reads; those of views are none.

        SQLite tells the columns as it resolves their names: also those that only an unused part reads.

        Raises:
            RejectedError: SQLite does not accept the statement.
        """
        reads: set[str] = set()
        views = [name.lower() for name in views]

        def hear(action: int, table: str | None, column: str | None, *_: str | None) -> int:
            if action == sqlite3.SQLITE_READ and table and column and table.lower() not in views:
                reads.add(short_column(table, f'"{column}"'))
            return sqlite3.SQLITE_OK

        self._database.set_authorizer(hear)
        try:
            cursor = self._database.execute(sql)
            columns = tuple(str(one[0]) for one in cursor.description) if cursor.description else None
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise RejectedError(str(error)) from error
        finally:
            self._database.set_authorizer(None)
        tables = {str(row[0]).lower() for row in self._database.execute("SELECT name FROM sqlite_schema")}
        return Reading(columns, reads=frozenset(one for one in reads if one.split(".")[0] in tables))

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> SqliteSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
