"""Opening a log: which engine, and how its rows get there."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lineage_ingest.query_log.normalising import normalised
from lineage_ingest.query_log.pipeline.engine import Engine
from lineage_ingest.query_log.pipeline.local import LocalEngine
from lineage_ingest.query_log.reading import find_log_files, read_log, read_log_file, row_groups
from lineage_ingest.query_log.sources import Source
from lineage_ingest.query_log.sources.source import CORRUPT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "EngineKind",
    "Jdbc",
    "LogInput",
    "LogUnreachableError",
    "SparkMissingError",
    "SparkOptions",
    "chosen_engine",
    "open_engine",
    "spark_session",
]

SMALL = 200_000_000
"""Bytes of a log that is read in-process where the engine is chosen by size."""
_REMOTE = "://"
_SPARK_READS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json"}


class EngineKind(StrEnum):
    """Where the stages run."""

    AUTO = "auto"
    LOCAL = "local"
    SPARK = "spark"


class SparkMissingError(RuntimeError):
    """Spark is asked for and not installed, or Java is not there."""


class LogUnreachableError(RuntimeError):
    """The database that holds the log cannot be reached, or refuses the query."""


@dataclass(frozen=True, slots=True)
class Jdbc:
    """A database that holds the log."""

    url: str
    since: datetime
    query: str | None = None
    """Instead of the source's own."""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Where Spark runs, and how."""

    master: str | None = None
    """`local[*]` unless spark-submit or the configuration says otherwise."""
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogInput:
    """Where a log is: files, folders and patterns, or a database."""

    source: Source
    paths: tuple[str, ...] = ()
    jdbc: Jdbc | None = None

    @property
    def name(self) -> str:
        """What diagnostics and runs call it."""
        return f"{self.source.name} log"

    @property
    def is_remote(self) -> bool:
        """Whether only Spark can read it."""
        return self.jdbc is not None or any(_REMOTE in path for path in self.paths)

    def size(self) -> int:
        """Return the bytes of its files."""
        return sum(path.stat().st_size for path in find_log_files(self.paths))


def chosen_engine(given: LogInput, wanted: EngineKind) -> EngineKind:
    """Return where the stages are to run: what is wanted, else by the input's size, if Spark is there at all.

    Raises:
        NoLogFilesError: a path gives no file.
        NotOverJdbcError: the source's log is not in a database.
    """
    if given.jdbc is not None and given.jdbc.query is None:
        given.source.query_since(given.jdbc.since)
    if given.is_remote and wanted is EngineKind.LOCAL:
        raise SparkMissingError("only Spark reads what is not a file of this machine: --engine spark")
    if wanted is not EngineKind.AUTO:
        return wanted
    if given.is_remote:
        return EngineKind.SPARK
    small = given.size() <= SMALL
    return EngineKind.LOCAL if small or importlib.util.find_spec("pyspark") is None else EngineKind.SPARK


@contextmanager
def open_engine(given: LogInput, kind: EngineKind, options: SparkOptions) -> Iterator[Engine]:
    """Yield an engine over a log's rows; LOCAL or SPARK.

    Raises:
        NoLogFilesError: a path gives no file.
        SparkMissingError: Spark is not installed, or Java is not there.
        NotOverJdbcError: the source's log is not in a database.
        LogUnreachableError: the database that holds the log cannot be read.
    """
    if kind is EngineKind.LOCAL:
        yield LocalEngine(lambda: normalised(read_log(given.source, given.paths), given.source))
        return
    from lineage_ingest.query_log.pipeline.spark import SparkEngine  # noqa: PLC0415  Spark is an extra

    with spark_session(options) as spark:
        rows, normalise = _spark_rows(spark, given)
        engine = SparkEngine(spark, rows, normalise)
        try:
            yield engine
        finally:
            engine.close()


@contextmanager
def spark_session(options: SparkOptions) -> Iterator[SparkSession]:
    """Yield a Spark session: the one that is running, else a new one, stopped at the end.

    Raises:
        SparkMissingError: Spark is not installed, or Java is not there.
    """
    try:
        from pyspark.errors import PySparkException, PySparkRuntimeError  # noqa: PLC0415  Spark is an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        message = "Spark is not installed: pip install 'lineage-graph[spark]', or use --engine local"
        raise SparkMissingError(message) from error
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("lineage ingest log")
    under_submit = "SPARK_ENV_LOADED" in os.environ
    master = options.master or ("" if under_submit else "local[*]")
    if master:
        builder = builder.master(master)
    for name, value in {**_defaults(master), **options.conf}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except (PySparkRuntimeError, PySparkException, OSError) as error:
        raise SparkMissingError(f"Spark does not start: {error}; it needs Java 17 or newer (JAVA_HOME)") from error
    try:
        yield spark
    finally:
        spark.stop()


def _defaults(master: str) -> dict[str, str]:
    quiet = files("lineage_ingest.query_log.pipeline").joinpath("log4j2.properties")
    # A cluster's machines may be sent our modules, and have them only once a worker runs.
    forked = {"spark.python.daemon.module": "lineage_ingest.query_log.pipeline.daemon"}
    return {
        **(forked if master.startswith("local") else {}),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={quiet}",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
        "spark.sql.inMemoryColumnarStorage.batchSize": "64",  # rows of ours are packets
        "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 2)),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }


def _spark_rows(spark: SparkSession, given: LogInput) -> tuple[DataFrame, Any]:
    """Return the rows of a log's inputs, and what makes them rows of the log schema."""
    source = given.source
    if given.jdbc is not None:
        return _clustered(_over_jdbc(spark, given.jdbc, source), source), partial(
            normalised, source=source, clustered=True
        )
    paths = list(given.paths) if given.is_remote else [str(path) for path in find_log_files(given.paths)]
    formats = {_spark_format(source, path) for path in paths}
    if formats == {"parquet"} and not given.is_remote and source.assembly is None:
        # Arrow to Arrow: by way of Spark's own rows, reading takes twice as long.
        pieces = [(path, group) for path in paths for group in range(row_groups(source, Path(path)))]
        return _pieces(spark, pieces), partial(_read_files, source=source)
    if len(formats) == 1 and (only := formats.pop()) is not None:
        if not given.is_remote:
            next(read_log_file(source, Path(paths[0])), None)  # Spark takes columns that are not there for empty ones
        rows = _clustered(_read(spark, source, only, paths), source)
        return rows, partial(normalised, source=source, clustered=True)
    return _pieces(spark, [(path, None) for path in paths]), partial(_read_files, source=source)


def _pieces(spark: SparkSession, pieces: Sequence[tuple[str, int | None]]) -> DataFrame:
    """Return files, or their row groups, as rows, dealt to the processors."""
    tasks = min(len(pieces), 4 * spark.sparkContext.defaultParallelism)
    paths, groups = [path for path, _ in pieces], [group for _, group in pieces]
    # From Arrow: a list would be taken apart in a Python worker of another kind, with a process of its own to fork it.
    table = pa.table({"path": pa.array(paths, pa.string()), "row_group": pa.array(groups, pa.int32())})
    return spark.createDataFrame(table).repartition(max(1, tasks))


def _spark_format(source: Source, path: str) -> str | None:
    """Return what Spark reads a file as in pieces; None where a worker of ours has to read it whole."""
    if source.reading.placed or source.reading.kind == "records":
        return None
    name = Path(path)
    suffix = name.with_suffix("").suffix if name.suffix in (".gz", ".bz2", ".zst", ".lz4") else name.suffix
    if source.reading.kind == "lines":
        return None if suffix == ".parquet" else "lines"
    return _SPARK_READS.get(suffix.lower())


def _read(spark: SparkSession, source: Source, kind: str, paths: Sequence[str]) -> DataFrame:
    listed = list(paths)
    if kind == "parquet":
        rows = spark.read.option("mergeSchema", "true").parquet(*listed)
        source.check(rows.columns)
        wanted = {name.lower() for name in source.columns}
        return rows.select(*(f"`{name}`" for name in rows.columns if name.lower() in wanted))
    if kind == "json":
        schema = ", ".join(f"`{name}` string" for name in (*source.columns, CORRUPT))
        return spark.read.schema(schema).option("columnNameOfCorruptRecord", CORRUPT).json(listed)
    from pyspark.sql import functions as f  # noqa: PLC0415  Spark is an extra

    rows = spark.read.text(listed)
    return rows.where(f.col("value").rlike(source.reading.only)) if source.reading.only else rows


def _over_jdbc(spark: SparkSession, jdbc: Jdbc, source: Source) -> DataFrame:
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415  Spark is an extra
    from pyspark.errors import PySparkException  # noqa: PLC0415

    query = jdbc.query or source.query_since(jdbc.since)
    reader = spark.read.format("jdbc").option("url", jdbc.url).option("query", query).option("fetchsize", "10000")
    for name, value in jdbc.properties.items():
        reader = reader.option(name, value)
    try:
        rows = reader.load()
    except (Py4JJavaError, PySparkException) as error:
        cause = getattr(error, "java_exception", None)
        said = str(cause.getMessage() if cause is not None else error).splitlines()[0]
        raise LogUnreachableError(f"{jdbc.url.partition('?')[0]}: {said}") from error
    source.check(rows.columns)
    return rows


def _clustered(rows: DataFrame, source: Source) -> DataFrame:
    """Return the rows with those that belong together behind each other."""
    if source.assembly is None:
        return rows
    names = {name.lower(): name for name in rows.columns}
    by = [f"`{names[name.lower()]}`" for name in source.assembly.by if name.lower() in names]
    return rows.repartition(*by).sortWithinPartitions(*by) if by else rows.coalesce(1)


def _read_files(batches: Iterable[Any], source: Source) -> Iterator[Any]:
    """Yield the rows of files, or of row groups of them, each read by one worker, as batches of the log schema."""
    for batch in batches:
        for piece in batch.to_pylist():
            yield from normalised(read_log_file(source, Path(piece["path"]), piece["row_group"]), source)
