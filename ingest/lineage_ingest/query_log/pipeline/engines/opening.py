"""Chooses and opens the engine for a log, and gives it the log's rows."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import field
from enum import StrEnum
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lineage.frozen import frozen
from lineage_ingest.query_log.pipeline.engines.cluster import ClusterError, is_cluster, prepare_workers
from lineage_ingest.query_log.pipeline.engines.engine import Engine
from lineage_ingest.query_log.pipeline.engines.local_engine import LocalEngine
from lineage_ingest.query_log.pipeline.log_input import Jdbc, LogInput
from lineage_ingest.query_log.reading.coercion import is_texty, strings
from lineage_ingest.query_log.reading.file_format import look_at
from lineage_ingest.query_log.reading.file_reports import REPORT, FileReport, report_batch
from lineage_ingest.query_log.reading.log_files import find_log_files
from lineage_ingest.query_log.reading.log_reader import (
    FilePiece,
    check_log_files,
    file_pieces,
    read_log,
    read_log_file,
)
from lineage_ingest.query_log.reading.normalization import normalize_rows
from lineage_ingest.query_log.scripts import count_scripts_once, script_ids, within
from lineage_ingest.query_log.sources import Source
from lineage_ingest.query_log.sources.source import CORRUPT, FILE, POSITION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "EngineKind",
    "LogUnreachableError",
    "SparkMissingError",
    "SparkOptions",
    "choose_engine",
    "open_engine",
    "spark_plans",
    "spark_session",
]

SMALL = 200_000_000
"""Maximum size in bytes of a log that EngineKind.AUTO reads in-process."""
_SPARK_READS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json"}


class EngineKind(StrEnum):
    """Where the stages run: in this process or on Spark; AUTO chooses by the log's size."""

    AUTO = "auto"
    LOCAL = "local"
    SPARK = "spark"


class SparkMissingError(RuntimeError):
    """Spark is needed, but Spark or Java is not installed, or workers of its cluster lack what they need."""


class LogUnreachableError(RuntimeError):
    """The database with the log cannot be reached, or rejects the query."""


@frozen
class SparkOptions:
    """Spark's master and configuration."""

    master: str | None = None
    """`local[*]` unless spark-submit or the configuration sets another master."""
    conf: Mapping[str, str] = field(default_factory=dict)


def choose_engine(given: LogInput, wanted: EngineKind) -> EngineKind:
    """Return the engine to use: `wanted`, or for AUTO a choice by the input's size and by whether Spark is installed.

    Raises:
        NoLogFilesError: a path matches no file.
        NotOverJdbcError: the source's log is not in a database.
        SparkMissingError: `wanted` is LOCAL, but only Spark can read the input.
    """
    if given.jdbc is not None and given.jdbc.query is None:
        given.source.query_since(given.jdbc.since)
    if given.is_remote and wanted is EngineKind.LOCAL:
        raise SparkMissingError("remote files and databases are read by Spark only: --engine spark")
    if wanted is not EngineKind.AUTO:
        return wanted
    if given.is_remote:
        return EngineKind.SPARK
    small = given.size() <= SMALL
    return EngineKind.LOCAL if small or importlib.util.find_spec("pyspark") is None else EngineKind.SPARK


@contextmanager
def open_engine(given: LogInput, kind: EngineKind, options: SparkOptions, jobs: int = 1) -> Iterator[Engine]:
    """Yield an engine over a log's rows; `kind` is LOCAL, in so many processes, or SPARK.

    Raises:
        NoLogFilesError: a path matches no file.
        SparkMissingError: Spark or Java is not installed.
        NotOverJdbcError: the source's log is not in a database.
        LogUnreachableError: the database with the log cannot be read.
    """
    if kind is EngineKind.LOCAL:
        with closing(LocalEngine(lambda: _local_rows(given), jobs)) as local:
            yield local
        return
    with spark_session(options) as spark:
        from lineage_ingest.query_log.pipeline.engines.spark_engine import SparkEngine  # noqa: PLC0415  Spark is an extra

        rows, normalise = _spark_rows(spark, given)
        if given.source.has_scripts:
            normalise = _count_once(spark, rows, normalise)
        engine = SparkEngine(spark, rows, normalise)
        try:
            yield engine
        finally:
            engine.close()


def spark_plans(given: LogInput, options: SparkOptions) -> dict[str, str]:
    """Return Spark's plan of each stage that it runs, by the stage's name. No row is read.

    Raises:
        NoLogFilesError: a path matches no file.
        SparkMissingError: Spark or Java is not installed.
        LogUnreachableError: the database with the log cannot be asked for its columns.
    """
    with spark_session(options) as spark:
        from lineage_ingest.query_log.pipeline.engines.spark_engine import SparkEngine  # noqa: PLC0415  Spark is an extra

        with closing(SparkEngine(spark, *_spark_rows(spark, given, may_read=False))) as engine:
            plans = dict(engine.explain())
        query = given.jdbc and (given.jdbc.query or given.source.query_since(given.jdbc.since))
        return {name: plan.replace(query, "…") if query else plan for name, plan in plans.items()}


@contextmanager
def spark_session(options: SparkOptions) -> Iterator[SparkSession]:
    """Yield the active Spark session, else a new one, which is stopped at the end.

    Raises:
        SparkMissingError: Spark or Java is not installed.
    """
    try:
        from py4j.protocol import Py4JError  # noqa: PLC0415
        from pyspark.errors import PySparkException, PySparkRuntimeError  # noqa: PLC0415  Spark is an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        message = "Spark is not installed: pip install '.[spark]' in a checkout of lineage, or use --engine local"
        raise SparkMissingError(message) from error
    running = SparkSession.getActiveSession()
    if running is not None:
        _prepare(running)
        yield running
        return
    if "spark.pyspark.python" in options.conf:  # read by spark-submit only
        os.environ["PYSPARK_PYTHON"] = options.conf["spark.pyspark.python"]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    under_submit = "SPARK_ENV_LOADED" in os.environ
    master = options.master or ("" if under_submit else "local[*]")
    named = {"spark.app.name": "lineage ingest log", **({"spark.master": master} if master else {})}
    settings = {**named, **_defaults(master), **options.conf}
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        if not under_submit:
            _start_apart(settings)
        spark = builder.getOrCreate()
    except (PySparkRuntimeError, PySparkException, OSError) as error:
        raise SparkMissingError(f"Spark does not start: {error}; it needs Java 17 or newer (JAVA_HOME)") from error
    except Py4JError as error:
        if not is_cluster(master):
            raise
        said = (
            f"Spark does not start on {master or 'this master'}: it does not answer, or its workers start no executor"
        )
        raise SparkMissingError(f"{said}; the log of the master or of a worker says why") from error
    try:
        _prepare(spark)
        yield spark
    finally:
        with suppress(OSError, Py4JError):  # Java has already exited
            spark.stop()


def _prepare(spark: SparkSession) -> None:
    if is_cluster(str(spark.sparkContext.master)):
        try:
            prepare_workers(spark)
        except ClusterError as error:
            raise SparkMissingError(str(error)) from error


def _start_apart(settings: Mapping[str, str]) -> None:
    """Start Spark's JVM in its own process group, so that a signal to this one does not kill it before `spark.stop()`.

    The JVM still exits with this process, however that ends: it reads its standard input until the end.
    """
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415  Spark is an extra
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ and os.name == "posix":
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        SparkContext(conf=conf, gateway=launch_gateway(conf, {"start_new_session": True}))  # type: ignore[no-untyped-call]


def _defaults(master: str) -> dict[str, str]:
    quiet = files("lineage_ingest.query_log.pipeline.engines").joinpath("log4j2.properties")
    # On a cluster, our modules are shipped, and exist only once a worker runs; and workers connect to this machine.
    local = {
        "spark.python.daemon.module": "lineage_ingest.query_log.pipeline.engines.daemon",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    return {
        **({} if is_cluster(master) else local),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={quiet}",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
        "spark.sql.inMemoryColumnarStorage.batchSize": "2048",  # rows of lineage are large
        "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 2)),
    }


def _local_rows(given: LogInput) -> Iterator[Any]:
    return count_scripts_once(normalize_rows(read_log(given.source, given.paths), given.source))


def _spark_rows(spark: SparkSession, given: LogInput, *, may_read: bool = True) -> tuple[DataFrame, Any]:
    """Return the rows of a log's inputs, and the function that normalizes them to the log schema.

    Without `may_read`, damaged Parquet files are not looked for.
    """
    source = given.source
    if given.jdbc is not None:
        return _cluster_rows(_over_jdbc(spark, given.jdbc, source), source), partial(
            normalize_rows, source=source, clustered=True
        )
    if given.is_remote:
        return _remote_rows(spark, source, given.paths)
    paths = find_log_files(given.paths, source)
    check_log_files(source, paths)
    pieces = [(str(path), piece) for path in paths for piece in file_pieces(source, path)]
    if source.assembly is None or (source.reading.placed and not source.reading.rotated):
        # Arrow to Arrow: conversion to Spark rows doubles the reading time.
        return _pieces(spark, pieces), partial(_read_files, source=source)
    if {look_at(source, path).kind for path in paths} == {"parquet"}:
        return _assembled_parquet(spark, source, paths, pieces if may_read else ())
    placed = (FILE, POSITION) if source.reading.placed else ()
    names = dict.fromkeys((*source.columns, *placed, CORRUPT, REPORT))
    # Bytes, since a Spark string must be valid UTF-8.
    schema = ", ".join(f"`{name}` {'string' if name == REPORT else 'binary'}" for name in names)
    rows = _pieces(spark, pieces).mapInArrow(partial(_raw_rows, source=source, names=tuple(names)), schema)
    return _cluster_rows(rows, source), partial(normalize_rows, source=source, clustered=True)


def _count_once(spark: SparkSession, rows: DataFrame, normalise: Any) -> Any:
    """Return a function that normalizes rows, and leaves out scripts whose statements are in the log, too.

    Which scripts these are is known only after all rows have been read, so such logs are read twice.
    """
    ids = rows.mapInArrow(partial(script_ids, normalise=normalise), "id string, is_parent boolean")
    alone = ids.groupBy("id").agg({"is_parent": "max"}).where("NOT `max(is_parent)`").select("id").toArrow()
    names = pa.array(sorted(alone.column("id").to_pylist()), pa.string())
    return partial(within, normalise=normalise, shared=spark.sparkContext.broadcast(names))


def _remote_rows(spark: SparkSession, source: Source, paths: Sequence[str]) -> tuple[DataFrame, Any]:
    """Return the rows of files that only Spark can read (for example on S3), and the function that normalizes them."""
    formats = {_spark_format(source, path) for path in paths}
    if len(formats) == 1 and (only := formats.pop()) is not None:
        rows = _cluster_rows(_read(spark, source, only, paths), source)
        return rows, partial(normalize_rows, source=source, clustered=True)
    return _pieces(spark, [(path, FilePiece()) for path in paths]), partial(_read_files, source=source)


def _assembled_parquet(
    spark: SparkSession, source: Source, paths: Sequence[Path], pieces: Sequence[tuple[str, FilePiece]]
) -> tuple[DataFrame, Any]:
    """Return the typed rows of Parquet files whose rows are assembled into statements, and their normalizing function.

    A damaged file would fail the Spark job: each file is read once before, and a damaged one is left out entirely.
    """
    reports = []
    if pieces:
        looked = _pieces(spark, pieces).mapInArrow(partial(_reports, source=source), f"`{REPORT}` string")
        reports = [row[REPORT] for row in looked.collect()]
    failed = {FileReport(*json.loads(text)).file for text in reports}
    kept = [str(path) for path in paths if str(path) not in failed]
    if kept:
        rows = _cluster_rows(_read(spark, source, "parquet", kept), source)
    else:
        rows = spark.createDataFrame([], ", ".join(f"`{name}` string" for name in source.columns))
    if not failed:
        return rows, partial(normalize_rows, source=source, clustered=True)
    # The reports form a separate partition after the rows.
    reported = spark.createDataFrame(pa.table({REPORT: pa.array(reports, pa.string())})).coalesce(1)
    joined = rows.unionByName(reported, allowMissingColumns=True)
    return joined, partial(normalize_rows, source=source, clustered=True)


def _pieces(spark: SparkSession, pieces: Sequence[tuple[str, FilePiece]]) -> DataFrame:
    """Return files, or pieces of files, as rows that are distributed over the cores."""
    tasks = min(len(pieces), 4 * spark.sparkContext.defaultParallelism)
    # From Arrow: for a list, Spark would start another kind of Python worker, with its own daemon process.
    table = pa.table(
        {
            "path": pa.array([path for path, _ in pieces], pa.string()),
            "row_group": pa.array([piece.group for _, piece in pieces], pa.int32()),
            "start": pa.array([piece.start for _, piece in pieces], pa.int64()),
            "end": pa.array([piece.end for _, piece in pieces], pa.int64()),
        }
    )
    return spark.createDataFrame(table).repartition(max(1, tasks))


def _spark_format(source: Source, path: str) -> str | None:
    """Return the Spark format that reads a file in pieces; None if one of our workers has to read the whole file."""
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
        wanted = {name.lower() for name in (*source.columns, *source.flattened)}
        return rows.select(*(f"`{name}`" for name in rows.columns if name.lower() in wanted))
    if kind == "json":
        schema = ", ".join(f"`{name}` string" for name in (*source.columns, *source.flattened, CORRUPT))
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


def _cluster_rows(rows: DataFrame, source: Source) -> DataFrame:
    """Return the rows sorted so that the rows of one statement are adjacent."""
    if source.assembly is None:
        return rows
    names = {name.lower(): name for name in rows.columns}
    by = [f"`{names[name.lower()]}`" for name in source.assembly.by if name.lower() in names]
    return rows.repartition(*by).sortWithinPartitions(*by) if by else rows.coalesce(1)


def _read_pieces(batches: Iterable[Any], source: Source) -> Iterator[Iterator[Any]]:
    """Yield the rows of each piece of a file."""
    for batch in batches:
        for row in batch.to_pylist():
            yield read_log_file(source, Path(row["path"]), FilePiece(row["row_group"], row["start"], row["end"]))


def _read_files(batches: Iterable[Any], source: Source) -> Iterator[Any]:
    """Yield the rows of pieces of files, normalized to the log schema."""
    for piece in _read_pieces(batches, source):
        yield from normalize_rows(piece, source)


def _raw_rows(batches: Iterable[Any], source: Source, names: tuple[str, ...]) -> Iterator[Any]:
    """Yield the rows of pieces of files, with all columns of the source as bytes."""
    for piece in _read_pieces(batches, source):
        for batch in piece:
            here = {name.lower(): batch.column(name) for name in batch.schema.names}
            columns = [here.get(name.lower()) for name in names]
            kinds = [pa.string() if name == REPORT else pa.binary() for name in names]
            made = [
                pa.nulls(batch.num_rows, kind)
                if column is None
                else (column if is_texty(column.type) else strings(column)).cast(kind)
                for column, kind in zip(columns, kinds, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(made, names=list(names))


def _reports(batches: Iterable[Any], source: Source) -> Iterator[Any]:
    """Yield a report for each piece that cannot be read."""
    for piece in _read_pieces(batches, source):
        for batch in piece:
            if REPORT in batch.schema.names:
                found = FileReport(*json.loads(batch.column(REPORT)[0].as_py()))
                if found.error is not None:
                    yield report_batch(found)
