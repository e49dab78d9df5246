"""Power BI: queries in M, names in DAX, relationships, and reports in the enhanced format (PBIR)."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from lineage.store import open_store
from lineage_ingest.bi.powerbi import reader
from lineage_ingest.bi.powerbi.m_query import MQuery
from lineage_ingest.bi.powerbi.model_names import DaxNames, ModelNames, ModelRelationships
from lineage_ingest.bi.powerbi.reader import _read_model as read_model
from tests.bi.exports import DATA, codes, columns_of, completeness, edges_of, ingest

SHOP = 'let S = PostgreSQL.Database("srv", "db"), t = S{[Schema="public", Item="orders"]}[Data], '
PEOPLE = (
    'let S = PostgreSQL.Database("srv", "db"), p = S{[Schema="public", Item="people"]}[Data], '
    'r = Table.RenameColumns(p, {{"full_name", "name"}, {"id", "key"}}), d = Table.DuplicateColumn(r, "key", "id"), '
    "f = Table.SelectRows(d, each [live] = true) in f"
)
OTHERS = {
    "People": PEOPLE,
    "Sheet": 'Excel.Workbook("x")',
    "Schema": '"mart" meta [IsParameterQuery=true]',
    "Text": '"SELECT a " & "FROM t"',
    "Other": SHOP + "x = t in x",
}


@pytest.mark.parametrize(
    ("text", "sql", "is_whole"),
    [
        ('let S = Sql.Database("s", "d", [Query="SELECT a FROM t " & "JOIN u#(lf)ON x, y"]) in S',
         "SELECT a FROM t JOIN u\nON x, y", True),
        ('let S = Value.NativeQuery(Sql.Database("s", "d"), "SELECT a FROM " & Schema & ".t", null) in S',
         "SELECT a FROM mart.t", True),
        ('let S = Value.NativeQuery(Sql.Database("s", "d"), Text) in S', "SELECT a FROM t", True),
        ('let q = "SELECT a FROM " & Schema & ".t", S = Odbc.Query("dsn=x", q) in S', "SELECT a FROM mart.t", True),
        ('let S = Value.NativeQuery(Sql.Database("s", "d"), "SELECT a WHERE d = \'" & F(1) & "\'") in S',
         "SELECT a WHERE d = '?'", False),
    ],
)  # fmt: skip
def test_sql_in_m(text: str, sql: str, is_whole: bool) -> None:
    query = MQuery(text, OTHERS)
    source = query.source()
    assert source is not None
    assert source.sql == sql
    assert (not query.problems) is is_whole


@pytest.mark.parametrize(
    ("steps", "columns", "is_whole"),
    [
        ('g = Table.Group(t, {"k"}, {{"s", each List.Sum([amount]), Int64.Type}, {"n", each Table.RowCount(_)}}) in g',
         {"k": "t.k", "s": "MAX(m_expression(t.amount))", "n": "COUNT(*)"}, True),
        ('e = Table.ExpandTableColumn(t, "C", {"name"}, {"C.name"}) in e', {"C.name": "NULL", "id": "t.id"}, False),
        ('j = Table.NestedJoin(t, {"pid"}, People, {"key"}, "C", JoinKind.Inner), '
         'e = Table.ExpandTableColumn(j, "C", {"name", "id"}, {"C.name", "C.id"}), '
         'r = Table.RenameColumns(e, {{"C.name", "who"}}) in r',
         {"who": "j1.full_name", "C.id": "j1.id", "amount": "t.amount"}, True),
        ('j = Table.NestedJoin(t, {"pid"}, Sheet, {"key"}, "C"), e = Table.ExpandTableColumn(j, "C", {"name"}) in e',
         {"name": "NULL", "amount": "t.amount"}, False),
        ('u = Table.Unpivot(t, {"a", "b"}, "what", "value") in u',
         {"value": "m_transformed(t.a, t.b)", "id": "t.id"}, True),
        ('u = Table.UnpivotOtherColumns(t, {"id"}, "what", "value") in u', {"id": "t.id", "value": "NULL"}, False),
        ('r = Table.ReplaceValue(t, each [a], each [b], Replacer.ReplaceValue, {"a"}) in r',
         {"a": "m_transformed(t.a, t.b)", "c": "t.c"}, True),
        ('s = Table.SplitColumn(t, "a", Splitter.SplitTextByDelimiter("-"), {"a.1", "a.2"}), '
         'c = Table.CombineColumns(s, {"b", "c"}, Combiner.CombineTextByDelimiter(" "), "bc"), '
         'l = Table.ExpandListColumn(c, "l"), r = Table.ExpandRecordColumn(l, "r", {"x"}, {"r.x"}) in r',
         {"a.2": "m_transformed(t.a)", "bc": "m_transformed(t.b, t.c)", "l": "m_transformed(t.l)",
          "r.x": "m_transformed(t.r)", "d": "t.d"}, True),
        ('p = Table.Pivot(t, {"x"}, "what", "value") in p', {"x": "NULL"}, False),
    ],
)  # fmt: skip
def test_columns_of_steps_in_m(steps: str, columns: dict[str, str], is_whole: bool) -> None:
    query = MQuery(SHOP + steps, OTHERS, "postgres")
    assert {name: query.trace(name, "t").replace('"', "") for name in columns} == columns
    assert (not query.problems) is is_whole


def test_tables_that_are_merged() -> None:
    text = 'j = Table.NestedJoin(t, {"pid", "k"}, People, {"key", "k"}, "C", JoinKind.Inner) in j'
    query = MQuery(SHOP + text, OTHERS, "postgres")
    assert query.filters("t") == []
    [join] = query.joins.values()
    assert join.source.parts == ("public", "people")
    assert join.condition.replace('"', "") == "t.pid = j1.id AND t.k = j1.k AND (j1.live = '?')"
    other = MQuery(SHOP + text.replace("People", "Sheet"), OTHERS, "postgres")
    assert other.filters("t") == []
    assert [one.message for one in other.problems]
    assert not other.joins


def test_steps_that_read_themselves_are_reported() -> None:
    query = MQuery("let a = Table.Sort(b, {}), b = Table.Sort(a, {}) in a", {})
    assert query.trace("x", "t") == "NULL"
    assert len(query.problems) == 1
    query.filters("t")
    assert query.source() is None
    sql = MQuery('let a = b, b = a in Value.NativeQuery(Sql.Database("h", "d"), a)', {})
    assert sql.source() is not None
    assert sql.problems


def test_a_filter_by_another_query_reads_its_own_columns_only() -> None:
    query = MQuery(SHOP + "f = Table.SelectRows(t, each List.Contains(Other[k], [a])) in f", OTHERS, "postgres")
    assert query.filters("t") == ["(t.\"a\" = '?')"]


def test_names_in_dax_and_relationships() -> None:
    names = ModelNames(
        {"Ämter": {"Id": "Id", "Land": "Land"}, "Sales": {"Amount": "Amount", "Amt": "Amt", "Day": "Day"},
         "Dates": {"Day": "Day", "Year": "Year"}, "Years": {"Year": "Year"}},
        {"Sales": {"Total": ("SUM(sales[AMOUNT])", True), "Share": ("[total] / COUNTROWS(Dates)", True)}},
    )  # fmt: skip
    found = DaxNames()
    names.collect("Sales", "SUMX('SALES', [Share]) + MAX(Ämter[land]) + [Nothing]", found)
    assert list(found.columns) == [("Sales", "Amount"), ("Ämter", "Land")]
    assert list(found.tables) == ["Sales", "Dates"]
    assert found.unknown == ["[Nothing]"]
    rows: list[dict[str, object]] = [
        {"FromTableName": "Sales", "FromColumnName": "Amt", "ToTableName": "Ämter", "ToColumnName": "Id"},
        {"FromTableName": "Sales", "FromColumnName": "Day", "ToTableName": "Dates", "ToColumnName": "Day"},
        {"FromTableName": "Dates", "FromColumnName": "Year", "ToTableName": "Years", "ToColumnName": "Year"},
        {"FromTableName": "Sales", "FromColumnName": "Amount", "ToTableName": "Years", "ToColumnName": "Year",
         "IsActive": 0},
    ]  # fmt: skip
    connecting = ModelRelationships(rows, names).connecting({"Years", "Sales"})
    assert {(one.table, one.column) for one in connecting} == {("Sales", "Day"), ("Dates", "Year")}


def test_columns_of_a_calculated_table_and_visuals_with_names(tmp_path: Path) -> None:
    names = [f"VisualContainer{number}" for number in (1, 2)]
    query = {"queryState": {"Y": {"projections": [{"field": _field("Fruit", "Fruit"), "queryRef": "fruit"}]}}}
    pages = "Report/definition/pages/p"
    parts: dict[str, object] = {
        f"{pages}/visuals/{name}/visual.json": {"name": name, "visual": {"visualType": "card", "query": query}}
        for name in names
    }
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "powerbi", _with_pages(tmp_path, parts, "calculated-table.pbix"))
        assert "DEFINED_TWICE" not in codes(summary)
        levels = completeness(store)
        assert {one for one in levels if "/visual/" in one} == {f"Sales/visual/page-card-{name}" for name in names}
        [table] = [one for one in levels if "/table/DateTableTemplate" in one]
        assert columns_of(store, f"powerbi://bi.test/{table}") == ["Date"]
        assert not any("DAX: [Date]" in one.diagnostic.message for one in summary.diagnostics)


def _field(table: str, name: str, kind: str = "Column") -> dict[str, object]:
    return {kind: {"Expression": {"SourceRef": {"Entity": table}}, "Property": name}}


def test_a_report_in_the_enhanced_format(tmp_path: Path) -> None:
    total = {"Aggregation": {"Expression": _field("factresellersales", "SalesAmount"), "Function": 0}}
    state = {
        "Category": {"projections": [{"field": _field("DimDate", "CalendarYear"), "queryRef": "year"}]},
        "Y": {"projections": [{"field": total, "queryRef": "total"}]},
    }
    visual = {
        "name": "v1",
        "visual": {"visualType": "lineChart", "query": {"queryState": state}},
        "filterConfig": {"filters": [{"field": _field("DimDate", "MonthNumberOfYear"), "filter": {}}]},
    }
    page = "Report/definition/pages/p1"
    parts = {f"{page}/page.json": {"name": "p1", "displayName": "Home"}, f"{page}/visuals/v1/visual.json": visual}
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "powerbi", _with_pages(tmp_path, parts))
        found = {one.casefold() for one in edges_of(store, rows=True)}
        own = "sales/visual/home-linechart-v1"
        assert {
            f"sales/table/dimdate.calendaryear -> {own}.year [identity]",
            f"sales/table/factresellersales.salesamount -> {own}.total [aggregation]",
            f"sales/table/dimdate.monthnumberofyear ~> {own} [filter]",
            f"sales/table/dimdate.datekey ~> {own} [join]",
            f"sales/table/factresellersales.orderdatekey ~> {own} [join]",
        } <= found
        assert any("visual" in key for key in completeness(store))
        damaged = ingest(store, "powerbi", _with_pages(tmp_path, {"Other": {}}))
        assert damaged.gone == ()
        assert "EXPRESSION_NOT_READ" in codes(damaged)


def _sliced(form: str) -> dict[str, object]:
    """Return the files of a report with a slicer, in one of its forms; on the second page there is none."""
    year, total = _field("DimDate", "CalendarYear"), _field("factresellersales", "SalesAmount")
    visuals = [
        ("p1", "s", "listSlicer", year),
        *(("p1", name, "card", total) for name in "abc"),
        ("p2", "d", "card", total),
    ]
    pages: dict[str, list[dict[str, object]]] = {"p1": [], "p2": []}
    parts: dict[str, object] = {}
    for page, name, kind, shown in visuals:
        state = {"Values": {"projections": [{"field": shown, "queryRef": "x"}]}}
        visual = {"name": name, "visual": {"visualType": kind, "query": {"queryState": state}}}
        parts[f"Report/definition/pages/{page}/visuals/{name}/visual.json"] = visual
        config = {
            "name": name,
            "singleVisual": {"visualType": kind, "prototypeQuery": {"Select": [{**shown, "Name": "x"}]}},
        }
        pages[page].append({"config": json.dumps(config)})
    left = {"source": "s", "target": "c"}
    if form == "definition":
        own = {"name": "p1", "displayName": "p1", "visualInteractions": [{**left, "type": "NoFilter"}]}
        other = {"name": "p2", "displayName": "p2"}
        return {**parts, **{f"Report/definition/pages/{one['name']}/page.json": one for one in (own, other)}}
    section = {"config": json.dumps({"relationships": [{**left, "type": 3}]})}
    sections = [
        {**(section if page == "p1" else {}), "displayName": page, "visualContainers": listed}
        for page, listed in pages.items()
    ]
    return {"Report/Layout": {"sections": sections}}


@pytest.fixture
def model_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of the report, which is the same in each of many tests, is read by one process."""
    monkeypatch.setattr(reader, "_read_model", lambda _path: _model())


@cache
def _model() -> Mapping[str, object]:
    return read_model(DATA / "powerbi" / "directquery-parameters.pbix")


@pytest.mark.parametrize("form", ["definition", "layout"])
def test_a_slicer_filters_the_visuals_of_its_page(tmp_path: Path, form: str) -> None:
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "powerbi", _with_pages(tmp_path, _sliced(form)))
        found = {one for one in edges_of(store, rows=True) if ".calendaryear ~> " in one.casefold()}
        assert {one.partition("~> ")[2] for one in found} == {f"Sales/visual/p1-card-{name} [FILTER]" for name in "ab"}


@pytest.mark.usefixtures("model_read_once")
@pytest.mark.parametrize(
    ("more", "is_filter"),
    [
        ({"filter": {}}, True),
        ({"filter": {}, "isHiddenInViewMode": True}, True),
        ({"howCreated": "User"}, True),
        ({"howCreated": "User", "isHiddenInViewMode": True}, False),
        ({"howCreated": 1, "isLockedInViewMode": True}, False),
        ({"howCreated": "Drillthrough", "isHiddenInViewMode": True}, True),
        ({"howCreated": 5, "isHiddenInViewMode": True}, True),
    ],
)
@pytest.mark.parametrize("level", ["page", "report", "section", "layout"])
def test_filters_that_readers_set(tmp_path: Path, level: str, more: dict[str, object], is_filter: bool) -> None:
    """One without a value is a filter if readers can give it one, also by drilling through to its page."""
    year = _field("DimDate", "CalendarYear")
    parts = _sliced("definition" if level in ("page", "report") else "layout")
    if level in ("page", "report"):
        name = "pages/p2/page.json" if level == "page" else "report.json"
        config = {"filterConfig": {"filters": [{"field": year, **more}]}}
        parts[f"Report/definition/{name}"] = {"name": "p2", "displayName": "p2", **config}
    else:
        layout = parts["Report/Layout"]
        assert isinstance(layout, dict)
        place = layout["sections"][1] if level == "section" else layout
        place["filters"] = json.dumps([{"expression": year, **more}])
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "powerbi", _with_pages(tmp_path, parts))
        found = {one for one in edges_of(store, rows=True) if ".calendaryear ~> " in one.casefold()}
        assert any("visual/p2-card-d " in one for one in found) is is_filter


def test_a_slicer_filters_only_what_the_model_relates_to_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reader._read_model
    monkeypatch.setattr(reader, "_read_model", lambda path: {**read(path), "relationships": []})
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "powerbi", _with_pages(tmp_path, _sliced("layout")))
        assert not {one for one in edges_of(store, rows=True) if ".calendaryear ~> " in one.casefold()}


@pytest.mark.parametrize("form", ["definition", "layout"])
def test_what_a_slicer_shows_by_its_format_filters_nothing(tmp_path: Path, form: str) -> None:
    parts = _sliced(form)
    title = {"title": [{"properties": {"text": {"expr": _field("DimDate", "MonthNumberOfYear")}}}]}
    if form == "definition":
        slicer = parts["Report/definition/pages/p1/visuals/s/visual.json"]
        assert isinstance(slicer, dict)
        slicer["visual"]["visualContainerObjects"] = title
    else:
        layout = parts["Report/Layout"]
        assert isinstance(layout, dict)
        container = layout["sections"][0]["visualContainers"][0]
        config = json.loads(container["config"])
        config["singleVisual"]["vcObjects"] = title
        container["config"] = json.dumps(config)
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "powerbi", _with_pages(tmp_path, parts))
        found = {one.casefold() for one in edges_of(store, rows=True)}
        assert any(".monthnumberofyear -> sales/visual/p1-listslicer-s" in one for one in found)
        assert not any(".monthnumberofyear ~> " in one for one in found)


def _with_pages(folder: Path, parts: Mapping[str, object], name: str = "directquery-parameters.pbix") -> Path:
    """Return a real report whose pages are replaced by these files."""
    file = folder / "Sales.pbix"
    with zipfile.ZipFile(DATA / "powerbi" / name) as old, zipfile.ZipFile(file, "w") as new:
        for member in old.infolist():
            if member.filename != "Report/Layout":
                new.writestr(member, old.read(member))
        for part, value in parts.items():
            new.writestr(part, json.dumps(value).encode("utf-16-le" if part == "Report/Layout" else "utf-8"))
    return file


@pytest.mark.parametrize("name", ["Sales.pbit", "Sales.pbip"])
def test_other_files_of_power_bi_say_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(b"x")
    with open_store(tmp_path / "store.db") as store:
        [record] = ingest(store, "powerbi", tmp_path / "in").diagnostics
        assert "Power BI Desktop" in record.diagnostic.message
