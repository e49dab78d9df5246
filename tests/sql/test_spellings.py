"""Names of dialects that compare without case come with their spelling; what they are compared by stays folded."""

from __future__ import annotations

import json
import pickle

import pytest

from lineage import Catalog, extract, extract_script
from lineage.model.dialects import DIALECTS, dialect_named
from lineage.model.names import ColumnPath, column_text, format_name
from lineage.model.spelling import Spelled, own_spelling
from lineage.sql.resolve.column_names.unnamed_column import unnamed_column

TABLE = "CREATE TABLE dbo.FactSales (SalesOrderID int, [Line Total] money)"


def spellings(
    sql: str, dialect: str = "tsql", database: str | None = None, schema: str | None = None
) -> dict[str, str]:
    """Return the spellings that the last statement of a script states."""
    statements = extract_script(sql, dialect, default_database=database, default_schema=schema)
    found: dict[str, str] = statements[-1].to_dict().get("spellings", {})
    return found


def test_a_statement_says_how_its_names_are_written() -> None:
    sql = f"{TABLE}; CREATE VIEW dbo.vSales AS SELECT SalesOrderID, f.[line total] AS Net FROM DBO.factsales f"
    statement = extract_script(sql, "tsql")[-1]
    as_dict = statement.to_dict()
    assert (as_dict["target"], as_dict["sources"]) == ("dbo.vsales", ["dbo.factsales"])
    assert as_dict["output_columns"] == ["salesorderid", "net"]
    assert [str(edge) for edge in statement.edges] == [
        "dbo.factsales.salesorderid -> dbo.vsales.salesorderid [IDENTITY]",
        "dbo.factsales.line total -> dbo.vsales.net [IDENTITY]",
    ]
    assert as_dict["spellings"] == {
        "dbo.vsales": "dbo.vSales",
        "dbo.factsales": "DBO.factsales",
        "dbo.vsales.salesorderid": "SalesOrderID",
        "dbo.vsales.net": "Net",
    }
    assert json.loads(json.dumps(as_dict)) == as_dict


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        (f"{TABLE}; SELECT * INTO dbo.T FROM dbo.factsales", ["SalesOrderID", "Line Total"]),
        ("WITH C (OrderID) AS (SELECT id FROM o) SELECT * INTO dbo.T FROM c", ["OrderID"]),
        ("SELECT ID AS OrderID INTO #W FROM o; SELECT * INTO dbo.T FROM #w", ["OrderID"]),
        ("SELECT OrderID INTO dbo.T FROM a UNION ALL SELECT ORDERID FROM b", ["OrderID"]),
        ("SELECT d.* INTO dbo.T FROM (SELECT OrderID, max(x) AS MaxX FROM o GROUP BY OrderID) d", ["OrderID", "MaxX"]),
        ("INSERT INTO dbo.T (OrderID, orderdate) SELECT a, b FROM o", ["OrderID", "orderdate"]),
        ("CREATE VIEW dbo.T (OrderID) AS SELECT id FROM o", ["OrderID"]),
        ("UPDATE dbo.T SET OrderID = x FROM o", ["OrderID"]),
        ("MERGE dbo.T USING o ON T.id = o.id WHEN NOT MATCHED THEN INSERT (OrderID) VALUES (o.Nr);", ["OrderID"]),
    ],
)  # fmt: skip
def test_output_columns_bring_their_spelling(sql: str, wanted: list[str]) -> None:
    names = extract_script(sql, "tsql")[-1].output_columns
    assert [getattr(name, "spelling", name) for name in names] == wanted


def test_a_column_of_an_unknown_table_is_written_as_the_first_place_that_reads_it() -> None:
    found = spellings("SELECT o.[Order ID], o.Amount + o.AMOUNT AS s INTO t FROM dbo.Orders o WHERE o.Paid = 1")
    assert found["dbo.orders.order id"] == "Order ID"
    assert found["dbo.orders.amount"] == "Amount"
    assert found["dbo.orders.paid"] == "Paid"


def test_defaults_and_use_have_spellings_too() -> None:
    found = spellings("SELECT a FROM Orders", database="SalesDB", schema="Sales")
    assert found["salesdb.sales.orders"] == "SalesDB.Sales.Orders"
    assert spellings("USE WideWorld; SELECT a FROM Sales.Orders")["wideworld.sales.orders"] == "WideWorld.Sales.Orders"


def test_what_one_statement_writes_is_not_another_ones() -> None:
    catalog = Catalog.from_dict({"dbo.t": ["a"]}, "tsql")
    for name in ("dbo.T", "DBO.t"):
        [statement] = extract(f"SELECT X, y.Z FROM {name} JOIN dbo.Y y ON 1 = 1", "tsql", catalog)
        assert dict(statement.spellings)["dbo.t"] == name
        assert type(statement.sources[0]) is str


def test_a_rename_writes_the_new_name() -> None:
    found = spellings("EXEC sp_rename 'Sales.FactSales', 'FactOrders'")
    assert found["sales.factorders"] == "Sales.FactOrders"
    [statement] = extract("EXEC sp_rename 'dbo.factsales', 'FactSales'", "tsql")
    assert statement.changes == ()
    assert statement.spells


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_only_dialects_that_show_names_as_written_have_spellings(dialect: str) -> None:
    found = spellings("CREATE TABLE Shop.Orders (Id int, Total int)", dialect)
    known = DIALECTS[dialect]
    assert ("Shop.Orders" in found.values()) is known.shows_tables
    assert ("Total" in found.values()) is known.shows_columns
    if dialect in ("postgres", "snowflake", "oracle", "redshift", "trino", "hive", "clickhouse", "ansi"):
        assert found == {}


def test_a_name_with_a_spelling_is_the_bare_name_but_for_that() -> None:
    name = Spelled("orders", "Orders")
    spelled: dict[str, int] = {name: 1}
    assert spelled["orders"] == {"orders": 1}[name] == 1
    again = pickle.loads(pickle.dumps(name))
    assert (again, again.spelling, type(str(again))) == ("orders", "Orders", str)
    full = format_name(["dbo", Spelled("a b", "A B")])
    assert (full, own_spelling(full)) == ('dbo."a b"', 'dbo."A B"')
    assert ColumnPath(("address", Spelled("city", "City"))).spelling == "address.City"
    assert ColumnPath(("address", Spelled("city", "city"))).spelling is None
    unnamed = unnamed_column("A + 1", dialect_named("tsql"))
    assert (str(ColumnPath((unnamed,))), ColumnPath((unnamed,)).spelling) == ("a + 1", "A + 1")
    dotted = column_text(Spelled("a.b", "A.B"))
    assert (dotted, own_spelling(dotted)) == ('"a.b"', '"A.B"')
