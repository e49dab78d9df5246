"""`ingest sql --connect --verify`: what files define, analysed by PostgreSQL in a transaction that is rolled back.

docs/databases.md shows it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lineage import Catalog, extract_script
from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.postgres_session import PostgresRejectionError, postgres_session
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.dialects import dialect_named
from lineage.model.statement import ColumnRef
from lineage.sql.parse.questions.defining_query import defining_query
from lineage.store import GraphStore
from lineage_ingest import IngestSummary, SqlOptions, ingest_sql
from lineage_ingest.live_database.verification.definition_trial import try_definitions
from lineage_ingest.live_database.verification.view_comparison import ComparedView, ViewVerdict
from tests.cli.running import lineage
from tests.live_database.postgres_database import ServedDatabase
from tests.truth.compare import DEMO

pytestmark = pytest.mark.xdist_group("postgres")
_EVERYTHING = "SELECT count(*), max(oid::bigint) FROM pg_class"
SHOP = """
CREATE SCHEMA shop; CREATE TABLE shop.orders (id int, price numeric, day date);
CREATE VIEW shop.v AS SELECT id FROM shop.orders;
CREATE TABLE calls (n int);
CREATE FUNCTION noted() RETURNS int LANGUAGE sql AS 'INSERT INTO calls VALUES (1) RETURNING n';
"""


def ingest(database: ServedDatabase, store: GraphStore, folder: Path, **files: str) -> IngestSummary:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.sql").write_text(text)
    return ingest_sql(folder, store=store, options=SqlOptions(dialect="postgres", connect=database.uri, verify=True))


def views(summary: IngestSummary) -> dict[str, ComparedView]:
    assert summary.verification is not None
    return {view.name.partition(" ")[0]: view for view in summary.verification.views}


def test_mimic_iv_files_are_as_postgresql_says(database: ServedDatabase, store: GraphStore) -> None:
    database.run((DEMO / "create.sql").read_text(encoding="utf-8"))
    before = database.rows(_EVERYTHING)
    folders = [folder for folder in sorted((DEMO / "concepts").iterdir()) if folder.is_dir()]
    options = SqlOptions(dialect="postgres", connect=database.uri, verify=True)
    summary = ingest_sql(folders, store=store, options=options)
    compared = views(summary)
    assert {name: view for name, view in compared.items() if view.verdict is not ViewVerdict.SAME} == {}
    assert (len(compared), summary.has_errors) == (65, False)
    assert database.rows(_EVERYTHING) == before


def test_definitions_in_any_order_and_nothing_stays(
    database: ServedDatabase, store: GraphStore, tmp_path: Path
) -> None:
    database.run(SHOP)
    before = database.rows(_EVERYTHING), database.rows("SELECT n FROM calls")
    summary = ingest(
        database, store, tmp_path / "sql",
        a="CREATE VIEW mart.top AS SELECT k.total FROM mart.sums k WHERE k.total > 100 WITH CHECK OPTION",
        b="CREATE TABLE mart.sums (day, total) AS SELECT day, sum(price) FROM shop.orders GROUP BY 1 WITH NO DATA",
        c="SELECT t.total AS x FROM mart.top t",
        d="CREATE TABLE mart.own (a int, b text);"
        "CREATE MATERIALIZED VIEW mart.m AS SELECT b, a + 1 AS c FROM mart.own",
        e="CREATE OR REPLACE VIEW shop.v AS SELECT id, price FROM shop.orders",
        f='CREATE VIEW "Odd"."V.1" AS SELECT noted() AS "n""m", v.id FROM shop.v',
    )  # fmt: skip
    assert summary.diagnostics == ()
    assert {name: view.verdict for name, view in views(summary).items()} == {
        "mart.top": ViewVerdict.SAME, "mart.sums": ViewVerdict.SAME, "c": ViewVerdict.SAME, "mart.m": ViewVerdict.SAME,
        "shop.v": ViewVerdict.SAME, 'Odd."V.1"': ViewVerdict.SAME,
    }  # fmt: skip
    assert (database.rows(_EVERYTHING), database.rows("SELECT n FROM calls")) == before


def test_what_the_database_has_in_another_version(database: ServedDatabase, store: GraphStore, tmp_path: Path) -> None:
    """Names with a schema are of the database's version, which is not that of the files: that is no difference."""
    database.run(
        "CREATE SCHEMA s; CREATE TABLE s.o (id int, a int); CREATE VIEW s.v AS SELECT id, a FROM s.o;"
        "CREATE VIEW s.w AS SELECT id FROM s.v"
    )
    summary = ingest(
        database, store, tmp_path / "sql",
        a="CREATE TABLE s.o (id int, a int, b int); CREATE OR REPLACE VIEW s.v AS SELECT id, a, b AS c FROM s.o",
        b="CREATE OR REPLACE VIEW s.w AS SELECT id, c FROM s.v; CREATE VIEW s.x AS SELECT * FROM s.v",
        c="CREATE VIEW s.y AS SELECT id FROM s.v; CREATE VIEW s.z AS SELECT nosuch FROM s.v",
    )  # fmt: skip
    found = views(summary)
    assert {name: view.verdict for name, view in found.items()} == {
        "s.v": ViewVerdict.NOT_COMPARED, "s.w": ViewVerdict.NOT_COMPARED, "s.x": ViewVerdict.NOT_COMPARED,
        "s.y": ViewVerdict.SAME, "s.z": ViewVerdict.REJECTED,
    }  # fmt: skip
    assert found["s.w"].reason == "it reads s.v, which the database has with other columns than the files"


def test_joins_over_columns_of_different_types(database: ServedDatabase, store: GraphStore, tmp_path: Path) -> None:
    """PostgreSQL shows the column that needs no cast to the common type; its value is that of the other."""
    database.run(
        "CREATE TABLE c (id int, name text, code varchar(5)); CREATE TABLE o (id int, customer int, n int);"
        "CREATE TABLE w (id bigint, customer numeric, code text)"
    )
    summary = ingest(
        database, store, tmp_path / "sql",
        a="CREATE VIEW v1 AS SELECT id, name FROM c JOIN w USING (id)",
        b="CREATE VIEW v2 AS SELECT * FROM o NATURAL JOIN w",
        c="CREATE VIEW v3 AS SELECT id + 1 AS next, x.k FROM c LEFT JOIN (SELECT id * n AS id, n AS k FROM o) x "
        "USING (id) JOIN (SELECT id, customer FROM w) y USING (id)",
        d="CREATE VIEW v4 AS SELECT id FROM c RIGHT JOIN w USING (id) WHERE id > 3",
        e="CREATE VIEW v5 AS SELECT id, customer, sum(n) AS n FROM (c JOIN o USING (id)) JOIN w USING (id, customer) "
        "GROUP BY id, customer",
        f="CREATE VIEW v6 AS SELECT w.id AS theirs, o.id AS ours FROM o JOIN w USING (id, customer)",
        g="CREATE VIEW v7 AS SELECT x.id FROM (SELECT id FROM (SELECT id * n AS id FROM o) y JOIN w USING (id)) x",
        h="CREATE VIEW v8 AS SELECT code FROM c JOIN w USING (code)",
        i="CREATE VIEW v9 AS SELECT id FROM c FULL JOIN w USING (id)",
        j="CREATE VIEW v91 AS SELECT id FROM w JOIN (c JOIN w AS v USING (id)) USING (id)",
        k="CREATE VIEW v92 AS SELECT j.id FROM (c JOIN w USING (id)) j",
    )  # fmt: skip
    assert [view for view in views(summary).values() if view.verdict is not ViewVerdict.SAME] == []


def test_tables_of_given_schemas_need_not_exist(database: ServedDatabase, store: GraphStore, tmp_path: Path) -> None:
    file = tmp_path / "w.sql"
    file.write_text("CREATE VIEW mart.w AS SELECT * FROM raw.events")
    catalog = Catalog.from_dict(
        {"raw.events": {"id": "int", "at": "date"}, "raw.other": {"x": "no_such_type"}}, "postgres"
    )
    options = SqlOptions(dialect="postgres", connect=database.uri, verify=True, catalog=catalog)
    summary = ingest_sql(file, store=store, options=options)
    assert (views(summary)["mart.w"].verdict, summary.has_errors) == (ViewVerdict.SAME, False)
    file.write_text("CREATE VIEW mart.w AS SELECT x FROM raw.other")
    [view] = views(ingest_sql(file, store=store, options=options)).values()
    assert view.verdict is ViewVerdict.REJECTED
    assert view.reason == 'the table raw.other cannot be created: type "no_such_type" does not exist'


def test_what_postgresql_rejects_is_said_without_its_literals(
    database: ServedDatabase, store: GraphStore, tmp_path: Path
) -> None:
    database.run(SHOP)
    summary = ingest(
        database, store, tmp_path / "sql",
        a="CREATE VIEW mart.a AS SELECT id FROM shop.orders WHERE id = 'hunter2'::int",
        b="CREATE VIEW mart.b AS SELECT x FROM shop.nowhere",
        c="CREATE TEMP TABLE tmp AS SELECT id FROM shop.orders; CREATE TABLE mart.c AS SELECT id FROM tmp",
        d="CREATE VIEW otherdb.mart.d AS SELECT 1 AS n",
    )  # fmt: skip
    found = views(summary)
    assert {name: view.reason for name, view in found.items() if view.verdict is ViewVerdict.REJECTED} == {
        "mart.a": "condition InvalidTextRepresentation", "mart.b": 'relation "shop.nowhere" does not exist'
    }  # fmt: skip
    assert summary.has_errors
    assert {name: view.reason for name, view in found.items() if view.verdict is ViewVerdict.NOT_COMPARED} == {
        "tmp": "temporary tables are composed away here, and are not in PostgreSQL's analysis",
        "mart.c": "temporary tables are composed away here, and are not in PostgreSQL's analysis",
        "otherdb.mart.d": "it is in the database otherdb",
    }


def test_what_cannot_be_compared_is_not_rejected(database: ServedDatabase, store: GraphStore, tmp_path: Path) -> None:
    database.run(SHOP)
    summary = ingest(
        database, store, tmp_path / "sql",
        a="CREATE FUNCTION net(i int) RETURNS int LANGUAGE sql AS 'SELECT i + 1'",
        b="CREATE VIEW mart.b AS SELECT net(id) AS n FROM shop.orders",
        c="SELECT id INTO mart.c FROM shop.orders",
        d="SELECT o.id, p.id FROM shop.orders o JOIN shop.orders p ON p.id = o.id",
        e="CREATE RECURSIVE VIEW mart.e (n) AS SELECT id FROM shop.orders UNION ALL SELECT n + 1 FROM e WHERE n < 3",
        f="SELECT row(id, price) AS both FROM shop.orders",
    )  # fmt: skip
    assert not summary.has_errors
    assert {name: str(view.verdict) for name, view in views(summary).items()} == {
        "mart.b": "not compared", "mart.c": "not compared", "d": "same", "mart.e": "same", "f": "not compared"
    }  # fmt: skip
    reason = views(summary)["mart.b"].reason
    assert reason is not None
    assert reason.endswith("functions and types that the files create are not created here")


def test_a_wrong_edge_is_a_difference(database: ServedDatabase) -> None:
    database.run(SHOP)
    text = "CREATE VIEW mart.w AS SELECT id AS k FROM shop.orders"
    [statement] = extract_script(text, "postgres", Catalog.from_database(database.uri, "postgres"))
    edges = [edge._replace(source=ColumnRef("shop.orders", "price")) for edge in statement.edges]
    wrong = replace(statement, edges=edges)
    with postgres_session(DatabaseAddress.parse(database.uri), read_only=False) as session:
        report, _ = try_definitions(
            session, {"": text}, [wrong], (), dialect_named("postgres"), lambda _done, _total: None
        )
    [view] = report.views
    assert view.differences == (
        "k: shop.orders.id is missing", "k: shop.orders.price is too much", "shop.orders.price is not read"
    )  # fmt: skip


def test_a_difference_fails_the_command(
    database: ServedDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.run(SHOP)
    (tmp_path / "w.sql").write_text("CREATE VIEW mart.w AS SELECT id AS k FROM shop.orders")
    arguments = ("ingest", "sql", tmp_path / "w.sql", "-d", "postgres", "--store", tmp_path / "graph.db")
    good = lineage(*arguments, "--connect", database.uri, "--verify")
    assert (good.code, "verified 1 definition: 1 the same as in PostgreSQL's analysis" in good.out) == (0, True)
    (tmp_path / "x.sql").write_text("CREATE VIEW mart.x AS SELECT id FROM shop.nowhere")
    rejected = lineage("ingest", "sql", tmp_path / "x.sql", *arguments[3:], "--connect", database.uri, "--verify")
    assert (rejected.code, 'relation "shop.nowhere" does not exist' in " ".join(rejected.err.split())) == (1, True)
    # As if PostgreSQL had read another column.
    monkeypatch.setattr(
        "lineage_ingest.live_database.verification.definition_trial.defining_query",
        lambda _text, _dialect: "SELECT price AS k FROM shop.orders",
    )
    bad = lineage(*arguments, "--connect", database.uri, "--verify")
    assert (bad.code, DiagnosticCode.DATABASE_DIFFERS in bad.err) == (1, True)
    assert "mart.w in" in bad.err
    for wrong in (("--verify",), ("--verify", "--connect", "duckdb:///x"), ("--connect", "nothing")):
        done = lineage(*arguments, *wrong)
        assert done.code == 2, done
    assert lineage(*arguments, "--connect", "postgresql://127.0.0.1:1/x", "--verify").code == 3


def test_one_text_is_one_statement(database: ServedDatabase) -> None:
    database.run(SHOP)
    with postgres_session(DatabaseAddress.parse(database.uri), read_only=False) as session:
        with pytest.raises(PostgresRejectionError, match="cannot insert multiple commands"):
            session.single("CREATE VIEW w AS SELECT 1 AS n; DROP TABLE calls")
        session.single("CREATE VIEW w AS SELECT '%s' AS n")
    assert database.rows("SELECT to_regclass('w'), to_regclass('calls') IS NULL") == [(None, False)]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("CREATE VIEW v AS SELECT a AS b FROM t;", "SELECT a AS b FROM t"),
        ("CREATE TABLE t (a) WITH (fillfactor = 70) AS (SELECT 1) WITH DATA", "(SELECT 1)"),
        ("CREATE MATERIALIZED VIEW m AS WITH x AS (SELECT 1) SELECT * FROM x WITH NO DATA",
         "WITH x AS (SELECT 1) SELECT * FROM x"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x"),
        ("CREATE VIEW v AS VALUES (1)", "VALUES (1)"),
        ("CREATE VIEW v AS SELECT 1 WITH LOCAL CHECK OPTION", "SELECT 1"),
        ("CREATE TABLE t (a int)", None),
        ("CREATE TABLE t AS EXECUTE q", None),
        ("INSERT INTO t SELECT 1", None),
        ("SELECT 'open", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_query_of_a_definition(text: str, query: str | None) -> None:
    assert defining_query(text, dialect_named("postgres")) == query
