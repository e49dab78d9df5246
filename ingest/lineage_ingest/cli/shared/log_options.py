"""Options of `lineage ingest log` and `lineage follow log`, and the values that they build."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from lineage.cli.options import (
    dialect_option,
    note_cached_schemas,
)
from lineage.cli.shared_flags import ResolutionFlags, SchemaFlags, WrittenStoreFlags
from lineage.cli.store_options import FormatOption
from lineage.frozen import frozen
from lineage.screen.formats import OutputFormat
from lineage_ingest.cli.shared.parameter_errors import parse_pairs
from lineage_ingest.query_log.ingest import FailOn
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions
from lineage_ingest.query_log.pipeline.log_input import Jdbc
from lineage_ingest.query_log.sources import SOURCES
from lineage_ingest.query_log.streaming.stream_input import Kafka
from lineage_ingest.query_log_options import FollowOptions, LogOptions

__all__ = ["FollowFlags", "JdbcFlags", "LogFlags", "PathsArgument"]

AUTO = "auto"
"""The source is detected from the files."""
_JDBC_DEFAULT = timedelta(days=30)


def _sources(incomplete: str) -> list[str]:
    return [name for name in (AUTO, *SOURCES) if name.startswith(incomplete)]


PathsArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Files, folders and patterns: Parquet, JSON lines, CSV, or the log itself."),
]


@frozen(slots=False)
class LogFormatFlags:
    """Options of a log's format."""

    panel: ClassVar[str | None] = "Log format"

    source: Annotated[
        str,
        typer.Option(
            "--source",
            help=f"Log format: {', '.join(SOURCES)}; auto: detected from the files.",
            autocompletion=_sources,
            envvar="LINEAGE_SOURCE",
        ),
    ] = AUTO
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Source generic only: the column that holds query_text, started_at, user, session, dialect, …; "
            "query_text=sql. Repeatable.",
        ),
    ] = None
    status_ok: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="Further value of the status column that means success. Repeatable."),
    ] = None
    status_failed: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="Further value of the status column that means failure. Repeatable."),
    ] = None
    dialect: Annotated[
        str | None,
        dialect_option("SQL dialect of the statements, if it differs from the source's own."),
    ] = None
    zone: Annotated[str | None, typer.Option(help="Time zone of times without one; default UTC.")] = None
    time_format: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of times written as text, if it is not recognised or is ambiguous: '%d/%m/%Y %H:%M:%S', as "
            "in Python's strptime. Repeatable.",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER", help="CSV delimiter: ';', '|', tab, …; by default detected from the first line."
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME,…", help="Columns of CSV without a header, in order."),
    ] = None
    log_line_prefix: Annotated[
        str | None,
        typer.Option(
            metavar="PREFIX",
            help="Source postgres_stderr only: the server's log_line_prefix, such as '%m [%p] '; common ones are "
            "recognised.",
        ),
    ] = None


@frozen(slots=False)
class SparkFlags:
    """Options of Spark."""

    panel: ClassVar[str | None] = "Spark"

    master: Annotated[str | None, typer.Option(help="Spark's master; default local[*].")] = None
    spark_conf: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Spark configuration. Repeatable.")
    ] = None


@frozen(slots=False)
class LogFlags(SparkFlags, ResolutionFlags, SchemaFlags, WrittenStoreFlags, LogFormatFlags):
    """Options of all logs."""

    observed_at: Annotated[
        datetime | None,
        typer.Option(
            help="When statements without a time ran (UTC). Without it they are not counted in any day of use."
        ),
    ] = None
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="Failures that set exit status 1. file: files that cannot be read; statement: also statements "
            "without lineage; never: none."
        ),
    ] = FailOn.FILE
    explain: Annotated[bool, typer.Option("--explain", help="Print the stages and exit; read nothing.")] = False
    show: Annotated[int, typer.Option("--show", min=0, help="Number of errors to print; 0 prints all.")] = 5
    output: FormatOption = OutputFormat.TABLE

    def options(self, engine: EngineKind = EngineKind.AUTO, jdbc: Jdbc | None = None) -> LogOptions:
        """Return the equivalent options of the Python API.

        Raises:
            typer.BadParameter: one cannot be read.
        """
        note_cached_schemas(self.catalog, refresh=self.refresh_catalog)
        return LogOptions(
            mapping=parse_pairs(self.mapping, "--map"),
            status_ok=tuple(self.status_ok or ()),
            status_failed=tuple(self.status_failed or ()),
            dialect=self.dialect,
            zone=self.zone,
            time_formats=tuple(self.time_format or ()),
            delimiter=self.delimiter,
            columns=tuple(self.columns.split(",")) if self.columns else (),
            log_line_prefix=self.log_line_prefix,
            jdbc=jdbc,
            engine=engine,
            spark=SparkOptions(self.master, parse_pairs(self.spark_conf, "--spark-conf")),
            **SchemaFlags.of_api(self),
            **ResolutionFlags.of_api(self),
            observed_at=self.observed_at,
        )


@frozen(slots=False)
class JdbcFlags:
    """Options of a log in a database."""

    panel: ClassVar[str | None] = "Log in a database"

    jdbc_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Read the log from a database: jdbc:postgresql://host/db. Name its driver with --spark-conf.",
        ),
    ] = None
    jdbc_query: Annotated[
        str | None, typer.Option(metavar="SQL", help="Query to run over JDBC, instead of the source's own.")
    ] = None
    jdbc_option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="user=…, password=…, driver=…. Repeatable."),
    ] = None
    since: Annotated[
        datetime | None, typer.Option(help="Over JDBC: first time to read (UTC); default 30 days ago.")
    ] = None

    def jdbc(self) -> Jdbc | None:
        """Return the database to read from; None without a URL.

        Raises:
            typer.BadParameter: there are other options and no URL.
        """
        if self.jdbc_url is None:
            if self.jdbc_query or self.jdbc_option or self.since:
                raise typer.BadParameter("required by the other JDBC options", param_hint="--jdbc-url")
            return None
        since = self.since or datetime.now(UTC) - _JDBC_DEFAULT
        at = since if since.tzinfo else since.replace(tzinfo=UTC)
        return Jdbc(self.jdbc_url, at, self.jdbc_query, parse_pairs(self.jdbc_option, "--jdbc-option"))


@frozen(slots=False)
class FollowFlags:
    """Options of a log that keeps growing."""

    panel: ClassVar[str | None] = "Stream"

    kafka: Annotated[
        str | None,
        typer.Option(
            "--kafka",
            metavar="BROKERS",
            help="Follow a Kafka topic at host:port,host:port; each message is read like a file. Spark's connector "
            "is fetched from Maven, or named by --spark-conf spark.jars=….",
        ),
    ] = None
    topic: Annotated[str | None, typer.Option(metavar="NAME", help="Kafka topic to follow.")] = None
    kafka_option: Annotated[
        list[str] | None,
        typer.Option(
            "--kafka-option",
            metavar="NAME=VALUE",
            help="Option of Spark's Kafka source: startingOffsets=latest, kafka.security.protocol=SASL_SSL, …. "
            "Repeatable.",
        ),
    ] = None
    kafka_wait: Annotated[
        float,
        typer.Option("--kafka-wait", metavar="SECONDS", min=0, help="Time to wait for Kafka to answer at the start."),
    ] = 60
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FOLDER",
            help="Checkpoint of the stream, from which it resumes; by default beside an embedded store, else in the "
            "user's state folder.",
            file_okay=False,
        ),
    ] = None
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.1, help="Polling interval in seconds.")
    ] = 30
    once: Annotated[
        bool,
        typer.Option("--once", help="Ingest what is there since the last run, then exit: for a scheduler."),
    ] = False
    at_once: Annotated[
        int | None,
        typer.Option(
            "--at-once",
            metavar="N",
            min=1,
            help="Maximum number of files (default 1,000) or messages (default 1,000,000) in a micro-batch.",
        ),
    ] = None

    def options(self) -> FollowOptions:
        """Return the equivalent options of the Python API.

        Raises:
            typer.BadParameter: they do not go together.
        """
        if (self.kafka is None) != (self.topic is None):
            raise typer.BadParameter("--kafka and --topic go together", param_hint="--kafka")
        pairs = parse_pairs(self.kafka_option, "--kafka-option")
        kafka = Kafka(self.kafka, self.topic, pairs) if self.kafka and self.topic else None
        return FollowOptions(
            kafka=kafka,
            kafka_wait=self.kafka_wait,
            checkpoint=self.checkpoint,
            every=self.every,
            once=self.once,
            at_once=self.at_once,
        )
