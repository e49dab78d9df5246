"""What an edge leaves of a value: by its subtypes, its masking, and the calls around each place that reads it."""

from __future__ import annotations

import pytest

from lineage.frozen import frozen
from lineage.governance.exposure import Exposure, exposure_of
from lineage.model.influence.evidence import Chain
from lineage.model.influence.transformations import Subtype
from lineage.sql.resolve.calls.functions import value_functions

_I, _T, _A = Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION


@frozen
class Edge:
    subtypes: tuple[Subtype, ...]
    spans: tuple[Chain, ...]
    masking: bool = False
    partly_masking: tuple[Subtype, ...] = ()


def _edge(sql: str, *subtypes: Subtype, **options: object) -> Edge:
    places = [at for at in range(len(sql)) if sql.startswith("x", at) and not sql[at - 1 : at].isalnum()]
    return Edge(subtypes, tuple((at, at + 1) for at in places), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sql", "subtypes", "expected"),
    [
        ("select x from t", (_I,), "unmasked"),
        ("select upper(x) from t", (_T,), "unmasked"),
        ("select right(x, 4) from t", (_T,), "partial"),
        ("select upper(left(trim(x), 2)) from t", (_T,), "partial"),
        ("select left(x, 2) || x from t", (_T,), "unmasked"),  # read in two ways: what shows most counts
        ("select extract(year from x) from t", (_T,), "partial"),
        ("select x from t where left(y, 1) = 'a'", (_I,), "unmasked"),
        ("select max(x) from t", (_A,), "unmasked"),
        ("select max(left(x, 1)) from t", (_A,), "partial"),
        ("select sum(x) from t", (_A,), "aggregated"),
        ("select avg(x) / 2 from t", (_A,), "aggregated"),
        ("select array_agg(x) from t", (_A,), "unmasked"),
        ("select sum(case when y = 1 then x end) from t", (_A,), "aggregated"),
        ("select s.left(x) from t", (_T,), "partial"),
        ("select \"left(\" || x from t", (_T,), "unmasked"),
        ("select '(left(' || x from t", (_T,), "unmasked"),
        ("select 1 -- left(\n + x from t", (_T,), "unmasked"),
    ],
)  # fmt: skip
def test_what_is_left(sql: str, subtypes: tuple[Subtype, ...], expected: str) -> None:
    assert str(exposure_of(_edge(sql, *subtypes), sql, value_functions())) == expected


def test_masking_counts_only_if_all_is_masked() -> None:
    functions = value_functions()
    sql = "select md5(x), x from t"
    assert exposure_of(_edge(sql, _T, masking=True), sql, functions) is Exposure.MASKED
    partly = _edge(sql, _I, _T, partly_masking=(_T,))
    assert exposure_of(partly, sql, functions) is Exposure.UNMASKED
    masked_plainly = _edge("select left(x, 1) from t", _I, _T, partly_masking=(_I,))
    assert exposure_of(masked_plainly, "select left(x, 1) from t", functions) is Exposure.PARTIAL


def test_a_way_through_a_masking_function_does_not_hide_the_others() -> None:
    sql = "select case when y then md5(x) else left(x, 1) end from t"
    assert exposure_of(_edge(sql, _T), sql, value_functions(), "postgres") is Exposure.PARTIAL
    only = _edge("select md5(x) from t", _T)
    assert exposure_of(only, "select md5(x) from t", value_functions(), "postgres") is Exposure.UNMASKED


def test_who_does_not_know_all_reads_takes_nothing_for_hidden() -> None:
    sql = f"select {' || '.join(['left(x, 1)'] * 8)} from t"
    assert exposure_of(_edge(sql, _T), sql, value_functions()) is Exposure.UNMASKED


def test_without_sql_nothing_is_taken_for_hidden() -> None:
    assert exposure_of(_edge("right(x, 1)", _T), None, value_functions()) is Exposure.UNMASKED
    assert exposure_of(Edge((_T,), ()), "select right(x, 4)", value_functions()) is Exposure.UNMASKED
