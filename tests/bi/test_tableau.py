"""Tableau: relationships of the data model, unions, filters of data sources, levels of detail, blends, stories."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.model.statement import Completeness
from lineage.store import GraphStore, open_store
from tests.bi.exports import codes, completeness, edges_of, ingest, into

TABLE = "<relation connection='pg' name='{0}' table='[public].[{0}]' type='table'/>"
ORDERS, PEOPLE = TABLE.format("orders"), TABLE.format("people")
MODEL = f"<relation type='collection'>{ORDERS}{PEOPLE}</relation>"
RELATED = """<object-graph><relationships><relationship><expression op='='><expression op='[person]'/>
<expression op='[id (people)]'/></expression></relationship></relationships></object-graph>"""
SOURCE = "Book/datasource/Sales"
SHOP = "postgres://db:5432/shop.public"
LINKS = """<datasource-relationships><datasource-relationship source='fed' target='two'><column-mapping>
<map key='[fed].[none:person:nk]' value='[two].[none:id (people):nk]'/></column-mapping></datasource-relationship>
</datasource-relationships>"""


def record(local: str, remote: str, table: str) -> str:
    return (
        f"<metadata-record class='column'><remote-name>{remote}</remote-name><local-name>[{local}]</local-name>"
        f"<parent-name>[{table}]</parent-name></metadata-record>"
    )


def source(relation: str = ORDERS, more: str = "", name: str = "fed", title: str = "Sales", records: str = "") -> str:
    """Return a data source over PostgreSQL with the columns of two tables."""
    records = records or record("amount", "amount", "orders") + record("person", "person", "orders")
    if PEOPLE in relation:
        records += record("id (people)", "id", "people")
    return f"""<datasource name='{name}' caption='{title}'><connection class='federated'><named-connections>
<named-connection name='pg' caption='db'><connection class='postgres' server='db' port='5432' dbname='shop'
schema='public'/></named-connection></named-connections>{relation}<metadata-records>{records}</metadata-records>
</connection>{more}</datasource>"""


def book(folder: Path, sources: str, rest: str = "", place: str = "") -> Path:
    file = folder / "Book.twb"
    file.write_text(f"<workbook>{place}<datasources>{sources}</datasources>{rest}</workbook>", encoding="utf-8")
    return file


def rows_into(store: GraphStore, key: str) -> set[str]:
    return {one for one in into(store, key, rows=True) if "~>" in one}


def test_relationships_of_the_data_model(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.lbug") as store:
        assert not ingest(store, "tableau", book(tmp_path, source(MODEL, RELATED))).diagnostics
        assert rows_into(store, SOURCE) == {
            f"{SHOP}.orders.person ~> {SOURCE} [JOIN]",
            f"{SHOP}.people.id ~> {SOURCE} [JOIN]",
        }
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "tableau", book(tmp_path, source(MODEL))))
        assert completeness(store)[SOURCE] is Completeness.PARTIAL


@pytest.mark.parametrize(
    ("more", "edge", "level"),
    [
        ("<filter column='[person]'/>", "orders.person", Completeness.FULL),
        ("<extract><filter column='[fed].[amount]'/></extract>", "orders.amount", Completeness.FULL),
        ("<filter column='[gone]'/>", None, Completeness.PARTIAL),
    ],
)
def test_filters_of_a_data_source(tmp_path: Path, more: str, edge: str | None, level: Completeness) -> None:
    with open_store(tmp_path / "store.lbug") as store:
        ingest(store, "tableau", book(tmp_path, source(more=more)))
        assert rows_into(store, SOURCE) == ({f"{SHOP}.{edge} ~> {SOURCE} [FILTER]"} if edge else set())
        assert completeness(store)[SOURCE] is level


def test_columns_of_a_union_and_of_a_table_that_is_not_there(tmp_path: Path) -> None:
    union = f"<relation type='union' name='all'>{ORDERS}{TABLE.format('old')}</relation>"
    joined = f"<relation type='collection'>{union}{PEOPLE}</relation>"
    records = record("amount", "amount", "all") + record("person", "x", "gone") + record("y", "id", "people")
    with open_store(tmp_path / "store.lbug") as store:
        summary = ingest(store, "tableau", book(tmp_path, source(joined, RELATED, records=records)))
        messages = [one.diagnostic.message for one in summary.diagnostics]
        assert any("'gone', which is no table" in one for one in messages), messages
        values = {one for one in edges_of(store) if "->" in one}
        assert f"{SHOP}.orders.x -> {SOURCE}.person [IDENTITY]" not in values
        assert f"{SHOP}.people.id -> {SOURCE}.y [IDENTITY]" in values
        assert completeness(store)[SOURCE] is Completeness.PARTIAL


@pytest.mark.parametrize(
    ("formula", "edges"),
    [
        ("{FIXED [person] : SUM([amount])}", {"amount -> [AGGREGATION]", "person ~> [WINDOW]"}),
        ("SUM({INCLUDE [person]: MAX([amount])}) / 2", {"amount -> [AGGREGATION]", "person ~> [WINDOW]"}),
        ("{ MAX([amount]) }", {"amount -> [AGGREGATION]"}),
        ("{FIXED [person] : MIN({FIXED [amount] : COUNTD([person])})}",
         {"person -> [AGGREGATION]", "person ~> [WINDOW]", "amount ~> [WINDOW]"}),
    ],
)  # fmt: skip
def test_levels_of_detail(tmp_path: Path, formula: str, edges: set[str]) -> None:
    column = f"<column name='[Calc]' caption='LOD'><calculation class='tableau' formula='{formula}'/></column>"
    with open_store(tmp_path / "store.lbug") as store:
        assert not ingest(store, "tableau", book(tmp_path, source(more=column))).diagnostics
        found = into(store, f"{SOURCE}.LOD")
        assert {one.removeprefix(f"{SHOP}.orders.").replace(f"{SOURCE}.LOD ", "") for one in found} == edges


def test_blends_and_stories(tmp_path: Path) -> None:
    sheet = """<worksheets><worksheet name='W'><view><datasource-dependencies datasource='fed'><column-instance
column='[amount]' derivation='Sum' name='[sum:amount:qk]'/></datasource-dependencies><datasource-dependencies
datasource='two'><column-instance column='[id (people)]' derivation='None' name='[none:id:nk]'/>
</datasource-dependencies></view></worksheet></worksheets><dashboards>
<dashboard name='D'><zones><zone name='W'/></zones>
</dashboard><dashboard name='S' type='storyboard'><story-points><story-point captured-sheet='D'/></story-points>
</dashboard></dashboards>"""
    both = source() + source(PEOPLE, name="two", title="People", records=record("id (people)", "id", "people"))
    with open_store(tmp_path / "store.lbug") as store:
        assert not ingest(store, "tableau", book(tmp_path, both, sheet + LINKS)).diagnostics
        assert rows_into(store, "Book/sheet/W") == {
            f"{SOURCE}.person ~> Book/sheet/W [FILTER]",
            "Book/datasource/People.id (people) ~> Book/sheet/W [FILTER]",
        }
        assert any("> Book/dashboard/S.W / " in one for one in edges_of(store))
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "tableau", book(tmp_path, both, sheet)))


def test_workbooks_of_one_name_on_two_sites(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.lbug") as store:
        for site in ("north", "south"):
            place = f"<repository-location id='Book' site='{site}' path='/t/{site}/workbooks'/>"
            assert ingest(store, "tableau", book(tmp_path, source(), place=place)).gone == ()
        assert set(completeness(store)) == {f"{site}/{SOURCE}" for site in ("north", "south")}
