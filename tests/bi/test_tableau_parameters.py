"""Tableau: parameters that have their values from a field, MIN and MAX of two values of one row."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from lineage_ingest.bi.tableau.formula import formula_as_sql
from tests.bi.exports import codes, ingest, into
from tests.bi.test_tableau import PEOPLE, SHOP, SOURCE, book, calculated, record, rows_into, source

OTHER = source(PEOPLE, name="two", title="People", records=record("id (people)", "id", "people"))


def parameter(attributes: str) -> str:
    return f"""<datasource name='Parameters'><column name='[P]' param-domain-type='list' {attributes}>
<calculation class='tableau' formula='"x"'/></column></datasource>"""


@pytest.mark.parametrize(
    ("attributes", "formula", "edges"),
    [
        ("", "[Parameters].[P]", set()),
        ("source-field='[fed].[person]'", "[Parameters].[P]", {"orders.person -> [TRANSFORMATION]"}),
        ("source-field='[fed].[none:person:nk]'", "[Parameters].[P]", {"orders.person -> [TRANSFORMATION]"}),
        ("default-value-field='[fed].[person]'", "[Parameters].[P]", {"orders.person -> [TRANSFORMATION]"}),
        (
            "source-field='[fed].[person]'",
            "IF [amount] = [Parameters].[P] THEN 1 END",
            {"orders.amount ~> [CONDITIONAL]", "orders.person ~> [CONDITIONAL]"},
        ),
        ("source-field='[two].[id (people)]'", "[Parameters].[P]", {"people.id -> [TRANSFORMATION]"}),
    ],
)
def test_a_parameter_with_the_values_of_a_field(tmp_path: Path, attributes: str, formula: str, edges: set[str]) -> None:
    sources = parameter(attributes) + source(more=calculated("Calc", formula)) + OTHER
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, sources)).diagnostics
        found = {one.removeprefix(f"{SHOP}.").replace(f"{SOURCE}.Calc ", "") for one in into(store, f"{SOURCE}.Calc")}
        found = {one.replace("Book/datasource/People.id (people)", "people.id") for one in found}
        assert found == edges


def test_a_parameter_whose_field_is_not_there(tmp_path: Path) -> None:
    sources = parameter("source-field='[fed].[gone]'") + source(more=calculated("Calc", "[Parameters].[P]"))
    with open_store(tmp_path / "store.db") as store:
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "tableau", book(tmp_path, sources)))


def test_parameters_of_two_sources_have_each_others_values(tmp_path: Path) -> None:
    """Both data sources read each other: no endless loop."""
    first = parameter("source-field='[two].[id (people)]' default-value-field='[fed].[person]'")
    calculation = calculated("Calc", "[Parameters].[P]")
    two = OTHER.replace("</datasource>", f"{calculation}</datasource>")
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "tableau", book(tmp_path, first + source(more=calculation) + two))
        assert f"{SHOP}.orders.person -> {SOURCE}.Calc [TRANSFORMATION]" in into(store, f"{SOURCE}.Calc")


@pytest.mark.parametrize("field", ["[fed].[person]", "[two].[id (people)]"])
def test_a_parameter_in_a_worksheet(tmp_path: Path, field: str) -> None:
    """In a calculation of the worksheet, and in a filter: the first so many as a parameter says."""
    sheet = f"""<worksheets><worksheet name='S'><table><view><datasource-dependencies datasource='fed'>
{calculated("Own", "IF [amount] = 1 THEN [Parameters].[P] END")}
<column-instance column='[Own]' derivation='None' name='[none:Own:nk]'/></datasource-dependencies>
<filter class='categorical' column='[fed].[none:amount:nk]'><groupfilter function='end' count='[Parameters].[P]'/>
</filter>
</view><rows>[fed].[none:Own:nk]</rows></table></worksheet></worksheets>"""
    sources = parameter(f"source-field='{field}'") + source() + OTHER
    with open_store(tmp_path / "store.db") as store:
        done = ingest(store, "tableau", book(tmp_path, sources, sheet))
        if "fed" in field:
            assert not done.diagnostics
            assert f"{SOURCE}.person -> Book/sheet/S.Own [TRANSFORMATION]" in into(store, "Book/sheet/S.Own")
            assert any(one.startswith(f"{SOURCE}.person ~> ") for one in rows_into(store, "Book/sheet/S"))
        else:
            assert any("the parameter [P] has the values of" in one.diagnostic.message for one in done.diagnostics)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("MIN([a], [b])", "LEAST(a, b)"),
        ("max ([a], ABS([b]))", "GREATEST (a, ABS(b))"),
        ("MAX([a])", "MAX(a)"),
        ("MAX(ROUND([a], 2))", "MAX(ROUND(a, 2))"),
        ("MIN(MAX([a]), MAX([b], [c]))", "LEAST(MAX(a), GREATEST(b, c))"),
        ("SUM({FIXED [a], [b] : MIN([c], [a])})", "SUM(MAX(LEAST(c, a)) OVER (PARTITION BY a, b))"),
        ("MAX({FIXED [a], [b] : SUM([c])})", "MAX(MAX(SUM(c)) OVER (PARTITION BY a, b))"),
        ("([a] IN (1, 2)) AND MIN([b]) > 1", "(a IN (1, 2)) AND MIN(b) > 1"),
    ],
)
def test_the_least_and_the_greatest_of_two_values(formula: str, expected: str) -> None:
    assert formula_as_sql(formula, lambda name: name.strip("[]"), "postgres") == (expected, True)
