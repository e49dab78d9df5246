"""PostgreSQL, asked about cases: the names of a view's columns, and the columns that its rule depends on.

https://www.postgresql.org/docs/current/catalog-pg-depend.html
"""

from __future__ import annotations

import re

from lineage.model.statement import StatementLineage
from tests.referees.case_tables import ReadCase
from tests.referees.libpq import Libpq
from tests.referees.reading import Reading, short_column
from tests.soundness.experiment import RejectedError

__all__ = ["PostgresEngine"]

_DEPENDS = """
SELECT DISTINCT refobjid::regclass::text || E'\\t' || attname
FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
WHERE refclassid = 'pg_class'::regclass AND refobjsubid > 0 AND {which}
"""
_WHOLE = """
SELECT DISTINCT relname FROM pg_depend JOIN pg_class AS c ON c.oid = refobjid
WHERE refclassid = 'pg_class'::regclass AND refobjsubid = 0 AND {which}
"""
_CHANGES = re.compile(r"\(\s*(INSERT|UPDATE|DELETE|MERGE)\b", re.IGNORECASE)
"""A CTE that changes a table: a view may have none."""
_READS = re.compile(r"\s*(\(|(WITH|INSERT|UPDATE|DELETE|MERGE|SELECT|VALUES|TABLE)\b)", re.IGNORECASE)
_QUERIES = re.compile(r"\s*(\(|(WITH|SELECT|VALUES|TABLE)\b)(?!.*\)\s*(INSERT|UPDATE|DELETE|MERGE)\b)", re.I | re.S)
_INTO = re.compile(r"\sINTO\s+((TEMP|TEMPORARY|UNLOGGED|TABLE)\s+)*[\w.]+", re.IGNORECASE)
_NO_DATA = re.compile(r"\sWITH\s+(NO\s+)?DATA\s*$", re.IGNORECASE)
_CREATES = re.compile(r"\s*CREATE\s.*?\bAS\b\s*(?=\(?\s*(SELECT|WITH|VALUES|TABLE)\b)", re.IGNORECASE | re.DOTALL)


class PostgresEngine:
    default_types: tuple[str, ...] = (
        "int",
        "text",
        "timestamp",
        "int[]",
        "jsonb",
        "json",
        "boolean",
        "numeric",
        "text[]",
        "date",
    )

    def __init__(self, connection: Libpq) -> None:
        self._run = connection.run
        self._run("SET statement_timeout = '2s'; SET client_min_messages = error; SET check_function_bodies = off")

    def begin(self, read: ReadCase, default_type: str) -> None:
        self._run("BEGIN")
        own = read.case.options.get("default_schema", "public")
        for schema in sorted({*read.schemas, own} - {"public", "pg_temp"}):
            self._run(f"CREATE SCHEMA {schema}")
        self._run(f"SET LOCAL search_path = {own}")
        for table in read.tables:
            self._run(table.create(default_type))

    def read(self, text: str, statements: list[StatementLineage]) -> list[Reading]:
        (statement, *_) = statements
        if not (_READS.match(text) or _CREATES.match(text)):
            return []
        self._run("SAVEPOINT here")
        try:
            return [self._view(text, statement) or self._body(text, statement)]
        except RejectedError as error:
            if "more than once" not in str(error):  # a view has no two columns of one name
                raise
            self._run("ROLLBACK TO here")
            return [self._body(text, statement)]
        finally:
            self._run("ROLLBACK TO here")

    def _view(self, text: str, statement: StatementLineage) -> Reading | None:
        """Return what a view of the statement's query depends on; None if it is not a query."""
        creates = _CREATES.match(text)
        queries = _QUERIES.match(text)
        text = _INTO.sub(" ", text) if queries and statement.target else text
        if (queries or creates) and not _CHANGES.search(text):
            view = "pg_temp.referee"
            if statement.operation == "CREATE_VIEW":
                view = str(statement.target)
                self._run(text)
            else:
                query = _NO_DATA.sub("", text[creates.end() :] if creates else text)
                self._run(f"CREATE VIEW {view} AS {query}")
            names = self._run(
                f"SELECT attname FROM pg_attribute WHERE attrelid = '{view}'::regclass AND attnum > 0 ORDER BY attnum"
            )
            rule = f"objid = (SELECT oid FROM pg_rewrite WHERE ev_class = '{view}'::regclass)"
            which = f"{rule} AND refobjid <> '{view}'::regclass"
            whole = self._run(_WHOLE.format(which=which))
            return Reading(tuple(names), reads=self._reads(which), whole=frozenset(whole))
        return None

    def _body(self, text: str, statement: StatementLineage) -> Reading:
        """Return what a function with this statement depends on; that is what it reads, and what it writes."""
        self._run(f"CREATE FUNCTION pg_temp.referee() RETURNS void BEGIN ATOMIC {text}; END")
        which = "objid = 'pg_temp.referee'::regproc"
        reads, whole = self._reads(which), self._run(_WHOLE.format(which=which))
        target = str(statement.target).split(".")[-1].replace('"', "")
        ours = {short_column(edge.source.table or "", edge.source.column) for edge in statement.edges}
        reads = frozenset(one for one in reads if one.split(".")[0] != target or one in ours)
        return Reading(reads=reads, whole=frozenset(whole))

    def _reads(self, which: str) -> frozenset[str]:
        pairs = (line.split("\t") for line in self._run(_DEPENDS.format(which=which)))
        return frozenset(short_column(table, f'"{column}"') for table, column in pairs)

    def define(self, text: str) -> None:
        self._run(text)

    def end(self) -> None:
        self._run("ROLLBACK")
