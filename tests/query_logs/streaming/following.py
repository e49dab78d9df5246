"""Streams followed in this process, on one Spark for all tests of this folder."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from lineage.store import GraphStore, open_store
from lineage_ingest.query_log.pipeline.engines.opening import SparkOptions
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.sources import source_named
from lineage_ingest.query_log.streaming.checkpoint import Checkpoint
from lineage_ingest.query_log.streaming.micro_batches import BatchDone, follow_stream
from lineage_ingest.query_log.streaming.stream_input import StreamInput
from tests.query_logs.pipeline.running import AT
from tests.query_logs.streaming.running import MAPPING

__all__ = ["OPTIONS", "SOURCE", "followed"]

SOURCE = source_named("generic", dialect="postgres", mapping=MAPPING)
OPTIONS = SparkOptions("local[2]", {"spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2"})


def followed(
    given: StreamInput,
    path: Path,
    *,
    opened: Callable[[GraphStore], GraphStore] = lambda store: store,
    done: Callable[[BatchDone], None] | None = None,
    stopping: threading.Event | None = None,
) -> None:
    """Follow a stream into a store until all input is stored, or until it is stopped."""
    with Checkpoint.open(path.with_suffix(".stream"), str(path), SOURCE.name, given.inputs) as checkpoint:
        follow_stream(
            given,
            lambda: opened(open_store(path)),
            LogContext("generic log", AT),
            checkpoint,
            OPTIONS,
            once=True,
            done=done,
            stopping=stopping,
        )
