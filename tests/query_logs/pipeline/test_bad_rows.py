"""Rows that cannot be used are counted and shown; none stops the others."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.running import AT, Ran, edges, in_order, ingested

GOOD = Ran("INSERT INTO good SELECT a FROM src")
BAD = {
    "no text": Ran(None),
    "only blanks": Ran("   \n "),
    "binary": Ran("\x00\x01\x02 SELECT \ud7ff"),
    "no SQL": Ran("hello there, general"),
    "cut in the middle": Ran("INSERT INTO cut SELECT a, b FROM src WHERE name = 'An", fields={"truncated": True}),
    "ten megabytes": Ran("SELECT '" + "x" * 10_000_000 + "' FROM src"),
    "deep": Ran("SELECT " + "(" * 20_000 + "1" + ")" * 20_000),
    "failed": Ran("INSERT INTO failing SELECT a FROM src", fields={"status": "failed"}),
    "another dialect": Ran("SELECT 1", fields={"dialect": "klingon"}),
    "a problem of its source": Ran(None, fields={"problem": "unreadable record"}),
    "the year 9999": Ran("INSERT INTO late SELECT a FROM src", fields={"started_at": datetime(9999, 1, 1, tzinfo=UTC)}),
    "no time": Ran("INSERT INTO whenever SELECT a FROM src", fields={"started_at": None}),
    "no session and no user": Ran("SELECT a FROM src", None, fields={"user": None}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_row_stops_no_other(name: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        summary = ingested(store, [GOOD, BAD[name], GOOD._replace(second=9)])
        assert "postgres/src#a CONTRIBUTES postgres/good#a" in "\n".join(edges(store))
        assert not any("failing" in edge for edge in edges(store))
        [run] = store.runs()
        assert run.counts["rows"] == 3
        said = {d.diagnostic.message for d in summary.diagnostics}
    if name in ("no text", "failed", "another dialect", "a problem of its source"):
        assert run.counts["left_out"] == 1
        assert any(message.startswith("1 row") for message in said)
    else:
        assert run.counts["left_out"] == 0


def test_what_is_cut_off_has_its_tables(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        summary = ingested(store, [BAD["cut in the middle"]])
        [job] = store.jobs()
        assert (job.reads, job.writes) == (("postgres/src",), ("postgres/cut",))
        assert [str(d.diagnostic.code) for d in summary.diagnostics] == ["TRUNCATED_TEXT"]


def test_texts_of_bad_rows_are_masked(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        row = Ran("SELECT a FROM src WHERE mail = 'ann@example.org'", fields={"status": "failed"})
        ingested(store, [row, GOOD])
        dump = repr(store.dump())
    assert "ann@example.org" not in dump
    assert "SELECT a FROM src WHERE mail" in dump


def test_the_same_log_again_changes_nothing(tmp_path: Path) -> None:
    ran = [Ran("INSERT INTO good SELECT a FROM src", f"s{n}", n, f"user {n % 3}") for n in range(20)]
    with open_store(tmp_path / "store.db") as store:
        ingested(store, ran)
        before = store.dump()
        ingested(store, ran[::-1], size=3)
        after = store.dump()
        [use] = store.usage("postgres/src#a")
        [job] = store.jobs()
    assert before == after
    assert (use.day, use.reads, use.writes) == (AT.date(), 20, 0)
    assert dict(use.users.named) == {"user 0": 7, "user 1": 7, "user 2": 6}
    assert (job.observations, job.first_seen, job.last_seen.second) == (20, AT, 19)


def test_what_was_concluded_from_a_log_does_not_decide_it_when_it_comes_again(tmp_path: Path) -> None:
    """`x` may belong to a or b, `y` to b or c, and only c is seen to have y: that stays so the second time."""
    texts = [
        "INSERT INTO t1 SELECT x, y FROM a JOIN b ON a.k = b.k",
        "INSERT INTO t2 SELECT x, y FROM b JOIN c ON b.k = c.k",
        "INSERT INTO t3 SELECT c.y FROM c",
    ]
    with open_store(tmp_path / "store.db") as store:
        ingested(store, in_order(texts))
        before = store.dump()
        ingested(store, in_order(texts))
        assert store.dump() == before
