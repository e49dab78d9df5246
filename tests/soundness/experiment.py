"""Runs a statement on DuckDB over small random tables, and again with one input column changed."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Any, TypeAlias

import duckdb

__all__ = [
    "TURNED",
    "WAYS",
    "Change",
    "Changes",
    "Laboratory",
    "Outcome",
    "RejectedError",
    "Schema",
    "changed_values",
]

Schema: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""Tables, their columns and the types that DuckDB gives them."""
Rows: TypeAlias = "list[tuple[Any, ...]]"
Domains: TypeAlias = "Mapping[tuple[str, str], Sequence[Any]]"


_SECONDS = 2.0
"""How long a statement may run: a product of many joins says nothing that a small one does not."""


class RejectedError(Exception):
    """DuckDB does not run the statement; the message says why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result: names and rows."""

    names: tuple[str, ...]
    rows: Rows

    def same(self, other: Outcome, columns: Sequence[int]) -> bool:
        """Return whether two results agree in some columns, in whatever order their rows stand."""
        return len(self.rows) == len(other.rows) and (
            self.rows == other.rows or self._counted(columns) == other._counted(columns)
        )

    def same_rows(self, other: Outcome) -> bool:
        return self.same(other, range(len(self.names)))

    def _counted(self, columns: Sequence[int]) -> Counter[tuple[str, ...]]:
        return Counter(tuple(repr(row[position]) for position in columns) for row in self.rows)


@dataclass(frozen=True, slots=True)
class Change:
    """What a changed input did: whether the number of rows differs, which columns' values do, or only their pairing."""

    count: bool
    columns: tuple[int, ...]

    @classmethod
    def between(cls, before: Outcome, after: Outcome) -> Change | None:
        """Return how two results differ; None if they hold the same rows."""
        if before.same_rows(after):
            return None
        different = (position for position in range(len(before.names)) if not before.same(after, (position,)))
        return cls(len(before.rows) != len(after.rows), tuple(different))


Changes: TypeAlias = "Mapping[tuple[str, str], str]"
"""Columns to be changed, each in one of the ways."""
TURNED = (("lag/* turned */", "lead"), ("/* turned */", "DESC NULLS FIRST"))
"""What says the same of rows that differ in a window's order, and takes equal ones the other way round.

Tables in another order alone would not show that a value depends on it: a query below may have an order of its own.
"""
SHUFFLED = "shuffled"
WAYS = ("redrawn", "emptied", "shifted")


class Laboratory:
    """Tables of one random content. Beside each column stand its changed values, one column for each way.

    A run with changes sees views of the same names, in a schema that is looked up first.
    """

    def __init__(
        self, schema: Schema, domains: Domains, rng: random.Random, rows: int = 5, *, optimised: bool = False
    ) -> None:
        self._database = duckdb.connect(":memory:")
        self._database.execute("SET threads = 1; SET order_by_non_integer_literal = true")
        if not optimised:  # over a handful of rows it costs more than it saves
            self._database.execute("PRAGMA disable_optimizer")
        else:  # the TPC queries rely on keys that random tables do not have
            self._database.execute("SET scalar_subquery_error_on_multiple_rows = false")
        self.schema = self._schema = schema
        self.runs = 0
        self._database.execute(f"CREATE SCHEMA wide; CREATE SCHEMA {SHUFFLED}; CREATE SCHEMA changed")
        for table, columns in schema.items():
            content = [
                tuple(rng.choice(domains[table, column]) for column in columns)
                for _ in range(rng.randint(rows - 2, rows))
            ]
            content.append(rng.choice(content))
            self._store("main", table, columns, content)
            shuffled = list(content)
            rng.shuffle(shuffled)
            self._store(SHUFFLED, table, columns, shuffled)
            wide, values = dict(columns), list(zip(*content, strict=True))
            for column, old in zip(columns, tuple(values), strict=True):
                for way in WAYS:
                    wide[f"{column} {way}"] = columns[column]
                    values.append(tuple(changed_values(old, way, domains[table, column], rng)))
            self._store("wide", table, wide, list(zip(*values, strict=True)))
        self._database.execute("SET search_path = 'changed,main'")
        self._watch = _Watch(self._database)

    def _store(self, schema: str, table: str, columns: Mapping[str, str], content: Rows) -> None:
        listed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        self._database.execute(f'CREATE TABLE "{schema}"."{table}" ({listed})')
        marks = f"({', '.join('?' for _ in columns)})"
        values = [value for row in content for value in row]
        self._database.execute(f'INSERT INTO "{schema}"."{table}" VALUES {", ".join(marks for _ in content)}', values)

    def close(self) -> None:
        self._watch.close()
        self._database.close()

    def run(
        self,
        script: Sequence[str],
        cleanup: Sequence[str] = (),
        read: str | None = None,
        changes: Changes | None = None,
        *,
        order: int = 0,
    ) -> Outcome:
        """Return the result of a script's last statement, or of `read` after it; `cleanup` is run in any case.

        Each other `order` than 0 has the rows of the tables in another one; the odd ones turn equal rows of a window.

        Raises:
            RejectedError: DuckDB does not run it.
        """
        self.runs += 1
        views = dict(self._views(changes or {}))
        if order:
            views = {table: f'FROM {SHUFFLED}."{table}" ORDER BY hash(rowid + {order})' for table in self._schema}
        made = [f'CREATE VIEW changed."{table}" AS {text}' for table, text in views.items()]
        database = self._database
        try:
            with self._watch:
                text = ";\n".join([*made, *script, *([] if read is None else [read])])
                for forward, backward in TURNED if order % 2 else ():
                    text = text.replace(forward, backward)
                database.execute(text)
                return Outcome(tuple(column[0] for column in database.description or ()), database.fetchall())
        except duckdb.Error as error:
            raise RejectedError(str(error).partition("\n")[0]) from error
        finally:
            after = [*cleanup, *(f'DROP VIEW IF EXISTS changed."{table}"' for table in views)]
            if after:
                database.execute(";".join(after))

    def _views(self, changes: Changes) -> Iterator[tuple[str, str]]:
        for table in sorted({table for table, _ in changes}):
            columns = (
                f'"{column} {changes[table, column]}" AS "{column}"' if (table, column) in changes else f'"{column}"'
                for column in self._schema[table]
            )
            yield table, f'SELECT {", ".join(columns)} FROM wide."{table}"'


class _Watch:
    """Interrupts a database in which a statement runs for too long: one thread for all its statements."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database
        self._until = math.inf
        self._closed = Event()
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def __enter__(self) -> None:
        self._until = monotonic() + _SECONDS

    def __exit__(self, *_: object) -> None:
        self._until = math.inf

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._closed.wait(_SECONDS / 4):
            if monotonic() > self._until:
                self._database.interrupt()


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Return the values once each; lists among them cannot be hashed."""
    return list({repr(value): value for value in values}.values())


def changed_values(values: Sequence[Any], way: str, domain: Sequence[Any], rng: random.Random) -> list[Any]:
    domain = _distinct(domain)
    match way:
        case "redrawn":
            return [rng.choice(domain) for _ in values]
        case "shifted":  # each value goes to its successor, so that every single one changes
            return [domain[(domain.index(value) + 1) % len(domain)] for value in values]
        case _:
            return [None] * len(values)
