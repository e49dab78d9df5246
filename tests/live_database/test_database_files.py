"""`ingest_duckdb` and `ingest_sqlite` on real files: docs/databases.md."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from unittest import mock

import duckdb
import pytest

from lineage.catalog.database.errors import DatabaseError, DatabaseUnreachableError, DriverMissingError
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.store import GraphStore, open_store
from lineage_ingest import DatabaseFileOptions, SqlOptions, ingest_duckdb, ingest_sql, ingest_sqlite
from tests.cli.running import lineage

DUCK = """
CREATE SCHEMA raw;
CREATE TABLE raw.Orders (id INT, price DECIMAL(9,2), twice DECIMAL(9,2) GENERATED ALWAYS AS (price * 2));
CREATE TABLE main.orders (x INT);
COMMENT ON TABLE raw.Orders IS 'What was bought'; COMMENT ON COLUMN raw.Orders.price IS 'In euros';
CREATE MACRO net(x) AS x / 1.19; CREATE MACRO cheap(p) AS TABLE SELECT id, price FROM raw.orders WHERE price < p;
CREATE VIEW Sums (Day, Total) AS SELECT id, sum(net(price)) FROM raw.orders GROUP BY 1;
CREATE VIEW raw.own AS SELECT * FROM orders;
CREATE VIEW few AS SELECT c.id, t.Total FROM cheap(3) c JOIN sums t ON t.day = c.id;
"""
LITE = """
CREATE TABLE Orders (id INTEGER, price REAL, twice REAL GENERATED ALWAYS AS (price * 2)); CREATE TABLE log (what TEXT);
CREATE VIEW Sums (Total) AS SELECT sum(price) FROM orders; CREATE VIEW top AS SELECT total AS t FROM main.sums;
CREATE TRIGGER noted AFTER INSERT ON Orders BEGIN INSERT INTO log SELECT NEW.price; END;
"""


def duck_file(folder: Path, sql: str = DUCK) -> Path:
    path = folder / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)
    return path


def lite_file(folder: Path, sql: str = LITE) -> Path:
    path = folder / "shop #1.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)
    return path


def contributions(store: GraphStore) -> list[str]:
    edges = store.edges_into([one.key for one in store.datasets()])
    return sorted(f"{e.target} <- {e.source} {'+'.join(e.subtypes)}" for e in edges if e.kind == "CONTRIBUTES")


def test_a_duckdb_file(tmp_path: Path, store: GraphStore) -> None:
    summary = ingest_duckdb(duck_file(tmp_path), store=store)
    assert summary.diagnostics == ()
    assert [one.replace("duckdb/shop.", "") for one in contributions(store)] == [
        "main.few#id <- raw.orders#id IDENTITY",
        "main.few#total <- main.sums#total IDENTITY",
        "main.sums#day <- raw.orders#id IDENTITY",
        "main.sums#total <- raw.orders#price AGGREGATION",
        "raw.orders#twice <- raw.orders#price TRANSFORMATION",
        "raw.own#id <- raw.orders#id IDENTITY",
        "raw.own#price <- raw.orders#price IDENTITY",
        "raw.own#twice <- raw.orders#twice IDENTITY",
    ]
    [found] = store.datasets(["duckdb/shop.raw.orders"])
    assert (found.display_name, found.description) == ("shop.raw.Orders", "What was bought")
    [price] = store.columns_by_key(["duckdb/shop.raw.orders#price"])
    assert (price.data_type, price.description) == ("decimal(9,2)", "In euros")


def test_an_sqlite_file(tmp_path: Path, store: GraphStore) -> None:
    summary = ingest_sqlite(lite_file(tmp_path), store=store)
    assert summary.diagnostics == ()
    assert [one.replace("sqlite/", "") for one in contributions(store)] == [
        "log#what <- orders#price IDENTITY",
        "orders#twice <- orders#price TRANSFORMATION",
        "sums#total <- orders#price AGGREGATION",
        "top#t <- sums#total IDENTITY",
    ]


@pytest.mark.parametrize("product", ["duckdb", "sqlite"])
def test_again_after_changes(tmp_path: Path, store: GraphStore, product: str) -> None:
    ingest = ingest_duckdb if product == "duckdb" else ingest_sqlite
    make = duck_file if product == "duckdb" else lite_file
    path = make(
        tmp_path, "CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT b FROM t"
    )
    ingest(path, store=store)
    before = contributions(store)
    again = ingest(path, store=store)
    assert (again.applied.edges_created, again.applied.edges_ended, contributions(store)) == (0, 0, before)
    make(tmp_path, "DROP VIEW v; DROP VIEW w; CREATE VIEW w AS SELECT a AS b FROM t")
    changed = ingest(path, store=store)
    prefix = "shop.main." if product == "duckdb" else ""
    assert changed.gone == (f"{prefix}v",)
    assert contributions(store) == [f"{product}/{prefix}w#b <- {product}/{prefix}t#a IDENTITY"]


def test_the_same_keys_as_sql_files(tmp_path: Path) -> None:
    """A view in a database file, and a file that creates it, are one dataset and give the same edges."""
    for product, options in (
        ("duckdb", SqlOptions(dialect="duckdb", default_database="shop", default_schema="main")),
        ("sqlite", SqlOptions(dialect="sqlite")),
    ):
        sql = "CREATE TABLE T (A INT); CREATE VIEW V AS SELECT a AS B FROM t;"
        (tmp_path / f"{product}.sql").write_text(sql)
        found = []
        for source in ("file", "database"):
            with open_store(str(tmp_path / f"{product}-{source}.db")) as store:
                if source == "file":
                    ingest_sql(tmp_path / f"{product}.sql", store=store, options=options)
                elif product == "duckdb":
                    ingest_duckdb(duck_file(tmp_path, sql), store=store)
                else:
                    ingest_sqlite(lite_file(tmp_path, sql), store=store)
                found.append(
                    (contributions(store), [(one.key, one.kind, one.display_name) for one in store.datasets()])
                )
        assert found[0] == found[1]


GONE = """
CREATE TABLE t (a INT); CREATE TABLE u (a INT); CREATE VIEW v AS SELECT a FROM t; CREATE VIEW ok AS SELECT 1 AS n;
CREATE VIEW over AS SELECT a FROM v; CREATE VIEW far AS SELECT a AS b FROM over; CREATE VIEW beside AS SELECT a FROM u;
DROP TABLE t
"""


@pytest.mark.parametrize("product", ["sqlite", "duckdb"])
def test_views_that_read_what_is_gone_are_partial_with_a_warning(
    tmp_path: Path, store: GraphStore, product: str
) -> None:
    if product == "sqlite":
        summary, schema = ingest_sqlite(lite_file(tmp_path, GONE), store=store), ""
    else:
        summary, schema = ingest_duckdb(duck_file(tmp_path, GONE), store=store), "main."
    found = {one.source: one.diagnostic for one in summary.diagnostics}
    assert sorted(found) == [f"{schema}{name}" for name in ("far", "over", "v")]
    assert {one.severity for one in found.values()} == {Severity.WARNING}
    assert found[f"{schema}v"].code is DiagnosticCode.UNKNOWN_TABLE
    assert found[f"{schema}v"].message == f"{schema}v names {schema}t, which the database does not have"
    reason = "SQLite cannot read it: no such table: main.t"
    expected = reason if product == "sqlite" else "main.over names main.v, which fails itself"
    assert expected in found[f"{schema}over"].message
    assert not summary.has_errors
    assert (summary.batch.run.counts["resolved"], summary.batch.run.counts["partial"]) == (2, 3)


def test_a_view_whose_column_is_gone_keeps_its_lineage(tmp_path: Path, store: GraphStore) -> None:
    sql = "CREATE TABLE t (a, b); CREATE VIEW v AS SELECT b FROM t; DROP TABLE t; CREATE TABLE t (a)"
    summary = ingest_sqlite(lite_file(tmp_path, sql), store=store)
    assert [str(one.diagnostic.code) for one in summary.diagnostics] == ["UNKNOWN_COLUMN", "CATALOG_UNREADABLE"]
    assert "no such column: b" in summary.diagnostics[1].diagnostic.message
    assert contributions(store) == ["sqlite/v#b <- sqlite/t#b IDENTITY"]


def test_a_view_of_other_columns_than_its_table_has_now(tmp_path: Path, store: GraphStore) -> None:
    path = duck_file(
        tmp_path,
        "CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT * FROM t; CREATE VIEW w AS SELECT a FROM t;"
        "ALTER TABLE t DROP COLUMN b; ALTER TABLE t ADD COLUMN n INT",
    )
    summary = ingest_duckdb(path, store=store)
    assert [(one.source, str(one.diagnostic.code)) for one in summary.diagnostics] == [("main.v", "DATABASE_DIFFERS")]
    assert summary.batch.run.counts["partial"] == 1


def test_a_trigger_that_names_what_is_gone(tmp_path: Path, store: GraphStore) -> None:
    path = lite_file(
        tmp_path,
        "CREATE TABLE t (a); CREATE TABLE u (a); CREATE TABLE log (a); CREATE VIEW v AS SELECT name FROM sqlite_master;"
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log SELECT a FROM u; INSERT INTO u(a) SELECT NEW.a; END;"
        "CREATE TRIGGER s AFTER INSERT ON t BEGIN INSERT INTO log SELECT value FROM json_each(NEW.a); END;"
        "DROP TABLE u",
    )
    found = ingest_sqlite(path, store=store).diagnostics
    message = "trigger r() names u, which the database does not have"
    assert [one.diagnostic.message for one in found] == [message, message]


def test_the_condition_of_a_trigger_is_reported(tmp_path: Path, store: GraphStore) -> None:
    path = lite_file(
        tmp_path,
        "CREATE TABLE t (a, b); CREATE TABLE log (a);"
        "CREATE TRIGGER one AFTER INSERT ON t WHEN NEW.b > 1 BEGIN INSERT INTO log VALUES (NEW.a); END;"
        "CREATE TRIGGER two AFTER DELETE ON t BEGIN INSERT INTO log SELECT CASE WHEN OLD.b > 1 THEN OLD.a END; END;",
    )
    summary = ingest_sqlite(path, store=store)
    [found] = summary.diagnostics
    assert found.diagnostic.message == "the columns in the condition (WHEN) of the trigger one() are not followed"
    assert summary.batch.run.counts["partial"] == 1


def test_files_that_cannot_be_read(tmp_path: Path, store: GraphStore) -> None:
    garbage, empty = tmp_path / "garbage", tmp_path / "empty"
    garbage.write_bytes(b"x" * 5000)
    empty.touch()
    for ingest in (ingest_duckdb, ingest_sqlite):
        for path, message in (
            (garbage, "not a"), (empty, "is empty"), (tmp_path, "is a folder"), (tmp_path / "none", "does not exist")
        ):  # fmt: skip
            with pytest.raises(DatabaseError, match=message):
                ingest(path, store=store)
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n")
    with closing(sqlite3.connect(tmp_path / "app.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a)")
    for path in (table, tmp_path / "app.sqlite"):  # DuckDB opens these as well
        with pytest.raises(DatabaseError, match="is not a DuckDB database"):
            ingest_duckdb(path, store=store)
    damaged = duck_file(tmp_path)
    content = bytearray(damaged.read_bytes())
    content[12] ^= 255
    damaged.write_bytes(content)
    with pytest.raises(DatabaseError):
        ingest_duckdb(damaged, store=store)
    with mock.patch.dict("sys.modules", {"duckdb": None}), pytest.raises(DriverMissingError):
        ingest_duckdb(garbage, store=store)
    assert store.dataset_keys() == []


def test_duckdb_says_nothing_at_the_end(tmp_path: Path) -> None:
    """What its binding finds uncollected when the process ends, it prints as leaks."""
    program = "import sys; from lineage.cli.main import run; sys.argv[0] = 'lineage'; run()"
    for arguments in (
        ("ingest", "duckdb", duck_file(tmp_path), "--store", tmp_path / "store.db"),
        ("extract", "-d", "duckdb", "--catalog", f"duckdb:///{tmp_path / 'shop.duckdb'}", "-q", "SELECT x FROM orders"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")


_HOLD = {
    "duckdb": "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()",
    "sqlite": "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); "
    "print('held', flush=True); sys.stdin.read()",
}


@pytest.mark.parametrize("product", ["duckdb", "sqlite"])
def test_a_file_that_another_process_has_locked(
    tmp_path: Path, store: GraphStore, product: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineage_ingest.live_database.database_files.sqlite_file._SECONDS", 0.1)
    path = duck_file(tmp_path) if product == "duckdb" else lite_file(tmp_path)
    command = (sys.executable, "-c", _HOLD[product], str(path))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(DatabaseUnreachableError, match="lock") as raised:
            (ingest_duckdb if product == "duckdb" else ingest_sqlite)(path, store=store)
        assert "close the other program" in str(raised.value.hint)
        other.communicate()


def test_a_duckdb_file_of_a_newer_version(tmp_path: Path) -> None:
    from lineage_ingest.live_database.database_files.duckdb_file import _explained  # noqa: PLC0415  no such file can be made here

    error = _explained(
        tmp_path, "IO Error: Trying to read a database file with version number 99, but we can only", "2.0"
    )
    assert error.hint == "duckdb 2.0 is installed: pip install --upgrade duckdb"


def test_the_commands(tmp_path: Path) -> None:
    stored = ("--store", tmp_path / "graph.db")
    done = lineage("ingest", "duckdb", duck_file(tmp_path), *stored, "--namespace", "duckdb://shop")
    assert done.code == 0
    assert ": 2 schemas, 2 tables, 3 views, 2 functions" in " ".join(done.out.split())
    done = lineage("ingest", "sqlite", lite_file(tmp_path), *stored, "--format", "json")
    assert (done.code, done.json["views"], done.json["found"]) == (0, 2, [])
    assert lineage("ingest", "sqlite", tmp_path / "none", *stored).code == 2
    assert lineage("impact", "raw.orders.price", *stored).code == 0
    with open_store(str(tmp_path / "graph.db"), read_only=True) as store:
        assert "duckdb://shop/shop.raw.orders" in store.dataset_keys()


def test_the_options(tmp_path: Path, store: GraphStore) -> None:
    options = DatabaseFileOptions(namespace="sqlite:app", annotate=False)
    ingest_sqlite(lite_file(tmp_path), store=store, options=options)
    assert "sqlite:app/orders" in store.dataset_keys()


@pytest.mark.parametrize("product", ["duckdb", "sqlite"])
def test_two_files_whose_tables_have_the_same_names(tmp_path: Path, store: GraphStore, product: str) -> None:
    ingest = ingest_duckdb if product == "duckdb" else ingest_sqlite
    make = duck_file if product == "duckdb" else lite_file
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = make(tmp_path / "one", "CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT a AS x FROM t")
    two = make(tmp_path / "two", "CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT b AS x FROM t")
    assert ingest(one, store=store).notices == ()
    before = contributions(store)
    with pytest.raises(DatabaseError, match="another file") as raised:
        ingest(two, store=store)
    assert "--namespace" in str(raised.value.hint)
    assert contributions(store) == before
    assert ingest(two, store=store, options=DatabaseFileOptions(namespace=f"{product}:two")).notices == ()
    assert set(before) < set(contributions(store))
    moved = one.rename(tmp_path / one.name)
    [notice] = ingest(moved, store=store).notices
    assert "moved" in notice
    assert set(before) < set(contributions(store))


def lineage_of(store: GraphStore, prefix: str) -> dict[str, tuple[str, list[str]]]:
    """Return what each view of the store is made of: the completeness of its job, and its contributions."""
    keys = [one.key for one in store.datasets() if one.kind == "view"]
    levels = dict.fromkeys(keys, "none")
    for key, listed in store.job_keys_of(keys).items():
        levels.update((key, str(job.completeness)) for job in store.jobs(listed) if key in job.writes)
    edges: dict[str, list[str]] = {key: [] for key in keys}
    for edge in store.edges_into(keys):
        if edge.kind == "CONTRIBUTES":
            edges[edge.target.partition("#")[0]].append(f"{edge.source} -> {edge.target.partition('#')[2]}")
    return {
        key.removeprefix(prefix): (levels[key], [one.replace(prefix, "") for one in sorted(edges[key])]) for key in keys
    }


def test_names_that_sqlite_gives_to_columns(tmp_path: Path, store: GraphStore) -> None:
    path = lite_file(
        tmp_path,
        """
        CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE w (a INTEGER PRIMARY KEY, b) WITHOUT ROWID;
        CREATE TABLE i (a INT PRIMARY KEY, b); CREATE TABLE d (a INTEGER PRIMARY KEY DESC, b);
        CREATE VIEW number AS SELECT rowid, _rowid_ AS r, b FROM t;
        CREATE VIEW plain AS SELECT i.rowid AS x, d.rowid AS y FROM i, d;
        CREATE VIEW twice AS SELECT t.b, w.b FROM t, w;
        CREATE VIEW computed AS SELECT a+1, b || 'Ann', count(*) OVER (PARTITION BY a) FROM t;
        CREATE VIEW reads AS SELECT "a+1" AS n FROM computed;
        """,
    )
    assert ingest_sqlite(path, store=store).diagnostics == ()
    assert lineage_of(store, "sqlite/") == {
        "number": ("full", ["t#a -> a", "t#a -> r", "t#b -> b"]),
        "plain": ("full", []),
        "twice": ("full", ["t#b -> b", "w#b -> b:1"]),
        "computed": ("full", ["t#a -> a+?", "t#b -> b||?"]),
        "reads": ("full", ["computed#a+? -> n"]),
    }
    assert not [one.key for one in store.columns(["sqlite/computed"]) if "Ann" in one.key or "1" in one.key]


def test_full_text_tables_that_show_another_table(tmp_path: Path, store: GraphStore) -> None:
    path = lite_file(
        tmp_path,
        """
        CREATE TABLE docs (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
        CREATE VIRTUAL TABLE own USING fts5(title);
        CREATE VIRTUAL TABLE shown USING fts5(title, body UNINDEXED, content='docs', content_rowid='id');
        CREATE VIRTUAL TABLE older USING fts4(content="docs", body);
        CREATE VIRTUAL TABLE contentless USING fts5(title, content='');
        """,
    )
    assert ingest_sqlite(path, store=store).diagnostics == ()
    assert [one.replace("sqlite/", "") for one in contributions(store)] == [
        "older#body <- docs#body IDENTITY",
        "shown#body <- docs#body IDENTITY",
        "shown#title <- docs#title IDENTITY",
    ]


def test_what_duckdb_stores_of_views(tmp_path: Path, store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its catalog has other text than was typed: files in double quotes, lambdas in parentheses, no defaults."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("x,y\n1,2\n")
    Path("more.csv").write_text("x,y\n3,4\n")
    with duckdb.connect("other.duckdb") as other:
        other.execute("CREATE TABLE o (k INT)")
    path = duck_file(
        tmp_path,
        """
        ATTACH 'other.duckdb' AS other; CREATE SCHEMA s; CREATE TABLE s.t (a INT, b INT, l INT[]);
        CREATE TABLE gone (a INT); CREATE MACRO plus(x, b := 2) AS x + b;
        CREATE VIEW files AS SELECT * FROM 'data.csv'; CREATE VIEW one AS SELECT x AS z FROM 'data.csv';
        CREATE VIEW several AS SELECT * FROM read_csv(['data.csv', 'more.csv']);
        CREATE VIEW pivoted AS PIVOT s.t ON b IN (1, 2) USING sum(a) GROUP BY l;
        CREATE VIEW lists AS SELECT list_transform(l, lambda x: x + a) AS m FROM s.t;
        CREATE VIEW attached AS SELECT k FROM other.o; CREATE VIEW macros AS SELECT plus(a) AS n FROM s.t;
        CREATE VIEW positions AS SELECT #2 AS second FROM s.t; CREATE VIEW constants AS VALUES (1, 2);
        CREATE VIEW computed AS SELECT a + 1, count(*) OVER () FROM s.t;
        CREATE VIEW late AS SELECT a FROM gone; DROP TABLE gone;
        """,
    )
    summary = ingest_duckdb(path, store=store)
    [problem] = summary.diagnostics
    assert (problem.source, str(problem.diagnostic.code)) == ("main.late", "UNKNOWN_TABLE")
    assert problem.diagnostic.message == "main.late names main.gone, which the database does not have"
    assert lineage_of(store, "duckdb/shop.") == {
        "main.files": ("full", ["duckdb/data.csv#x -> x", "duckdb/data.csv#y -> y"]),
        "main.one": ("full", ["duckdb/data.csv#x -> z"]),
        "main.several": (
            "full",
            ["duckdb/data.csv#x -> x", "duckdb/data.csv#y -> y", "duckdb/more.csv#x -> x", "duckdb/more.csv#y -> y"],
        ),
        "main.pivoted": ("full", ["s.t#a -> 1", "s.t#a -> 2", "s.t#l -> l"]),
        "main.lists": ("full", ["s.t#a -> m", "s.t#l -> m"]),
        "main.attached": ("full", ["duckdb/other.main.o#k -> k"]),
        "main.macros": ("full", ["s.t#a -> n"]),
        "main.positions": ("full", ["s.t#b -> second"]),
        "main.constants": ("full", []),
        "main.computed": ("full", ["s.t#a -> (a + ?)"]),
        "main.late": ("partial", ["main.gone#a -> a"]),
    }


def test_views_of_other_schemas_look_in_their_own_first(tmp_path: Path, store: GraphStore) -> None:
    path = duck_file(
        tmp_path,
        """
        CREATE SCHEMA "S 2"; CREATE TABLE "S 2".twin (a INT); CREATE TABLE twin (a INT); CREATE TABLE single (b INT);
        CREATE VIEW "S 2".own AS SELECT a FROM twin; CREATE VIEW "S 2".other AS SELECT b FROM single;
        CREATE VIEW "S 2".reads AS SELECT a FROM own;
        """,
    )
    assert ingest_duckdb(path, store=store).diagnostics == ()
    assert lineage_of(store, "duckdb/shop.") == {
        '"s 2".own': ("full", ['"s 2".twin#a -> a']),
        '"s 2".other': ("full", ["main.single#b -> b"]),
        '"s 2".reads': ("full", ['"s 2".own#a -> a']),
    }


def test_stars_over_files_that_change_columns_are_not_expanded(
    tmp_path: Path, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("x,y\n1,2\n")
    path = duck_file(tmp_path, "CREATE VIEW v AS SELECT * RENAME (x AS y, y AS x) FROM 'data.csv'")
    [problem] = ingest_duckdb(path, store=store).diagnostics
    assert str(problem.diagnostic.code) == "UNRESOLVED_STAR"
    assert lineage_of(store, "duckdb/shop.main.")["v"][0] == "partial"


def test_an_earlier_ingest_is_found_behind_many_others(
    tmp_path: Path, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineage_ingest.live_database.database_ingest._RUNS", 2)
    path = lite_file(tmp_path, "CREATE TABLE t (a); CREATE VIEW v AS SELECT a FROM t")
    ingest_sqlite(path, store=store)
    for number in range(25):
        (tmp_path / "other.sql").write_text(f"CREATE VIEW w AS SELECT a{number} FROM u")
        ingest_sql(tmp_path / "other.sql", store=store, options=SqlOptions(dialect="postgres"))
    lite_file(tmp_path, "DROP VIEW v")
    assert ingest_sqlite(path, store=store).gone == ("v",)
