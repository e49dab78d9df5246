"""A session's statements are in the order of the log's own positions; times decide between sessions only."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest

from lineage.store import open_store
from lineage_ingest.query_log import normalize_rows, read_log, source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.local_engine import LocalEngine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.sessions.runs_in_order import _order_times
from tests.query_logs.pipeline.running import AT, Ran, edges, ingested
from tests.query_logs.postgres_log import Row, json_lines

ENDED = "duration: {} ms  statement: {}"


def written(folder: Path, rows: list[Row], *more: list[Row]) -> set[str]:
    """Return the tables that values were written to, of a jsonlog in one file or several."""
    files = []
    lines = json_lines([*rows, *(row for part in more for row in part)]).splitlines(keepends=True)
    for number, part in enumerate([rows, *more]):
        files.append(folder / f"postgresql-{number}.json")
        files[-1].write_text("".join(lines[: len(part)]), encoding="utf-8")
        lines = lines[len(part) :]
    source = source_named("postgres_json")
    engine = LocalEngine(lambda: partial(normalize_rows, source=source)(read_log(source, files)))
    with open_store(folder / "log.db") as store:
        ingest_log_rows(engine, store, LogContext("test log", AT))
        return {line.split(" ")[2].rpartition("#")[0] for line in edges(store) if " CONTRIBUTES " in line}


def test_durations_do_not_move_a_statement_out_of_its_transaction(tmp_path: Path) -> None:
    rows = [
        Row(ENDED.format("0.085", "begin"), 100),
        Row(ENDED.format("0.985", "insert into gone select a from s"), 100),  # began, by that, before the begin
        Row(ENDED.format("0.040", "rollback"), 100),
        Row(ENDED.format("0.040", "set search_path = stage"), 101),
        Row(ENDED.format("0.900", "insert into kept select a from s"), 101),
    ]
    assert written(tmp_path, rows) == {"postgres/shop.stage.kept"}


def test_a_log_that_was_rotated_within_a_session_is_one(tmp_path: Path) -> None:
    first = [Row(ENDED.format("0.1", "begin"), 1), Row(ENDED.format("0.9", "insert into gone select a from s"), 1)]
    other = "65bb6f00.1268"
    second = [
        Row(ENDED.format("9.9", "insert into kept select a from s"), 1, other),
        Row(ENDED.format("0.1", "rollback"), 2),
    ]
    assert written(tmp_path, first, second) == {"postgres/shop.public.kept"}


@pytest.mark.parametrize(
    "rows",
    [
        [Row("statement: insert into t select a from s"), Row("boom", 1, severity="ERROR")],
        [Row("statement: commit"), Row("statement: insert into t select a from s"), Row("boom", 1, severity="ERROR")],
        [
            Row("statement: begin"),
            Row("statement: insert into t select a from s"),
            Row("boom", 1, severity="ERROR", more={"statement": "select 1/0"}),
            Row("statement: commit"),
        ],
        [
            Row("statement: begin"),
            Row("statement: insert into t select a from s"),
            Row("statement: commit"),
            Row("a foreign key", severity="ERROR", more={"statement": "commit"}),
        ],
        [
            Row("statement: begin"),
            Row("statement: insert into t select a from s"),
            Row("disconnection: session time: 0:00:01.000 user=ann database=shop host=[local]"),
        ],
        [
            Row("statement: start transaction"),
            Row("statement: insert into t select a from s"),
            Row("terminating connection due to administrator command", severity="FATAL"),
        ],
    ],
    ids=["shows no statement", "after a commit", "COMMIT", "COMMIT fails", "connection ends", "connection is ended"],
)
def test_what_was_not_committed_is_not_there(tmp_path: Path, rows: list[Row]) -> None:
    assert written(tmp_path, rows) == set()


@pytest.mark.parametrize(
    "rows",
    [
        [
            Row("statement: insert into t select a from s"),
            Row("duration: 1.0 ms", 1),
            Row("boom", 1, severity="ERROR"),
        ],
        [
            Row("statement: begin"),
            Row("statement: insert into t select a from s"),
            Row("statement: savepoint p"),
            Row("boom", severity="ERROR", more={"statement": "select 1/0"}),
            Row("statement: rollback to p"),
            Row("statement: commit"),
        ],
        [
            Row("statement: begin"),
            Row("statement: select 1"),
            Row("statement: commit and chain"),
            Row("statement: insert into t select a from s"),
            Row("statement: commit"),
            Row("disconnection: session time: 0:00:01.000 user=ann database=shop host=[local]"),
        ],
        [
            Row("execute <unnamed>: insert into t select a from s"),
            Row("no such column", severity="ERROR", more={"state_code": "42703"}),
        ],
        [Row("statement: insert into t select a from s"), Row("bye", severity="FATAL")],
    ],
    ids=["had ended", "savepoint", "committed", "the next cannot be parsed", "connection is ended"],
)
def test_what_was_committed_is_there(tmp_path: Path, rows: list[Row]) -> None:
    assert written(tmp_path, rows) == {"postgres/shop.public.t"}


def test_rows_that_come_twice_are_counted_once_and_two_servers_are_two(tmp_path: Path) -> None:
    rows = [Row("statement: select a from s"), Row("statement: select b from s")]
    source = source_named("postgres_json")
    for name in ("one", "other"):
        (tmp_path / f"{name}.json").write_text(json_lines(rows))
    found = list(normalize_rows(read_log(source, [tmp_path]), source))
    assert [text for batch in found for text in batch["query_text"].to_pylist()] == [
        "select a from s",
        "select b from s",
    ]
    for port, name in ((40_000, "one"), (50_000, "other")):
        client = {"remote_host": "10.0.0.5", "remote_port": port}
        (tmp_path / f"{name}.json").write_text(json_lines([row._replace(more=client) for row in rows]))
    found = list(normalize_rows(read_log(source, [tmp_path]), source))
    assert [len(set(batch["session"].to_pylist())) for batch in found] == [2]
    assert sum(batch.num_rows for batch in found) == 4


@pytest.mark.parametrize("seed", range(3))
def test_a_row_without_a_time_keeps_its_place(tmp_path: Path, seed: int) -> None:
    texts = [
        "set search_path = stage",
        "insert into a select x from s",
        "set search_path = mart",
        "insert into b select x from s",
    ]
    unread = random.Random(seed).sample(range(4), 2)
    ran = [
        Ran(text, "s", 0, fields={"position": place, **({"started_at": None} if place in unread else {})})
        for place, text in enumerate(texts)
    ]
    with open_store(tmp_path / "log.db") as store:
        ingested(store, random.Random(seed).sample(ran, 4))
        assert {line.split(" ")[2] for line in edges(store) if " CONTRIBUTES " in line} == {
            "postgres/stage.a#x",
            "postgres/mart.b#x",
        }


def test_times_that_do_not_fit_are_those_of_the_run_before() -> None:
    pick = random.Random(1)
    for _ in range(200):
        times = [pick.choice([None, *range(6)]) for _ in range(pick.randrange(8))]
        found = _order_times(times)
        assert found == sorted(found)
        assert len(found) == len(times)
        in_order = [time for time in times if time is not None]
        if in_order == sorted(in_order):
            assert [one for one, time in zip(found, times, strict=True) if time is not None] == in_order
