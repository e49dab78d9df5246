"""Power BI: where queries in M begin, names in DAX, and what a report shows and filters by outside its queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest.bi.powerbi.m_query import MQuery
from lineage_ingest.bi.powerbi.m_steps import append_choices
from lineage_ingest.bi.powerbi.report_layout import read_layout
from tests.bi.exports import completeness, ingest, into
from tests.bi.test_powerbi_models import NO_PAGES, columns, model

SHOP = 'let s = Sql.Database("srv", "db"), o = s{[Schema="dbo",Item="o"]}[Data], '
OTHERS = {"Q": 'let s = Sql.Database("srv", "db"), q = s{[Schema="dbo",Item="q"]}[Data] in q'}


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ('Value.NativeQuery(Snowflake.Databases("acme", "WH"){[Name="DB"]}[Data], "select a from s.t", null)',
         ["snowflake DB: select a from s.t"]),
        ('Value.NativeQuery(GoogleBigQuery.Database(){[Name="p"]}[Data], "select a from d.t")',
         ["bigquery p: select a from d.t"]),
        ('let s = Sql.Databases("srv"){[Name="db"]}[Data], q = Value.NativeQuery(s, "select a from t") in q',
         ["tsql db: select a from t"]),
        ('Snowflake.Databases("acme", "WH"){[Name="DB"]}[Data]{[Name="S"]}[Data]{[Name="T"]}[Data]',
         ["snowflake : DB.S.T"]),
        ('Table.SelectRows(Sql.Database("srv", "db"){[Schema="dbo",Item="o"]}[Data], each [a] > 1)',
         ["tsql db: dbo.o"]),
        ('Sql.Database("srv", "db"){[Schema="dbo",Item="o"]}[Data][[a], [b]]', ["tsql db: dbo.o"]),
        (SHOP + "t = o & Q in t", ["tsql db: dbo.o", "tsql db: dbo.q"]),
        (SHOP + 't = Table.Skip(s{[Schema="dbo",Item="p"]}[Data] & o) in t', ["tsql db: dbo.p", "tsql db: dbo.o"]),
        (SHOP + "t = if x then o else Q in t", []),
        (SHOP + "t = try o otherwise Q in t", []),
    ],
)  # fmt: skip
def test_where_a_query_begins(text: str, sources: list[str]) -> None:
    found = [MQuery(text, OTHERS, parts=parts).source() for parts in append_choices(text, OTHERS)]
    assert [f"{one.dialect} {one.database}: {one.sql or '.'.join(one.parts)}" for one in found if one] == sources


def test_a_table_that_is_chosen_inside_a_column() -> None:
    query = MQuery(SHOP + 't = Table.AddColumn(o, "a", each Q{[Schema="z",Item="y"]}[Data]) in t', OTHERS)
    assert query.trace("a", "t") == "'?'"
    assert [one.message for one in query.problems] == [
        "the column 'a' is computed with Q, too: what of it is not known"
    ]


def test_words_before_a_column_without_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expressions = ("VAR x = 1\nRETURN [a]", "IF(NOT [a], 1)", "FILTER(T, 1 IN [a])", "RETURN 'Return'[a] + T[a]")
    measures = [{"TableName": "T", "Name": f"m{number}", "Expression": one} for number, one in enumerate(expressions)]
    with open_store(tmp_path / "store.db") as store:
        schema = columns(T="a", Return="a")
        file = model(monkeypatch, tmp_path / "in", NO_PAGES, schema=schema, measures=measures)
        assert "is not in the model" not in str(ingest(store, "powerbi", file).diagnostics)
        found = {one.split()[0] + one.split()[2] for one in into(store, "Sales/calculated/T.")}
        assert found == {f"Sales/table/T.aSales/calculated/T.m{number}" for number in range(4)} | {
            "Sales/table/Return.aSales/calculated/T.m3"
        }


def column(name: str, source: Any = None, kind: str = "Column") -> dict[str, Any]:
    return {kind: {"Expression": {"SourceRef": source or {"Entity": "T"}}, "Property": name}}


S: dict[str, str] = {"Source": "t"}
FIRST_FIVE = {"From": [
    {"Name": "q", "Expression": {"Subquery": {"Query": {
        "From": [{"Name": "t", "Entity": "T"}], "Select": [column("shown", S)],
        "OrderBy": [{"Expression": column("ranked", S, "Measure")}], "Top": 5}}}},
    {"Name": "t", "Entity": "T"}]}  # fmt: skip
LEVELS = {
    "date": {"PropertyVariationSource": {"Expression": {"SourceRef": S}, "Property": "day"}},
    "place": {"SourceRef": S},
}


def level(kind: str, name: str) -> dict[str, Any]:
    hierarchy = {"Expression": LEVELS[kind], "Hierarchy": kind}
    return {"HierarchyLevel": {"Expression": {"Hierarchy": hierarchy}, "Level": name}, "Name": f"T.{kind}.{name}"}


def test_what_a_report_shows_and_filters_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both forms of a report say the same; each field is in one place only."""
    title = {"title": [{"properties": {"text": {"expr": column("titled", kind="Measure")}}}]}
    chosen = {"general": [{"properties": {"filter": {"filter": {"Where": [column("chosen")]}}}}]}
    filters = [
        {"expression": column("shown"), "filter": FIRST_FIVE},
        {"filter": {"Where": [column("excluded")]}},
        {"expression": column("unset")},
    ]
    of_report = [{"expression": column("everywhere"), "filter": {}}]
    selects = [column("shown", S), level("date", "Year"), level("place", "City")]
    query = {
        "From": [{"Name": "t", "Entity": "T"}], "Select": selects, "OrderBy": [{"Expression": column("ordered", S)}],
    }  # fmt: skip
    card = {"visualType": "card", "prototypeQuery": query, "objects": chosen, "vcObjects": title}
    text = {"visualType": "textbox", "objects": title}
    containers = [
        {"config": json.dumps({"name": "v", "singleVisual": card}), "filters": json.dumps(filters)},
        {"config": json.dumps({"name": "x", "singleVisual": text})},
        {"config": json.dumps({"name": "y", "singleVisual": {"visualType": "textbox"}})},
    ]
    page = {"displayName": "P", "visualContainers": containers}
    layout = {"sections": [page], "filters": json.dumps(of_report)}
    visual, words = read_layout(json.dumps(layout).encode("utf-16-le"))
    assert {name for _, _, name, _ in visual.selects} == {"shown", "day", "place[City]", "titled"}
    assert {name for _, name in visual.filters} == {"shown", "ranked", "excluded", "everywhere", "ordered", "chosen"}
    assert [name for _, _, name, _ in words.selects] == ["titled"]

    def new(one: dict[str, Any]) -> dict[str, Any]:
        return {"field": one.get("expression"), "filter": one.get("filter")}

    entity = {key: json.loads(json.dumps(one).replace('"Source": "t"', '"Entity": "T"')) for key, one in
              {"selects": selects, "ordered": column("ordered", S)}.items()}  # fmt: skip
    state = {"Y": {"projections": [{"field": one, "queryRef": str(number)} for number, one in
                                   enumerate(entity["selects"])]}}  # fmt: skip
    sorted_by = {"sort": [{"field": entity["ordered"]}]}
    inner = {"visualType": "card", "query": {"queryState": state, "sortDefinition": sorted_by}, "objects": chosen,
             "visualContainerObjects": title}  # fmt: skip
    pages = "Report/definition/pages/p/visuals"
    parts = {
        "Report/definition/report.json": {"filterConfig": {"filters": [new(one) for one in of_report]}},
        f"{pages}/v/visual.json": {"name": "v", "visual": inner, "filterConfig": {"filters": [*map(new, filters)]}},
        f"{pages}/x/visual.json": {"name": "x", "visual": {"visualType": "textbox", "objects": title}},
    }
    names = "shown day city titled ranked excluded everywhere ordered chosen unset"
    levels = [{"TableName": "T", "HierarchyName": "place", "Name": "City", "ColumnName": "city"}]
    with open_store(tmp_path / "store.db") as store:
        file = model(monkeypatch, tmp_path / "in", parts, schema=columns(T=names), levels=levels)
        ingest(store, "powerbi", file)
        found = into(store, "Sales/visual/page-card-v", rows=True)
        shown = {one.split()[0].rpartition(".")[2] for one in found if "->" in one}
        assert shown == {"shown", "day", "city", "titled"}
        assert {one.split()[0].rpartition(".")[2] for one in found if "~>" in one} == {
            "shown", "ranked", "excluded", "everywhere", "ordered", "chosen"
        }  # fmt: skip
        assert "Sales/visual/page-textbox-x" in completeness(store)
