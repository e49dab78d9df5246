"""The tables that random queries run over."""

from __future__ import annotations

import random

from tests.soundness.experiment import Laboratory
from tests.soundness.tree import TABLES, Type

__all__ = ["random_laboratory"]

_SQL: dict[Type, str] = {"int": "INTEGER", "text": "VARCHAR", "bool": "BOOLEAN", "list": "INTEGER[]"}
_VALUES: dict[Type, tuple[object, ...]] = {
    "int": (0, 1, 2, 3, 5, None),
    "text": ("1", "12", "x", "X", "", None),
    "bool": (True, False, None),
    "list": ([1, 2], [3], [], [2, 0, 1], None),
}


def random_laboratory(seed: str) -> Laboratory:
    """Return a laboratory with NULLs and duplicates in its tables, the same for the same seed."""
    schema = {table: {name: _SQL[kind] for name, kind in columns.items()} for table, columns in TABLES.items()}
    domains = {(table, name): _VALUES[kind] for table, columns in TABLES.items() for name, kind in columns.items()}
    return Laboratory(schema, domains, random.Random(seed))
