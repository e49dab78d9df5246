"""Row security and grants: what a real PostgreSQL says of them, by its catalog and by statements that it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lineage.governance.warehouse.warehouse_policies import load_warehouse_policies
from lineage.store import GraphStore, open_store
from lineage_ingest import DatabaseOptions, ingest_postgres
from tests.cli.running import lineage
from tests.governance.test_warehouse_policies import Case, cases
from tests.live_database.postgres_database import NAMESPACE, ServedDatabase

pytestmark = pytest.mark.xdist_group("postgres")
_ROLES = ("app", "sales", "crm", "loader", "ana")
_CASES = [one for one in cases() if one.dialect == "postgres"]


def _rows(store: GraphStore, column: str) -> tuple[str, ...]:
    return load_warehouse_policies(store, [column]).protection(column).rows


def test_row_security_of_a_live_database(database: ServedDatabase, store: GraphStore) -> None:
    database.run("CREATE TABLE people (id int); CREATE POLICY own ON people USING (id = 1)")
    column = f"{NAMESPACE}/{database.name}.public.people#id"
    found = []
    for sql in (
        "SELECT 1",
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY b ON people FOR SELECT USING (true)",
        "ALTER POLICY b ON people RENAME TO c; DROP POLICY own ON people",
        "ALTER TABLE people DISABLE ROW LEVEL SECURITY",
    ):
        database.run(sql)
        ingest_postgres(database.uri, store=store, options=DatabaseOptions(namespace=NAMESPACE))
        found.append(_rows(store, column))
    assert found == [(), ("own",), ("b", "own"), ("c",), ()]


def test_members_of_roles_of_a_live_database(database: ServedDatabase, store: GraphStore) -> None:
    for role in ("staff", "crew", "ana"):
        database.run(f"DO $$ BEGIN CREATE ROLE {role}; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    database.run("CREATE TABLE people (id int)")
    found = []
    for sql in ("GRANT staff TO crew; GRANT crew TO ana", "REVOKE crew FROM ana", "REVOKE staff FROM crew"):
        database.run(sql)
        ingest_postgres(database.uri, store=store, options=DatabaseOptions(namespace=NAMESPACE))
        members = load_warehouse_policies(store).members(NAMESPACE)
        found.append({role: members[role] for role in ("staff", "crew") if role in members})
    assert found == [{"staff": {"crew"}, "crew": {"ana"}}, {"staff": {"crew"}}, {}]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_the_engine_agrees(case: Case, database: ServedDatabase, tmp_path: Path) -> None:
    """Roles that may read each column, and policies that are in force, as the engine says after the same statements."""
    for role in (*_ROLES, "bo"):
        database.run(f"DO $$ BEGIN CREATE ROLE {role}; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    database.run("CREATE SCHEMA crm; GRANT USAGE ON SCHEMA crm TO PUBLIC")
    for sql in case.statements:
        database.run(sql)
    (tmp_path / "all.sql").write_text(";\n".join(case.statements), encoding="utf-8")
    path = tmp_path / "l.db"
    assert lineage("ingest", "sql", tmp_path / "all.sql", "--dialect", "postgres", "--store", path).code == 0
    with open_store(path, read_only=True) as store:
        columns = [one.key for one in store.columns(store.dataset_keys())]
        policies = load_warehouse_policies(store, columns)
    for column in columns:
        table, name = re.sub("^.*/", "", column).split("#")
        protection = policies.protection(column)
        granted = database.rows(
            "SELECT g.role FROM unnest(ARRAY['app', 'sales', 'crm', 'loader']) AS g (role) "
            f"WHERE has_column_privilege(g.role, '{table}', '{name}', 'SELECT') ORDER BY 1"
        )
        assert protection.readers == tuple(role for (role,) in granted), column
        in_force = database.rows(
            "SELECT p.polname FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid "
            f"WHERE c.relrowsecurity AND p.polcmd IN ('r', '*') AND c.oid = '{table}'::regclass ORDER BY 1"
        )
        assert protection.rows == tuple(name for (name,) in in_force), column
    for role in (*_ROLES, "bo"):
        database.run(f"DROP OWNED BY {role}")
