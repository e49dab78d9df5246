"""JSON as `json.dumps` writes it."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

from lineage import extract
from lineage.screen.json_text import json_text
from tests.sql.case_files import read_cases


class _Kind(StrEnum):
    ONE = "one"


class _Number(IntEnum):
    TWO = 2


class _Pair(NamedTuple):
    first: int
    second: str


class _Name(str):
    __slots__ = ()


def _random_value(rng: random.Random, depth: int = 0) -> Any:
    leaves: list[Any] = [
        "", "text", 'quo"te\n\x00\x1b', "été 😀 \ud800", 0, -7, 10**30, 1.5, -0.0, float("inf"), True, False, None,
        _Kind.ONE, _Number.TWO, _Name("n\t"), _Pair(1, "x"), datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1),
        {1: 2, None: 3, False: 4, 1.5: 5, _Kind.ONE: 6}, {"a"}, [], {}, (), [[]], [{}],
    ]  # fmt: skip
    if depth > 3 or rng.random() < 0.4:
        return rng.choice(leaves)
    if rng.random() < 0.5:
        return [_random_value(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    return {rng.choice(("a", "b", 'c"', "é", 5)): _random_value(rng, depth + 1) for _ in range(rng.randint(0, 4))}


def test_random_values() -> None:
    rng = random.Random(1)
    for _ in range(2_000):
        value = _random_value(rng)
        assert json_text(value) == json.dumps(value, indent=2, default=str)


def test_statements() -> None:
    found = [one.to_dict() for case in list(read_cases())[::20] for one in extract(case.sql, case.dialect)]
    assert json_text(found) == json.dumps(found, indent=2, default=str)
