"""Sessions that are cut into micro-batches, in-process: they say what they say in one piece, and count no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lineage.model.batch import RunRecord
from lineage.store import GraphStore, open_store
from lineage_ingest.query_log.earlier_graph import EarlierGraph
from lineage_ingest.query_log.ingest import store_batches
from lineage_ingest.query_log.pipeline.engines.local_engine import LocalEngine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.stages import extract_log
from lineage_ingest.query_log.streaming import open_sessions
from tests.query_logs.pipeline.running import AT, Ran, edges, in_order, ingested, rows, two_stores
from tests.store.temporary import temporary_store

SESSIONS = {
    "a temporary table": [
        "CREATE TEMP TABLE t AS SELECT id, md5(email) AS email FROM crm.users",
        "SELECT count(*) FROM t",
        "INSERT INTO mart.mails SELECT email FROM t WHERE id > 1",
    ],
    "temporary tables over one another, with additions": [
        "CREATE TEMP TABLE a AS SELECT id, name FROM x",
        "INSERT INTO a SELECT id, title FROM y",
        "CREATE TEMP TABLE b AS SELECT a.id, a.name FROM a AS a JOIN z AS z ON a.id = z.id",
        "DROP TABLE a",
        "CREATE TABLE out AS SELECT * FROM b",
    ],
    "a name that is used twice": [
        "CREATE TEMP TABLE t AS SELECT a FROM first",
        "INSERT INTO one SELECT a FROM t",
        "DROP TABLE t",
        "CREATE TEMP TABLE t AS SELECT b FROM second",
        "INSERT INTO two SELECT b FROM t",
    ],
    "search_path": [
        "SET search_path = mart, public",
        "INSERT INTO filled SELECT a FROM u",
        "SET search_path TO other",
        "CREATE TABLE made AS SELECT a FROM v",
        "INSERT INTO made SELECT b FROM v",
    ],
}


def in_batches(store: GraphStore, batches: Sequence[Sequence[Ran]]) -> Any:
    """Ingest what ran in micro-batches, as a stream does; return what is open at the end."""
    opened = open_sessions.EMPTY
    for number, ran in enumerate(batches):
        at = AT + timedelta(hours=number)
        there = sorted(open_sessions.names(opened) & {one.session for one in ran if one.session})
        listed = [*open_sessions.continued(opened, there), rows(ran)]
        engine = LocalEngine(lambda listed=listed: listed)  # type: ignore[misc]  # bound here
        context = LogContext("test log", at, observed_at=at)
        found = extract_log(engine, context, (), lambda *_: None, partial(EarlierGraph, store))
        run = RunRecord(f"log:test/{number}", "log", "test log", at, found.counts)
        store_batches(store, found.batches(run), run)
        templates = open_sessions.opening(found.templates.values())
        opened = open_sessions.open_after(opened, there, open_sessions.statements(listed, templates), templates, at)
    return opened


def counts(store: GraphStore) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how often each job ran and by whom, and the use of each dataset and column."""
    jobs = {job.key: (job.observations, job.users) for job in store.jobs(users=True)}
    datasets = [dataset.key for dataset in store.datasets()]
    things = [*datasets, *(column.key for column in store.columns(datasets))]
    return jobs, {key: store.usage(key) for key in things if store.usage(key)}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_that_is_cut_says_the_same(name: str, tmp_path: Path) -> None:
    ran = in_order(SESSIONS[name])
    other = in_order([text.replace("SELECT", "SELECT ") for text in SESSIONS[name]], "other")
    for cut in range(1, len(ran)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        with two_stores(folder) as (stream, whole):
            in_batches(stream, [ran[:cut], other[:1], [*ran[cut:], *other[1:]]])
            ingested(whole, [*ran, *other])
            assert edges(stream) == edges(whole)
            assert counts(stream) == counts(whole)


def test_a_micro_batch_for_each_statement(tmp_path: Path) -> None:
    ran = [one for number, name in enumerate(SESSIONS) for one in in_order(SESSIONS[name], f"s{number}")]
    ran = [Ran(re.sub(r"\bt\b", f"t_{one.session}", one.text), *one[1:]) for one in ran if one.text]
    with two_stores(tmp_path) as (stream, whole):
        opened = in_batches(stream, [[one] for one in ran])
        ingested(whole, ran)
        assert edges(stream) == edges(whole)
        assert counts(stream) == counts(whole)
    assert set(opened["runs"].to_pylist()) == {0}


def test_what_is_kept_of_a_session_is_masked(tmp_path: Path) -> None:
    ran = in_order(["CREATE TEMP TABLE w AS SELECT a FROM t WHERE who = 'Ann 4711' AND n > 815 ORDER BY 1"])
    with two_stores(tmp_path) as (stream, _):
        opened = in_batches(stream, [ran])
    assert opened["query_text"].to_pylist() == [
        "CREATE TEMP TABLE w AS SELECT a FROM t WHERE who = '********' AND n > 000 ORDER BY 1"
    ]


def test_what_a_statement_keeps_of_its_literals(tmp_path: Path) -> None:
    """All that may shape lineage stays in a fingerprint; of a session only what does."""
    made = "CREATE TEMP TABLE w AS SELECT encrypt(a, 'Ann 4711') AS a, j->>'id' AS i FROM t WHERE f(b, 'Ann')"
    pivoted = "CREATE TEMP TABLE p AS SELECT * FROM w PIVOT (sum(a) FOR i IN ('new', 'old')) WHERE n = 'Ann'"
    assert left([made, pivoted, "SET search_path TO 'mart'"]) == [
        "CREATE TEMP TABLE w AS SELECT encrypt(a, '********') AS a, j->>'id' AS i FROM t WHERE f(b, '***')",
        "CREATE TEMP TABLE p AS SELECT * FROM w PIVOT (sum(a) FOR i IN ('new', 'old')) WHERE n = '***'",
        "SET search_path TO 'mart'",
    ]


def test_a_table_that_is_dropped_in_a_micro_batch_of_its_own(tmp_path: Path) -> None:
    ran = in_order(["INSERT INTO one SELECT a FROM t", "DROP TABLE t", "INSERT INTO two SELECT b FROM t"])
    with two_stores(tmp_path) as (stream, whole):
        in_batches(stream, [[one] for one in ran])
        ingested(whole, ran)
        assert edges(stream) == edges(whole)
        assert [run.key for run in stream.runs()] == ["log:test/2", "log:test/1", "log:test/0"]


def left(*batches: Sequence[str], session: str = "s") -> list[str]:
    """Return the statements that a session has open after micro-batches, in order."""
    with temporary_store() as store:
        return list(in_batches(store, [in_order(texts, session) for texts in batches])["query_text"].to_pylist())


def test_what_is_left_is_what_made_what_is_there() -> None:
    made = "CREATE TEMP TABLE t AS SELECT a FROM x"
    assert left([made, "INSERT INTO t SELECT b FROM y", "INSERT INTO real SELECT a FROM t"]) == [
        made,
        "INSERT INTO t SELECT b FROM y",
    ]
    assert left([made], ["SELECT 1"]) == [made]
    assert left([made], ["DROP TABLE t"]) == []
    assert left(["SET search_path = one"], ["SET search_path = two"]) == ["SET search_path = two"]
    assert left([made, *["INSERT INTO t VALUES (1)"] * 50]) == [made, "INSERT INTO t VALUES (0)"]


def test_too_many_statements_are_not_followed() -> None:
    made = [f"CREATE TEMP TABLE t{number} AS SELECT c{number} FROM x" for number in range(101)]
    assert left(made[:100]) == made[:100]
    assert left(made) == []


def test_sessions_that_rest_are_forgotten(tmp_path: Path) -> None:
    made = "CREATE TEMP TABLE t AS SELECT a FROM x"
    ran = [[Ran(made, "rests"), Ran(made, "goes on")], *[[Ran("SELECT a FROM t", "goes on")]] * 26]
    with open_store(tmp_path / "g.db") as store:
        assert in_batches(store, ran[:25])["session"].to_pylist() == ["goes on", "rests"]
        assert in_batches(store, ran)["session"].to_pylist() == ["goes on"]


def test_the_sessions_that_were_there_last_are_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(open_sessions, "_MAX_SESSIONS", 2)
    made = "CREATE TEMP TABLE t AS SELECT a FROM x"
    with open_store(tmp_path / "g.db") as store:
        opened = in_batches(store, [[Ran(made, name)] for name in ("one", "two", "three")])
    assert sorted(opened["session"].to_pylist()) == ["three", "two"]


def test_statements_without_a_session_or_a_time(tmp_path: Path) -> None:
    untimed: dict[str, Any] = {"started_at": None}
    made = [Ran("CREATE TEMP TABLE t AS SELECT a FROM x", name, fields=untimed) for name in (None, "s")]
    with open_store(tmp_path / "g.db") as store:
        opened = in_batches(store, [made, [Ran("INSERT INTO real SELECT a FROM t", "s", fields=untimed)]])
        assert any("x#a CONTRIBUTES" in edge for edge in edges(store))
    assert opened["session"].to_pylist() == ["s"]
