"""Tableau: filters that several worksheets share, names of fields in worksheets, strings in formulas."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from lineage_ingest.bi.tableau.formula import fields_in, formula_as_sql
from lineage_ingest.bi.templates.sql_templates import columns_read
from tests.bi.exports import columns_of, completeness, ingest, into
from tests.bi.test_tableau import book, calculated, rows_into, source

PILLS = {"person": "[fed].[none:person:nk]", "amount": "[fed].[sum:amount:qk]"}
INSTANCES = {
    "person": "<column-instance column='[person]' derivation='None' name='[none:person:nk]'/>",
    "amount": "<column-instance column='[amount]' derivation='Sum' name='[sum:amount:qk]'/>",
}
RANGE = "<filter class='quantitative' column='[fed].[none:person:nk]'/>"
FIRST = """<filter class='categorical' column='[fed].[none:person:nk]'><groupfilter function='end' count='5'>
<groupfilter function='order' expression='SUM([amount])'/></groupfilter></filter>"""


def sheet(shown: str, described: str, slices: str = "", more: str = "") -> str:
    """Return a worksheet that shows one field, and is filtered by others."""
    columns = "".join(f"<column>{PILLS[one]}</column>" for one in slices.split())
    instances = "".join(INSTANCES[one] for one in described.split())
    return f"""<worksheets><worksheet name='S'><table><view>
<datasource-dependencies datasource='fed'>{instances}</datasource-dependencies>{more}<slices>{columns}</slices></view>
<rows>{PILLS[shown]}</rows></table></worksheet></worksheets>"""


@pytest.mark.parametrize(
    ("filters", "slices", "shown", "decides"),
    [
        (RANGE, "person", "amount", "person"),
        (FIRST, "person", "amount", "person amount"),
        (RANGE, "", "amount person", ""),
        ("", "person", "amount", "person"),
    ],
)
def test_a_filter_that_worksheets_share(tmp_path: Path, filters: str, slices: str, shown: str, decides: str) -> None:
    """The worksheet lists the column only; the filter is beside the worksheets. It decides, and is not shown."""
    views = f"<shared-views><shared-view name='fed'>{filters}</shared-view></shared-views>"
    with open_store(tmp_path / "store.db") as store:
        file = book(tmp_path, source(), views + sheet("amount", "amount person", slices))
        assert not ingest(store, "tableau", file).diagnostics
        assert {one.split()[0].rpartition(".")[2] for one in into(store, "Book/sheet/S.")} == set(shown.split())
        found = {one.split()[0].rpartition(".")[2] for one in rows_into(store, "Book/sheet/S")}
        assert found == set(decides.split())


def test_a_shared_filter_by_a_field_that_the_worksheet_does_not_describe(tmp_path: Path) -> None:
    views = f"<shared-views><shared-view name='fed'>{RANGE}</shared-view></shared-views>"
    with open_store(tmp_path / "store.db") as store:
        file = book(tmp_path, source(), views + sheet("amount", "amount", "person"))
        assert not ingest(store, "tableau", file).diagnostics
        assert {one.split()[0] for one in rows_into(store, "Book/sheet/S")} == {"Book/datasource/Sales.person"}


def test_a_filter_by_a_field_that_the_worksheet_does_not_describe(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, source(), sheet("amount", "amount", more=RANGE))).diagnostics
        assert {one.split()[0] for one in rows_into(store, "Book/sheet/S")} == {"Book/datasource/Sales.person"}


def test_a_field_in_a_title_is_shown(tmp_path: Path) -> None:
    title = "<layout-options><title><formatted-text><run>[fed].[none:person:nk]</run></formatted-text></title>"
    text = sheet("amount", "amount person", "person").replace("<table>", f"{title}</layout-options><table>")
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, source(), text)).diagnostics
        assert {one.split()[0].rpartition(".")[2] for one in into(store, "Book/sheet/S.")} == {"amount", "person"}


def test_a_number_of_records_has_the_filters_of_its_worksheet(tmp_path: Path) -> None:
    instance = "<column-instance column='[Number of Records]' derivation='Sum' name='[sum:Number of Records:qk]'/>"
    text = sheet("amount", "person", "person").replace(INSTANCES["person"], INSTANCES["person"] + instance)
    with open_store(tmp_path / "store.db") as store:
        file = book(tmp_path, source(), text.replace(PILLS["amount"], "[fed].[sum:Number of Records:qk]"))
        assert not ingest(store, "tableau", file).diagnostics
        assert columns_of(store, "tableau://bi.test/Book/sheet/S") == ["Sum of Number of Records"]
        assert rows_into(store, "Book/sheet/S") == {"Book/datasource/Sales.person ~> Book/sheet/S [FILTER]"}


VALUES = """<filter class='categorical' column='[fed].[:Measure Names]'><groupfilter function='member'
member='&quot;[fed].[sum:amount:qk]&quot;'/></filter>"""


@pytest.mark.parametrize(
    ("more", "rows", "shown"),
    [
        ("<computed-sort column='[fed].[none:person:nk]' using='[fed].[sum:amount:qk]'/>", "", "person"),
        ("<shelf-sorts><shelf-sort-v2 measure-to-sort-by='[fed].[sum:amount:qk]'/></shelf-sorts>", "", "person"),
        ("<sort class='computed' using='[fed].[sum:amount:qk]'/>", PILLS["amount"], "amount person"),
        (f"{VALUES}<computed-sort using='[fed].[sum:amount:qk]'/>", "[fed].[Multiple Values]", "amount person"),
        ("<computed-sort using='[fed].[sum:amount:qk]'/>", "[fed].[Multiple Values]", "amount person"),
    ],
)
def test_what_a_worksheet_is_sorted_by_is_shown_only_if_it_is_on_a_shelf(
    tmp_path: Path, more: str, rows: str, shown: str
) -> None:
    with open_store(tmp_path / "store.db") as store:
        text = sheet("person", "amount person", more=more).replace("</rows>", f"{rows}</rows>")
        assert not ingest(store, "tableau", book(tmp_path, source(), text)).diagnostics
        assert {one.split()[0].rpartition(".")[2] for one in into(store, "Book/sheet/S.")} == set(shown.split())
        assert rows_into(store, "Book/sheet/S") == {"Book/datasource/Sales.amount ~> Book/sheet/S [SORT]"}


@pytest.mark.parametrize(
    "calculation",
    [
        "<table-calc ordering-field='[fed].[none:person:nk]' ordering-type='Field' type='PctTotal'/>",
        "<table-calc ordering-type='Field'><order field='[fed].[person]'/></table-calc>",
        "<table-calc ordering-type='Rows' level-break='[fed].[person]'/>",
        "<table-calc ordering-type='Rows'><sort using='[fed].[none:person:nk]'/></table-calc>",
    ],
)
def test_a_table_calculation_runs_along_fields(tmp_path: Path, calculation: str) -> None:
    with open_store(tmp_path / "store.db") as store:
        text = sheet("amount", "amount person").replace(
            "name='[sum:amount:qk]'/>", f"name='[sum:amount:qk]'>{calculation}</column-instance>"
        )
        assert not ingest(store, "tableau", book(tmp_path, source(), text)).diagnostics
        assert {one.partition("Sales.")[2] for one in into(store, "Book/sheet/S.Sum of amount")} == {
            "amount -> Book/sheet/S.Sum of amount [AGGREGATION]",
            "person ~> Book/sheet/S.Sum of amount [WINDOW]",
        }
        assert {one for one in rows_into(store, "Book/sheet/S") if "Sum of" not in one} == set()


def test_fields_that_tableau_makes_itself_are_no_gap(tmp_path: Path) -> None:
    names = "[fed].[Latitude (generated)] [fed].[__tableau_internal_object_id__].[cnt:Orders_1:qk]"
    with open_store(tmp_path / "store.db") as store:
        text = sheet("amount", "amount").replace("</rows>", f"{names}</rows>")
        assert not ingest(store, "tableau", book(tmp_path, source(), text)).diagnostics
        assert completeness(store)["Book/sheet/S"] is Completeness.FULL


@pytest.mark.parametrize(
    ("formula", "sql", "fields"),
    [
        (r"SPLIT([a], '\', 2) + [b] + 'x'", "SPLIT(a, '?', 2) + b + '?'", "a b"),
        (r"IF [a] = '\' THEN 'x' + [b] END", "CASE WHEN a = '?' THEN '?' + b END", "a b"),
        (r"'it\'s ' + [b]", "'?' + b", "b"),
        ("'it''s ' + [b]", "'?' + b", "b"),
        (r"[a] XOR '\' + [b] + 'x'", "calculated(a, b)", "a b"),
    ],
)
def test_strings_in_formulas(formula: str, sql: str, fields: str) -> None:
    assert formula_as_sql(formula, lambda one: one.strip("[]"), "postgres")[0] == sql
    assert {one.strip("[]") for one in fields_in(formula)} == set(fields.split())


@pytest.mark.parametrize("dialect", ["mysql", "hive", "spark", "databricks", "tsql", "bigquery", "snowflake", "ansi"])
@pytest.mark.parametrize(
    "formula",
    [
        "DATEDIFF('day', [a], [b])",
        "DATEDIFF('week', [a], [b], 'monday')",
        "DATEADD('day', [a], [b])",
        "DATETRUNC('month', [a]) + DATEPART('year', [b])",
        "DIV([a], [b])",
        "WINDOW_SUM(SUM([a]), FIRST(), LAST()) / TOTAL(SUM([b]))",
    ],
)
def test_functions_of_tableau_keep_all_their_fields(formula: str, dialect: str) -> None:
    """MySQL's DATEDIFF has two arguments: a parser of its dialect would drop the third."""
    sql, is_read = formula_as_sql(formula, lambda one: f"t.{one.strip('[]')}", dialect)
    assert is_read
    assert columns_read(f"SELECT {sql}", dialect) == frozenset(("a", "b"))


def test_a_formula_whose_fields_a_parser_drops_is_not_read() -> None:
    sql = formula_as_sql("DATE_SUB([a], [b], [c])", lambda one: one.strip("[]"), "mysql")
    assert sql == ("calculated(a, b, c)", False)


def test_formulas_that_grow_with_each_other(tmp_path: Path) -> None:
    """Each names the one before it twice: the 30th would name the first one half a billion times."""
    chain = calculated("c0", "[amount] + [person]") + "".join(
        calculated(f"c{number}", f"IF [c{number - 1}] &gt; 1 THEN [c{number - 1}] END") for number in range(1, 30)
    )
    with open_store(tmp_path / "store.db") as store:
        found = ingest(store, "tableau", book(tmp_path, source(more=chain))).diagnostics
        assert 1 <= len(found) < 5
        assert all("is too long with those of the fields in it" in one.diagnostic.message for one in found)
        assert completeness(store)["Book/datasource/Sales"] is Completeness.PARTIAL
        for name in ("c3", "c29"):
            read = {one.split()[0].rpartition(".")[2] for one in into(store, f"Book/datasource/Sales.{name} ")}
            assert read == {"amount", "person"}


def test_a_data_source_beside_a_workbook_is_reported(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    book(tmp_path / "in", source())
    with zipfile.ZipFile(tmp_path / "in" / "Other.tdsx", "w") as archive:
        archive.writestr("Other.tds", "<datasource/>")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "tableau", tmp_path / "in")
        [found] = summary.diagnostics
        assert found.source.endswith("Other.tdsx!Other.tds")
        assert found.diagnostic.message.startswith("a data source outside a workbook (.tds) is not read")
        assert not summary.notices
