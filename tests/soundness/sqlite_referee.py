"""SQLite judges random queries by the columns that it tells its authorizer."""

from __future__ import annotations

from lineage.model.statement import StatementLineage
from tests.referees.sqlite_session import SqliteSession
from tests.soundness.check import Finding
from tests.soundness.grammar import SQLITE
from tests.soundness.meaning import columns_named
from tests.soundness.render import statements
from tests.soundness.tree import TABLES, TARGET, Statement

__all__ = ["SqliteReferee"]


_COLUMNS = {f"{table}.{column}" for table, columns in TABLES.items() for column in columns}


class SqliteReferee:
    """Compares names, and all columns that are read, with those that have an edge."""

    def __init__(self) -> None:
        self.runs = 0
        self._session = SqliteSession()
        for table, columns in TABLES.items():
            listed = ", ".join(f"{name} {SQLITE.column_types[kind]}" for name, kind in columns.items())
            self._session.run(f"CREATE TABLE {table} ({listed})")

    def judge(self, statement: Statement, lineage: list[StatementLineage], _: int | None) -> Finding | None:
        *before, last = statements(statement)
        session, found = self._session, []
        views = [temporary.name for temporary in statement.temporaries]
        if statement.form == "VIEW":
            views.append(TARGET)
        try:
            if statement.schema:
                session.run(f"CREATE TABLE {TARGET} ({', '.join(f'{name} {kind}' for name, kind in statement.schema)})")
            for text in before:
                session.run(text)
            if statement.form == "VIEW":
                session.run(last)
                last = f"SELECT * FROM {TARGET}"
            reading = session.read(last, views)
            self.runs += 1
        finally:
            kind = "VIEW" if statement.form == "VIEW" else "TABLE"
            session.run(f"DROP {kind} IF EXISTS {TARGET}")
            for temporary in statement.temporaries:
                session.run(f"DROP VIEW IF EXISTS {temporary.name}")
        ours = lineage[-1]
        if reading.columns is not None and list(reading.columns) != list(ours.output_columns):
            found.append(f"columns {ours.output_columns}, SQLite says {list(reading.columns)}")
        known = {str(edge.source) for edge in ours.edges}
        # SQLite tells the columns of a sub-query that nothing reads, and not those that USING compares.
        # Of an alias in GROUP BY or WHERE it tells the column of the CTE or sub-query behind it too, as one of a table.
        reads = {name for name in reading.reads or () if name in _COLUMNS}
        named, merged = columns_named(statement)
        found += [f"missed: {name}" for name in sorted(reads - known - named - merged)]
        found += [f"not read: {name}" for name in sorted(known - reads - merged)]
        return Finding("reads", tuple(found)) if found else None

    def close(self) -> None:
        self._session.close()
