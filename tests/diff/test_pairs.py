"""Pairs of queries: which are the same, and which columns of the others differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.sql.canonical.definition import read_sql
from lineage.sql.canonical.forms.table_form import TableForm, base_table

_FOLDER = Path(__file__).parent / "pairs"
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
        dialect = re.search(r"\{(\w+)\}", head)
        naming = Naming(dialect_named(dialect.group(1) if dialect else "duckdb"))
        title = head.removeprefix("-- ")
        yield pytest.param(one, other, changed.group(1).split(", ") if changed else [], naming, id=title)


def _canonical(sql: str, naming: Naming) -> TableForm:
    return read_sql(sql, naming.dialect).canonical(naming, _TABLES.get, ())


def _content(relation: TableForm) -> tuple[str, dict[str, str], str]:
    return relation.rows, {name: value.digest for name, value in relation.columns}, relation.rest


@pytest.mark.parametrize(("one", "other", "changed", "naming"), _pairs("same.sql"))
def test_same(one: str, other: str, changed: list[str], naming: Naming) -> None:
    assert not changed
    assert _content(_canonical(one, naming)) == _content(_canonical(other, naming))


@pytest.mark.parametrize(("one", "other", "changed", "naming"), _pairs("differ.sql"))
def test_differ(one: str, other: str, changed: list[str], naming: Naming) -> None:
    before, after = _canonical(one, naming), _canonical(other, naming)
    assert changed
    for name in changed:
        if name == "rows":
            assert (before.rows, before.rest) != (after.rows, after.rest)
        else:
            values = [relation.find(name) for relation in (before, after)]
            assert None not in values
            assert values[0] != values[1], name


@pytest.mark.parametrize(("one", "other", "changed", "naming"), _pairs("exactly.sql"))
def test_exactly(one: str, other: str, changed: list[str], naming: Naming) -> None:
    before, after = (_canonical(sql, naming) for sql in (one, other))
    values, others = ({name: value.digest for name, value in form.columns} for form in (before, after))
    found = {name for name in values.keys() | others.keys() if values.get(name) != others.get(name)}
    assert found | ({"rows"} if before.rows != after.rows else set()) == set(changed)


@pytest.mark.parametrize(
    ("one", "other", "changed", "naming"), [*_pairs("same.sql"), *_pairs("differ.sql"), *_pairs("exactly.sql")]
)
def test_equal_to_itself(one: str, other: str, changed: list[str], naming: Naming) -> None:
    for sql in (one, other):
        assert _content(_canonical(sql, naming)) == _content(_canonical(f"{sql} -- a remark", naming))
