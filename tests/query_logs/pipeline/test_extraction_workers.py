"""Logs whose statements are extracted in several processes: the graph is that of one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage.worker_pool import WorkerPool
from lineage_ingest.log_api import ingest_log
from lineage_ingest.options import OptionError
from lineage_ingest.query_log import source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines import extraction_workers
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions, open_engine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import LogInput
from lineage_ingest.query_log_options import LogOptions

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_graph_is_that_of_one_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extraction_workers, "_MIN_CHARACTERS", 1)
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in _rows()), encoding="utf-8")
    mapping = {name: name for name in ("query_text", "session", "started_at")}
    given = LogInput(source_named("generic", mapping=mapping, dialect="postgres"), (str(log),))
    dumps = []
    for jobs in (1, 2):
        opened = open_engine(given, EngineKind.LOCAL, SparkOptions(), jobs)
        with open_store(tmp_path / f"{jobs}.db") as store, opened as engine:
            ingest_log_rows(engine, store, LogContext(given.name, AT))
            dumps.append(store.dump())
    for dump in dumps:
        for _, _, properties in dump.nodes:
            properties.pop("seconds", None)
    assert dumps[0].nodes == dumps[1].nodes
    assert dumps[0].relationships == dumps[1].relationships
    assert len(dumps[0].relationships) > 100


def _rows() -> Iterator[dict[str, str]]:
    """Statements of three sessions: temporary tables, columns that only use tells apart, stars, and what is no SQL."""
    texts = (
        "CREATE TEMP TABLE pick_{n} AS SELECT a_{n}, b FROM one_{n}",
        "INSERT INTO kept SELECT a_{n} FROM pick_{n} JOIN two USING (b)",
        "SELECT one_{n}.b FROM one_{n}",
        "CREATE TABLE joined_{n} AS SELECT a_{n}, c FROM one_{n}, two WHERE two.c > 1",
        "CREATE VIEW every_{n} AS SELECT * FROM joined_{n}",
        "SELEC {n}",
    )
    for number in range(20):
        at = AT + timedelta(minutes=number)
        for place, text in enumerate(texts):
            started = (at + timedelta(seconds=place)).isoformat()
            yield {"query_text": text.format(n=number), "session": str(number % 3), "started_at": started}


def test_results_come_in_the_order_of_the_tasks() -> None:
    sizes = [5_000_000, 3, 2, 1, 2_000_000, 0]
    with WorkerPool(partial(partial, sum), 2, str) as pool:
        assert list(pool.each(map(range, sizes))) == [size * (size - 1) // 2 for size in sizes]
        assert list(pool.each([])) == []


def test_a_small_log_starts_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extraction_workers, "WorkerPool", None)
    log = tmp_path / "log.jsonl"
    log.write_text('{"query_text": "INSERT INTO t SELECT a FROM s"}\n' * 3, encoding="utf-8")
    mapping: dict[str, Any] = {"query_text": "query_text"}
    given = LogOptions(engine=EngineKind.LOCAL, dialect="postgres", mapping=mapping, observed_at=AT, jobs=8)
    counts = ingest_log(str(log), source="generic", store=tmp_path / "s.db", options=given).run.counts
    assert counts["edges"] == 1, counts
    with pytest.raises(OptionError, match="at least 1"):
        ingest_log(str(log), source="generic", options=LogOptions(mapping=mapping, jobs=0))
