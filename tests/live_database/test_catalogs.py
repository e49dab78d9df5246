"""Catalogs of live databases: what is read, how often, what is kept on disk, and where they can be used.

This runs the program that docs/databases.md shows.
"""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Collection, Iterator
from datetime import timedelta
from pathlib import Path
from unittest import mock

import duckdb
import pytest

from lineage import Catalog, extract, extract_script
from lineage.catalog import CatalogError, TableSchema
from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.errors import DatabaseError, DatabaseUnreachableError, DriverMissingError
from lineage.catalog.database.live_schemas import LiveSchemas
from lineage.catalog.database.table_reader import TableReader, table_reader
from lineage.store import GraphStore
from lineage_ingest import LogOptions, SqlOptions, ingest_log, ingest_sql
from tests.cli.running import lineage
from tests.docs.blocks import read_blocks
from tests.docs.runner import ROOT
from tests.live_database.postgres_database import ServedDatabase

pytestmark = pytest.mark.xdist_group("postgres")
SHOP = """
CREATE SCHEMA shop; CREATE SCHEMA mart; CREATE SCHEMA "Odd";
CREATE TABLE shop.orders (id int, price numeric(10,2)); CREATE TABLE mart.orders (day date);
CREATE TABLE shop.unused (x int); CREATE VIEW mart.v AS SELECT id AS k FROM shop.orders;
CREATE TABLE "Odd"."Mixed.Name" ("A b" text);
"""
STAR = "CREATE VIEW mart.w AS SELECT * FROM shop.orders o JOIN mart.v ON k = o.id"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lineage-graph" / "catalogs"


class CountedReader:
    """A reader that notes what it is asked for."""

    def __init__(self, reader: TableReader) -> None:
        self._reader = reader
        self.asked: list[Collection[str] | None] = []

    def read(self, names: Collection[str] | None = None) -> Iterator[TableSchema]:
        self.asked.append(names)
        yield from self._reader.read(names)


def counted(database: ServedDatabase, **options: object) -> tuple[Catalog, CountedReader]:
    address = DatabaseAddress.parse(database.uri)
    reader = CountedReader(table_reader(address))
    return Catalog((), "postgres", [LiveSchemas(address, reader=reader, **options)]), reader  # type: ignore[arg-type]


def test_all_tables_at_once(database: ServedDatabase) -> None:
    database.run(SHOP)
    catalog = Catalog.from_database(database.uri, "postgres", prefetch=True)
    name = database.name
    assert {table.name: table.names for table in catalog} == {
        f"{name}.shop.orders": {"id": "integer", "price": "numeric(10,2)"},
        f"{name}.mart.orders": {"day": "date"},
        f"{name}.shop.unused": {"x": "integer"},
        f"{name}.mart.v": {"k": "integer"},
        f'{name}.Odd."Mixed.Name"': {"A b": "text"},
    }


def test_only_what_is_looked_up_and_with_one_query(database: ServedDatabase) -> None:
    database.run(SHOP)
    catalog, reader = counted(database)
    [statement] = extract_script(STAR, "postgres", catalog, default_database=database.name)
    assert statement.output_columns == ["id", "price", "k"]
    assert len(reader.asked) == 1
    assert {table.name.partition(".")[2] for table in catalog} == {"shop.orders", "mart.orders", "mart.v"}
    [again] = extract('SELECT * FROM "Odd"."Mixed.Name"', "postgres", catalog)
    assert (again.output_columns, len(reader.asked)) == (["A b"], 2)
    assert catalog.find("orders") is None  # two schemas have one
    assert catalog.find("nothing") is None
    assert catalog.find("nothing") is None
    assert len(reader.asked) == 3
    assert catalog.complete().find("unused") is not None
    assert reader.asked[-1] is None


def test_another_process_has_what_was_read_and_no_password(database: ServedDatabase) -> None:
    database.run(SHOP)
    catalog, _ = counted(database)
    catalog.prepare([STAR])
    sent = pickle.dumps(catalog)
    assert b"s3cr" not in sent
    found = pickle.loads(sent)
    assert found.find(f"{database.name}.shop.orders").names["id"] == "integer"
    assert found.find("unused") is None


def test_schemas_are_kept_without_password(database: ServedDatabase, cache: Path) -> None:
    database.run(SHOP)
    first, reader = counted(database)
    first.prepare(["orders"])
    [file] = cache.iterdir()
    assert (file.stat().st_mode & 0o777, cache.stat().st_mode & 0o777) == (0o600, 0o700)
    text = file.read_text()
    assert "s3cr" not in text
    assert json.loads(text.splitlines()[0])["read_at"]
    database.run("ALTER TABLE shop.orders ADD COLUMN late int")
    second, reader = counted(database)
    assert second.sources[0].is_from_file  # type: ignore[attr-defined]
    assert second.find("shop.orders") is not None
    assert "late" not in second.find("shop.orders").names  # type: ignore[union-attr]
    assert reader.asked == []
    second.prepare(["unused"])  # not asked for before: read, and kept too
    assert [sorted(names or ()) for names in reader.asked] == [["unused"]]
    third, reader = counted(database)
    assert (third.find("unused") is not None, reader.asked) == (True, [])
    refreshed, reader = counted(database, refresh=True)
    assert "late" in refreshed.find("shop.orders").names  # type: ignore[union-attr]
    other, reader = counted(database, max_age=timedelta(0))
    other.complete()
    assert (len(list(cache.iterdir())), reader.asked) == (1, [None])


@pytest.mark.parametrize("damage", ["", "{", '{"format": 99}', "cut"])
def test_a_damaged_file_is_read_again(database: ServedDatabase, cache: Path, damage: str) -> None:
    database.run(SHOP)
    counted(database)[0].complete()
    [file] = cache.iterdir()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]) if damage == "cut" else damage)
    catalog, reader = counted(database)
    assert catalog.find("shop.orders") is not None
    assert len(reader.asked) == 1


def test_sql_files_and_only_the_tables_that_they_use(
    database: ServedDatabase, tmp_path: Path, store: GraphStore
) -> None:
    database.run(SHOP)
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "w.sql").write_text(f"{STAR}; -- unused")
    options = SqlOptions(dialect="postgres", catalog=database.uri, default_database=database.name)
    summary = ingest_sql(tmp_path / "sql", store=store, options=options)
    assert summary.diagnostics == ()
    names = {one.name.partition(".")[2] for one in store.datasets()}
    assert names == {"shop.orders", "mart.v", "mart.w"}
    types = {column.path: column.data_type for column in store.columns([f"postgres/{database.name}.shop.orders"])}
    assert types == {"id": "integer", "price": "numeric(10,2)"}


def test_query_logs(database: ServedDatabase, tmp_path: Path, store: GraphStore) -> None:
    database.run(SHOP)
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"q": STAR, "at": "2026-01-01T00:00:00Z", "db": database.name}))
    mapping = {"query_text": "q", "started_at": "at", "default_database": "db"}
    options = LogOptions(dialect="postgres", mapping=mapping, catalog=database.uri)
    ingest_log(log, source="generic", store=store, options=options)
    edges = store.edges_into([f"postgres/{database.name}.mart.w"])
    assert {edge.target.rpartition("#")[2] for edge in edges if "#" in edge.target} == {"id", "price", "k"}


def test_the_commands(database: ServedDatabase, tmp_path: Path) -> None:
    database.run(SHOP)
    done = lineage("extract", "-d", "postgres", "-c", database.uri, "--format", "json", "-q", STAR)
    assert done.json[0]["output_columns"] == ["id", "price", "k"]
    database.run("ALTER TABLE shop.orders ADD COLUMN late int")
    again = lineage("tables", "-d", "postgres", "-c", database.uri, "-q", "SELECT * FROM shop.orders")
    assert "shop.orders" in again.out
    assert f"schemas of postgresql://postgres@127.0.0.1:{database.port}/{database.name} as of" in again.err
    fresh = lineage(
        "extract", "-d", "postgres", "-c", database.uri, "--refresh-catalog", "--format", "json", "-q", STAR
    )
    assert fresh.json[0]["output_columns"] == ["id", "price", "late", "k"]
    assert fresh.err == ""
    for uri, code in (
        ("postgresql://me:s3cr%23t@127.0.0.1:1/x", 3),
        ("snowflake://me:s3cr%23t@acct/db", 2),
        ("nosuchproduct://me:s3cr%23t@host/db", 2),
        (tmp_path / "missing.sql", 2),
        (tmp_path, 2),
    ):
        failed = lineage("extract", "-c", uri, "-q", "SELECT * FROM t")
        assert failed.code == code, failed
        assert "s3cr" not in failed.err + failed.out
        assert len(failed.err.splitlines()) < 12, failed.err
    error = lineage("extract", "-c", "snowflake://a/b", "-q", "SELECT 1").err
    assert "pip install '.[snowflake]' in a checkout of lineage" in " ".join(error.split())


def test_the_program_of_the_page(
    database: ServedDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    database.run(SHOP)
    monkeypatch.setenv("LINEAGE_STORE", str(tmp_path / "graph.db"))
    program = read_blocks(ROOT / "docs" / "databases.md")[-1].text
    address = "postgresql://reader@db.example/shop"
    assert program.count(address) == 2
    exec(program.replace(address, database.uri), {})
    assert "'same': 1" in capsys.readouterr().out


def test_sqlite_and_duckdb_through_sqlalchemy(tmp_path: Path) -> None:
    lite, duck = tmp_path / "shop.sqlite", tmp_path / "shop.duckdb"
    with sqlite3.connect(lite) as connection:
        connection.executescript(
            "CREATE TABLE Orders (id INTEGER, Total REAL); CREATE VIEW v AS SELECT Total FROM Orders"
        )
    with duckdb.connect(str(duck)) as connection_:
        connection_.execute("CREATE SCHEMA raw; CREATE TABLE raw.orders (id INT, price DECIMAL(9,2)); "
                            "CREATE VIEW v AS SELECT price AS p FROM raw.orders")  # fmt: skip
    found = {
        uri.partition(":")[0]: {
            table.name: list(table.names) for table in Catalog.from_database(uri, dialect, prefetch=True)
        }
        for uri, dialect in ((f"sqlite:///{lite}", "sqlite"), (f"duckdb:///{duck}", "duckdb"))
    }
    assert found == {
        "sqlite": {"orders": ["id", "total"], "v": ["total"]},
        "duckdb": {"shop.raw.orders": ["id", "price"], "shop.main.v": ["p"]},
    }
    for written in ("ORDERS", "orders", '"Orders"', "main.orders"):
        [statement] = extract(
            f"SELECT * FROM {written}", "sqlite", Catalog.from_database(f"sqlite:///{lite}", "sqlite")
        )
        assert (statement.output_columns, statement.sources) == (["id", "total"], ["orders"])
    catalog = Catalog.from_database(f"duckdb:///{duck}", "duckdb")
    [statement] = extract("SELECT * FROM raw.orders", "duckdb", catalog)
    assert statement.output_columns == ["id", "price"]


def test_information_schema_as_csv(tmp_path: Path) -> None:
    export = tmp_path / "columns.csv"
    export.write_text(
        "TABLE_CATALOG,TABLE_SCHEMA,TABLE_NAME,COLUMN_NAME,ORDINAL_POSITION,DATA_TYPE,IS_NULLABLE\n"
        'WH,SHOP,ORDERS,PRICE,2,"NUMBER(10,2)",YES\nWH,SHOP,ORDERS,ID,1,NUMBER,NO\n'
        "WH,INFORMATION_SCHEMA,TABLES,X,1,TEXT,NO\n\nWH,SHOP,odd.name,a,1,TEXT,NO\n"
    )
    catalog = Catalog.from_information_schema(export, "snowflake")
    assert {table.name: table.names for table in catalog} == {
        "WH.SHOP.ORDERS": {"ID": "NUMBER", "PRICE": "NUMBER(10,2)"},
        'WH.SHOP."odd.name"': {"a": "TEXT"},
    }
    done = lineage("extract", "-d", "snowflake", "-c", export, "--format", "json", "-q", "SELECT * FROM shop.orders")
    assert done.json[0]["output_columns"] == ["ID", "PRICE"]
    export.write_text("a,b\n1,2\n")
    with pytest.raises(CatalogError, match=r"columns.csv:1: no column table_name in the header, which has a, b"):
        Catalog.from_information_schema(export)
    export.write_text("table_name;column_name\nt;a\n")
    assert [(table.name, list(table.names)) for table in Catalog.from_information_schema(export)] == [("t", ["a"])]
    export.write_text("table_name,column_name\nt,\n")
    with pytest.raises(CatalogError, match=r"columns.csv:2: the name of the table or column is empty"):
        Catalog.from_information_schema(export)
    export.write_text(f"table_name,column_name,comment\nt,a,{'x' * 200_000}\n")
    assert [table.name for table in Catalog.from_information_schema(export)] == ["t"]
    export.write_text("table_name,column_name\nt\n")
    with pytest.raises(CatalogError, match=r"columns.csv:2: 1 values"):
        Catalog.from_files([export])


def test_exports_of_information_schema_as_products_write_them(tmp_path: Path) -> None:
    """Dropped and repeated columns (Snowflake), the catalog `def` (MySQL), NULL as text, UTF-16 (SQL Server)."""
    export = tmp_path / "columns.csv"
    header = "TABLE_CATALOG,TABLE_SCHEMA,TABLE_NAME,COLUMN_NAME,ORDINAL_POSITION,DATA_TYPE,DELETED\n"

    def read() -> dict[str, list[str]]:
        return {one.name: list(one.names) for one in Catalog.from_files([export], "mysql")}

    export.write_text(f"{header}db,s,t,old,1,int,2026-01-01\ndb,s,t,b,2,int,\ndb,s,t,a,1,int,NULL\ndb,s,t,b,2,int,\n")
    assert read() == {"db.s.t": ["a", "b"]}
    export.write_text(f"{header}def,shop,t,a,1,int,\nNULL,shop,u,b,1,int,\n")
    assert read() == {"shop.t": ["a"], "shop.u": ["b"]}
    export.write_text(f"{header}db,s,t,a,1,int,\n", encoding="utf-16")
    assert read() == {"db.s.t": ["a"]}
    export.write_text(header)
    with pytest.raises(CatalogError, match=r"^[^:]*columns.csv: it has no columns of tables, only a header$"):
        read()


def test_a_file_of_a_database_in_place_of_its_address(tmp_path: Path) -> None:
    lite, duck = tmp_path / "shop.db", tmp_path / "shop.duckdb"
    with sqlite3.connect(lite) as connection:
        connection.executescript("CREATE TABLE t (a)")
    duckdb.connect(str(duck)).close()
    for path, product in ((lite, "sqlite"), (duck, "duckdb")):
        with pytest.raises(CatalogError, match=f"it is a database: give {product}:///"):
            Catalog.from_files([path])


def test_errors(database: ServedDatabase) -> None:
    with pytest.raises(DatabaseUnreachableError):
        Catalog.from_database("postgresql://127.0.0.1:1/x", prefetch=True)
    with pytest.raises(DatabaseError, match="not the address"):
        Catalog.from_database("shop")
    with mock.patch.dict("sys.modules", {"sqlalchemy": None}), pytest.raises(DriverMissingError, match="SQLAlchemy"):
        Catalog.from_database("mysql://host/db", prefetch=True)
    with pytest.raises(DatabaseUnreachableError) as raised:
        Catalog.from_database("sqlite:////nowhere/at/all.sqlite", prefetch=True)
    assert "there is no file /nowhere/at/all.sqlite" in str(raised.value)
    assert repr(DatabaseAddress.parse(database.uri)).count("s3cr") == 0
