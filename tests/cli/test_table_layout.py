"""Listings for people: whole names at every width, and nothing wider than it has to be."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from lineage.screen.layout import Look, lay_out, wrap

COLUMNS = ("hops", "column", "how", "masked", "by way of")
LOOK = Look(names=("column", "by way of"), words=("how",), cuts=("how", "column"), phrases={"how": "{}"})
ROWS: list[tuple[object, ...]] = [
    (1, "wh.staging_layer.customer_orders_cleaned.gross_amount", "TRANSFORMATION", False, None),
    (2, "wh.reporting_layer.revenue_summary.total", "AGGREGATION, JOIN", False, "wh.staging_layer.x.gross_amount"),
]


def lines(rows: Sequence[tuple[object, ...]], width: int, look: Look = LOOK) -> list[str]:
    return [line.plain for line in lay_out(COLUMNS, rows, look, width)]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_full_names_keep_what_they_begin_with(width: int) -> None:
    found = [line.plain for line in lay_out(COLUMNS, ROWS, LOOK, width, full_names=True)]
    assert found[0].split()[:2] == ["hops", "column"]
    for row in ROWS:
        assert any(str(row[1]) in line for line in found)
    assert max(map(cell_len, found)) <= width


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_every_width_shows_whole_names_and_what_they_begin_with_once(width: int) -> None:
    found = lines(ROWS, width)
    assert found[0] == "names under `column` and `by way of` begin with `wh.`"
    text = "\n".join(found)
    assert text.count("wh.") == 1
    for name in ("staging_layer.customer_orders_cleaned.gross_amount", "reporting_layer.revenue_summary.total"):
        assert name in text
    assert "masked" not in text
    assert max(map(cell_len, found)) <= width


def test_what_does_not_fit_stands_below() -> None:
    assert lines(ROWS, 66)[3:] == [
        "   1  staging_layer.customer_orders_cleaned.gross_amount",
        "      TRANSFORMATION",
        "   2  reporting_layer.revenue_summary.total",
        "      by way of staging_layer.x.gross_amount",
        "      AGGREGATION, JOIN",
    ]


def test_a_flag_below_is_named_by_its_column() -> None:
    found = lines([(1, "a" * 40, "IDENTITY", True, None), (1, "b" * 40, "IDENTITY", False, None)], 50)
    assert found[3] == "      IDENTITY · masked"
    assert found[5] == "      IDENTITY"


def test_beginnings_are_whole_parts_outside_of_quotes() -> None:
    for names, said in [
        (['"a.b".c.x', '"a.b".c.y'], '"a.b".c.'),
        (['"a.b1".x', '"a.b2".y'], None),
        (["s.t", "s.t.c"], "s."),
        (["wh/orders.parquet.a", "wh/orders.csv.b"], "wh/"),
        (["s.one", "s.one"], None),
    ]:
        found = lines([(1, name, "", False, None) for name in names], 100)
        assert (f"begin with `{said}`" in found[0]) == (said is not None), names
        assert any(line.endswith(names[0].removeprefix(said or "")) for line in found)


@given(
    st.lists(st.text(string.ascii_letters + '._" /漢', min_size=1, max_size=90), min_size=1, max_size=5),
    st.integers(10, 150),
)
def test_no_name_is_ever_broken(names: list[str], width: int) -> None:
    rows = [(1, name, "IDENTITY, JOIN", True, names[0]) for name in names]
    as_they_are = lines(rows, width, replace(LOOK, names=()))
    assert all(any(name.strip() in line for line in as_they_are) for name in names)
    last_parts = lines(rows, width)
    assert all(any(re.split("[./]", name)[-1].strip() in line for line in last_parts) for name in names)


def test_words_are_wrapped_and_what_is_quoted_is_not() -> None:
    assert wrap("error: no `my long column` in x", 20) == ["error: no", "`my long column` in", "x"]
    assert wrap("a stray ` is a word of its own", 12) == ["a stray ` is", "a word of", "its own"]
    assert wrap("  kept indent and more", 12) == ["  kept", "  indent and", "  more"]
