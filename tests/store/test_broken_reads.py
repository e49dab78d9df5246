"""A column that its table does not have any more, and that another file still selects."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.model.batch import ColumnRecord
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.sql.extraction import ExtractionOptions
from lineage.store import GraphStore, open_store
from lineage.traversal import broken_reads, impact, resolve, root_cause
from lineage_ingest import LogOptions, ingest_log
from lineage_ingest.sql_files import ingest_sql_files
from tests.store.batch_builders import batch, job, live, table

KEY = "postgres/l1"
WITHOUT = {"view": "CREATE VIEW l1 AS SELECT b FROM base", "table": "CREATE TABLE l1 (b int)"}
SAID = "l2 reads l1.a1, which l1 does not have"


def ingest(store: GraphStore, folder: Path, files: dict[str, str], day: int) -> None:
    """Ingest a project that consists of these files."""
    folder.mkdir(exist_ok=True)
    for name, sql in files.items():
        (folder / name).write_text(sql, encoding="utf-8")
    options = ExtractionOptions(Naming(dialect_named("postgres")))
    ingest_sql_files([folder], store, options, observed_at=datetime(2026, 1, day, tzinfo=UTC), project="p")


def answers(store: GraphStore) -> list[object]:
    """Return what the store says of the column and its reader."""
    [owner] = store.datasets([KEY])
    columns = [(one.path, one.ordinal, one.inferred, one.dropped_at) for one in store.columns([KEY], dropped=True)]
    reached = [
        [(one.name, one.hops, one.root) for one in find(store, resolve(store, name)).columns]
        for find, name in ((impact, "l1.a1"), (impact, "base.a"), (root_cause, "l2.a2"), (root_cause, "l2"))
    ]
    said = [[str(one) for one in broken_reads(store, [f"postgres/{name}"])] for name in ("l1", "l2", "base")]
    return [owner.schema_known, columns, reached, said]


@pytest.mark.parametrize("kind", WITHOUT)
@pytest.mark.parametrize("names", [("1.sql", "2.sql"), ("2.sql", "1.sql")], ids="-".join)
def test_what_is_edited_away_is_known_as_in_a_new_store(
    store: GraphStore, tmp_path: Path, names: tuple[str, str], kind: str
) -> None:
    owner, reader = names
    before = {
        "0.sql": "CREATE TABLE base (a int, b int)",
        owner: "CREATE VIEW l1 AS SELECT a AS a1, b FROM base" if kind == "view" else "CREATE TABLE l1 (a1 int, b int)",
        reader: "CREATE VIEW l2 AS SELECT a1 AS a2, b AS b2 FROM l1",
    }
    after = before | {owner: WITHOUT[kind]}
    ingest(store, tmp_path / "p", before, 1)
    assert broken_reads(store, [KEY]) == []
    ingest(store, tmp_path / "p", after, 2)
    found = answers(store)
    assert found[:2] == [True, [("b", 0, False, None), ("a1", None, True, None)]]
    assert found[3] == [[SAID], [SAID], []]
    with open_store(tmp_path / "new.db") as new:
        ingest(new, tmp_path / "p", after, 2)
        assert answers(new) == found
    ingest(store, tmp_path / "p", {**after, reader: "CREATE VIEW l2 AS SELECT b AS b2 FROM l1"}, 3)
    assert broken_reads(store, [KEY, "postgres/l2"]) == []


def test_a_view_of_a_log_is_named_and_a_copy_is_not(store: GraphStore, tmp_path: Path) -> None:
    def read(*statements: str, day: int) -> None:
        rows = [f'"{sql}",2026-01-0{day}T00:0{at}:00Z,d,s' for at, sql in enumerate(statements)]
        (tmp_path / "log.csv").write_text("\n".join(["query_text,started_at,database,schema", *rows]))
        options = LogOptions(namespace="snowflake://a", dialect="snowflake")
        ingest_log(tmp_path / "log.csv", source="generic", store=store, options=options)

    read(
        "create table base (a int, b int)",
        "create view l1 as select a as a1, b from base",
        "create view l2 as select a1 as a2 from l1",
        "create table l3 as select a1 as a3 from l1",
        day=1,
    )
    read("create or replace view l1 as select b from base", day=2)
    keys = {one.name.rpartition(".")[2]: one.key for one in store.datasets()}
    found = [broken_reads(store, [keys[name]]) for name in ("L1", "L2", "L3")]
    [read_by_l2] = found[0]
    assert found == [[read_by_l2], [read_by_l2], []]
    assert str(read_by_l2).startswith("L2 reads L1.A1, which L1 has not had since 2026-01-02 00:00 UTC")


def test_a_schema_keeps_what_only_a_reader_has_as_known_by_use(store: GraphStore) -> None:
    """The batch of a table may list what only a statement of the same batch reads."""
    store.apply(batch(table("t", "u", "x", at=1), job("v", "t.u -> v.u", at=1)))
    store.apply(batch(table("t", "x", at=2), job("v", "t.u -> v.u", at=2)))
    assert [(one.path, one.inferred) for one in store.columns(["pg/t"])] == [("x", False), ("u", True)]
    assert [str(one) for one in broken_reads(store, ["pg/v"])] == ["v reads t.u, which t does not have"]
    store.apply(batch(table("t", "u", "x", at=3), job("v", "t.u -> v.u", at=3)))
    assert broken_reads(store, ["pg/t", "pg/v"]) == []


def test_what_only_a_reader_has_stays_where_the_reader_is_not_stated_again(store: GraphStore) -> None:
    """Of a folder's unchanged files only the tables are stated again, with the columns that these files read."""
    store.apply(batch(table("t", "x", at=1), job("v", "t.u -> v.u", at=1)))
    described = table("t", "x", at=2)
    used = ColumnRecord("u", inferred=True)
    store.apply(batch(replace(described, columns=(*described.columns, used))))
    assert live(store) == ["t.u -> v.u"]
    assert [(one.path, one.inferred) for one in store.columns(["pg/t"])] == [("x", False), ("u", True)]
