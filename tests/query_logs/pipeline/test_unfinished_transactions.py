"""A connection that ends in the midst of a transaction rolls it back, whether a log says so or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.local_engine import LocalEngine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from tests.cli.running import lineage
from tests.query_logs.pipeline.running import AT, Ran, edges, in_order, ingested, rows

INSERT = "Query\tinsert into t(a) select b from u"
QUIT, CHANGE, RESET = "Quit\t", "Change user\tbob@localhost on shop using Socket", "Reset Connection\t"
CONNECT = "Connect\tetl@localhost on shop using Socket"
BEGIN, COMMIT = "Query\tstart transaction", "Query\tcommit"


@pytest.mark.parametrize(
    ("commands", "is_written"),
    [
        ((BEGIN, INSERT, QUIT), False),
        ((BEGIN, INSERT, CHANGE, "Query\tselect 1"), False),
        ((BEGIN, INSERT, RESET, "Query\tselect 1"), False),
        ((BEGIN, INSERT, CONNECT, "Query\tselect 1"), False),
        (("Query\tset autocommit = 0", INSERT, QUIT), False),
        (("Query\tset autocommit = 0", COMMIT, INSERT, QUIT), False),
        ((BEGIN, COMMIT, BEGIN, INSERT, QUIT), False),
        ((BEGIN, "Query\tcommit and chain", INSERT, QUIT), False),
        ((BEGIN, INSERT, "Query\tsavepoint p", "Query\trollback to p", QUIT), False),
        ((BEGIN, INSERT, COMMIT, QUIT), True),
        ((BEGIN, "Query\trollback", INSERT, QUIT), True),
        ((BEGIN, INSERT, "Query\tcreate table z (a int)", QUIT), True),
        (("Query\tset autocommit = 0", "Query\tset autocommit = 1", INSERT, QUIT), True),
        (("Query\txa start 'x'", INSERT, QUIT), False),
        (("Query\txa start 'x'", INSERT, "Query\txa end 'x'", "Query\txa prepare 'x'", QUIT), True),
        ((INSERT, QUIT), True),
        ((BEGIN, INSERT), True),  # it may go on in the next file
    ],
)
def test_mysql(commands: tuple[str, ...], is_written: bool, tmp_path: Path) -> None:
    lines = [f"2026-03-01T10:00:{n:02}.000000Z\t    8 {one}" for n, one in enumerate((CONNECT, *commands))]
    (tmp_path / "server.log").write_text("\n".join(lines) + "\n")
    assert lineage("ingest", "log", tmp_path / "server.log", "-s", tmp_path / "graph.db").code == 0
    with open_store(tmp_path / "graph.db") as store:
        assert any(" CONTRIBUTES " in line for line in edges(store)) is is_written


FAILS = ("failed", "select nope from u")
WRITES = ("success", "insert into t(a) select b from u")


@pytest.mark.parametrize(
    ("ran", "is_written"),
    [
        ((("success", "begin"), WRITES, FAILS, ("success", "commit")), False),
        ((("success", "begin"), FAILS, WRITES, ("success", "end")), False),
        ((("success", "begin"), WRITES, ("failed", "commit")), False),
        ((("success", "begin"), WRITES, ("success", "commit"), FAILS), True),
        ((FAILS, ("success", "begin"), WRITES, ("success", "commit")), True),
        ((WRITES, FAILS, ("success", "commit")), True),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_redshift(ran: tuple[tuple[str, str], ...], backwards: bool, is_written: bool, tmp_path: Path) -> None:
    """An error ends a transaction: its COMMIT is a ROLLBACK. Other sessions between are none of it."""
    rows = [
        f"100,{2 * n + other},{77 + other},dev,{'success' if other else status},2026-03-01 10:00:{n:02},5,1,"
        f"{'select 1' if other else sql}"
        for n, (status, sql) in enumerate(ran)
        for other in (0, 1)
    ]
    header = "user_id,query_id,session_id,database_name,status,start_time,elapsed_time,returned_rows,query_text"
    (tmp_path / "log.csv").write_text("\n".join([header, *(reversed(rows) if backwards else rows)]) + "\n")
    lineage("ingest", "log", tmp_path / "log.csv", "-s", tmp_path / "graph.db")
    with open_store(tmp_path / "graph.db") as store:
        assert any(" CONTRIBUTES " in line for line in edges(store)) is is_written


MOVE = "INSERT INTO t (a) SELECT b FROM u"
XA = ("XA START 'x'", MOVE, "XA END 'x'", "XA PREPARE 'x'")


@pytest.mark.parametrize(
    ("dialect", "texts", "is_written"),
    [
        ("postgres", ("BEGIN", MOVE, "PREPARE TRANSACTION 'x'", "ROLLBACK PREPARED 'x'"), False),
        ("postgres", ("BEGIN", MOVE, "PREPARE TRANSACTION 'x'", "COMMIT PREPARED 'x'"), True),
        ("postgres", ("BEGIN", MOVE, "PREPARE TRANSACTION 'x'", "SELECT 1", "ROLLBACK"), True),
        ("mysql", ("XA START 'x'", MOVE, "XA END 'x'", "XA PREPARE 'x'", "XA ROLLBACK 'x'"), False),
        ("mysql", ("XA START 'x'", MOVE, "XA END 'x'", "XA ROLLBACK 'x'"), False),
        ("mysql", ("XA START 'x'", MOVE, "XA END 'x'", "XA PREPARE 'x'", "XA COMMIT 'x'"), True),
        (
            "mysql",
            ("SET autocommit = 0", *XA, "XA ROLLBACK 'x'"),
            False,
        ),
        ("mysql", ("XA BEGIN 'x'", MOVE, "XA END 'x'", "XA COMMIT 'x' ONE PHASE"), True),
        ("teradata", ("BT", MOVE, "ROLLBACK"), False),
        ("teradata", ("BT;", MOVE, "ABORT"), False),
        ("teradata", ("BT", MOVE, "ET", "BT", "ROLLBACK"), True),
    ],
)
def test_what_is_said_otherwise(dialect: str, texts: tuple[str, ...], is_written: bool, tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        assert ingested(store, in_order(texts), dialect).failures == ()
        assert any(" CONTRIBUTES " in line for line in edges(store)) is is_written


UNDONE = (
    "NOT_FOLLOWED: it rolls back a transaction that another session prepared, or one of several: "
    "which one is not followed"
)


@pytest.mark.parametrize(
    ("dialect", "ran"),
    [
        ("postgres", [*in_order(("BEGIN", MOVE, "PREPARE TRANSACTION 'x'")), Ran("ROLLBACK PREPARED 'x'", "b", 9)]),
        ("postgres", in_order((*("BEGIN", MOVE, "PREPARE TRANSACTION 'x'") * 2, "ROLLBACK PREPARED 'x'"))),
        ("mysql", [*in_order(XA), Ran("XA ROLLBACK 'x'", "b", 9)]),
        ("mysql", [*in_order(XA), Ran("SET autocommit = 0", "b", 8), Ran("XA ROLLBACK 'x'", "b", 9)]),
    ],
)
def test_what_another_session_rolls_back_is_reported(dialect: str, ran: list[Ran], tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        summary = ingested(store, ran, dialect)
        assert summary.failures == ((UNDONE, 1),)
        assert [str(one.diagnostic.code) for one in summary.diagnostics] == ["NOT_FOLLOWED"]
        assert any(" CONTRIBUTES " in line for line in edges(store))


@pytest.mark.parametrize(
    ("dialect", "sessions", "left_open"),
    [
        ("postgres", (("BEGIN", MOVE),), 1),
        ("postgres", (("BEGIN; " + MOVE,),), 1),
        ("postgres", (("BEGIN", MOVE, MOVE), ("BEGIN", MOVE), ("BEGIN", MOVE, "COMMIT")), 2),
        ("postgres", (("BEGIN", MOVE, "COMMIT AND CHAIN", MOVE),), 1),
        ("postgres", (("BEGIN", "SELECT b FROM u"),), 0),
        ("postgres", (("BEGIN", MOVE, "COMMIT", MOVE),), 0),
        ("postgres", (("BEGIN", "SAVEPOINT a", MOVE, "ROLLBACK TO a"),), 0),
        ("postgres", (("BEGIN", MOVE, "PREPARE TRANSACTION 'x'"),), 0),
        ("mysql", (("SET autocommit = 0", MOVE),), 1),
        ("mysql", (("SET autocommit = 0", MOVE, "COMMIT", MOVE),), 1),
        ("mysql", (("SET autocommit = 0", MOVE, "COMMIT"),), 0),
        ("mysql", (("BEGIN", MOVE, "CREATE TABLE z (a int)"),), 0),
        ("mysql", (("BEGIN", MOVE, "CREATE TEMPORARY TABLE z (a int)"),), 1),
        ("mysql", (XA,), 0),
        ("oracle", ((MOVE,),), 0),  # it commits by a call
        ("snowflake", (("BEGIN TRANSACTION", MOVE),), 1),
        ("tsql", (("BEGIN TRAN", MOVE),), 1),
    ],
)
def test_a_session_that_ends_inside_a_transaction_is_reported_once(
    dialect: str, sessions: tuple[tuple[str, ...], ...], left_open: int, tmp_path: Path
) -> None:
    ran = [one for number, texts in enumerate(sessions) for one in in_order(texts, str(number))]
    with open_store(tmp_path / "s.db") as store:
        summary = ingested(store, ran, dialect)
        assert summary.failures == ()
        found = [one.diagnostic.message for one in summary.diagnostics if one.diagnostic.code == "NOT_FOLLOWED"]
        ends = {0: [], 1: ["1 session ends"]}.get(left_open, [f"{left_open} sessions end"])
        assert found == [f"{one} inside a transaction, without COMMIT or ROLLBACK" for one in ends]
        assert len(summary.notes) == len(ends)
        assert all("what it wrote may not be in: " in note for note in summary.notes)


def test_a_stream_goes_on(tmp_path: Path) -> None:
    """Micro-batches end anywhere: what a later one rolls back is a documented limit, not a warning for each batch."""
    batch = rows(in_order(("BEGIN", MOVE)))
    with open_store(tmp_path / "s.db") as store:
        context = LogContext("test log", AT, goes_on=True)
        assert ingest_log_rows(LocalEngine(lambda: [batch]), store, context).notes == ()
