"""Tableau: filters that several worksheets share, names of fields in worksheets, strings in formulas."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from lineage_ingest.bi.tableau.formula import fields_in, formula_as_sql
from tests.bi.exports import completeness, ingest, into
from tests.bi.test_tableau import book, rows_into, source

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
    with open_store(tmp_path / "store.lbug") as store:
        file = book(tmp_path, source(), views + sheet("amount", "amount person", slices))
        assert not ingest(store, "tableau", file).diagnostics
        assert {one.split()[0].rpartition(".")[2] for one in into(store, "Book/sheet/S.")} == set(shown.split())
        found = {one.split()[0].rpartition(".")[2] for one in rows_into(store, "Book/sheet/S")}
        assert found == set(decides.split())


def test_a_shared_filter_by_a_field_that_the_worksheet_does_not_describe(tmp_path: Path) -> None:
    views = f"<shared-views><shared-view name='fed'>{RANGE}</shared-view></shared-views>"
    with open_store(tmp_path / "store.lbug") as store:
        file = book(tmp_path, source(), views + sheet("amount", "amount", "person"))
        assert not ingest(store, "tableau", file).diagnostics
        assert {one.split()[0] for one in rows_into(store, "Book/sheet/S")} == {"Book/datasource/Sales.person"}


def test_fields_that_tableau_makes_itself_are_no_gap(tmp_path: Path) -> None:
    names = "[fed].[Latitude (generated)] [fed].[__tableau_internal_object_id__].[cnt:Orders_1:qk]"
    with open_store(tmp_path / "store.lbug") as store:
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


def test_a_data_source_beside_a_workbook_is_reported(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    book(tmp_path / "in", source())
    with zipfile.ZipFile(tmp_path / "in" / "Other.tdsx", "w") as archive:
        archive.writestr("Other.tds", "<datasource/>")
    with open_store(tmp_path / "store.lbug") as store:
        summary = ingest(store, "tableau", tmp_path / "in")
        [found] = summary.diagnostics
        assert found.source.endswith("Other.tdsx!Other.tds")
        assert found.diagnostic.message.startswith("a data source outside a workbook (.tds) is not read")
        assert not summary.notices
