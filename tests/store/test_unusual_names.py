"""Columns with unusual names are ingested from SQL, and found by their display names."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

from lineage.catalog import Catalog
from lineage.export.openlineage import openlineage_events
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming, column_key, column_text, dataset_key
from lineage.sql.script.extract_script import extract_script
from lineage.store import GraphStore, open_store
from lineage.traversal import impact, resolve_column, root_cause
from lineage_ingest.batch.builder import BatchBuilder, of_files
from lineage_ingest.openlineage import EventIngest

AT = datetime(2026, 1, 1, tzinfo=UTC)
CHOSEN = [
    *("item#", "my col", "Total.Amount", 'we"ird', "50%", "a%23b", "a%2523b", "`", "[x]", " padded ", "é", "Ω.ß"),
    *("a#b.c", "#", "%", ".", '"', "'", "a>b", "a/b", "x+y", "a\nb", "\x1b[31m", "日本", "a.b", "a", "b"),
]


def names() -> list[str]:
    dice = random.Random(12)
    drawn = ("".join(dice.choices("ab#%.\"`[]' 235/>é", k=dice.randint(1, 6))) for _ in range(12))
    return list(dict.fromkeys((*CHOSEN, *drawn)))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def script(columns: list[str]) -> str:
    listed = ", ".join(map(quoted, columns))
    defined = ", ".join(f"{quoted(name)} int" for name in columns)
    return f'CREATE TABLE "s"."o#1" ({defined}); CREATE VIEW "s"."v.%23" AS SELECT {listed} FROM "s"."o#1"'


def ingest(store: GraphStore, sql: str) -> None:
    builder = BatchBuilder(Naming(dialect_named("postgres")), Catalog(), AT, of_files(AT))
    builder.add_file("f.sql", sql, extract_script({"f.sql": sql}, "postgres"))
    store.apply(builder.batch("sql", "f.sql", [sql]))


def test_every_column_is_found_by_its_name_and_by_its_key(store: GraphStore) -> None:
    columns = names()
    ingest(store, script(columns))
    source, target = dataset_key("postgres", "s.o#1"), dataset_key("postgres", 's."v.%23"')
    for number, name in enumerate(columns):
        start, end = column_key(source, column_text(name)), column_key(target, column_text(name))
        shown = f"s.o#1.{column_text(name)}"
        assert resolve_column(store, start).key == start
        assert resolve_column(store, start).name == shown
        assert resolve_column(store, shown).key == start
        assert resolve_column(store, f'"s"."o#1".{quoted(name)}').key == start
        if number % 3:
            continue
        [reached] = impact(store, resolve_column(store, shown)).columns
        assert (reached.key, reached.name) == (end, f's."v.%23".{column_text(name)}')
        assert resolve_column(store, reached.name).key == end
        assert [one.key for one in root_cause(store, resolve_column(store, end)).columns] == [start]
    stored = store.columns([source, target])
    assert sorted(column.name for column in stored) == sorted([*columns, *columns])
    assert all(column.parent is None for column in stored)


def test_names_survive_export_and_import(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, script(names()))
    before = {column.key for column in store.columns(store.dataset_keys())}
    with open_store(tmp_path / "copy.db") as copy:
        EventIngest(copy).take(list(openlineage_events(store)))
        assert {column.key for column in copy.columns(copy.dataset_keys())} == before


OLD_NAMES = {
    "item#": "item#",
    "my col": "my col",
    'we"ird': '"we""ird"',
    "a%23b": "a%23b",
    'j."x.y"': 'j."x.y"',
    'j."x y"': "j.x y",
    "[k]": '"[k]"',
}


def test_a_name_that_is_no_unicode_is_not_found(store: GraphStore) -> None:
    for typed in ("db.\udcff", "\ud83d"):
        assert store.find_datasets(typed) == []
        assert store.search(typed) == []
        assert store.count_search(typed) == 0
