"""MariaDB, asked about cases in MySQL's dialect: the names of columns, and the columns that a query may read.

It stands for MySQL, which no registry here has: what the two do differently is in `differences.json`.
"""

from __future__ import annotations

import re

from lineage.model.statement import StatementLineage
from tests.query_logs.servers.mariadb_server import MariadbSession
from tests.referees.case_tables import ReadCase
from tests.referees.reading import Reading
from tests.soundness.experiment import RejectedError

__all__ = ["MariadbEngine"]

_ERROR = re.compile(r"^ERROR \d+ \(\w+\) at line \d+: (.*)")


class MariadbEngine:
    default_types: tuple[str, ...] = ("int", "varchar(20)", "datetime", "json")

    def __init__(self, session: MariadbSession) -> None:
        self._session = session

    def _run(self, text: str) -> list[str]:
        said = self._session.run(text).splitlines()
        for line in said:
            if (error := _ERROR.match(line)) is not None:
                raise RejectedError(error[1].partition(" near '")[0])
        return said

    def begin(self, read: ReadCase, default_type: str) -> None:
        self._schemas = ["referee", *read.schemas]
        for schema in self._schemas:
            self._run(f"CREATE DATABASE {schema}")
        self._run("USE referee")
        for table in read.tables:
            self._run(table.create(default_type))

    def read(self, text: str, statements: list[StatementLineage]) -> list[Reading]:
        (statement, *_) = statements
        if statement.operation != "SELECT":
            return []
        self._run(f"CREATE TABLE referee.names AS {text}")
        listed = self._run(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'names'"
            " AND table_schema = 'referee' ORDER BY ordinal_position"
        )
        self._run("DROP TABLE referee.names")
        return [Reading(tuple(listed))]

    def define(self, text: str) -> None:
        self._run(text)

    def end(self) -> None:
        for schema in self._schemas:
            self._run(f"DROP DATABASE IF EXISTS {schema}")
