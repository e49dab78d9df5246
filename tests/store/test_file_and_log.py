"""A file and a log of the same statements leave one graph, whatever they replace, drop and rename."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.sql.extraction import options_for
from lineage.store import GraphStore, open_store
from lineage_ingest.sql_files import ingest_sql_files
from tests.store.log_rows import BEGIN, ingest_rows

FILL = "create table i (x int, a int); "
READ = "create table v as select x, a from i; "
READ_EDGES = {"i.x -> v.x", "i.a -> v.a"}
ANEW = {"p.y -> i.b"}
SCRIPTS = [
    (FILL + READ + "create or replace table i as select y as b from p", READ_EDGES | ANEW),
    (FILL + READ + "drop table i; create table i as select y as b from p", READ_EDGES | ANEW),
    (FILL + READ + "create table n as select y as b from p; drop table i; alter table n rename to i",
     READ_EDGES | ANEW),
    (FILL + READ + "truncate i; insert into i select c, d from q", {"q.c -> i.x", "q.d -> i.a", *READ_EDGES}),
    (FILL + READ + "alter table i rename to j; create table i as select y as b from p",
     {"j.x -> v.x", "j.a -> v.a", *ANEW}),
    (FILL + READ + "create or replace table i as select y as a from p", {*READ_EDGES, "p.y -> i.a"}),
    (FILL + "create or replace table i as select x as b from i where a > 1", {"i.x -> i.b", "i.a ~> i"}),
    (FILL + "update t set k = i.x from i where t.id = 1; drop table i; create table i (a int)",
     {"i.x -> t.k", "t.id ~> t.k"}),
    (FILL + "create view w as select x from i; create table c as select x from w; "
     "create or replace table i as select y as b from p", {"i.x -> w.x", "w.x -> c.x", *ANEW}),
    (FILL + READ + "alter table i drop column x", READ_EDGES),
    (FILL + READ + "alter table i rename column x to z; alter table i drop column z", {"i.z -> v.x", "i.a -> v.a"}),
    (FILL + READ + "alter table i drop column x; alter table i add column x int; insert into i (x) select c from q",
     {"q.c -> i.x", *READ_EDGES}),
    (FILL + "update i set a = x; alter table i drop column x", {"i.x -> i.a"}),
    (FILL + "insert into i select c, d from q; " + READ + "alter table i drop column x",
     {"q.c -> i.x", "q.d -> i.a", *READ_EDGES}),
    (FILL + "insert into i select c, d from q; alter table i drop column x", {"q.d -> i.a"}),
    (FILL + "insert into i select -k.x, k.a from i as k; alter table i drop column x",
     {"i.x -> i.x", "i.a -> i.a"} - {"i.x -> i.x"}),
    (FILL + READ + "drop table i; create table i as select y as b from p; drop table i", set()),
]  # fmt: skip


def edges(store: GraphStore) -> set[str]:
    """Return the live edges of columns: `->` where a value flows, `~>` where it only decides."""
    arrows = {"CONTRIBUTES": "->", "REFERENCES": "~>"}
    found = (one for one in store.dump().relationships if one[0] in arrows and "#" in one[1])
    return {f"{_name(source)} {arrows[kind]} {_name(target)}" for kind, source, target, _ in found}


def columns(store: GraphStore) -> set[tuple[str, object]]:
    """Return the columns that there are, with their position in the schema."""
    there = {dataset.key for dataset in store.datasets() if dataset.dropped_at is None}
    nodes = (one for one in store.dump().nodes if one[0] == "Column" and not one[2].get("dropped_at"))
    return {(key, properties.get("ordinal")) for _, key, properties in nodes if properties["dataset"] in there}


def _name(key: str) -> str:
    return key.partition("/")[2].removeprefix("main.").replace("#", ".")


@pytest.mark.parametrize(("script", "expected"), SCRIPTS, ids=[script for script, _ in SCRIPTS])
def test_a_file_and_a_log_leave_one_graph(tmp_path: Path, script: str, expected: set[str]) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "1.sql").write_text(script, encoding="utf-8")
    rows = [f"1: {statement}" for statement in script.split("; ")]
    with open_store(tmp_path / "file.db") as by_file, open_store(tmp_path / "log.db") as by_log:
        options = options_for("duckdb", default_schema="main")
        for number in range(2):
            ingest_sql_files([tmp_path / "files"], by_file, options, observed_at=BEGIN)
            ingest_rows(by_log, tmp_path / "log.jsonl", 0, rows)
            assert (edges(by_file), number) == (expected, number)
            assert (edges(by_log), number) == (expected, number)
        assert columns(by_file) == columns(by_log)
        assert not [one for one in by_file.diagnostics() if one.diagnostic.code == "UNKNOWN_COLUMN"]
