"""Spark's workers write large batches of a log into Neo4j, with the same result as a single process."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from lineage.store import open_store
from lineage_ingest.query_log import source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions, open_engine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import LogInput
from tests.neo4j_fixture import Neo4jAddress
from tests.query_logs.make import make, runs
from tests.store.conftest import emptied
from tests.store.test_log_engines import AT, graph_of


def test_workers_write_large_batches_into_neo4j(
    neo4j_uri: Neo4jAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineage_ingest.query_log.ingest._LARGE", 1)
    make(tmp_path / "log", "snowflake", runs("snowflake", 300, 25, 5), "parquet", files=2)
    given = LogInput(source_named("snowflake"), (str(tmp_path / "log"),))
    opener = partial(open_store, neo4j_uri.uri, user=neo4j_uri.user, password=neo4j_uri.password)
    with emptied(neo4j_uri)() as store, open_engine(given, EngineKind.SPARK, SparkOptions()) as engine:
        applied = ingest_log_rows(engine, store, LogContext(given.name, AT), opener=opener).applied
        dump = store.dump()
    for _, _, properties in dump.nodes:
        properties.pop("seconds", None)
    alone = graph_of(given, EngineKind.LOCAL, tmp_path / "alone.db")
    assert (dump.nodes, dump.relationships) == (alone.nodes, alone.relationships)
    assert applied.edges_created > 100
