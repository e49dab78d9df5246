"""`ingest_postgres` on a real PostgreSQL: what is read, what is retired, what it shares with other ingests.

This runs what docs/databases.md and docs/diagnostics.md show.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import psycopg
import pytest

from lineage.catalog.database.errors import DatabaseError, DatabaseUnreachableError, DriverMissingError
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.statement import DatasetKind
from lineage.store import GraphStore, open_store
from lineage_ingest import (
    DatabaseOptions,
    DatabaseSummary,
    DbtOptions,
    LogOptions,
    ingest_dbt,
    ingest_log,
    ingest_postgres,
)
from tests.cli.running import lineage
from tests.dbt.manifests import manifest, model, source, write
from tests.live_database.postgres_database import NAMESPACE, ServedDatabase

pytestmark = pytest.mark.xdist_group("postgres")
OPTIONS = DatabaseOptions(namespace=NAMESPACE)
SHOP = """
CREATE SCHEMA shop; CREATE SCHEMA mart;
CREATE TABLE shop.customers (id int PRIMARY KEY, name text, email text, country varchar(2));
CREATE TABLE shop.orders (id int, customer_id int, price numeric(10,2), quantity int,
  total numeric GENERATED ALWAYS AS (price * quantity) STORED);
CREATE TABLE mart.orders (id int, kind text);
CREATE VIEW mart.spent (who, amount) AS
  SELECT c.name, sum(o.total) FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id GROUP BY 1;
CREATE MATERIALIZED VIEW mart.top AS SELECT * FROM mart.spent WHERE amount > 100;
"""
FILLS = (
    "CREATE FUNCTION mart.f() RETURNS void LANGUAGE sql AS 'INSERT INTO mart.orders (id) SELECT id FROM shop.orders'"
)
SPENT = [
    "mart.spent#amount <- shop.orders#total AGGREGATION",
    "mart.spent#who <- shop.customers#name IDENTITY",
]


def ingest(database: ServedDatabase, store: GraphStore, options: DatabaseOptions = OPTIONS) -> DatabaseSummary:
    return ingest_postgres(database.uri, store=store, options=options)


def key(database: ServedDatabase, name: str) -> str:
    return f"{NAMESPACE}/{database.name}.{name}"


def contributions(database: ServedDatabase, store: GraphStore, *names: str) -> list[str]:
    """Return the values that flow into these tables: `schema.table#column <- schema.table#column SUBTYPES`."""
    edges = store.edges_into([key(database, name) for name in names])
    prefix = key(database, "")
    return sorted(
        f"{one.target.removeprefix(prefix)} <- {one.source.removeprefix(prefix)} {'+'.join(one.subtypes)}"
        for one in edges
        if one.kind == "CONTRIBUTES"
    )


def codes(summary: DatabaseSummary) -> list[tuple[str, str]]:
    return sorted((one.source, str(one.diagnostic.code)) for one in summary.diagnostics)


def test_views_and_generated_columns(database: ServedDatabase, store: GraphStore) -> None:
    database.run(SHOP)
    summary = ingest(database, store)
    assert contributions(database, store, "mart.spent") == SPENT
    assert contributions(database, store, "mart.top") == [
        "mart.top#amount <- mart.spent#amount IDENTITY",
        "mart.top#who <- mart.spent#who IDENTITY",
    ]
    assert contributions(database, store, "shop.orders") == [
        "shop.orders#total <- shop.orders#price TRANSFORMATION",
        "shop.orders#total <- shop.orders#quantity TRANSFORMATION",
    ]
    assert (summary.diagnostics, summary.batch.run.counts["resolved"]) == ((), 3)
    kinds = {one.name.partition(".")[2]: one.kind for one in store.datasets()}
    assert kinds["mart.spent"] is kinds["mart.top"] is DatasetKind.VIEW
    assert {kinds[name] for name in ("shop.orders", "shop.customers", "mart.orders")} == {DatasetKind.TABLE}
    types = [one.data_type for one in store.columns([key(database, "mart.spent"), key(database, "shop.customers")])]
    assert types == ["text", "numeric", "integer", "text", "text", "character varying(2)"]
    [job] = store.jobs([f"definition:{key(database, 'mart.top')}"])
    assert job.sql is not None
    assert "100" not in job.sql


def test_names_in_any_case_and_search_path(database: ServedDatabase, store: GraphStore) -> None:
    database.run(
        SHOP + 'CREATE SCHEMA "Odd. ""S"; CREATE VIEW "Odd. ""S"."V#1" AS SELECT id AS "I.d", kind AS "kind" '
        "FROM mart.orders; SET search_path = mart; CREATE VIEW public.v AS SELECT id FROM orders"
    )
    ingest(database, store)
    edges = store.edges_into([key(database, '"Odd. ""S".V%231'), key(database, "public.v")])
    assert sorted(
        (one.target.partition(".")[2], one.source.partition(".")[2]) for one in edges if one.kind == "CONTRIBUTES"
    ) == [
        ('"Odd. ""S".V%231#"I.d"', "mart.orders#id"),
        ('"Odd. ""S".V%231#kind', "mart.orders#kind"),
        ("public.v#id", "mart.orders#id"),
    ]


def test_recursive_views(database: ServedDatabase, store: GraphStore) -> None:
    database.run(
        "CREATE TABLE tree (id int, parent int, label text); CREATE RECURSIVE VIEW path (node, labels) AS "
        "SELECT id, label FROM tree WHERE parent IS NULL UNION ALL "
        "SELECT t.id, p.labels || t.label FROM path p JOIN tree t ON t.parent = p.node"
    )
    assert ingest(database, store).diagnostics == ()
    assert contributions(database, store, "public.path") == [
        "public.path#labels <- public.tree#label IDENTITY+TRANSFORMATION",
        "public.path#node <- public.tree#id IDENTITY",
    ]


def test_functions_and_overloads(database: ServedDatabase, store: GraphStore) -> None:
    database.run(
        SHOP + "CREATE FUNCTION mart.mail(c int) RETURNS text LANGUAGE sql AS "
        "'SELECT email FROM shop.customers WHERE id = c';"
        "CREATE FUNCTION mart.origin(c int) RETURNS text LANGUAGE sql "
        "BEGIN ATOMIC SELECT country FROM shop.customers WHERE id = c; END;"
        "CREATE FUNCTION mart.found(c text) RETURNS TABLE(n int, m text) LANGUAGE sql AS "
        "'SELECT id, name FROM shop.customers WHERE country = c';"
        "CREATE TABLE mart.audit (who text, n int);"
        "CREATE PROCEDURE mart.refill() LANGUAGE plpgsql SET search_path = mart, shop AS "
        "'BEGIN DELETE FROM audit; INSERT INTO audit SELECT email, o.id FROM customers, orders o; END';"
        "CREATE VIEW mart.calls AS SELECT o.id, mart.mail(o.customer_id) AS mail, mart.origin(o.id) AS origin "
        "FROM shop.orders o;"
        "CREATE VIEW mart.rows AS SELECT f.n, f.m FROM mart.found('de') f"
    )
    summary = ingest(database, store)
    assert codes(summary) == []
    assert contributions(database, store, "mart.calls", "mart.rows", "mart.audit") == [
        "mart.audit#n <- mart.orders#id IDENTITY",
        "mart.audit#who <- shop.customers#email IDENTITY",
        "mart.calls#id <- shop.orders#id IDENTITY",
        "mart.calls#mail <- shop.customers#email TRANSFORMATION",
        "mart.calls#origin <- shop.customers#country TRANSFORMATION",
        "mart.rows#m <- shop.customers#name IDENTITY",
        "mart.rows#n <- shop.customers#id IDENTITY",
    ]


def test_aggregates_of_users_and_functions_with_rights_of_their_owner(
    database: ServedDatabase, store: GraphStore
) -> None:
    database.run(
        SHOP + "CREATE AGGREGATE mart.product (numeric) (SFUNC = numeric_mul, STYPE = numeric);"
        "CREATE FUNCTION mart.mails(OUT who text, OUT mail text) RETURNS SETOF record LANGUAGE sql SECURITY DEFINER "
        "SET search_path = shop AS 'SELECT name, email FROM customers';"
        "CREATE VIEW mart.v AS SELECT mart.product(price) AS p FROM shop.orders;"
        "CREATE VIEW mart.w AS SELECT m.mail FROM mart.mails() m"
    )
    summary = ingest(database, store)
    assert contributions(database, store, "mart.v", "mart.w") == [
        "mart.v#p <- shop.orders#price AGGREGATION",
        "mart.w#mail <- shop.customers#email IDENTITY",
    ]
    assert summary.diagnostics == ()


def test_partitions_and_inheritance(database: ServedDatabase, store: GraphStore) -> None:
    database.run(
        "CREATE TABLE events (id int, at date) PARTITION BY RANGE (at);"
        "CREATE TABLE events_2024 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');"
        "CREATE TABLE people (name text); CREATE TABLE staff (wage int) INHERITS (people)"
    )
    ingest(database, store)
    assert contributions(database, store, "public.events", "public.events_2024", "public.people", "public.staff") == [
        "public.events#at <- public.events_2024#at IDENTITY",
        "public.events#id <- public.events_2024#id IDENTITY",
        "public.events_2024#at <- public.events#at IDENTITY",
        "public.events_2024#id <- public.events#id IDENTITY",
        "public.people#name <- public.staff#name IDENTITY",
    ]


def test_what_is_not_followed_is_said(database: ServedDatabase, store: GraphStore) -> None:
    database.run(
        SHOP + "CREATE FUNCTION shop.t() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER noting BEFORE INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.t();"
        "CREATE RULE nothing AS ON DELETE TO mart.orders DO INSTEAD NOTHING;"
        "CREATE TABLE shop.hidden (a int); ALTER TABLE shop.hidden ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY mine ON shop.hidden USING (a > 1);"
        "CREATE TABLE shop.idle (a int); CREATE POLICY off ON shop.idle USING (a > 1);"
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
        "CREATE FOREIGN TABLE shop.far (id int) SERVER s;"
        "CREATE FOREIGN DATA WRAPPER postgres_fdw; CREATE SERVER p FOREIGN DATA WRAPPER postgres_fdw "
        "OPTIONS (host 'CRM.example', dbname 'crm');"
        "CREATE FOREIGN TABLE shop.people (id int, name text OPTIONS (column_name 'full_name')) SERVER p "
        "OPTIONS (schema_name 'public', table_name 'persons')"
    )
    summary = ingest(database, store)
    assert codes(summary) == [
        ("mart.orders", "NOT_FOLLOWED"),
        ("shop.far", "NOT_FOLLOWED"),
        ("shop.hidden", "NOT_FOLLOWED"),
        ("shop.orders", "NOT_FOLLOWED"),
    ]
    assert [
        one.replace("postgres://crm.example:5432/", "CRM ") for one in contributions(database, store, "shop.people")
    ] == [
        "shop.people#id <- CRM crm.public.persons#id IDENTITY",
        "shop.people#name <- CRM crm.public.persons#full_name IDENTITY",
    ]


def test_the_same_again_changes_nothing(database: ServedDatabase, store: GraphStore) -> None:
    database.run(SHOP)
    ingest(database, store)
    before = store.dump()
    again = ingest(database, store)
    after = store.dump()
    assert (again.applied.edges_created, again.applied.edges_ended, again.gone) == (0, 0, ())
    assert len(before.relationships) == len(after.relationships)
    assert len(before.nodes) == len(after.nodes)


def test_what_is_gone_is_retired(database: ServedDatabase, store: GraphStore) -> None:
    database.run(
        SHOP
        + "CREATE VIEW mart.old AS SELECT id FROM shop.orders; CREATE VIEW mart.kept AS SELECT id FROM shop.orders;"
        "CREATE VIEW mart.swapped AS SELECT kind FROM mart.orders; CREATE TABLE shop.scratch (id int);"
        "CREATE VIEW mart.named AS SELECT name FROM shop.customers;" + FILLS
    )
    ingest(database, store)
    database.run(
        "DROP VIEW mart.old; DROP TABLE shop.scratch; DROP FUNCTION mart.f(); ALTER VIEW mart.named RENAME TO renamed;"
        "DROP VIEW mart.swapped; CREATE TABLE mart.swapped (kind text);"
        "CREATE OR REPLACE VIEW mart.kept AS SELECT customer_id AS id FROM shop.orders"
    )
    changed = ingest(database, store)
    name = database.name
    assert set(changed.gone) == {
        f"{name}.mart.old", f"{name}.shop.scratch", f"function {name}.mart.f()", f"{name}.mart.named"
    }  # fmt: skip
    assert contributions(
        database, store, "mart.old", "mart.kept", "mart.swapped", "mart.orders", "mart.named", "mart.renamed"
    ) == [
        "mart.kept#id <- shop.orders#customer_id IDENTITY",
        "mart.renamed#name <- shop.customers#name IDENTITY",
    ]
    dropped = {one.name.partition(".")[2] for one in store.datasets() if one.dropped_at is not None}
    assert dropped == {"mart.old", "shop.scratch", "mart.named"}
    [swapped] = store.datasets([key(database, "mart.swapped")])
    assert swapped.kind is DatasetKind.TABLE
    assert ingest(database, store).gone == ()
    database.run("CREATE VIEW mart.old AS SELECT kind FROM mart.orders")
    ingest(database, store)
    assert contributions(database, store, "mart.old") == ["mart.old#kind <- mart.orders#kind IDENTITY"]


def test_a_schema_that_is_left_out_is_not_retired(database: ServedDatabase, store: GraphStore) -> None:
    database.run(SHOP)
    ingest(database, store)
    database.run("DROP TABLE mart.orders; CREATE VIEW shop.w AS SELECT * FROM mart.spent")
    summary = ingest(database, store, replace(OPTIONS, schemas=("shop",)))
    assert (summary.gone, summary.schemas) == ((), ("shop",))
    assert "left out by --schema" in summary.notices[0]
    assert contributions(database, store, "mart.spent") == SPENT
    assert len(contributions(database, store, "shop.w")) == 2
    assert ingest(database, store).gone == (f"{database.name}.mart.orders",)
    with pytest.raises(DatabaseError, match="no schema marts") as raised:
        ingest(database, store, replace(OPTIONS, schemas=("marts",)))
    assert raised.value.hint == "it has: mart, public, shop"


def test_comments_and_privileges(database: ServedDatabase, store: GraphStore) -> None:
    role = f"r_{database.name}"
    database.run(
        SHOP + f"CREATE ROLE {role}; GRANT USAGE ON SCHEMA shop TO {role}; GRANT SELECT ON shop.customers TO {role};"
        f"GRANT SELECT ON mart.orders TO {role}; GRANT SELECT (id) ON shop.orders TO {role};"
        "COMMENT ON TABLE shop.customers IS 'Who buys'; COMMENT ON COLUMN shop.customers.email IS 'Where to write';"
        "COMMENT ON VIEW mart.spent IS 'By customer'"
    )
    customers, mail = key(database, "shop.customers"), key(database, "shop.customers#email")
    try:
        assert ingest(database, store).annotations.described == 3
        store.describe(customers, tags=["gold", *store.datasets([customers])[0].tags])
        store.describe(mail, description="By a person")
        database.run(f"REVOKE SELECT ON shop.customers FROM {role}; COMMENT ON TABLE shop.customers IS 'Who bought'")
        [found] = store.datasets([customers])
        assert found.tags == ("gold", "owner:postgres", f"reader:{role}")
        summary = ingest(database, store)
        [found] = store.datasets([customers])
        assert (found.description, found.tags) == ("Who buys", ("gold", "owner:postgres"))
        assert (summary.annotations.kept, "--replace-descriptions" in summary.notices[0]) == (2, True)
        assert store.datasets([key(database, "mart.orders")])[0].tags == ("owner:postgres",)  # no right to the schema
        assert store.columns_by_key([key(database, "shop.orders#id")])[0].tags == (f"reader:{role}",)
        ingest(database, store, replace(OPTIONS, replace_descriptions=True))
        assert store.datasets([customers])[0].description == "Who bought"
        assert store.columns_by_key([mail])[0].description == "Where to write"
    finally:
        database.run(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_catalog_that_may_not_be_read(database: ServedDatabase, store: GraphStore) -> None:
    user = f"u_{database.name}"
    database.run(SHOP + FILLS + f";CREATE ROLE {user} LOGIN")
    try:
        ingest(database, store)
        database.run("REVOKE SELECT ON pg_catalog.pg_proc FROM PUBLIC")
        summary = ingest(replace(database, user=user), store)
        assert codes(summary) == [(f"{NAMESPACE}/{database.name}", "CATALOG_UNREADABLE")]
        assert summary.gone == ()
        assert "permission denied for table pg_proc" in summary.diagnostics[0].diagnostic.message
        assert contributions(database, store, "mart.orders") == ["mart.orders#id <- shop.orders#id IDENTITY"]
        assert contributions(database, store, "mart.spent") == SPENT
    finally:
        database.run(f"DROP OWNED BY {user}; DROP ROLE {user}")


def test_one_graph_with_the_query_log(database: ServedDatabase, tmp_path: Path) -> None:
    database.run(SHOP)
    log = tmp_path / "log.jsonl"
    rows = [
        {
            "query_text": "CREATE VIEW mart.spent (who, amount) AS SELECT c.name, sum(o.total) FROM shop.customers c "
            "JOIN shop.orders o ON o.customer_id = c.id GROUP BY 1",
            "started_at": "2026-01-01T00:00:00Z",
        },
        {
            "query_text": "INSERT INTO shop.orders (id, price) SELECT id, 1 FROM mart.orders",
            "started_at": "2026-01-02T00:00:00Z",
        },
    ]
    log.write_text("".join(json.dumps({**row, "default_database": database.name}) + "\n" for row in rows))
    mapping = {name: name for name in ("query_text", "started_at", "default_database")}
    options = LogOptions(dialect="postgres", namespace=NAMESPACE, mapping=mapping)
    graphs = []
    for order in ("log first", "database first"):
        with open_store(str(tmp_path / f"{order}.db")) as store:
            if order == "log first":
                ingest_log(log, source="generic", store=store, options=options)
            ingest(database, store)
            if order == "database first":
                ingest_log(log, source="generic", store=store, options=options)
            assert contributions(database, store, "mart.spent") == SPENT
            assert "shop.orders#id <- mart.orders#id IDENTITY" in contributions(database, store, "shop.orders")
            graphs.append({one.key for one in store.datasets()})
            jobs = store.job_keys_of([key(database, "mart.spent")])[key(database, "mart.spent")]
            assert f"definition:{key(database, 'mart.spent')}" in jobs
            # Retired by the database, whoever stated it last.
            database.run("ALTER VIEW mart.spent RENAME TO hidden")
            ingest(database, store)
            assert contributions(database, store, "mart.spent") == []
            database.run("ALTER VIEW mart.hidden RENAME TO spent")
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize("order", ["dbt first", "database first"])
def test_one_graph_with_dbt(database: ServedDatabase, store: GraphStore, tmp_path: Path, order: str) -> None:
    """A view that a dbt model builds has one job, the model's, whichever is ingested first."""
    database.run('CREATE SCHEMA raw; CREATE TABLE raw.orders (id int); CREATE SCHEMA "main";')
    database.run("CREATE VIEW main.stg AS SELECT id AS order_id FROM raw.orders")
    node = model("stg", 'select id as order_id from "wh"."raw"."orders"', config={"materialized": "view"})
    data = json.loads(json.dumps(manifest(node, source("orders", {"id": "int"}))).replace("wh", database.name))
    target = write(tmp_path / "target", data, catalog=False)
    if order == "dbt first":
        ingest_dbt(target, store=store, options=DbtOptions(namespace=NAMESPACE))
    ingest(database, store)
    if order == "database first":
        ingest_dbt(target, store=store, options=DbtOptions(namespace=NAMESPACE))
    jobs = store.job_keys_of([key(database, "main.stg")])[key(database, "main.stg")]
    assert [job.partition(":")[0] for job in jobs] == ["dbt"]
    assert contributions(database, store, "main.stg") == ["main.stg#order_id <- raw.orders#id IDENTITY"]
    database.run("DROP VIEW main.stg")
    ingest(database, store)
    assert contributions(database, store, "main.stg") == []


def test_the_command(database: ServedDatabase, tmp_path: Path) -> None:
    database.run(SHOP + "CREATE RULE nothing AS ON DELETE TO mart.orders DO INSTEAD NOTHING")
    stored = tmp_path / "graph.db"
    done = lineage("ingest", "postgres", database.uri, "--store", stored, "--namespace", NAMESPACE)
    assert (done.code, done.out.splitlines()[:2]) == (
        0,
        [
            f"{NAMESPACE}/{database.name}: 3 schemas, 3 tables, 2 views, 0 functions",
            "3 statements: 3 resolved; 1 diagnostic",
        ],
    )
    assert "NOT_FOLLOWED" in done.err
    printed = lineage("ingest", "postgres", database.uri, "--store", stored, "--format", "json").json
    assert printed["database"] == f"postgres://127.0.0.1:{database.port}/{database.name}"
    assert printed["found"][0]["code"] == DiagnosticCode.NOT_FOLLOWED
    with open_store(str(stored)) as store:
        assert "s3cr" not in repr(store.dump())


def test_no_password_is_printed(database: ServedDatabase, tmp_path: Path) -> None:
    stored = ("--store", tmp_path / "graph.db")
    wrong = [
        f"postgresql://nobody:s3cr%23t@127.0.0.1:{database.port}/{database.name}",
        f"postgresql://postgres:s3cr%23t@127.0.0.1:{database.port}/nowhere",
        "postgresql://me:s3cr%23t@127.0.0.1:1/x",
        "postgresql://me:s3cr%23t@127.0.0.1:1/x?nonsense=s3cr%23t",
        "postgresql://me:s3cr%23t@[::1/x",
        "postgresql://me:s3cr#t@127.0.0.1/x",
        "postgresql://me:s3cr/t@127.0.0.1/x",
    ]
    for uri in wrong:
        done = lineage("ingest", "postgres", uri, *stored)
        assert done.code in (2, 3), done
        assert "s3cr" not in done.out + done.err
        assert "error: " in done.err.lower()


def test_clear_errors(database: ServedDatabase, store: GraphStore) -> None:
    with pytest.raises(DatabaseUnreachableError, match="Connection refused"):
        ingest_postgres("postgresql://127.0.0.1:1/x", store=store)
    with pytest.raises(DatabaseError, match="not the address of a database"):
        ingest_postgres("shop.sql", store=store)
    with mock.patch.dict("sys.modules", {"psycopg": None}), pytest.raises(DriverMissingError) as raised:
        ingest(database, store)
    assert raised.value.hint == "pip install '.[databases]' in a checkout of lineage"


def test_nothing_is_executed(database: ServedDatabase, store: GraphStore) -> None:
    """A function that would write is not called, and the session could not write."""
    database.run(
        "CREATE TABLE calls (n int); CREATE FUNCTION noted() RETURNS int LANGUAGE sql AS "
        "'INSERT INTO calls VALUES (1) RETURNING n'; CREATE VIEW v AS SELECT noted() AS n"
    )
    before = database.rows("SELECT txid_current()")[0][0]
    ingest(database, store)
    assert isinstance(before, int)
    assert database.rows("SELECT txid_current()") == [(before + 1,)]
    assert database.rows("SELECT count(*) FROM calls") == [(0,)]
    assert psycopg.__version__


def test_functions_that_name_what_is_gone(database: ServedDatabase, store: GraphStore) -> None:
    database.run(SHOP + FILLS)
    database.run(
        "CREATE FUNCTION g() RETURNS TABLE (i int) LANGUAGE sql AS 'SELECT id FROM shop.orders';"
        "CREATE VIEW mart.v AS SELECT i FROM g(); CREATE FUNCTION ok() RETURNS name LANGUAGE sql AS "
        "'SELECT relname FROM pg_class LIMIT 1'; CREATE FUNCTION made() RETURNS void LANGUAGE plpgsql AS "
        "'BEGIN CREATE TEMP TABLE x AS SELECT id FROM mart.orders; INSERT INTO mart.orders (id) SELECT id FROM x; END'"
    )
    assert codes(ingest(database, store)) == []
    database.run("ALTER TABLE shop.orders RENAME TO sales")
    summary = ingest(database, store)
    assert codes(summary) == [(name, "UNKNOWN_TABLE") for name in ("mart.f()", "mart.v", "public.g()")]
    assert "names shop.orders, which the database does not have" in summary.diagnostics[0].diagnostic.message


def test_functions_behind_operators_casts_and_overloads(database: ServedDatabase, store: GraphStore) -> None:
    database.run("""
        CREATE TABLE t (id int, a int, c text); CREATE TABLE u (x int, y text); CREATE TABLE w (k int);
        CREATE FUNCTION plus(a int, b int) RETURNS int LANGUAGE sql AS $$ SELECT a + b + (SELECT max(x) FROM u) $$;
        CREATE OPERATOR ### (leftarg = int, rightarg = int, function = plus);
        CREATE TYPE mood AS ENUM ('a', 'b');
        CREATE FUNCTION to_mood(int) RETURNS mood LANGUAGE sql
          AS $$ SELECT (CASE WHEN $1 > (SELECT min(x) FROM u) THEN 'a' ELSE 'b' END)::mood $$;
        CREATE CAST (int AS mood) WITH FUNCTION to_mood(int);
        CREATE FUNCTION f(i int) RETURNS int LANGUAGE sql AS $$ SELECT max(x) + i FROM u $$;
        CREATE FUNCTION f(i text) RETURNS text LANGUAGE sql AS $$ SELECT max(k) || i FROM w $$;
        CREATE FUNCTION step(int, int) RETURNS int LANGUAGE plpgsql
          AS $$ DECLARE m int; BEGIN SELECT max(k) INTO m FROM w; RETURN $1 + $2 * m; END $$;
        CREATE AGGREGATE total(int) (sfunc = step, stype = int, initcond = '0');
        CREATE FUNCTION "Top"(i int) RETURNS int LANGUAGE sql AS $$ SELECT max(x) + i FROM u $$;
        CREATE VIEW by_operator AS SELECT a ### id AS z FROM t;
        CREATE VIEW by_cast AS SELECT a::mood AS z FROM t;
        CREATE VIEW by_overload AS SELECT f(c) AS z FROM t;
        CREATE VIEW by_aggregate AS SELECT total(a) AS z FROM t;
        CREATE VIEW by_name AS SELECT "Top"(a) AS z FROM t;
    """)
    ingest(database, store)
    read = {"by_operator": "u", "by_cast": "u", "by_overload": "w", "by_aggregate": "w"}
    jobs = {job.writes[0].rpartition(".")[2]: job for job in store.jobs() if job.writes}
    for view, table in read.items():
        assert str(jobs[view].completeness) == "partial"
        assert {one.rpartition(".")[2] for one in jobs[view].reads} == {"t", table}
    assert str(jobs["by_name"].completeness) == "full"
    assert contributions(database, store, "public.by_name") == [
        "public.by_name#z <- public.t#a TRANSFORMATION", "public.by_name#z <- public.u#x AGGREGATION",
    ]  # fmt: skip
