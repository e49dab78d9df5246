"""Names in case-insensitive dialects are displayed as their definition spells them; keys do not change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path

import pytest

from lineage.catalog import Catalog
from lineage.export.openlineage import openlineage_events
from lineage.sql.extraction import options_for
from lineage.store import GraphStore, open_store
from lineage.traversal import impact, resolve, root_cause
from lineage.traversal.difference import difference
from lineage.traversal.lookup import names_of
from lineage_ingest.openlineage import EventIngest
from lineage_ingest.sql_files import ingest_sql_files
from tests.query_logs.pipeline.running import Ran, ingested

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 86_400
TABLE = "CREATE TABLE dbo.FactSales (SalesOrderID int, [Line Total] money)"
VIEW = "CREATE VIEW dbo.vSales AS SELECT SalesOrderID, f.[line total] AS NetAmount FROM DBO.FACTSALES f"


def ingest(
    store: GraphStore, folder: Path, day: int, text: str, dialect: str = "tsql", catalog: Catalog | None = None
) -> None:
    """Ingest one file, as of a day."""
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "f.sql").write_text(text, encoding="utf-8")
    ingest_sql_files(
        [folder], store, options_for(dialect), catalog, observed_at=BEGIN + timedelta(days=day), retire_most=True
    )


def shown(store: GraphStore) -> list[str]:
    """Return all display names."""
    keys = store.dataset_keys()
    columns = store.columns(keys)
    names = names_of(store, [*keys, *(column.key for column in columns)])
    assert [names[one.key] for one in store.datasets()] == [one.display_name for one in store.datasets()]
    displayed = {one.key: one.display_name for one in store.datasets()}
    assert [names[one.key] for one in columns] == [f"{displayed[one.dataset]}.{one.display_path}" for one in columns]
    captions = {key: values["name"] for label, key, values in store.dump().nodes if label in ("Table", "Column")}
    assert all(
        names[key].replace('"', "").endswith(name.replace('"', "")) for key, name in captions.items() if key in names
    )
    return sorted(names.values())


@contextmanager
def other_store(folder: Path) -> Iterator[GraphStore]:
    folder.mkdir(exist_ok=True)
    with open_store(folder / "other.db") as store:
        yield store


def test_names_are_shown_as_their_definition_writes_them(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "p", 0, f"{TABLE}; {VIEW}; CREATE VIEW dbo.vAll AS SELECT * FROM dbo.factsales")
    assert shown(store) == [
        *("dbo.FactSales", "dbo.FactSales.Line Total", "dbo.FactSales.SalesOrderID"),
        *("dbo.vAll", "dbo.vAll.Line Total", "dbo.vAll.SalesOrderID"),
        *("dbo.vSales", "dbo.vSales.NetAmount", "dbo.vSales.SalesOrderID"),
    ]
    assert set(store.dataset_keys()) == {"tsql/dbo.factsales", "tsql/dbo.vall", "tsql/dbo.vsales"}
    for name in ("dbo.factsales.salesorderid", "DBO.FactSales.SALESORDERID", "tsql/dbo.factsales#salesorderid"):
        target = resolve(store, name)
        assert (target.key, target.name) == ("tsql/dbo.factsales#salesorderid", "dbo.FactSales.SalesOrderID")
    answer = impact(store, resolve(store, "dbo.factsales.[line total]"))
    assert [one.name for one in answer.columns] == ["dbo.vAll.Line Total", "dbo.vSales.NetAmount"]
    assert answer.tables == ("dbo.vAll", "dbo.vSales")
    assert root_cause(store, resolve(store, "vsales.netamount")).start.name == "dbo.vSales.NetAmount"
    assert {hit.name for hit in store.search("sales", types=("Table",))} == {"dbo.FactSales", "dbo.vSales"}
    assert {hit.name for hit in store.search("netam")} == {"NetAmount"}
    first = store.dump()
    ingest(store, tmp_path / "p", 0, f"{TABLE}; {VIEW}; CREATE VIEW dbo.vAll AS SELECT * FROM dbo.factsales")
    assert store.dump() == first


def test_a_definition_counts_before_what_reads_the_table_in_any_order(store: GraphStore, tmp_path: Path) -> None:
    texts = {"a": TABLE, "b": VIEW, "c": "INSERT INTO DBO.factsales (salesORDERid) SELECT X FROM dbo.Src"}
    wanted = None
    for number, order in enumerate(permutations(texts)):
        with other_store(tmp_path / str(number)) as other:
            for name in order:
                ingest(other, tmp_path / name, "abc".index(name), texts[name])
            wanted = wanted or shown(other)
            assert shown(other) == wanted
            assert "dbo.FactSales.SalesOrderID" in wanted
    for name in "cba":
        ingest(store, tmp_path / name, "abc".index(name), texts[name])
    assert shown(store) == wanted


def test_of_what_is_only_read_the_earliest_reference_counts(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "b", 2, "CREATE VIEW dbo.b AS SELECT ORDERID AS x FROM DBO.ORDERS")
    assert "DBO.ORDERS.ORDERID" in shown(store)
    ingest(store, tmp_path / "c", 3, "CREATE VIEW dbo.c AS SELECT orderId AS x FROM dbo.oRders")
    assert "DBO.ORDERS.ORDERID" in shown(store)
    ingest(store, tmp_path / "a", 1, "CREATE VIEW dbo.a AS SELECT OrderID AS x FROM dbo.Orders")
    assert "dbo.Orders.OrderID" in shown(store)
    ingest(store, tmp_path / "d", 4, "CREATE TABLE dbo.orders (orderid int)")
    assert "dbo.orders.orderid" in shown(store)
    ingest(store, tmp_path / "e", 0, "CREATE VIEW dbo.e AS SELECT OrderID AS x FROM dbo.Orders")
    assert "dbo.orders.orderid" in shown(store)


def test_a_later_definition_writes_the_name_anew_and_an_older_one_does_not(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "a", 1, TABLE)
    ingest(store, tmp_path / "b", 2, "CREATE TABLE dbo.FACTSALES (SALESORDERID int)")
    assert shown(store) == ["dbo.FACTSALES", "dbo.FACTSALES.SALESORDERID"]
    ingest(store, tmp_path / "c", 0, "CREATE TABLE dbo.factSales (salesOrderId int)")
    assert shown(store) == ["dbo.FACTSALES", "dbo.FACTSALES.SALESORDERID"]
    ingest(store, tmp_path / "b", 3, "CREATE TABLE dbo.factsales (salesorderid int)")
    assert shown(store) == ["dbo.factsales", "dbo.factsales.salesorderid"]


RENAMED = (
    "EXEC sp_rename 'dbo.factsales', 'FactOrders'",
    "EXEC sp_rename 'dbo.FactOrders.salesorderid', 'OrderID', 'COLUMN'",
)


def test_a_rename_writes_the_new_name(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "a", 1, TABLE)
    for number, text in enumerate(RENAMED):
        ingest(store, tmp_path / f"b{number}", 2 + number, text)
    assert shown(store) == ["dbo.FactOrders", "dbo.FactOrders.Line Total", "dbo.FactOrders.OrderID"]
    found = difference(store, BEGIN + timedelta(days=1, hours=1), BEGIN + timedelta(days=5))
    assert [one.name for one in found.datasets] == ["dbo.FactOrders"]
    assert [one.name for one in found.columns] == ["dbo.FactOrders.OrderID"]
    assert resolve(store, "dbo.FactSales").name == "dbo.FactOrders"


def test_a_rename_that_is_known_before_the_table_writes_the_new_name(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "b", 2, RENAMED[0])
    ingest(store, tmp_path / "a", 1, TABLE)
    assert shown(store) == ["dbo.FactOrders", "dbo.FactOrders.Line Total", "dbo.FactOrders.SalesOrderID"]


@pytest.mark.parametrize("apart", [False, True])
def test_a_rename_in_other_letters_only(store: GraphStore, tmp_path: Path, apart: bool) -> None:
    renames = (
        "EXEC sp_rename 'dbo.FactSales', 'FACTSALES'",
        "EXEC sp_rename 'dbo.factsales.salesorderid', 'salesOrderId', 'COLUMN'",
    )
    ingest(store, tmp_path / "a", 1, TABLE if apart else "; ".join((TABLE, *renames)))
    for number, text in enumerate(renames if apart else ()):
        ingest(store, tmp_path / f"b{number}", 2 + number, text)
    assert shown(store) == ["dbo.FACTSALES", "dbo.FACTSALES.Line Total", "dbo.FACTSALES.salesOrderId"]
    assert store.former_names(store.dataset_keys()) == {"tsql/dbo.factsales": []}


def test_a_catalog_counts_before_references_and_a_definition_before_the_catalog(
    store: GraphStore, tmp_path: Path
) -> None:
    catalog = Catalog.from_dict({"dbo": {"FactSales": {"SalesOrderID": "int", "Line Total": "money"}}}, "tsql")
    ingest(store, tmp_path / "a", 1, VIEW, catalog=catalog)
    assert {"dbo.FactSales", "dbo.FactSales.Line Total", "dbo.FactSales.SalesOrderID"} < set(shown(store))
    ingest(store, tmp_path / "b", 2, "CREATE TABLE dbo.factSALES (salesORDERid int)", catalog=catalog)
    assert {"dbo.factSALES", "dbo.factSALES.salesORDERid"} < set(shown(store))


def test_a_catalog_whose_names_the_default_database_completes(store: GraphStore, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "f.sql").write_text("SELECT a.Net INTO dbo.T FROM dbo.FACTSALES a", encoding="utf-8")
    catalog = Catalog.from_dict({"dbo": {"FactSales": {"Net": "money"}}}, "tsql")
    options = options_for("tsql", default_database="SalesDB")
    ingest_sql_files([tmp_path / "p"], store, options, catalog, observed_at=BEGIN)
    assert {"SalesDB.dbo.FactSales", "SalesDB.dbo.FactSales.Net", "SalesDB.dbo.T.Net"} < set(shown(store))


def test_a_star_over_a_table_of_an_earlier_ingest_has_its_spellings(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "v", 1, "CREATE VIEW dbo.vAll AS SELECT * FROM dbo.FACTSALES")
    ingest(store, tmp_path / "a", 2, TABLE)
    assert {"dbo.vAll.Line Total", "dbo.vAll.SalesOrderID"} < set(shown(store))
    ingest(store, tmp_path / "w", 3, "CREATE VIEW dbo.wAll AS SELECT * FROM dbo.FACTSALES")
    assert {"dbo.wAll.Line Total", "dbo.wAll.SalesOrderID"} < set(shown(store))


def ran(*texts: str) -> list[Ran]:
    return [Ran(text, f"s{number}", number * DAY) for number, text in enumerate(texts)]


def test_a_log_shows_names_as_files_do(store: GraphStore) -> None:
    texts = (
        VIEW,
        TABLE,
        "INSERT INTO rpt.[Top Sales] (Total) SELECT netamount FROM dbo.VSALES",
        "SELECT OrderNo INTO dbo.C1 FROM dbo.Orders",
        "SELECT ORDERNO INTO dbo.C2 FROM DBO.ORDERS",
    )
    ingested(store, ran(*texts), "tsql")
    assert set(shown(store)) == {
        *("dbo.FactSales", "dbo.FactSales.Line Total", "dbo.FactSales.SalesOrderID"),
        *("dbo.vSales", "dbo.vSales.NetAmount", "dbo.vSales.SalesOrderID"),
        *('rpt."Top Sales"', 'rpt."Top Sales".Total', "dbo.Orders", "dbo.Orders.OrderNo"),
        *("dbo.C1", "dbo.C1.OrderNo", "dbo.C2", "dbo.C2.ORDERNO"),
    }
    first = store.dump()
    ingested(store, ran(*texts), "tsql")
    assert store.dump() == first


def test_a_rename_in_a_log(store: GraphStore) -> None:
    ingested(store, ran(TABLE, *RENAMED, "SELECT orderid INTO dbo.[Copy] FROM dbo.factorders"), "tsql")
    assert set(shown(store)) == {
        *("dbo.FactOrders", "dbo.FactOrders.Line Total", "dbo.FactOrders.OrderID", "dbo.Copy", "dbo.Copy.orderid"),
    }


@pytest.mark.parametrize(
    ("dialect", "wanted"),
    [
        ("bigquery", ["Sales.Fact", "Sales.Fact.OrderID", "Sales.v", "Sales.v.NetAmount"]),
        ("mysql", ["Sales.Fact", "Sales.Fact.OrderID", "Sales.v", "Sales.v.NetAmount"]),
        ("duckdb", ["Sales.Fact", "Sales.Fact.OrderID", "Sales.v", "Sales.v.NetAmount"]),
        ("spark", ["sales.fact", "sales.fact.OrderID", "sales.v", "sales.v.NetAmount"]),
        ("hive", ["sales.fact", "sales.fact.orderid", "sales.v", "sales.v.netamount"]),
        ("postgres", ["sales.fact", "sales.fact.orderid", "sales.v", "sales.v.netamount"]),
        ("snowflake", ["SALES.FACT", "SALES.FACT.ORDERID", "SALES.V", "SALES.V.NETAMOUNT"]),
    ],
)
def test_each_dialect_shows_names_as_its_product_does(tmp_path: Path, dialect: str, wanted: list[str]) -> None:
    text = "CREATE TABLE Sales.Fact (OrderID int); CREATE VIEW Sales.v AS SELECT orderid AS NetAmount FROM Sales.Fact"
    with other_store(tmp_path) as store:
        ingest(store, tmp_path / "p", 0, text, dialect)
        assert shown(store) == wanted
        kept = [values for _, _, values in store.dump().nodes if values.get("spelling")]
        assert bool(kept) is (dialect not in ("hive", "postgres", "snowflake"))


def test_events_and_our_own_export_keep_spellings(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "p", 0, f"{TABLE}; {VIEW}; SELECT a INTO dbo.T2 FROM dbo.Unknown")
    with other_store(tmp_path) as copy:
        EventIngest(copy).take(list(openlineage_events(store)))
        assert copy.dataset_keys() == store.dataset_keys()
        assert shown(copy) == shown(store)
        fields = [{"name": "OrderID", "type": "int"}]
        event = {
            "eventTime": "2026-02-01T00:00:00Z",
            "producer": "https://p",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
            "dataset": {
                "namespace": "mssql://h:1433",
                "name": "db.dbo.Orders",
                "facets": {"schema": {"_producer": "https://p", "_schemaURL": "https://s", "fields": fields}},
            },
        }
        EventIngest(copy).take([event])
        assert {"db.dbo.Orders", "db.dbo.Orders.OrderID"} < set(shown(copy))


def test_a_described_column_keeps_its_caption(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "p", 0, TABLE)
    store.describe("tsql/dbo.factsales#salesorderid", description="the order")
    captions = {key: values["name"] for label, key, values in store.dump().nodes if label == "Column"}
    assert captions["tsql/dbo.factsales#salesorderid"] == "FactSales.SalesOrderID"
