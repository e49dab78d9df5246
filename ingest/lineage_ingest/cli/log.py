"""`lineage ingest log`, as a command; `python -m lineage_ingest.query_log` and spark-submit run it, too."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.listing import Look, OutputFormat, counted, note, print_listing, print_object, say
from lineage.cli.options import (
    BudgetOption,
    CatalogOption,
    DatabaseOption,
    FormatOption,
    FunctionsOption,
    NamespaceOption,
    SchemaOption,
    SetOperations,
    SetOperationsOption,
    StoreOption,
    extraction_options,
    read_catalogs,
)
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.dialects import UnknownDialectError
from lineage.sql import scan
from lineage.store import open_store
from lineage_ingest.cli.follow import (
    AtOnceOption,
    CheckpointOption,
    EveryOption,
    Following,
    FollowOption,
    KafkaOption,
    KafkaOptionsOption,
    KafkaWaitOption,
    OnceOption,
    TopicOption,
    follow,
)
from lineage_ingest.progress import progress_bar
from lineage_ingest.query_log.detecting import (
    DetectedSource,
    SourceDetectionError,
    detect_source,
    source_of_columns,
)
from lineage_ingest.query_log.ingest import FailOn, LogSummary, ingest_log
from lineage_ingest.query_log.log_files import NoLogFilesError, find_log_files
from lineage_ingest.query_log.pipeline.engine import Opener
from lineage_ingest.query_log.pipeline.engines import (
    EngineKind,
    LogUnreachableError,
    SparkMissingError,
    SparkOptions,
    chosen_engine,
    open_engine,
)
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import Jdbc, LogInput
from lineage_ingest.query_log.pipeline.plan import planned
from lineage_ingest.query_log.pipeline.stages import UndatedLogError
from lineage_ingest.query_log.sources import (
    GENERIC,
    POSTGRES_STDERR,
    SOURCES,
    ColumnsMissingError,
    DelimiterError,
    LinePrefixError,
    MappingError,
    NotOverJdbcError,
    Source,
    TimeFormatError,
    UnknownSourceError,
    source_named,
)

__all__ = ["log", "print_log_summary"]

_FAILURES = 10
_MAX_NAMED = 3
"""Files that are named of those that show their source."""
_LATE = timedelta(days=30)


_AUTO = "auto"
"""The source is detected from the files."""


def _sources(incomplete: str) -> list[str]:
    return [name for name in (_AUTO, *SOURCES) if name.startswith(incomplete)]


def log(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders and patterns: Parquet, JSON lines, CSV, or the log itself."),
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            "--source",
            help=f"Whose log it is: {', '.join(SOURCES)}; auto: what the files show.",
            autocompletion=_sources,
            envvar="LINEAGE_SOURCE",
        ),
    ] = _AUTO,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Of the source generic: which column holds query_text, started_at, user, session, dialect, …; "
            "query_text=sql. May be given several times.",
        ),
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--dialect", "-d", help="SQL dialect, where it is not the source's own.")
    ] = None,
    zone: Annotated[
        str | None, typer.Option(help="Time zone of times that do not say theirs; UTC, if left out.")
    ] = None,
    time_format: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT",
            help="Form of times written as text, where it is not one of those that are known, or two are possible: "
            "'%d/%m/%Y %H:%M:%S', as in Python's strptime. May be given several times.",
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER",
            help="What parts the values of a CSV row: ';', '|', tab, …; else the first line shows it.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,…", help="Columns of CSV without a header, in their order, where they are not known."
        ),
    ] = None,
    log_line_prefix: Annotated[
        str | None,
        typer.Option(
            metavar="PREFIX",
            help="Of the source postgres_stderr: the server's log_line_prefix, such as '%m [%p] '; common ones are "
            "recognised.",
        ),
    ] = None,
    jdbc_url: Annotated[
        str | None,
        typer.Option(help="Read the log from a database: jdbc:postgresql://host/db; the driver by --spark-conf."),
    ] = None,
    jdbc_query: Annotated[str | None, typer.Option(help="Instead of the source's own query over JDBC.")] = None,
    jdbc_option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="user=…, password=…, driver=…. Several times.")
    ] = None,
    since: Annotated[
        datetime | None, typer.Option(help="Over JDBC: from when on (UTC); 30 days ago, if left out.")
    ] = None,
    engine: Annotated[
        EngineKind, typer.Option(help="In this process, or on Spark; auto: on Spark from 200 MB on.")
    ] = EngineKind.AUTO,
    master: Annotated[str | None, typer.Option(help="Spark's master; local[*], if left out.")] = None,
    spark_conf: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Spark configuration. May be given several times.")
    ] = None,
    followed: FollowOption = False,
    kafka: KafkaOption = None,
    topic: TopicOption = None,
    kafka_option: KafkaOptionsOption = None,
    kafka_wait: KafkaWaitOption = 60,
    checkpoint: CheckpointOption = None,
    every: EveryOption = 30,
    once: OnceOption = False,
    at_once: AtOnceOption = None,
    catalog: CatalogOption = None,
    namespace: NamespaceOption = "",
    default_database: DatabaseOption = None,
    default_schema: SchemaOption = None,
    functions: FunctionsOption = None,
    budget: BudgetOption = None,
    set_operations: SetOperationsOption = SetOperations.EXACT,
    store: StoreOption = None,
    observed_at: Annotated[
        datetime | None,
        typer.Option(help="When statements ran whose log does not say it (UTC). Without it they are in no day of use."),
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="What makes the exit status 1: files that cannot be read; statements as well, where they give no "
            "lineage; or nothing."
        ),
    ] = FailOn.FILE,
    explain: Annotated[bool, typer.Option("--explain", help="Print the plan of stages; read nothing.")] = False,
    show: Annotated[int, typer.Option("--show", min=0, help="Errors to print; 0 prints all.")] = 5,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Read a query log: lineage from every statement that ran, and who used which tables and columns.

    Statements that differ in literals only are one template. Temporary tables are composed through, USE and SET
    search_path followed, session by session. Ingesting a log again changes nothing. Nothing is executed.

    With --follow it goes on with what lands in a folder, or comes by Kafka. Ended at whatever point and started again,
    it loses nothing and counts nothing twice.

    Example: lineage ingest log history/*.parquet --source snowflake --namespace snowflake://org-account

    Example: lineage ingest log landing/ --source trino --follow

    Example: lineage ingest log --source trino --kafka broker:9092 --topic queries --every 10
    """
    detected = None
    if source.strip().lower() == _AUTO and log_line_prefix is not None:
        source = POSTGRES_STDERR.name
    elif source.strip().lower() == _AUTO:
        detected = _detected(
            paths, mapping, columns, other=jdbc_url is not None or kafka is not None, followed=followed or once
        )
        source = detected.name
    given = LogInput(
        _source(source, mapping, dialect, zone, time_format, delimiter, columns, log_line_prefix),
        tuple(paths or ()),
        _jdbc(jdbc_url, jdbc_query, jdbc_option, since),
    )
    pairs = _pairs(kafka_option, "--kafka-option")
    how = Following(followed, kafka, topic, pairs, checkpoint, every, once, at_once, kafka_wait)
    stream = how.input(given.source, given.paths, other=given.jdbc is not None or engine is EngineKind.LOCAL)
    if stream is None and bool(given.paths) == (given.jdbc is not None):
        raise typer.BadParameter("give files, or --jdbc-url", param_hint="PATHS")
    spark = SparkOptions(master, _pairs(spark_conf, "--spark-conf"))
    # What is wrong with these is said before anything is read.
    options = extraction_options(
        given.source.dialect or "ansi", namespace, default_database, default_schema, functions, budget, set_operations
    )
    schemas = read_catalogs(catalog, given.source.dialect or "ansi")
    observed = _in_utc(observed_at) if observed_at else None
    context = LogContext(
        given.name,
        observed or datetime.now(UTC),
        namespace,
        default_database,
        default_schema,
        tuple(str(path.resolve()) for path in functions or ()),
        options.budget,
        observed,
        set_operations=options.set_operation_references,
    )
    if stream is not None and not explain:
        follow(stream, how, store, context, schemas, spark, output, show, fail_on)
        return
    try:
        kind = chosen_engine(given, engine) if stream is None else EngineKind.SPARK
        if explain:
            print_listing(
                ("stage", "where", "what"), planned(stream or given, kind, spark), output, Look(words=("where", "what"))
            )
            return
        with open_store(store) as opened, progress_bar() as progress:
            progress("starting", 0, None)
            with open_engine(given, kind, spark) as running:
                summary = ingest_log(running, opened, context, schemas, opener=_opener(store), progress=progress)
            address = opened.address
    except (NoLogFilesError, ColumnsMissingError, NotOverJdbcError) as error:
        raise typer.BadParameter(str(error), param_hint="PATHS") from error
    except SparkMissingError as error:
        raise typer.BadParameter(str(error), param_hint="--engine") from error
    except UndatedLogError as error:
        note(f"error: {error}", "red")
        raise typer.Exit(1) from error
    except LogUnreachableError as error:
        note(str(error), "red")
        raise typer.Exit(3) from error
    if detected is not None and detected.files and output is OutputFormat.TABLE:
        note(_taken(detected))
    print_log_summary(summary, address, output, show, given.source.name)
    if summary.fails(fail_on):
        raise typer.Exit(1)


def _opener(given: str | None) -> Opener | None:
    """Return what opens the store elsewhere, with this process's login; None where only one process may write."""
    address = given or os.environ.get("LINEAGE_STORE") or ""
    if "://" not in address or address.startswith("http"):  # one writer
        return None
    user, password = (os.environ.get(f"LINEAGE_NEO4J_{name}") for name in ("USER", "PASSWORD"))
    return partial(open_store, address, user=user, password=password)


def _detected(
    paths: list[str] | None, mapping: list[str] | None, columns: str | None, *, other: bool, followed: bool
) -> DetectedSource:
    """Return the source that files show; any table of statements where the user says its columns."""
    if mapping or bool(paths) == other:  # without either, or with both, that is what is wrong
        return DetectedSource(GENERIC.name, ())
    if other or paths is None or any("://" in path for path in paths):
        raise typer.BadParameter("required for a log that is not in local files", param_hint="--source")
    try:
        if columns:
            return DetectedSource(source_of_columns(columns.split(","), SOURCES), ())
        return detect_source(find_log_files(paths), SOURCES)
    except SourceDetectionError as error:
        raise typer.BadParameter(str(error), param_hint="--source") from error
    except NoLogFilesError as error:
        if followed and all(Path(path).is_dir() for path in paths):
            message = "the folder is still empty: name the source of the files to come"
            raise typer.BadParameter(message, param_hint="--source") from error
        raise typer.BadParameter(str(error), param_hint="PATHS") from error


def _taken(detected: DetectedSource) -> str:
    """Return the line of the summary for a source that was detected."""
    files = ", ".join(map(str, detected.files[:_MAX_NAMED]))
    more = len(detected.files) - _MAX_NAMED
    rest = f" and {counted(more, 'more file')}" if more > 0 else ""
    shown = f": {files}{rest}" if files else ""
    return f"read as --source {detected.name} ({SOURCES[detected.name].title}){shown}"


def _source(
    name: str,
    mapping: list[str] | None,
    dialect: str | None,
    zone: str | None,
    formats: list[str] | None,
    delimiter: str | None,
    columns: str | None,
    line_prefix: str | None,
) -> Source:
    fields = _pairs(mapping, "--map") or None
    try:
        return source_named(
            name,
            dialect=dialect,
            zone=zone,
            mapping=fields,
            time_formats=tuple(formats or ()),
            delimiter=delimiter,
            columns=columns.split(",") if columns else (),
            line_prefix=line_prefix,
        )
    except DelimiterError as error:
        raise typer.BadParameter(str(error), param_hint="--delimiter") from error
    except ColumnsMissingError as error:
        raise typer.BadParameter(str(error), param_hint="--columns") from error
    except LinePrefixError as error:
        raise typer.BadParameter(str(error), param_hint="--log-line-prefix") from error
    except TimeFormatError as error:
        raise typer.BadParameter(str(error), param_hint="--time-format") from error
    except UnknownSourceError as error:
        raise typer.BadParameter(str(error), param_hint="--source") from error
    except MappingError as error:
        raise typer.BadParameter(str(error), param_hint="--map") from error
    except UnknownDialectError as error:
        raise typer.BadParameter(str(error), param_hint="--dialect") from error
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--zone") from error


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or ()]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise typer.BadParameter(f"expected NAME=VALUE, got {name!r}", param_hint=option)
    return {name.strip(): value for name, _, value in pairs}


def _jdbc(url: str | None, query: str | None, options: list[str] | None, since: datetime | None) -> Jdbc | None:
    if url is None:
        if query or options or since:
            raise typer.BadParameter("it says from where the log is read", param_hint="--jdbc-url")
        return None
    at = _in_utc(since) if since else datetime.now(UTC) - _LATE
    return Jdbc(url, at, query, _pairs(options, "--jdbc-option"))


def _in_utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def print_log_summary(
    summary: LogSummary, address: str, output: OutputFormat, show: int = 5, source: str | None = None
) -> None:
    """Print what an ingest of a log found: the counts, and what failed most often."""
    # Files first: of each something is lost that nothing else shows, in whatever form the rest is printed.
    errors = [d for d in summary.diagnostics if d.diagnostic.severity is Severity.ERROR]
    files = [d for d in errors if d.diagnostic.code is DiagnosticCode.UNREADABLE_FILE]
    for record in files:
        note(f"error: file not read: {record.diagnostic.message}", "red")
    failures = summary.failures[:_FAILURES]
    if output is OutputFormat.JSON:
        listed = [{"reason": reason, "runs": runs} for reason, runs in failures]
        print_object(
            {
                "store": address,
                "run": summary.run.key,
                **({"source": source} if source else {}),
                **summary.to_dict(),
                "failures": listed,
                "notes": list(summary.notes),
            }
        )
        return
    if output is OutputFormat.CSV:
        figures = summary.to_dict()
        print_listing(tuple(figures), [tuple(figures.values())], output)
        return
    errors = [d for d in errors if d not in files]
    for record in errors[: show or None]:
        note(f"{record.job or record.source}: {record.diagnostic}", "red")
    if show and len(errors) > show:
        note(f"… and {counted(len(errors) - show, 'more error')}; --show 0 prints all")
    for text in summary.notes:
        note(text, "yellow")
    counts = summary.run.counts
    if failures:
        say("most frequent failures:")
        print_listing(
            ("runs", "reason"), [(runs, reason) for reason, runs in failures], output, Look(words=("reason",))
        )
    if scan.engine() == "python":
        note("the native scanner is not installed: its Python twin read the log, a hundred times slower", "yellow")
    rest = {name: counts[name] for name in ("partial", "tables_only", "unresolved") if counts.get(name)}
    unresolved = "".join(f", {count:,} {name.replace('_', ' ')}" for name, count in rest.items())
    say(
        f"{counted(counts['rows'], 'row')}, {counts['left_out']:,} left out; "
        f"{counted(counts['templates'], 'template')}, {counted(counts['statements'], 'statement')}: "
        f"{counts['resolved']:,} resolved{unresolved}"
    )
    ended = f", {summary.applied.edges_ended:,} ended" if summary.applied.edges_ended else ""
    say(
        f"{counted(counts['tables'], 'table')}, {counted(counts['columns'], 'column')}, "
        f"{counted(counts['edges'], 'edge')} ({summary.applied.edges_created:,} new{ended}) "
        f"in {summary.seconds:.1f} s ({summary.storing:.1f} s storing) → {address}"
    )
