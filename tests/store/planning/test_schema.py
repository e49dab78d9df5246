"""The graph has one schema, `cypher/schema.py`; the files of Cypher agree with it."""

from __future__ import annotations

import re
from pathlib import Path

import ladybug
import pytest

import lineage.store
from lineage.store import open_store
from lineage.store.cypher.schema import LABELS, RELATIONSHIPS, SCHEMA_VERSION, PropertyType
from lineage.store.cypher.statements import LADYBUG_TYPES, query, scripts, write_statement
from lineage.store.planning.chunks import LOCK_STRIPES

FOLDER = Path(lineage.store.__file__).parent


def test_the_embedded_tables_have_the_properties_of_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "store.lbug"
    with open_store(path):
        pass
    declared = {name: {"key": PropertyType.TEXT, **properties} for name, properties in LABELS.items()}
    declared |= {name: dict(kind.properties) for name, kind in RELATIONSHIPS.items()}
    with ladybug.Database(path, read_only=True) as database, ladybug.Connection(database) as connection:
        for name, properties in declared.items():
            rows = connection.execute(f"CALL table_info('{name}') RETURN *").get_all()
            # In this order: rows are copied in by their place.
            assert [(row[1], row[2]) for row in rows] == [
                (one, LADYBUG_TYPES[kind]) for one, kind in properties.items()
            ], name
        ends = {
            name: {tuple(row[:2]) for row in connection.execute(f"CALL show_connection('{name}') RETURN *").get_all()}
            for name in RELATIONSHIPS
        }
    assert ends == {name: set(kind.ends) for name, kind in RELATIONSHIPS.items()}


@pytest.mark.parametrize("store", ["embedded", "neo4j"])
def test_there_is_a_migration_to_each_version(store: str) -> None:
    steps = scripts(store)
    assert list(steps) == list(range(1, SCHEMA_VERSION + 1))
    for version, statements in steps.items():
        assert re.search(rf"version(:| =) {version}\b", statements[-1])


def test_each_lock_stripe_has_a_node() -> None:
    [made] = [statement for steps in scripts("neo4j").values() for statement in steps if "range(0" in statement]
    assert f"range(0, {LOCK_STRIPES - 1})" in made


def test_every_query_is_used_and_every_used_one_is_there() -> None:
    written = set(re.findall(r"^// name: (\w+)$", (FOLDER / "cypher" / "read.cypher").read_text("utf-8"), re.MULTILINE))
    code = "\n".join(path.read_text("utf-8") for path in FOLDER.glob("**/*.py"))
    assert {name for name in written if f'"{name}"' not in code} == set()
    for name in written:
        assert query(name)


def test_names_are_filled_into_statements() -> None:
    for label in LABELS:
        for name in ("create_node", "create_nodes", "update_node", "update_nodes", "delete_node", "delete_nodes"):
            assert "<" not in write_statement(name, label)
    for label, kind in RELATIONSHIPS.items():
        for ends in kind.ends:
            for name in ("create_relationship", "delete_relationship"):
                assert not re.search(r"<\w+>", write_statement(name, label, ends))
    with pytest.raises(KeyError):
        query("no_such_query")
