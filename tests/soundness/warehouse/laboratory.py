"""Runs a warehouse's statements on DuckDB, and again with the content of base tables changed."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Timer
from typing import Any

import duckdb

from tests.soundness.experiment import TURNED, Outcome, RejectedError, changed_values
from tests.soundness.tree import Type
from tests.soundness.warehouse.render import sql_of
from tests.soundness.warehouse.tree import HOME, SCHEMAS, Commit, CreateAs, CreateTable, Drop, RenameTable, Run

__all__ = ["Laboratory", "Variant"]

_DOMAINS: dict[Type, tuple[Any, ...]] = {
    "int": (0, 1, 2, 3, 5, None),
    "text": ("1", "12", "x", "X", "", None),
    "bool": (True, False, None),
    "list": ([1, 2], [3], [], None),
}
_ROWS = 5
_MAX_ROWS = 60
"""A table that has grown beyond is not made: joins of such tables take too long."""
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Variant:
    """How the content of base tables differs from what it is: columns changed, rows in another order."""

    changes: Mapping[tuple[int, str], str] = field(default_factory=dict)
    order: int = 0


class Laboratory:
    """One database in memory, emptied for every run; each session is a connection of its own."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._database = duckdb.connect(":memory:")
        self._database.execute("SET threads = 1; SET order_by_non_integer_literal = true")
        self._database.execute("PRAGMA disable_optimizer")
        self._sessions: dict[int, duckdb.DuckDBPyConnection] = {}
        self._ends: dict[int, list[str]] = {}
        """By session, what its next COMMIT does to temporary tables."""
        self._variant = Variant()
        self.runs = 0

    def close(self) -> None:
        self._end_sessions()
        self._database.close()

    def begin(self, variant: Variant | None = None) -> None:
        """Begin with nothing but empty schemas."""
        self._end_sessions()
        self._variant = variant or Variant()
        self.runs += 1
        for schema in SCHEMAS:
            self._database.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")

    def run(self, run: Run) -> None:
        """Run a statement in its session.

        Raises:
            RejectedError: DuckDB does not run it, or the table grows too large; nothing has changed then.
        """
        session = self._session(run.session)
        watch = Timer(_SECONDS, session.interrupt)
        watch.start()
        try:
            session.execute("BEGIN")
            self._execute(session, run)
            _check_size(session, run)
            session.execute("COMMIT")
        except duckdb.Error as error:
            _rollback(session)
            raise RejectedError(str(error).partition("\n")[0]) from error
        except RejectedError:
            _rollback(session)
            raise
        finally:
            watch.cancel()

    def _execute(self, session: duckdb.DuckDBPyConnection, run: Run) -> None:
        text = sql_of(run.step)
        if isinstance(run.step, Commit):
            text = "; ".join(self._ends.pop(run.session, ()))
        elif isinstance(run.step, CreateAs) and (what := run.step.on_commit):  # DuckDB itself has only PRESERVE ROWS
            text = text.replace(f" ON COMMIT {what}", "", 1)
        for forward, backward in TURNED if self._variant.order % 2 else ():
            text = text.replace(forward, backward)
        session.execute(text)
        if isinstance(run.step, CreateAs) and run.step.on_commit:
            verb = "DROP TABLE IF EXISTS" if run.step.on_commit == "DROP" else "DELETE FROM"
            self._ends.setdefault(run.session, []).append(f"{verb} temp.{run.step.name}")
        if isinstance(run.step, CreateTable):
            self._fill(session, run.step)

    def attempt(self, run: Run) -> bool:
        """Run a statement; return whether that was possible."""
        try:
            self.run(run)
        except RejectedError:
            return False
        return True

    def outputs(self, tables: Iterable[str]) -> dict[str, Outcome]:
        """Return what these tables and views hold; a view that cannot be read is left out."""
        found = {}
        reader = self._session(-1)
        for table in tables:
            try:
                result = reader.execute(f"FROM {table}")
                found[table] = Outcome(tuple(column[0] for column in result.description or ()), result.fetchall())
            except duckdb.Error:
                continue
        return found

    def rebuild(self, runs: Iterable[Run], tables: Iterable[str], variant: Variant) -> dict[str, Outcome]:
        """Return what tables hold after all statements ran on changed content.

        Raises:
            RejectedError: DuckDB does not run one of them.
        """
        self.begin(variant)
        try:
            for run in runs:
                self._execute(self._session(run.session), run)
        except duckdb.Error as error:
            raise RejectedError(str(error).partition("\n")[0]) from error
        return self.outputs(tables)

    def _session(self, number: int) -> duckdb.DuckDBPyConnection:
        if number not in self._sessions:
            self._sessions[number] = self._database.cursor()
            self._sessions[number].execute(f"USE {HOME}")
        return self._sessions[number]

    def _end_sessions(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._ends.clear()

    def _fill(self, session: duckdb.DuckDBPyConnection, table: CreateTable) -> None:
        rng = random.Random(f"{self._seed}/{table.content}")
        rows = [tuple(rng.choice(_DOMAINS[kind]) for _, kind in table.columns) for _ in range(rng.randint(3, _ROWS))]
        rows.append(rng.choice(rows))
        columns = []
        for (name, kind), values in zip(table.columns, zip(*rows, strict=True), strict=True):
            way = self._variant.changes.get((table.content, name))
            redrawn = random.Random(f"{self._seed}/{table.content}/{name}")
            columns.append(values if way is None else changed_values(values, way, _DOMAINS[kind], redrawn))
        rows = list(zip(*columns, strict=True))
        if self._variant.order:
            random.Random(zlib.crc32(f"{self._variant.order}/{table.content}".encode())).shuffle(rows)
        marks = f"({', '.join('?' for _ in table.columns)})"
        values_of_all = [value for row in rows for value in row]
        session.execute(f"INSERT INTO {table.name} VALUES {', '.join(marks for _ in rows)}", values_of_all)


def _check_size(session: duckdb.DuckDBPyConnection, run: Run) -> None:
    """Refuse a table that has grown too large, or a view over too much.

    Raises:
        RejectedError: it has.
    """
    name = getattr(run.step, "name", None)
    if name is not None and not isinstance(run.step, Drop | RenameTable):
        (count,) = session.execute(f"SELECT count(*) FROM {name}").fetchall()[0]
        if count > _MAX_ROWS:
            raise RejectedError("too many rows")


def _rollback(session: duckdb.DuckDBPyConnection) -> None:
    try:
        session.execute("ROLLBACK")
    except duckdb.Error:
        return
