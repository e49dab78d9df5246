"""Columns that are read later are those that would have been read at once, and what differs is found at once."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from msgspec import Raw
from pydantic import TypeAdapter, ValidationError

from lineage_ingest.dbt.artifacts.manifest_nodes import DescribedColumn
from lineage_ingest.dbt.artifacts.unread_columns import UnreadColumns, columns_in, outlines_of

_AT_ONCE = TypeAdapter(dict[str, DescribedColumn])
_ODD: tuple[Any, ...] = (None, "", "a", 7, 1.5, True, [], {}, ["a"], ["a", 1, None], [{}], {"a": 1}, [["a"]])
_VALUES: dict[str, tuple[Any, ...]] = {
    "name": ("id", 7, None, "Größe"),
    "data_type": _ODD,
    "quote": (*_ODD, "yes", 0, 1),
    "description": _ODD,
    "meta": _ODD,
    "tags": _ODD,
    "constraints": (
        *_ODD,
        [{"type": "not_null", "columns": ["id"]}, {"type": "check", "expression": "id > 0", "name": 1}],
        [{"type": None}],
        [{"type": "unique", "columns": "id"}],
        [{"type": "unique", "columns": None, "expression": 7}],
    ),
    "config": (*_ODD, {"tags": "a", "meta": 7}, {"tags": [1]}, {"meta": {"pii": True}}),
    "unknown": _ODD,
}


@pytest.mark.parametrize("seed", range(20))
def test_columns_read_later_are_those_read_at_once(seed: int) -> None:
    chance = random.Random(seed)
    unread = 0
    for _ in range(200):
        named = chance.sample(sorted(_VALUES), chance.randint(0, 4))
        column = {"name": "id", **{name: chance.choice(_VALUES[name]) for name in named}}
        unread += _is_read_alike({"id": column, "other": {"name": "other"}})
    assert unread > 30


def test_each_odd_value_alone() -> None:
    for name, value in itertools.chain(*(((name, one) for one in values) for name, values in _VALUES.items())):
        _is_read_alike({"id": {"name": "id", name: value}})
    odd: tuple[Any, ...] = ({}, {"id": 7}, {"id": None}, {"id": {}}, [], "id")
    for columns in odd:
        _is_read_alike(columns)


def _is_read_alike(columns: Any) -> bool:
    """Check both ways of reading; return whether the columns are read later."""
    found = columns_in(Raw(json.dumps(columns).encode()))
    try:
        wanted = _AT_ONCE.validate_python(columns)
    except ValidationError:
        assert not isinstance(found, UnreadColumns), columns
        return False
    if not isinstance(found, UnreadColumns):
        assert found == columns
        return False
    assert len(found) == len(wanted)
    before = [(one.name, one.quote, one.data_type) for one in outlines_of(found)]
    assert dict(found) == wanted
    assert before == [(one.name, one.quote, one.data_type) for one in outlines_of(wanted)]
    return True
