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
    with open_store(tmp_path / "store.db") as store:
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
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "tableau", book(tmp_path, source(more=more)))
        assert rows_into(store, SOURCE) == ({f"{SHOP}.{edge} ~> {SOURCE} [FILTER]"} if edge else set())
        assert completeness(store)[SOURCE] is level


def test_columns_of_a_union_and_of_a_table_that_is_not_there(tmp_path: Path) -> None:
    union = f"<relation type='union' name='all'>{ORDERS}{TABLE.format('old')}</relation>"
    joined = f"<relation type='collection'>{union}{PEOPLE}</relation>"
    records = record("amount", "amount", "all") + record("person", "x", "gone") + record("y", "id", "people")
    with open_store(tmp_path / "store.db") as store:
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
    with open_store(tmp_path / "store.db") as store:
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
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, both, sheet + LINKS)).diagnostics
        assert rows_into(store, "Book/sheet/W") == {
            f"{SOURCE}.person ~> Book/sheet/W [FILTER]",
            "Book/datasource/People.id (people) ~> Book/sheet/W [FILTER]",
        }
        assert any("> Book/dashboard/S.W / " in one for one in edges_of(store))
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "tableau", book(tmp_path, both, sheet)))


def test_a_blend_of_which_one_data_source_is_not_linked(tmp_path: Path) -> None:
    others = "".join(
        source(name=name, title=name, relation=TABLE.format(name), records=record("person", "person", name))
        for name in ("two", "three")
    )
    sheet = sheets(("W", uses("amount") + uses("person", "two") + uses("person", "three")))
    links = LINKS.replace("id (people)", "person")
    with open_store(tmp_path / "store.db") as store:
        [found] = ingest(store, "tableau", book(tmp_path, source() + others, sheet + links)).diagnostics
        assert found.diagnostic.message == (
            "the worksheet blends some of its data sources: by which fields is not known"
        )
        assert completeness(store)["Book/sheet/W"] is Completeness.PARTIAL
        both = links + links.replace("two", "three")
        assert not ingest(store, "tableau", book(tmp_path, source() + others, sheet + both)).diagnostics


def test_workbooks_of_one_name_on_two_sites(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        for site in ("north", "south"):
            place = f"<repository-location id='Book' site='{site}' path='/t/{site}/workbooks'/>"
            assert ingest(store, "tableau", book(tmp_path, source(), place=place)).gone == ()
        assert set(completeness(store)) == {f"{site}/{SOURCE}" for site in ("north", "south")}


def sheets(*named: tuple[str, str], more: str = "") -> str:
    """Return worksheets, each of a name and what is in its view."""
    listed = "".join(f"<worksheet name='{name}'><view>{view}</view></worksheet>" for name, view in named)
    return f"<worksheets>{listed}</worksheets>{more}"


def uses(fields: str, name: str = "fed", own: str = "") -> str:
    """Return the dependencies of a worksheet on fields of a data source, all of which it shows."""
    listed = "".join(
        f"<column-instance column='[{one}]' derivation='None' name='[none:{one}:nk]'/>" for one in fields.split(",")
    )
    return f"<datasource-dependencies datasource='{name}'>{own}{listed}</datasource-dependencies>"


def calculated(name: str, formula: str, title: str = "") -> str:
    return (
        f"<column name='[{name}]' caption='{title or name}'><calculation class='tableau' formula='{formula}'/></column>"
    )


def related(*keys: str) -> str:
    """Return relationships by expressions."""
    listed = "".join(f"<relationship>{one}</relationship>" for one in keys)
    return f"<object-graph><relationships>{listed}</relationships></object-graph>"


def equal(one: str, two: str, mark: str = "") -> str:
    return f"<expression op='='><expression {mark}op='{one}'/><expression op='{two}'/></expression>"


@pytest.mark.parametrize(
    ("keys", "joined", "message"),
    [
        (equal("[person]", "[id (people)]"), "orders.person people.id", None),
        (equal("[Calc]", "[id (people)]"), "orders.person orders.amount people.id", None),
        (equal("STR([person])", "TRIM([id (people)])", "_.fcp.RelationshipCalculations.true..."),
         "orders.person people.id", None),
        (f"<expression op='AND'>{equal('[person]', '[id (people)]')}{equal('[amount]', '[id (people)]')}</expression>",
         "orders.person orders.amount people.id", None),
        (equal("[gone]", "[id (people)]"), "people.id",
         "the condition of a join names [gone], which is not in the data source"),
        ("", "", "by which columns the tables of the data model are related is not known"),
    ],
)  # fmt: skip
def test_the_keys_of_relationships(tmp_path: Path, keys: str, joined: str, message: str | None) -> None:
    key = calculated("Calc", "[person] + [amount]")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "tableau", book(tmp_path, source(MODEL, key + related(keys))))
        assert rows_into(store, SOURCE) == {f"{SHOP}.{one} ~> {SOURCE} [JOIN]" for one in joined.split()}
        assert [one.diagnostic.message for one in summary.diagnostics] == ([message] if message else [])


def test_some_tables_of_the_data_model_are_not_related(tmp_path: Path) -> None:
    three = f"<relation type='collection'>{ORDERS}{PEOPLE}{TABLE.format('old')}</relation>"
    with open_store(tmp_path / "store.db") as store:
        keys = related(equal("[person]", "[id (people)]"))
        [record_] = ingest(store, "tableau", book(tmp_path, source(three, keys))).diagnostics
        assert "by which columns some tables" in record_.diagnostic.message


TOP = (
    "<groupfilter function='end' count='5' end='top'><groupfilter function='order' expression='SUM([amount])'>"
    "<groupfilter function='level-members' level='[person]'/></groupfilter></groupfilter>"
)


@pytest.mark.parametrize(
    ("more", "column", "sources"),
    [
        (f"<group name='[Best]'>{TOP}</group>", "Best", "amount person"),
        ("<group name='[Of]'><groupfilter function='level-members' level='[Calc]'/></group>"
         + calculated("Calc", "[person] + 1"), "Of", "person"),
        (f"<group name='[Best]'>{TOP}</group><group name='[Both]'><groupfilter function='union'>"
         "<groupfilter field='[Best]' function='reference'/></groupfilter></group>", "Both", "amount person"),
        (calculated("In", "IF [Best] THEN [amount] END") + f"<group name='[Best]'>{TOP}</group>", "In",
         "amount person"),
        (calculated("N", "COUNT([__tableau_internal_object_id__].[orders_1]) + SUM([fed].[amount])"), "N", "amount"),
    ],
)  # fmt: skip
def test_what_sets_and_groups_are_made_of(tmp_path: Path, more: str, column: str, sources: str) -> None:
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, source(more=more))).diagnostics
        found = {one.split(" ")[0].rpartition(".")[2] for one in into(store, f"{SOURCE}.{column}")}
        assert found == set(sources.split())
        assert completeness(store)[SOURCE] is Completeness.FULL


def test_fields_of_another_data_source_in_a_formula(tmp_path: Path) -> None:
    two = source(name="two", title="Goals", relation=TABLE.format("goals"), records=record("amount", "amount", "goals"))
    ratio = calculated("Ratio", "SUM([amount]) / SUM([two].[amount])")
    own = calculated("Own", "SUM([amount]) - SUM([two].[amount])")
    gone = calculated("Gone", "SUM([three].[amount])")
    sheet = sheets(("W", uses("Own", own=own) + uses("amount", "two")))
    links = LINKS.replace("id (people)", "amount")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "tableau", book(tmp_path, source(more=ratio + gone) + two, sheet + links))
        assert {one.diagnostic.message for one in summary.diagnostics} == {
            "'Gone' reads [three].[amount], which is not in its data source"
        }
        assert {one.partition(" ->")[0] for one in into(store, f"{SOURCE}.Ratio")} == {
            f"{SHOP}.orders.amount", "Book/datasource/Goals.amount"
        }  # fmt: skip
        assert {one.partition(" ->")[0] for one in into(store, "Book/sheet/W.Own")} == {
            f"{SOURCE}.amount", "Book/datasource/Goals.amount"
        }  # fmt: skip


def test_filters_of_a_worksheet(tmp_path: Path) -> None:
    by_top = (
        f"<filter class='categorical' column='[fed].[none:person:nk]'>{TOP.replace('[person]', '[none:person:nk]')}"
    )
    rows = "<rows>[fed].[none:person:nk]</rows>"
    with open_store(tmp_path / "store.db") as store:
        sheet = sheets(("W", f"{uses('person')}{by_top}</filter>{rows}"), ("Empty", ""))
        summary = ingest(store, "tableau", book(tmp_path, source(), sheet))
        assert [(one.diagnostic.severity, one.diagnostic.message) for one in summary.diagnostics] == [
            ("info", "the worksheet is empty")
        ]
        assert into(store, "Book/sheet/W", rows=True) == {
            f"{SOURCE}.person -> Book/sheet/W.person [IDENTITY]",
            f"{SOURCE}.person ~> Book/sheet/W [FILTER]",
            f"{SOURCE}.amount ~> Book/sheet/W [FILTER]",
        }


def test_names_that_are_alike(tmp_path: Path) -> None:
    alike = "".join(f"<column name='[{name}]' caption='Key'/>" for name in ("amount", "person"))
    boards = "<dashboards>" + "".join(
        f"<dashboard name='{name}'><zones><zone name='{name[2:]}'/></zones></dashboard>" for name in ("D A/1", "D A 1")
    )
    rest = sheets(("A/1", uses("amount,person")), ("A 1", uses("amount", "two")), more=boards + "</dashboards>")
    with open_store(tmp_path / "store.db") as store:
        both = source(more=alike) + source(name="two")
        assert not ingest(store, "tableau", book(tmp_path, both, rest)).diagnostics
        assert set(completeness(store).values()) == {Completeness.FULL}
        assert len(completeness(store)) == 6
        shown = {one for one in edges_of(store) if "> Book/dashboard/" in one}
        assert len({one.partition("> ")[2].partition(".")[0] for one in shown}) == 2
        keys = {one.partition(" -> ")[0].rpartition(".")[2]: one.partition(" [")[0].rpartition(".")[2]
                for one in edges_of(store) if one.startswith(f"{SHOP}.orders") and "Key" in one}  # fmt: skip
        assert keys == {"amount": "Key", "person": "Key (person)"}


def test_a_union_combines_columns_of_one_name(tmp_path: Path) -> None:
    union = f"<relation type='union' name='all'>{ORDERS}{TABLE.format('old')}</relation>"
    records = "".join(record(name, name, "all") for name in ("amount", "Table Name"))
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "tableau", book(tmp_path, source(union, records=records)))
        assert {one.diagnostic.message for one in summary.diagnostics} == {
            "the tables of the union 'all' are all taken to have all of its columns"
        }
        assert into(store, SOURCE) == {
            f"{SHOP}.{table}.amount -> {SOURCE}.amount [IDENTITY]" for table in ("orders", "old")
        }


CRM = """<named-connection name='my' caption='crm'><connection class='mysql' server='my' port='3306' dbname='crm'/>
</named-connection></named-connections>"""
CUSTOMERS = "<relation connection='my' name='cust' table='[cust]' type='table'/>"
PIVOT = f"""<relation name='Pivot' type='pivot'><columns><column name='Pivot Field Names'/></columns>
<tag name='Pivot Field Names'><value name='[profit]'/><value name='[amount]'/></tag><groups><group
name='Pivot Field Values'><field name='[orders].[profit]'/><field name='[amount]'/></group></groups>{ORDERS}</relation>
"""


def joined(relation: str, name: str) -> str:
    """Return a relation joined with a table of another connection."""
    clause = f"<expression op='='><expression op='[{name}].[person]'/><expression op='[cust].[id]'/></expression>"
    return f"<relation type='join' join='left'><clause type='join'>{clause}</clause>{relation}{CUSTOMERS}</relation>"


def test_a_union_beside_a_table_of_another_connection(tmp_path: Path) -> None:
    union = f"<relation type='union' name='all'>{ORDERS}{TABLE.format('old')}</relation>"
    records = "".join(record(name, name, "all") for name in ("amount", "person", "Table Name"))
    text = source(joined(union, "all"), records=records + record("id", "id", "cust"))
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "tableau", book(tmp_path, text.replace("</named-connections>", CRM)))
        found = edges_of(store)
        for table in ("orders", "old"):
            assert f"{SHOP}.{table}.amount -> {SOURCE}/{table}.amount [IDENTITY]" in found
            assert f"{SOURCE}/{table}.amount -> {SOURCE}.amount [IDENTITY]" in found
        assert f"mysql://my:3306/crm.cust.id -> {SOURCE}/cust.id [IDENTITY]" in found
        assert not {one for one in found if one.startswith("tableau")}


@pytest.mark.parametrize("several", [False, True])
def test_a_pivot_makes_rows_of_columns(tmp_path: Path, several: bool) -> None:
    records = record("person", "person", "orders")
    records += "".join(record(name, name, "Pivot") for name in ("Pivot Field Names", "Pivot Field Values"))
    text = source(PIVOT, records=records)
    if several:
        text = source(joined(PIVOT, "Pivot"), records=records + record("id", "id", "cust"))
        text = text.replace("</named-connections>", CRM)
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, text)).diagnostics
        table = f"{SOURCE}/orders" if several else f"{SHOP}.orders"
        found = {one.lower() for one in into(store, f"{SOURCE}.") if "cust" not in one}
        assert found == {
            one.lower()
            for one in (
                f"{table}.person -> {SOURCE}.person [IDENTITY]",
                f"{table}.profit -> {SOURCE}.Pivot Field Values [TRANSFORMATION]",
                f"{table}.amount -> {SOURCE}.Pivot Field Values [TRANSFORMATION]",
            )
        }
        assert completeness(store)[SOURCE] is Completeness.FULL


def test_a_stored_procedure_is_no_table(tmp_path: Path) -> None:
    relation = "<relation name='p' stored-proc='[dbo].[p]' type='stored-proc'/>"
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "tableau", book(tmp_path, source(relation, records=record("a", "a", "p"))))
        assert codes(summary) == {"EXPRESSION_NOT_READ"}
        assert edges_of(store, rows=True) == set()
        assert completeness(store)[SOURCE] is Completeness.PARTIAL


def test_sql_that_runs_before_a_query(tmp_path: Path) -> None:
    before = source().replace("class='postgres'", "class='postgres' one-time-sql='CREATE TEMP TABLE x AS SELECT 1'")
    with open_store(tmp_path / "store.db") as store:
        [record_] = ingest(store, "tableau", book(tmp_path, before)).diagnostics
        assert record_.diagnostic.message.startswith("the SQL that runs when the connection opens is not read")
        assert completeness(store)[SOURCE] is Completeness.PARTIAL


@pytest.mark.parametrize(
    ("connection", "table", "key"),
    [
        ("class='excel-direct' filename='C:\\data\\A.xlsx'", "[Sheet1$]", "file/C:/data/A.xlsx/Sheet1$"),
        ("class='textscan' directory='/data/' filename='a.csv'", "[a#csv]", "file//data/a.csv"),
        ("class='hyper' dbname='Data/x.hyper'", "[Extract].[Extract]", "file/Book/Data/x.hyper/Extract.Extract"),
        (
            "class='textscan' directory='Data/Datasources' filename='a.csv'",
            "[a#csv]",
            "file/Book/Data/Datasources/a.csv",
        ),
        ("class='google-sheets' filename='1AbC'", "[Sheet1]", "file/1AbC/Sheet1"),
        ("class='sqlserver' server='srv,1444' dbname='shop'", "[dbo].[t]", "mssql://srv:1444/shop.dbo.t"),
    ],
)
def test_tables_of_files_and_servers(tmp_path: Path, connection: str, table: str, key: str) -> None:
    relation = f"<relation connection='pg' name='t' table='{table}' type='table'/>"
    text = source(relation, records=record("amount", "amount", "t"))
    begin, end = text.index("class='postgres'"), text.index("schema='public'") + len("schema='public'")
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, text[:begin] + connection + text[end:])).diagnostics
        assert into(store, SOURCE) == {f"{key}.amount -> {SOURCE}.amount [IDENTITY]"}


def test_sheets_and_fields_that_are_not_there(tmp_path: Path) -> None:
    shelf = "[fed].[sum:amount:qk] [fed].[none:person:nk] [fed].[:Measure Names]"
    sheet = f"""<worksheets><worksheet name='S'><table><view><datasource-dependencies datasource='fed'>
<column-instance column='[amount]' derivation='Sum' name='[sum:amount:qk]'/></datasource-dependencies></view>
<rows>{shelf}</rows></table></worksheet></worksheets>"""
    zones = "<zone name='S'/><zone name='Gone'/><zone name='note' type-v2='text'/>"
    board = f"<dashboards><dashboard name='D'><zones>{zones}</zones></dashboard></dashboards>"
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "tableau", book(tmp_path, source(), sheet + board))
        assert {one.diagnostic.message for one in summary.diagnostics} == {
            "it shows the sheet 'Gone', which is not in the workbook",
            "the worksheet shows [none:person:nk], which it does not describe",
        }
        assert completeness(store)["Book/dashboard/D"] is completeness(store)["Book/sheet/S"] is Completeness.PARTIAL


def test_a_dashboard_shows_the_sheets_in_tooltips(tmp_path: Path) -> None:
    """A sheet can be in the tooltip of another, also in one of its own tooltips."""
    tip = """<customized-tooltip><formatted-text><run>more: </run><run>&lt;Sheet name=&quot;{0}&quot;
filter=&quot;&lt;All Fields&gt;&quot;&gt;</run></formatted-text></customized-tooltip>"""
    listed = sheets(
        ("A", uses("amount") + tip.format("B")), ("B", uses("person") + tip.format("C")),
        ("C", uses("amount") + tip.format("A")), ("D", uses("person")),
        more="<dashboards><dashboard name='Board'><zones><zone name='A'/></zones></dashboard></dashboards>",
    )  # fmt: skip
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, source(), listed)).diagnostics
        shown = {one.partition(" -> ")[0] for one in into(store, "Book/dashboard/Board.")}
        assert shown == {"Book/sheet/A.amount", "Book/sheet/B.person", "Book/sheet/C.amount"}


def test_two_workbooks_of_one_title(tmp_path: Path) -> None:
    for folder, title in (("a", "Sales"), ("b", "Others")):
        (tmp_path / "in" / folder).mkdir(parents=True)
        book(tmp_path / "in" / folder, source(title=title))
    with open_store(tmp_path / "store.db") as store:
        [found] = ingest(store, "tableau", tmp_path / "in").diagnostics
        assert found.diagnostic.message.endswith("a/Book.twb has the same title: what both contain is read as one")


def test_measure_names_and_values_are_no_columns(tmp_path: Path) -> None:
    names = "<column name='[:Measure Names]' caption='Measure Names'/><column name='[:Measure Values]'/>"
    sheet = """<worksheets><worksheet name='W'><table><view><datasource-dependencies datasource='fed'>
<column name='[amount]'/><column-instance column='[amount]' derivation='Sum' name='[sum:amount:qk]'/>
</datasource-dependencies><filter column='[fed].[:Measure Names]'><groupfilter function='member'
member='&quot;[fed].[sum:amount:qk]&quot;'/></filter><slices><column>[fed].[:Measure Names]</column></slices></view>
<rows>[fed].[Multiple Values]</rows><cols>[fed].[:Measure Names]</cols></table></worksheet></worksheets>"""
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", book(tmp_path, source(more=names), sheet)).diagnostics
        assert not [one for one in edges_of(store, rows=True) if "Measure" in one]
