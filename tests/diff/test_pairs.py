"""Pairs of queries: which are the same, and which columns of the others differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.sql.canonical.definition import read_sql
from lineage.sql.canonical.table_form import TableForm, base_table

_FOLDER = Path(__file__).parent / "pairs"
_NAMING = Naming(dialect_named("duckdb"))
_TABLES = {
    name: base_table(name, [(column, None) for column in columns])
    for name, columns in {"t": "abc", "u": "ax", "v": "axb"}.items()
}


def _pairs(name: str) -> list[object]:
    return list(_read(name))


def _read(name: str) -> Iterator[object]:
    text = (_FOLDER / name).read_text(encoding="utf-8")
    for block in text.split("\n\n")[1:]:
        head, _, rest = block.strip().partition("\n")
        one, _, other = rest.partition("\n-- and\n")
        changed = re.search(r"\[(.*)\]", head)
        title = head.removeprefix("-- ")
        yield pytest.param(one, other, changed.group(1).split(", ") if changed else [], id=title)


def _canonical(sql: str) -> TableForm:
    return read_sql(sql, _NAMING.dialect).canonical(_NAMING, _TABLES.get, ())


def _content(relation: TableForm) -> tuple[str, dict[str, str], str]:
    return relation.rows, {name: value.digest for name, value in relation.columns}, relation.rest


@pytest.mark.parametrize(("one", "other", "changed"), _pairs("same.sql"))
def test_same(one: str, other: str, changed: list[str]) -> None:
    assert not changed
    assert _content(_canonical(one)) == _content(_canonical(other))


@pytest.mark.parametrize(("one", "other", "changed"), _pairs("differ.sql"))
def test_differ(one: str, other: str, changed: list[str]) -> None:
    before, after = _canonical(one), _canonical(other)
    assert changed
    for name in changed:
        if name == "rows":
            assert (before.rows, before.rest) != (after.rows, after.rest)
        else:
            values = [relation.find(name) for relation in (before, after)]
            assert None not in values
            assert values[0] != values[1], name


@pytest.mark.parametrize(("one", "other", "changed"), [*_pairs("same.sql"), *_pairs("differ.sql")])
def test_equal_to_itself(one: str, other: str, changed: list[str]) -> None:
    for sql in (one, other):
        assert _content(_canonical(sql)) == _content(_canonical(f"{sql} -- a remark"))
