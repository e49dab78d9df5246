"""From the options of a log ingest to its source (detected or named) and the context of its pipeline."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from lineage.catalog import Catalog
from lineage.model.dialects import UnknownDialectError
from lineage.sql.extraction import options_for
from lineage.sql.resolve.calls.functions import FunctionsFileError
from lineage_ingest.options import OptionError, Paths, in_utc, listed_paths, read_catalog
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import LogInput
from lineage_ingest.query_log.reading.log_files import NoLogFilesError, find_log_files
from lineage_ingest.query_log.reading.source_detection import (
    DetectedSource,
    SourceDetectionError,
    detect_source,
    source_of_columns,
)
from lineage_ingest.query_log.sources import (
    GENERIC,
    POSTGRES_STDERR,
    SOURCES,
    ColumnsMissingError,
    DelimiterError,
    LinePrefixError,
    MappingError,
    Source,
    StatusError,
    TimeFormatError,
    UnknownSourceError,
    source_named,
)
from lineage_ingest.query_log_options import FollowOptions, LogOptions

__all__ = ["LogRequest", "prepare_log", "resolve_source"]

_AUTO = "auto"


class LogRequest(NamedTuple):
    """A log to ingest: where it is, its options and table schemas, and the context of its stages."""

    input: LogInput
    catalog: Catalog
    options: LogOptions
    context: LogContext
    detected_files: tuple[Path, ...]
    """The files from which the source was detected; empty if it was named."""


def prepare_log(paths: Paths, source: str, options: LogOptions, follow: FollowOptions | None = None) -> LogRequest:
    """Return the log to ingest. With `follow` it is a stream, whose folders may still be empty.

    Raises:
        OptionError: an option has a wrong value.
    """
    listed = listed_paths(paths, required=False)
    resolved, detected = resolve_source(listed, source, options, follow)
    given = LogInput(resolved, listed, options.jdbc)
    observed = in_utc(options.observed_at)
    context = LogContext(
        given.name,
        observed or datetime.now(UTC),
        options.namespace,
        options.default_database,
        options.default_schema,
        tuple(str(path.resolve()) for path in options.functions),
        options.budget,
        observed,
        set_operations=options.set_operations,
    )
    try:  # report an invalid functions file before reading anything
        options_for(resolved.dialect or "ansi", functions=options.functions)
    except FunctionsFileError as error:
        raise OptionError(str(error), "functions") from error
    catalog = read_catalog(options.catalog, resolved.dialect or "ansi", refresh=options.refresh_catalog)
    return LogRequest(given, catalog, options, context, detected)


def resolve_source(
    paths: tuple[str, ...], source: str, options: LogOptions, follow: FollowOptions | None = None
) -> tuple[Source, tuple[Path, ...]]:
    """Return the source of a log with its options set, and the files from which it was detected.

    Raises:
        OptionError: the source is unknown or cannot be detected, or one of its options has a wrong value.
    """
    if source.strip().lower() != _AUTO:
        return _configure(source, options), ()
    if options.log_line_prefix is not None:
        return _configure(POSTGRES_STDERR.name, options), ()
    detected = _detect(paths, options, follow)
    return _configure(detected.name, options), detected.files


def _detect(paths: tuple[str, ...], options: LogOptions, follow: FollowOptions | None) -> DetectedSource:
    elsewhere = options.jdbc is not None or (follow is not None and follow.kafka is not None)
    # Without input, or with two inputs, the caller reports that error: return any source.
    if options.mapping or bool(paths) == elsewhere:
        return DetectedSource(GENERIC.name, ())
    if elsewhere or any("://" in path for path in paths):
        raise OptionError("required unless the log is in local files", "source")
    try:
        if options.columns:
            return DetectedSource(source_of_columns(options.columns, SOURCES), ())
        return detect_source(find_log_files(paths), SOURCES)
    except SourceDetectionError as error:
        raise OptionError(str(error), "source") from error
    except NoLogFilesError as error:
        if follow is not None and all(Path(path).is_dir() for path in paths):
            raise OptionError("the folder is still empty: name the source of the files to come", "source") from error
        raise


_OPTION_OF = {
    DelimiterError: "delimiter",
    ColumnsMissingError: "columns",
    LinePrefixError: "log_line_prefix",
    TimeFormatError: "time_formats",
    UnknownSourceError: "source",
    MappingError: "mapping",
    StatusError: "status_ok",
    UnknownDialectError: "dialect",
}
"""The option that causes each error of a source; all others are caused by the time zone."""


def _configure(name: str, options: LogOptions) -> Source:
    try:
        return source_named(
            name,
            dialect=options.dialect,
            zone=options.zone,
            mapping=options.mapping or None,
            time_formats=options.time_formats,
            delimiter=options.delimiter,
            columns=options.columns,
            line_prefix=options.log_line_prefix,
            status_ok=options.status_ok,
            status_failed=options.status_failed,
        )
    except ValueError as error:
        option = next((option for kind, option in _OPTION_OF.items() if isinstance(error, kind)), "zone")
        raise OptionError(str(error), option) from error
