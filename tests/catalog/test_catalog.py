from __future__ import annotations

import json
from pathlib import Path

import pytest

from lineage import Catalog, extract
from lineage.catalog import CatalogError

DDL = """
CREATE SCHEMA shop;
CREATE TABLE shop.orders (id int PRIMARY KEY, "Amount" numeric(10, 2) NOT NULL, CONSTRAINT c UNIQUE (id));
CREATE TABLE shop.old (id int); DROP TABLE shop.old;
ALTER TABLE shop.orders ADD COLUMN city text;
"""


def names(catalog: Catalog, table: str) -> list[str]:
    found = catalog.find(table)
    assert found is not None
    return list(found.names)


def test_ddl_text() -> None:
    catalog = Catalog.from_ddl(DDL, "postgres")
    assert names(catalog, "shop.orders") == ["id", "Amount", "city"]
    assert "shop.old" not in catalog
    table = catalog.find("shop.orders")
    assert table is not None
    assert [c.data_type for c in table.columns] == ["int", "decimal(10, 2)", "text"]


def test_columns_that_are_changed_later() -> None:
    changes = "ALTER TABLE shop.orders RENAME COLUMN city TO town; ALTER TABLE shop.orders ALTER COLUMN id TYPE bigint;"
    dropped = 'ALTER TABLE shop.orders DROP COLUMN "Amount"; ALTER TABLE shop.orders RENAME TO sales;'
    table = Catalog.from_ddl(f"{DDL} {changes} {dropped}", "postgres").find("shop.sales")
    assert table is not None
    assert [(c.name, c.data_type) for c in table.columns] == [("id", "bigint"), ("town", "text")]


def test_ddl_file(tmp_path: Path) -> None:
    path = tmp_path / "schema.sql"
    path.write_text(DDL, encoding="utf-8")
    assert names(Catalog.from_ddl(path, "postgres"), "orders") == ["id", "Amount", "city"]
    assert names(Catalog.from_ddl(str(path), "postgres"), "orders") == ["id", "Amount", "city"]


def test_bad_ddl_says_where() -> None:
    with pytest.raises(CatalogError, match="DDL: "):
        Catalog.from_ddl("CREATE TABLE t (a int", "postgres")


@pytest.mark.parametrize(
    "column",
    [
        "int DEFAULT " + "(" * 2_000 + "1" + ")" * 2_000,
        "ARRAY<" * 2_000 + "int" + ">" * 2_000,
        "int CHECK (" + "NOT " * 2_000 + "a)",
    ],
)
def test_ddl_that_nests_is_refused_before_the_parser_sees_it(column: str) -> None:
    with pytest.raises(CatalogError, match="DDL: the statement nests"):
        Catalog.from_ddl(f"CREATE TABLE t (a {column})", "spark")


@pytest.mark.parametrize(
    "value",
    [
        {"shop.orders": {"id": "int", "city": "text"}},
        {"shop.orders": ["ID", "CITY"]},
        {"shop": {"orders": {"id": "int", "city": "text"}}},
        {"SHOP": {"ORDERS": ["id", "city"]}},
    ],
)
def test_shapes_of_a_dictionary(value: dict[str, object]) -> None:
    assert names(Catalog.from_dict(value, "postgres"), "shop.orders") == ["id", "city"]


@pytest.mark.parametrize(
    ("dialect", "stated", "table", "stored"),
    [
        ("postgres", {"t": ["Id", "userName"]}, "t", ["Id", "userName"]),
        ("snowflake", {"t": ["Id", "userName"]}, "T", ["Id", "userName"]),
        ("snowflake", {"shop.orders": ["id"]}, "SHOP.ORDERS", ["ID"]),
        ("snowflake", {"SHOP.ORDERS": ["ID", "note", "userName"]}, "SHOP.ORDERS", ["ID", "note", "userName"]),
        ("snowflake", {"SHOP.orders": ["ID"]}, "SHOP.orders", ["ID"]),
        ("snowflake", {'shop."orders"': ['"id"']}, "SHOP.orders", ["id"]),
        ("postgres", {"SHOP.ORDERS": ["ID"]}, "shop.orders", ["id"]),
        ("postgres", {"shop.Users": ['"Id"', "`Total`", "[a b]"]}, "shop.Users", ["Id", "Total", "a b"]),
        ("postgres", {"t": ["id", "ID"]}, "t", ["id", "ID"]),
        ("bigquery", {"p.D.Events": ["Id"]}, "p.D.Events", ["id"]),
        ("tsql", {"dbo.Users": ["Id"]}, "dbo.users", ["id"]),
    ],
)
def test_a_catalog_states_stored_names(
    dialect: str, stated: dict[str, list[str]], table: str, stored: list[str]
) -> None:
    catalog = Catalog.from_dict(stated, dialect)
    [found] = catalog
    assert (found.name, list(found.names)) == (table, stored)


def test_a_hint_names_the_column_as_it_has_to_be_written() -> None:
    [statement] = extract(
        "SELECT userName FROM t", "postgres", Catalog.from_dict({"t": ["Id", "userName"]}, "postgres")
    )
    assert [found.hint for found in statement.diagnostics] == ['did you mean `"userName"`?']


def test_names_are_completed_as_in_statements() -> None:
    shop = Catalog.from_dict({"shop.orders": ["id"]}, "postgres")
    [statement] = extract("SELECT * FROM shop.orders", "postgres", shop, default_database="db")
    assert (statement.sources, statement.output_columns) == (["db.shop.orders"], ["id"])
    events = Catalog.from_dict({"p.d.events_20230101": ["id", "x"]}, "bigquery")
    [statement] = extract("SELECT * FROM p.d.events_20240101", "bigquery", events)
    assert (statement.sources, statement.output_columns) == (["p.d.events_*"], ["id", "x"])


def test_a_wrong_shape_is_named() -> None:
    with pytest.raises(CatalogError, match="'t': expected its columns, found 3"):
        Catalog.from_dict({"t": 3})


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"t": {"a": "int"}}), encoding="utf-8")
    assert names(Catalog.from_json(path), "t") == ["a"]
    path.write_text('{"t": ', encoding="utf-8")
    with pytest.raises(CatalogError, match=r"schema.json:1:\d+: not JSON"):
        Catalog.from_json(path)


def test_shorter_and_longer_names_find_the_only_table_that_fits() -> None:
    catalog = Catalog.from_dict({"a.t": ["x"], "b.t": ["y"], "a.u": ["z"]})
    assert names(catalog, "u") == ["z"]
    assert names(catalog, "db.a.t") == ["x"]
    assert catalog.find("t") is None
    assert catalog.find("c.u") is None


def test_updated_takes_the_place_of_tables_of_the_same_name() -> None:
    old = Catalog.from_dict({"t": ["a"], "u": ["b"]})
    new = old.with_tables(Catalog.from_dict({"t": ["c"]}))
    assert (names(new, "t"), names(new, "u"), names(old, "t")) == (["c"], ["b"], ["a"])
    assert len(new) == 2
