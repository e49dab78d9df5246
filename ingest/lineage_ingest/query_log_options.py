"""Options of query logs, as frozen values; apart from the others, because they need what reads logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from lineage.frozen import frozen
from lineage_ingest.options import IngestOptions
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions
from lineage_ingest.query_log.pipeline.log_input import Jdbc
from lineage_ingest.query_log.streaming.stream_input import Kafka

__all__ = ["FollowOptions", "LogOptions"]


@frozen(kw_only=True)
class LogOptions(IngestOptions):
    """Options of `ingest_log` and `follow_log`."""

    dialect: str | None = None
    """SQL dialect of the statements, if it differs from the source's own."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Source `generic` only: the column that holds each field (`query_text`, `started_at`, `user`, …)."""
    status_ok: tuple[str, ...] = ()
    """Further values of the status column that mean success."""
    status_failed: tuple[str, ...] = ()
    """Further values of the status column that mean failure."""
    zone: str | None = None
    """Time zone of times without one; UTC by default."""
    time_formats: tuple[str, ...] = ()
    """`strptime` formats of times written as text, if they are not recognised or are ambiguous."""
    delimiter: str | None = None
    """CSV delimiter: one character or `tab`; by default it is detected from the first line."""
    columns: tuple[str, ...] = ()
    """Columns of CSV without a header, in order."""
    log_line_prefix: str | None = None
    """Source `postgres_stderr` only: the server's `log_line_prefix`; common ones are recognised."""
    jdbc: Jdbc | None = None
    """Database to read the log from, instead of files."""
    engine: EngineKind = EngineKind.AUTO
    """Where the stages run: in this process or on Spark. `auto` chooses Spark from 200 MB on."""
    spark: SparkOptions = field(default_factory=SparkOptions)
    """Spark's master and configuration."""
    jobs: int = 1
    """Number of processes that extract the lineage, where the engine is this process; small logs take one."""


@frozen(kw_only=True)
class FollowOptions:
    """Options of `follow_log` beside those of the log."""

    kafka: Kafka | None = None
    """Kafka topic to follow, instead of folders."""
    kafka_wait: float = 60
    """Seconds to wait for Kafka to answer at the start."""
    checkpoint: Path | None = None
    """Folder of the stream's checkpoint; by default beside an embedded store, else in the user's state folder."""
    every: float = 30
    """Seconds between the starts of two micro-batches."""
    once: bool = False
    """Stop when all input that exists at the start has been stored."""
    at_once: int | None = None
    """Maximum number of files (default 1,000) or messages (default 1,000,000) in a micro-batch."""
