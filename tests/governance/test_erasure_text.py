"""The text of an erasure plan: names of tables and columns stay names, whatever they are."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import lineage


def test_a_name_is_never_read_as_sql(tmp_path: Path) -> None:
    schema = 'create table crm.people (id int, "mail;delete from x" text);\n'
    model = 'create table crm."co;py--" as select id, "mail;delete from x" from crm.people;\n'
    (tmp_path / "schema.sql").write_text(schema)
    (tmp_path / "model.sql").write_text(model)
    options = ("--dialect", "postgres", "--catalog", tmp_path / "schema.sql", "--store", tmp_path / "lineage.db")
    assert lineage("ingest", "sql", tmp_path / "model.sql", *options).code == 0
    column = 'postgres/crm.people#"mail;delete from x"'
    keys = [one["key"] for one in lineage("columns", "crm.people", "--json", "--store", tmp_path / "lineage.db").json]
    column = next(one for one in keys if "mail" in one)
    done = lineage("pii", "erase-plan", column, "--key", "crm.people.id", "--json", "--store", tmp_path / "lineage.db")
    assert done.code == 0, done.err
    assert done.json["value_query"] == 'SELECT "mail;delete from x" FROM crm.people WHERE id = :key;'
    assert [one["statement"] for one in done.json["steps"]] == [
        'DELETE FROM crm."co;py--" WHERE id = :key;',
        "DELETE FROM crm.people WHERE id = :key;",
    ]


def test_the_key_is_of_the_same_table(path: Path) -> None:
    done = lineage("pii", "erase-plan", "crm.customers.email", "--key", "shop.orders.id", "--store", path)
    assert done.code == 2
    assert "a column of the same table" in done.err


def test_a_materialized_view_does_not_follow_its_table(tmp_path: Path) -> None:
    (tmp_path / "m.sql").write_text(
        "create table crm.people (id int, mail text);"
        "create view crm.live as select id, mail from crm.people;"
        "create materialized view crm.stored as select id, mail from crm.people;"
    )
    store = ("--store", tmp_path / "l.db")
    assert lineage("ingest", "sql", tmp_path / "m.sql", "--dialect", "postgres", *store).code == 0
    plan = lineage("pii", "erase-plan", "crm.people.mail", "--key", "crm.people.id", "--json", *store).json
    assert plan["views"] == ["crm.live"]
    assert [(one["table"], one["remedy"]) for one in plan["out_of_reach"]] == [
        ("crm.stored", "REFRESH MATERIALIZED VIEW crm.stored;")
    ]


def test_a_key_that_is_masked_ties_no_rows(tmp_path: Path) -> None:
    (tmp_path / "m.sql").write_text(
        "create table crm.people (id int, mail text);"
        "create table crm.hashed as select md5(cast(id as text)) as who, mail from crm.people;"
        "create table crm.copied as select id as who, mail from crm.people;"
    )
    store = ("--store", tmp_path / "l.db")
    assert lineage("ingest", "sql", tmp_path / "m.sql", "--dialect", "postgres", *store).code == 0
    plan = lineage("pii", "erase-plan", "crm.people.mail", "--key", "crm.people.id", "--json", *store).json
    assert [one["table"] for one in plan["steps"]] == ["crm.copied", "crm.people"]
    assert [one["table"] for one in plan["out_of_reach"]] == ["crm.hashed"]


def test_check_only_counts(path: Path) -> None:
    done = lineage("pii", "erase-plan", "crm.customers.email", "--key", "crm.customers.id", "--check", "--store", path)
    statements = [line for line in done.out.splitlines() if not line.startswith("--")]
    assert len(statements) == 18
    assert all(line.startswith("SELECT count(*) FROM ") for line in statements)
