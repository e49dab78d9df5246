"""Statements that differ in constants only are one job, however many there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from lineage_ingest.query_log import source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions, open_engine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import LogInput
from tests.query_logs.literals import SHAPES, write_literals
from tests.query_logs.pipeline.running import AT


@pytest.mark.parametrize("rows", [len(SHAPES), 2_000])
def test_the_jobs_are_those_of_the_shapes(rows: int, tmp_path: Path) -> None:
    write_literals(tmp_path / "log.jsonl", rows)
    given = LogInput(source_named("generic", dialect="postgres"), (str(tmp_path / "log.jsonl"),))
    with open_store(tmp_path / "s.db") as store, open_engine(given, EngineKind.LOCAL, SparkOptions()) as engine:
        summary = ingest_log_rows(engine, store, LogContext(given.name, AT))
        assert len(store.jobs()) == summary.run.counts["templates"] == len(SHAPES)
        assert sum(job.observations for job in store.jobs()) == rows
