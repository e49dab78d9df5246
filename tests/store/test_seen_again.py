"""Edges that are seen again keep their ends and properties, also beside many columns that nothing reads."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from lineage_ingest import LogOptions, SqlOptions, ingest_log, ingest_sql
from lineage_ingest.openlineage import EventIngest
from tests.events.event_builders import event


def _columns(number: int) -> list[str]:
    return [f"c{index}" for index in range(number)]


def _graph(store: GraphStore) -> list[str]:
    """Return all edges, and what each job reads and writes, without when they were last seen."""
    jobs = store.jobs()
    edges = [(one.job, one.source, one.target, one.kind, one.valid_from, one.spans) for one in store.edges_of(
        [job.key for job in jobs])]  # fmt: skip
    return sorted(map(str, edges)) + [str((job.key, job.reads, job.writes, job.first_seen)) for job in jobs]


def _check_ingests(folder: Path, store: Path) -> None:
    graphs = []
    for day in (1, 2, 3):
        at = datetime(2026, 1, day, tzinfo=UTC)
        options = SqlOptions(dialect="postgres", project="p", project_root=folder, observed_at=at)
        summary = ingest_sql(folder, store=store, options=options)
        assert day == 1 or summary.applied.edges_created == 0
        with open_store(store) as opened:
            graphs.append(_graph(opened))
            assert {edge.last_seen for edge in opened.edges_of(opened.job_keys())} == {at}
    assert graphs == graphs[:1] * 3


def test_beside_many_columns_that_nothing_reads(tmp_path: Path) -> None:
    folder = tmp_path / "sql"
    folder.mkdir()
    widths = {"a": 300, "b": 1_900, "c": 300, "d": 300}
    tables = (f"CREATE TABLE {name} ({' int, '.join(_columns(width))} int);" for name, width in widths.items())
    (folder / "1.sql").write_text("\n".join(tables))
    views = (f"CREATE VIEW of_{name} AS SELECT {', '.join(_columns(300))} FROM {name} WHERE c0 > 1;" for name in "ac")
    (folder / "2.sql").write_text("\n".join(views))
    _check_ingests(folder, tmp_path / "s.db")


def test_beside_a_statement_of_the_same_moment_that_is_no_definition(tmp_path: Path) -> None:
    """Writes of ad-hoc statements have no observations; a plan of the database may look at them first."""
    folder, log = tmp_path / "sql", tmp_path / "log.jsonl"
    folder.mkdir()
    (folder / "v.sql").write_text("CREATE VIEW v AS SELECT x FROM t", encoding="utf-8")
    row = {"query_text": "INSERT INTO u SELECT a FROM s", "started_at": "2026-01-01T00:00:00+00:00"}
    log.write_text(json.dumps(row), encoding="utf-8")
    mapping = {name: name for name in row}
    ingest_log(log, source="generic", store=tmp_path / "s.db", options=LogOptions(dialect="postgres", mapping=mapping))
    options = SqlOptions(dialect="postgres", project="p", project_root=folder, cache=True)
    found = []
    for day in (1, 2, 3):
        options = replace(options, observed_at=datetime(2026, 1, day, tzinfo=UTC))
        found.append(ingest_sql(folder, store=tmp_path / "s.db", options=options).stored)
    assert found == [None, 0, 0]


@pytest.mark.parametrize("times", [(1, 2026, 9999), (2026, 1, 9999), (9999, 1, 2026)])
def test_the_first_and_last_year_in_another_time_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: tuple[int, ...]
) -> None:
    """Some clients send the year 1 for "no time": Go's and .NET's zero."""
    with open_store(tmp_path / "store.db") as store:
        ingest = EventIngest(store)
        try:
            monkeypatch.setenv("TZ", "Asia/Tokyo")
            time.tzset()
            for year in times:
                one = event({"dataset": {"pg.a": {"schema": ["id"]}}})
                ingest.take([{**one, "eventTime": f"{year:04}-01-01T00:00:00Z"}])
        finally:
            monkeypatch.undo()
            time.tzset()
        (found,) = store.datasets()
        assert (found.first_seen.year, found.last_seen) == (1, datetime(9999, 1, 1, tzinfo=UTC))
