"""What a copy or a view was made of, where a later log drops it: the answer names it, in any order of the logs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.sql.extraction import ExtractionOptions
from lineage.store import GraphStore
from lineage.traversal import broken_reads, gone_sources
from lineage_ingest import LogOptions, ingest_log
from lineage_ingest.sql_files import ingest_sql_files
from tests.store.batch_builders import batch, day, drop, drop_column, job, table

U, GONE = "CREATE TABLE u (a int, id int)", "v.a was made of u.a, which is gone since 2026-01-02"
READERS = {
    "copy": "CREATE TABLE v AS SELECT a FROM u",
    "view": "CREATE VIEW v AS SELECT a FROM u",
    "insert": "INSERT INTO v (a) SELECT a FROM u",
}
ENDS = {
    "column": "ALTER TABLE u DROP COLUMN a",
    "table": "DROP TABLE u",
    "replaced": "CREATE OR REPLACE TABLE u (id int)",
}
OPTIONS = LogOptions(dialect="postgres", namespace="postgres", mapping={"query_text": "sql", "started_at": "ts"})


def log(folder: Path, number: int, *statements: str) -> Path:
    """Return the log of a day."""
    rows = [{"sql": sql, "ts": f"2026-01-0{number}T00:0{at}:00Z"} for at, sql in enumerate(statements)]
    path = folder / f"{number}.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def said(store: GraphStore, key: str = "postgres/v#a") -> list[str]:
    """Return what is said of the column, and of reads that are broken, without the time of day."""
    found = (*gone_sources(store, [key]), *broken_reads(store, [key.partition("#")[0]]))
    return [str(one).removesuffix(" 00:00 UTC") for one in found]


@pytest.mark.parametrize("order", ["12", "212"])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("reader", READERS)
def test_a_later_log_drops_it(store: GraphStore, tmp_path: Path, reader: str, end: str, order: str) -> None:
    logs = {"1": log(tmp_path, 1, U, READERS[reader]), "2": log(tmp_path, 2, ENDS[end])}
    for number in order:
        ingest_log(logs[number], source="generic", store=store, options=OPTIONS)
    is_broken = reader == "view" and end != "table"
    assert said(store) == (["v reads u.a, which u has not had since 2026-01-02"] if is_broken else [GONE])
    assert gone_sources(store, ["postgres/u#a", "postgres/u#id"]) == []


@pytest.mark.parametrize("order", ["12", "21"])
@pytest.mark.parametrize("end", ENDS)
def test_a_log_drops_what_a_file_reads(store: GraphStore, tmp_path: Path, end: str, order: str) -> None:
    (tmp_path / "v.sql").write_text(f"{U};\n{READERS['copy']}", encoding="utf-8")
    ended = log(tmp_path, 2, ENDS[end])
    for number in order:
        if number == "2":
            ingest_log(ended, source="generic", store=store, options=OPTIONS)
        else:
            naming = Naming(dialect_named("postgres"))
            at = datetime(2026, 1, 1, tzinfo=UTC)
            ingest_sql_files([tmp_path / "v.sql"], store, ExtractionOptions(naming), observed_at=at, project="p")
    [one] = said(store)
    assert one in (GONE, "v reads u.a, which u has not had since 2026-01-02")


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize(
    ("made", "between"),
    [
        (U, ()),
        (U.replace("TABLE", "FOREIGN TABLE") + " SERVER s", ()),
        (U, ("TRUNCATE u",)),
        (U, ("ALTER TABLE u ADD COLUMN c int",)),
    ],
)
def test_a_log_that_makes_and_drops_what_it_does_not_fill_says_so(
    store: GraphStore, tmp_path: Path, made: str, between: tuple[str, ...], cut: int
) -> None:
    statements = (made, READERS["copy"], *between, "DROP TABLE u")
    for number, part in enumerate((statements[:cut], statements[cut:]), 1):
        if part:
            ingest_log(log(tmp_path, number, *part), source="generic", store=store, options=OPTIONS)
    [one] = said(store)
    assert one.startswith("v.a was made of u.a, which is gone since")


def test_a_log_that_fills_what_it_drops_says_nothing(store: GraphStore, tmp_path: Path) -> None:
    path = log(tmp_path, 1, U, "INSERT INTO u (a) SELECT x FROM p", READERS["copy"], "DROP TABLE u")
    ingest_log(path, source="generic", store=store, options=OPTIONS)
    assert said(store) == []


def test_what_a_dropped_table_was_made_of_is_its_copy_s_source(store: GraphStore) -> None:
    store.apply(batch(job("query:u", "p.x -> u.a", at=1), job("query:v", "u.a -> v.a", at=2)))
    store.apply(batch(drop("u", 3)))
    assert [str(one)[:20] for one in gone_sources(store, ["pg/v"])] == ["v.a was made of u.a,"]
    store.apply(batch(job("query:v", "u.a -> v.a", "p.x -> v.a", at=2.5)))  # as a log that drops states it
    assert gone_sources(store, ["pg/v"]) == []


def test_a_column_whose_drop_is_known_first_is_not_there(store: GraphStore) -> None:
    store.apply(batch(drop_column("u", "b", 2)))
    store.apply(batch(table("u", "a", "b", "c", at=1), job("v", "u.b -> v.b", at=1)))
    columns = [(one.path, one.ordinal, one.dropped_at) for one in store.columns(["pg/u"], dropped=True)]
    assert columns == [("a", 0, None), ("c", 1, None), ("b", None, day(2))]
    store.apply(batch(table("u", "a", "b", "c", at=3)))
    assert [(one.path, one.ordinal) for one in store.columns(["pg/u"])] == [("a", 0), ("b", 1), ("c", 2)]
