"""Power BI: what functions of M read, tables that are appended, measures that choose others, names that are alike."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from lineage_ingest.bi.powerbi import reader
from lineage_ingest.bi.powerbi.dax import tables_of
from lineage_ingest.bi.powerbi.m_query import MQuery
from lineage_ingest.bi.powerbi.report_layout import read_layout
from tests.bi.exports import codes, completeness, ingest, into

SHOP = (
    'let S = PostgreSQL.Database("srv", "db"), t = S{[Schema="public", Item="orders"]}[Data], '
    'u = S{[Schema="public", Item="others"]}[Data], '
)


@pytest.mark.parametrize(
    ("steps", "sql", "message"),
    [
        ('r = Table.AddColumn(t, "x", each [a] & "[b]") in r', "m_expression(t.a)", None),
        ('r = Table.AddColumn(t, "x", (row as record) => row[a] + row[b]) in r', "m_expression(t.a, t.b)", None),
        ('r = Table.AddColumn(t, "x", each Record.Field(_, "a")) in r', "m_expression(t.a)", None),
        ('r = Table.AddColumn(t, "x", each f(_)) in r', "'?'",
         "the column 'x' is computed of a whole row: of which columns is not known"),
        ('r = Table.AddColumn(t, "x", each [a] + Other[k]) in r', "m_expression(t.a)",
         "the column 'x' is computed with Other, too: what of it is not known"),
        ('r = Table.AddColumn(t, "x", each u{[id=[a]]}[v]) in r', "m_expression(t.a)",
         "the column 'x' is computed with u, too: what of it is not known"),
        ('r = Table.AddColumn(t, "x", each [n][v]) in r', "m_expression(t.n)",
         "the column 'x' is computed with fields of another row, too: what of it is not known"),
        ('r = Table.TransformColumns(t, {{"a", Text.Trim}}, Text.Upper) in r', "m_transformed(t.x)", None),
    ],
)  # fmt: skip
def test_what_a_function_reads_of_a_row(steps: str, sql: str, message: str | None) -> None:
    query = MQuery(SHOP + steps, {"Other": "Excel.Workbook(1)"}, "postgres")
    assert query.trace("x", "t").replace('"', "") == sql
    assert [one.message for one in query.problems] == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("steps", "columns", "is_whole"),
    [
        ('r = Table.SelectRows(t, each List.Contains(u[id], [b])) in r', "b", False),
        ("r = Table.SelectRows(t, each [u] > 1) in r", "u", True),
        ('r = Table.FirstN(Table.Sort(t, {{"a", Order.Descending}}), 10) in r', "a", True),
        ('r = Table.Sort(t, {{"a", Order.Descending}}) in r', "", True),
        ("r = Table.Skip(t, each [a] = null) in r", "a", True),
        ("r = Table.SelectRows(t, isGood) in r", "", True),
        ('r = Table.RemoveRowsWithErrors(t, {"a"}) in r', "a", True),
        ("r = Table.SelectRows(t, each f(_)) in r", "", False),
    ],
)  # fmt: skip
def test_what_decides_which_rows_remain(steps: str, columns: str, is_whole: bool) -> None:
    query = MQuery(SHOP + steps, {"isGood": "(r) => f(r)"}, "postgres")
    assert query.filters("t") == [f"(t.\"{one}\" = '?')" for one in columns.split()]
    assert (not query.problems) is is_whole


def model(monkeypatch: pytest.MonkeyPatch, folder: Path, parts: Mapping[str, Any], **rows: Any) -> Path:
    """Return a report of these pages, whose data model has these rows."""
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(reader, "_read_model", lambda _path: rows)
    with zipfile.ZipFile(folder / "Sales.pbix", "w") as archive:
        for name, value in parts.items():
            archive.writestr(name, json.dumps(value))
    return folder / "Sales.pbix"


def columns(**tables: str) -> list[dict[str, str]]:
    return [{"TableName": table, "ColumnName": name} for table, names in tables.items() for name in names.split()]


NO_PAGES: dict[str, Any] = {"Report/definition/report.json": {}}


def test_tables_that_are_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SHOP + 'c = Table.Combine({t, Past}), r = Table.RenameColumns(c, {{"id", "key"}}) in r'
    past = SHOP + 'd = S{[Schema="old", Item="orders"]}[Data], r = Table.Combine({u, d}) in r'
    queries = [{"TableName": "All", "Expression": text}]
    mashup = [{"name": "Past", "expression": past}]
    with open_store(tmp_path / "store.db") as store:
        file = model(monkeypatch, tmp_path / "in", NO_PAGES, schema=columns(All="key"), queries=queries, mashup=mashup)
        summary = ingest(store, "powerbi", file)
        assert into(store, "Sales/table/All.key") == {
            f"postgres://srv:5432/db.{table}.id -> Sales/table/All.key [IDENTITY]"
            for table in ("public.orders", "public.others", "old.orders")
        }
        assert [one.diagnostic.message for one in summary.diagnostics] == [
            "3 tables are appended: each is taken to have all columns of the result"
        ]
        assert completeness(store)["Sales/table/All"] is Completeness.PARTIAL
        mashup[0]["expression"] = 'let x = Excel.Workbook("a.xlsx") in x'
        file = model(monkeypatch, tmp_path / "in", NO_PAGES, schema=columns(All="key"), queries=queries, mashup=mashup)
        summary = ingest(store, "powerbi", file)
        assert "a table that is appended is of no database that is known" in str(summary.diagnostics)
        assert completeness(store)["Sales/table/All"] is Completeness.TABLES


def test_equal_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path / "store.db") as store:
        for step, columns_ in (("t", ""), ('t, {"a"}', "a"), ("Table.SelectRows(t, each [b] > 1)", "ab")):
            queries = [{"TableName": "T", "Expression": SHOP + f"d = Table.Distinct({step}) in d"}]
            kept = "ab" if step == "t" else columns_
            file = model(monkeypatch, tmp_path / "in", NO_PAGES, schema=columns(T="a b"), queries=queries)
            assert not ingest(store, "powerbi", file).diagnostics
            found = {one for one in into(store, "Sales/table/T", rows=True) if "~>" in one}
            assert {one.partition(" ")[0][-1] for one in found} == set(kept)


def test_a_measure_that_chooses_another_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measures = [
        {"TableName": "T", "Name": "Amount", "Expression": "SUM(T[a])"},
        {
            "TableName": "T",
            "Name": "Shown",
            "Expression": 'SWITCH(SELECTEDVALUE(T[b]), "Amount", [Amount], "it\'s", 0)',
        },
        {"TableName": "T", "Name": "Made", "Expression": 'SUMX(ADDCOLUMNS(T, "new", T[b]), [new])'},
    ]
    with open_store(tmp_path / "store.db") as store:
        file = model(monkeypatch, tmp_path / "in", NO_PAGES, schema=columns(T="a b"), measures=measures)
        assert "is not in the model" not in str(ingest(store, "powerbi", file).diagnostics)
        own = "Sales/calculated/T"
        assert {one.partition(" ")[0] for one in into(store, f"{own}.shown")} == {f"Sales/table/T.{n}" for n in "ab"}
        assert {one.partition(" ")[0] for one in into(store, f"{own}.made")} == {"Sales/table/T.b"}
    assert tables_of("CALCULATE([M], 'P'[x] = \"it's\") + COUNTROWS(T)") == ["T"]


def test_tables_and_visuals_of_names_that_are_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def visual(table: str, name: str) -> dict[str, Any]:
        field = {"Column": {"Expression": {"SourceRef": {"Entity": table}}, "Property": "a"}}
        state = {"Y": {"projections": [{"field": field, "queryRef": "a"}]}}
        return {"name": name, "visual": {"visualType": "card", "query": {"queryState": state}}}

    pages = "Report/definition/pages"
    names = ("0123456789abcdef0123", "01234567fedcba9876543")
    parts = {f"{pages}/{page}/visuals/{name}/visual.json": visual(table, name)
             for page in "pq" for table, name in zip(("Sales A", "Sales-A"), names, strict=True)}  # fmt: skip
    with open_store(tmp_path / "store.db") as store:
        schema = columns(**{"Sales A": "a", "Sales-A": "a"})
        summary = ingest(store, "powerbi", model(monkeypatch, tmp_path / "in", parts, schema=schema))
        assert "DEFINED_TWICE" not in codes(summary)
        tables = {key for key in completeness(store) if "/table/" in key}
        visuals = {key for key in completeness(store) if "/visual/" in key}
        assert (len(tables), len(visuals)) == (2, 4)
        assert {next(iter(into(store, key))).partition(".")[0] for key in visuals} == tables


def test_roles_and_calculation_groups_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = [("Time", "Name"), ("T", "a")]
    projections = [{"field": {"Column": {"Expression": {"SourceRef": {"Entity": table}}, "Property": name}}}
                   for table, name in fields]  # fmt: skip
    query = {"queryState": {"Y": {"projections": projections}}}
    visual = {"name": "v", "visual": {"visualType": "card", "query": query}}
    parts = {"Report/definition/pages/p/visuals/v/visual.json": visual}
    roles = [{"TableName": "T", "RoleName": "EU", "FilterExpression": "[a] = 1"},
             {"TableName": "T", "RoleName": "All", "FilterExpression": None}]  # fmt: skip
    with open_store(tmp_path / "store.db") as store:
        file = model(
            monkeypatch, tmp_path / "in", parts, schema=columns(T="a", Time="Name Ordinal"),
            queries=[{"TableName": "T", "Expression": SHOP + "x = t in x"}],
            row_filters=roles, calculation_groups=[{"TableName": "Time"}],
        )  # fmt: skip
        found = {
            (one.source.partition("#")[2], one.diagnostic.message) for one in ingest(store, "powerbi", file).diagnostics
        }
        group = "the calculation group Time changes the measures beside it: what its items read is not known"
        assert found == {
            ("table/T", "row-level security of T (EU): the columns by which it hides rows are not followed"),
            ("table/Time", group), ("page/page/v", group),
        }  # fmt: skip
        levels = completeness(store)
        assert levels["Sales/table/T"] is Completeness.FULL
        assert [level for key, level in levels.items() if "/visual/" in key] == [Completeness.PARTIAL]


def test_parts_of_a_page_that_are_no_json() -> None:
    entity = {"Name": "t", "Entity": "T"}
    select = {"Column": {"Expression": {"SourceRef": {"Source": "t"}}, "Property": "a"}, "Name": "T.a"}
    query = {"From": [entity], "Select": [select]}
    config = json.dumps({"name": "v", "singleVisual": {"visualType": "card", "prototypeQuery": query}})
    containers = [{"config": config}, {"config": config[:-9]}, {"config": config, "filters": "[{"}, {"config": "{}"}]
    layout = {"sections": [{"displayName": "P", "filters": "[]", "visualContainers": containers}]}
    found = read_layout(json.dumps(layout).encode("utf-16-le"))
    assert [(len(one.selects), one.unread) for one in found] == [(1, 0), (0, 1), (1, 1)]


def test_calendars_that_power_bi_makes_are_no_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("LocalDateTable_4e8f", "DateTableTemplate_1a2b", "Own")
    formulas = [{"TableName": name, "Expression": "Calendar(Date(2015, 1, 1), Date(2015, 1, 1))"} for name in names]
    with open_store(tmp_path / "store.db") as store:
        schema = columns(**dict.fromkeys(names, "Date"))
        file = model(monkeypatch, tmp_path / "in", NO_PAGES, schema=schema, calculated_tables=formulas)
        found = [one.diagnostic for one in ingest(store, "powerbi", file).diagnostics]
        assert [str(one.severity) for one in found if "computed by DAX" in one.message] == ["info", "info", "error"]


def test_databricks_of_several_clouds() -> None:
    found = MQuery('let S = DatabricksMultiCloud.Catalogs("srv", "/sql/1"), d = S{[Name="c"]}[Data], '
                   't = d{[Name="s"]}[Data]{[Name="orders"]}[Data] in t', {}).source()  # fmt: skip
    assert found is not None
    assert (found.dialect, found.server, found.parts[-1]) == ("databricks", "srv", "orders")
