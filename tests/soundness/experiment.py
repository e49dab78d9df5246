"""Runs a statement on DuckDB over small random tables, and again with one input column changed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Timer
from typing import Any, TypeAlias

import duckdb

__all__ = ["Change", "Laboratory", "Outcome", "RejectedError", "Schema"]

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
    """A result: names, each column's values and the whole rows, both without their order."""

    names: tuple[str, ...]
    columns: tuple[Counter[str], ...]
    rows: Counter[tuple[str, ...]]

    @property
    def count(self) -> int:
        return self.rows.total()


@dataclass(frozen=True, slots=True)
class Change:
    """What a changed input did: whether the number of rows differs, which columns' values do, or only their pairing."""

    count: bool
    columns: tuple[int, ...]

    @classmethod
    def between(cls, before: Outcome, after: Outcome) -> Change | None:
        """Return how two results differ; None if they hold the same rows."""
        if before.rows == after.rows:
            return None
        pairs = zip(before.columns, after.columns, strict=True)
        return cls(before.count != after.count, tuple(i for i, (a, b) in enumerate(pairs) if a != b))


class Laboratory:
    """Tables of one random content, and for each column schemas in which that column, and no other, is changed."""

    WAYS = ("redrawn", "emptied", "shifted")

    def __init__(
        self,
        schema: Schema,
        domains: Domains,
        rng: random.Random,
        rows: int = 5,
        *,
        ways: int | None = None,
        optimised: bool = False,
    ) -> None:
        self._database = duckdb.connect(":memory:")
        self._database.execute("SET threads = 1; SET order_by_non_integer_literal = true")
        if not optimised:  # over a handful of rows it costs more than it saves
            self._database.execute("PRAGMA disable_optimizer")
        else:  # the TPC queries rely on keys that random tables do not have
            self._database.execute("SET scalar_subquery_error_on_multiple_rows = false")
        self._schema = schema
        self.runs = 0
        self._variants: dict[tuple[str, str], list[str]] = {}
        for table, columns in schema.items():
            content = [
                tuple(rng.choice(domains[table, column]) for column in columns)
                for _ in range(rng.randint(rows - 2, rows))
            ]
            content.append(rng.choice(content))
            self._store("main", table, content)
            shuffled = list(content)
            rng.shuffle(shuffled)
            self._store("shuffled", table, shuffled)
            for position, column in enumerate(columns):
                names = self._variants[table, column] = []
                for way in self.WAYS[:ways]:
                    name = f"{way}_{table}_{column}"
                    self._store(name, table, _changed(content, position, way, domains[table, column], rng))
                    names.append(name)

    def _store(self, schema: str, table: str, content: Rows) -> None:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self._schema[table].items())
        self._database.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"; CREATE TABLE "{schema}"."{table}" ({columns})')
        marks = f"({', '.join('?' for _ in self._schema[table])})"
        values = [value for row in content for value in row]
        self._database.execute(f'INSERT INTO "{schema}"."{table}" VALUES {", ".join(marks for _ in content)}', values)

    def close(self) -> None:
        self._database.close()

    def run(
        self, script: Sequence[str], cleanup: Sequence[str] = (), read: str | None = None, schema: str = "main"
    ) -> Outcome:
        """Return the result of a script's last statement, or of `read` after it; `cleanup` is run in any case.

        Raises:
            RejectedError: DuckDB does not run it.
        """
        self.runs += 1
        database = self._database
        database.execute("SET search_path = '" + (schema if schema == "main" else f"{schema},main") + "'")
        watch = Timer(_SECONDS, database.interrupt)
        watch.start()
        try:
            for statement in script:
                database.execute(statement)
            if read is not None:
                database.execute(read)
            names = tuple(column[0] for column in database.description or ())
            found = [tuple(map(repr, row)) for row in database.fetchall()]
        except duckdb.Error as error:
            raise RejectedError(str(error).partition("\n")[0]) from error
        finally:
            watch.cancel()
            for statement in cleanup:
                database.execute(statement)
        columns = tuple(Counter(row[i] for row in found) for i in range(len(names)))
        return Outcome(names, columns, Counter(found))

    def changed(self, table: str, column: str, ways: int | None = None) -> Iterator[str]:
        """Yield the schemas in which a column is changed, at most `ways` of them."""
        yield from self._variants[table, column][:ways]


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Return the values once each; lists among them cannot be hashed."""
    return list({repr(value): value for value in values}.values())


def _changed(content: Rows, position: int, way: str, domain: Sequence[Any], rng: random.Random) -> Rows:
    values = [row[position] for row in content]
    domain = _distinct(domain)
    match way:
        case "redrawn":
            values = [rng.choice(domain) for _ in values]
        case "shifted":  # each value goes to its successor, so that every single one changes
            values = [domain[(domain.index(value) + 1) % len(domain)] for value in values]
        case _:
            values = [None] * len(values)
    return [(*row[:position], value, *row[position + 1 :]) for row, value in zip(content, values, strict=True)]
