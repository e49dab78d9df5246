"""SQLite, asked about cases: the names of columns, and the columns that a statement reads."""

from __future__ import annotations

from lineage.model.statement import StatementLineage
from tests.referees.case_tables import ReadCase
from tests.referees.reading import Reading
from tests.referees.sqlite_session import SqliteSession

__all__ = ["SqliteEngine"]


class SqliteEngine:
    default_types: tuple[str, ...] = ("",)

    def __init__(self) -> None:
        self._session = SqliteSession()

    def begin(self, read: ReadCase, default_type: str) -> None:
        self._session = SqliteSession()
        for table in read.tables:
            self._session.run(table.create(default_type))

    def read(self, text: str, statements: list[StatementLineage]) -> list[Reading]:
        return [self._session.read(text)]

    def define(self, text: str) -> None:
        """Every statement has run when it was read."""

    def end(self) -> None:
        self._session.close()
