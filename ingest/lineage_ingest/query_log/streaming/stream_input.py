"""The input of a stream, folders of arriving files or a Kafka topic, and how Spark reads it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial, reduce
from glob import has_magic
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lineage.frozen import frozen
from lineage_ingest.query_log.pipeline.engines.opening import SparkOptions
from lineage_ingest.query_log.reading.log_reader import read_log_file, read_messages
from lineage_ingest.query_log.reading.normalization import normalize_rows
from lineage_ingest.query_log.scripts import mark_unknown
from lineage_ingest.query_log.sources import Source
from lineage_ingest.query_log.streaming.kafka_packages import connector_package

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Kafka", "StreamInput", "StreamInputError"]

_FILES, _MESSAGES = 1_000, 1_000_000
_BINARY_FILE = "path string, modificationTime timestamp, length bigint, content binary"
_FOREVER = "36500d"
_CLIENT_LIMITS = {"kafka.default.api.timeout.ms": "20000", "kafka.request.timeout.ms": "15000"}
"""Kafka client timeouts: Spark tries three times, and so fails after one minute instead of several."""


class StreamInputError(ValueError):
    """The input is invalid: a missing folder, a single file, or neither folders nor a topic."""


@frozen
class Kafka:
    """A Kafka topic. `options` are for Spark's Kafka source, which passes `kafka.…` options to the client."""

    brokers: str
    topic: str
    options: Mapping[str, str] = field(default_factory=dict)


@frozen
class StreamInput:
    """A stream: files that arrive in folders, or messages that each have the content of a file."""

    source: Source
    paths: tuple[str, ...] = ()
    kafka: Kafka | None = None
    at_once: int | None = None
    """Maximum number of files or messages per micro-batch; by default 1,000 files or 1,000,000 messages."""

    @property
    def name(self) -> str:
        """The name of the stream in diagnostics and runs."""
        return f"{self.source.name} log"

    @property
    def inputs(self) -> list[str]:
        """The identity of the stream within its source; brokers are not part of it, because they may change."""
        if self.kafka is not None:
            return [f"topic {self.kafka.topic}"]
        return [path if "://" in path else os.path.abspath(path) for path in self.paths]

    def folder_of(self, path: Path) -> str | None:
        """Return the followed folder that a path lies in: its files would be read as logs. None if there is none."""
        if self.kafka is not None:
            return None
        local = [folder for folder in self.inputs if "://" not in folder and not has_magic(folder)]
        return next((folder for folder in local if path.resolve().is_relative_to(Path(folder).resolve())), None)

    def check(self) -> None:
        """Check that the input is valid.

        Raises:
            StreamInputError: a path is neither a folder nor a pattern, or not exactly one of paths and topic is set.
        """
        if bool(self.paths) == (self.kafka is not None):
            raise StreamInputError("give folders that files land in, or --kafka and --topic")
        for path in self.paths:
            if "://" not in path and not has_magic(path) and not Path(path).is_dir():
                raise StreamInputError(f"{path} is not a folder: only folders can be followed")

    def fetches_connector(self, options: SparkOptions) -> bool:
        """Return whether Spark must download its Kafka connector."""
        return self.kafka is not None and not {"spark.jars", "spark.jars.packages"} & options.conf.keys()

    def spark_options(self, options: SparkOptions) -> SparkOptions:
        """Return Spark's options for a stream, with Kafka's connector unless they already configure jars."""
        conf = {"spark.sql.inMemoryColumnarStorage.batchSize": "64", **options.conf}  # each row is a packed batch
        if self.fetches_connector(options):
            conf["spark.jars.packages"] = connector_package(version("pyspark"))
        return replace(options, conf=conf)

    def rows(self, spark: SparkSession) -> tuple[DataFrame, Callable[[Iterable[Any]], Iterator[Any]]]:
        """Return the stream's rows, and the function that converts them to the log schema in the workers."""
        if self.kafka is not None:
            return self._messages(spark, self.kafka), partial(_of_messages, source=self.source)
        frames = [self._files(spark, path) for path in self.paths]
        return reduce(lambda one, other: one.union(other), frames), partial(_of_files, source=self.source)

    def _messages(self, spark: SparkSession, kafka: Kafka) -> DataFrame:
        options = {
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": str(self.at_once or _MESSAGES),
            **_CLIENT_LIMITS,
            **kafka.options,
            "kafka.bootstrap.servers": kafka.brokers,
            "subscribe": kafka.topic,
        }
        rows = spark.readStream.format("kafka").options(**options).load().select("value")
        # The rows of a run may be in different messages.
        return rows if self.source.assembly is None else rows.coalesce(1)

    def _files(self, spark: SparkSession, path: str) -> DataFrame:
        # Spark lists the files; a worker reads each completely, with the same readers as without Spark. A file moved
        # into the folder keeps its modification time, so files of any age are accepted.
        found = (
            spark.readStream.format("binaryFile")
            .schema(_BINARY_FILE)
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", str(self.at_once or _FILES))
            .option("maxFileAge", _FOREVER)
            .load(path)
        )
        return found.select("path", "content") if "://" in path else found.select("path")


def _of_messages(batches: Iterable[Any], source: Source) -> Iterator[Any]:
    yield from mark_unknown(normalize_rows(read_messages(source, batches), source))


def _of_files(batches: Iterable[Any], source: Source) -> Iterator[Any]:
    for batch in batches:
        distant = "content" in batch.schema.names
        for row, path in enumerate(batch.column("path").to_pylist()):
            if distant:
                yield from _of_content(path, batch.column("content")[row].as_buffer(), source)
            else:
                rows = read_log_file(source, Path(path.removeprefix("file:")), alone=True)
                yield from mark_unknown(normalize_rows(rows, source))


def _of_content(path: str, content: Any, source: Source) -> Iterator[Any]:
    """Yield the rows of a file from a remote file system."""
    with tempfile.TemporaryDirectory(prefix="lineage-") as folder:
        copy = Path(folder) / Path(urlsplit(path).path).name
        copy.write_bytes(content)
        yield from mark_unknown(normalize_rows(read_log_file(source, copy, alone=True), source))
