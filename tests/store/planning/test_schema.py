"""The graph has one schema, `graph/schema.py`; the files of Cypher agree with it."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import lineage.store
from lineage.store import open_store
from lineage.store.graph.schema import LABELS, RELATIONSHIPS, SCHEMA_VERSION, PropertyType
from lineage.store.graph.statements import cypher, query, scripts, write_statement
from lineage.store.planning.chunking.chunks import LOCK_STRIPES
from lineage.store.sqlite.statements import NODES, migrations

FOLDER = Path(lineage.store.__file__).parent


_SQLITE_TYPES = {PropertyType.NUMBER: "REAL"} | dict.fromkeys(
    (PropertyType.INTEGER, PropertyType.FLAG, PropertyType.TIME), "INTEGER"
)


def test_the_tables_of_sqlite_have_the_properties_of_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path):
        pass
    with closing(sqlite3.connect(path)) as connection:
        for label, properties in LABELS.items():
            rows = connection.execute(f"SELECT name, type FROM pragma_table_xinfo('{NODES[label]}')").fetchall()
            types = {name: _SQLITE_TYPES.get(of, "TEXT") for name, of in properties.items()}
            assert types.items() <= dict(rows).items(), label
        for name in ("READS", "WRITES", "OBSERVED"):
            rows = connection.execute(f"SELECT name, type FROM pragma_table_info('{name.lower()}')").fetchall()
            types = {one: _SQLITE_TYPES.get(of, "TEXT") for one, of in RELATIONSHIPS[name].properties.items()}
            assert types.items() <= dict(rows).items(), name


def test_there_is_a_migration_to_each_version() -> None:
    assert list(migrations()) == list(range(1, SCHEMA_VERSION + 1))
    steps = scripts("neo4j")
    assert list(steps) == list(range(1, SCHEMA_VERSION + 1))
    for version, statements in steps.items():
        assert re.search(rf"version(:| =) {version}\b", statements[-1])


def test_each_lock_stripe_has_a_node() -> None:
    [made] = [statement for steps in scripts("neo4j").values() for statement in steps if "range(0" in statement]
    assert f"range(0, {LOCK_STRIPES - 1})" in made


def test_every_query_is_used_and_every_used_one_is_there() -> None:
    written = set(re.findall(r"^// name: (\w+)$", (FOLDER / "neo4j" / "read.cypher").read_text("utf-8"), re.MULTILINE))
    code = "\n".join(path.read_text("utf-8") for path in FOLDER.glob("**/*.py"))
    assert {name for name in written if f'"{name}"' not in code} == set()
    in_sql = set(re.findall(r"^-- name: (\w+)$", (FOLDER / "sqlite" / "read.sql").read_text("utf-8"), re.MULTILINE))
    assert written - in_sql == {"schema_version"}  # of SQLite, a pragma


def test_names_are_filled_into_statements() -> None:
    for label in LABELS:
        for name in ("create_node", "update_node", "delete_node"):
            assert "<" not in write_statement(name, label)
    for label, kind in RELATIONSHIPS.items():
        for ends in kind.ends:
            for name in ("create_relationship", "delete_relationship"):
                assert not re.search(r"<\w+>", write_statement(name, label, ends))
    with pytest.raises(KeyError):
        cypher(query("no_such_query"))
