"""Random histories of a few tables, as statements that are valid in their order."""

from __future__ import annotations

import random
from collections.abc import Iterator

__all__ = ["random_history"]

_MADE = ("a", "b", "c", "d")


def random_history(rng: random.Random, length: int) -> list[str]:
    """Return so many statements: CREATE TABLE AS, INSERT, DROP TABLE and RENAME, after those that make two tables."""
    tables = {"o": ["x", "y"], "p": ["x", "z"]}
    texts = [f"CREATE TABLE {name} ({', '.join(f'{column} int' for column in tables[name])})" for name in tables]
    steps = (_create, _insert, _drop, _rename)
    while len(texts) < length + 2:
        texts.extend(rng.choice(steps)(rng, tables))
    return texts


def _create(rng: random.Random, tables: dict[str, list[str]]) -> Iterator[str]:
    if free := [name for name in _MADE if name not in tables]:
        table, source = rng.choice(free), rng.choice(list(tables))
        columns = rng.sample(tables[source], rng.randint(1, len(tables[source])))
        tables[table] = columns
        yield f"CREATE TABLE {table} AS SELECT {', '.join(columns)} FROM {source}"


def _insert(rng: random.Random, tables: dict[str, list[str]]) -> Iterator[str]:
    if made := [name for name in tables if name in _MADE]:
        table = rng.choice(made)
        source = rng.choice([name for name in tables if name != table])
        yield f"INSERT INTO {table} ({rng.choice(tables[table])}) SELECT {rng.choice(tables[source])} FROM {source}"


def _drop(rng: random.Random, tables: dict[str, list[str]]) -> Iterator[str]:
    if made := [name for name in tables if name in _MADE]:
        table = rng.choice(made)
        del tables[table]
        yield f"DROP TABLE {table}"


def _rename(rng: random.Random, tables: dict[str, list[str]]) -> Iterator[str]:
    made, free = [name for name in tables if name in _MADE], [name for name in _MADE if name not in tables]
    if made and free:
        table, other = rng.choice(made), rng.choice(free)
        tables[other] = tables.pop(table)
        yield f"ALTER TABLE {table} RENAME TO {other}"
