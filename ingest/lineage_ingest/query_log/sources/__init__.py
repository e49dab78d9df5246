"""Query log formats, one module per source; each maps the source's columns to the log schema."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lineage.model.dialects import dialect_named
from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.reading.time_parsing import TimeFormatError, time_format_named, zone_named
from lineage_ingest.query_log.sources.clickhouse import CLICKHOUSE
from lineage_ingest.query_log.sources.cloud.bigquery import BIGQUERY
from lineage_ingest.query_log.sources.cloud.bigquery_audit import BIGQUERY_AUDIT
from lineage_ingest.query_log.sources.cloud.databricks import DATABRICKS
from lineage_ingest.query_log.sources.cloud.redshift import REDSHIFT
from lineage_ingest.query_log.sources.cloud.snowflake import SNOWFLAKE
from lineage_ingest.query_log.sources.cloud.snowflake_access import SNOWFLAKE_ACCESS
from lineage_ingest.query_log.sources.duckdb import DUCKDB
from lineage_ingest.query_log.sources.generic import GENERIC, MappingError, validate_mapping
from lineage_ingest.query_log.sources.hive import HIVE
from lineage_ingest.query_log.sources.mysql.general_log import MYSQL
from lineage_ingest.query_log.sources.mysql.mysql_slow import MYSQL_SLOW
from lineage_ingest.query_log.sources.postgres.log_line_prefix import LinePrefixError
from lineage_ingest.query_log.sources.postgres.pg_stat_statements import PG_STAT_STATEMENTS
from lineage_ingest.query_log.sources.postgres.postgres_csv import POSTGRES_CSV
from lineage_ingest.query_log.sources.postgres.postgres_json import POSTGRES_JSON
from lineage_ingest.query_log.sources.postgres.postgres_stderr import POSTGRES_STDERR, with_line_prefix
from lineage_ingest.query_log.sources.source import Assembly, ColumnsMissingError, NotOverJdbcError, Reading, Source
from lineage_ingest.query_log.sources.spark import SPARK
from lineage_ingest.query_log.sources.trino import TRINO

__all__ = [
    "Assembly",
    "ColumnsMissingError",
    "DelimiterError",
    "GENERIC",
    "LinePrefixError",
    "MappingError",
    "NotOverJdbcError",
    "POSTGRES_STDERR",
    "Reading",
    "SOURCES",
    "Source",
    "StatusError",
    "TimeFormatError",
    "UnknownSourceError",
    "source_named",
]

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        SNOWFLAKE,
        SNOWFLAKE_ACCESS,
        BIGQUERY,
        BIGQUERY_AUDIT,
        DATABRICKS,
        DUCKDB,
        REDSHIFT,
        POSTGRES_CSV,
        POSTGRES_JSON,
        POSTGRES_STDERR,
        PG_STAT_STATEMENTS,
        MYSQL,
        MYSQL_SLOW,
        TRINO,
        CLICKHOUSE,
        HIVE,
        SPARK,
        GENERIC,
    )
}


class DelimiterError(ValueError):
    """An invalid CSV delimiter."""


class StatusError(ValueError):
    """Statuses for a source without a column of them, or one that means both success and failure."""


class UnknownSourceError(ValueError):
    """An unknown source; the message suggests the nearest name."""


def source_named(
    name: str,
    *,
    dialect: str | None = None,
    zone: str | None = None,
    mapping: Mapping[str, str] | None = None,
    time_formats: Sequence[str] = (),
    delimiter: str | None = None,
    columns: Sequence[str] = (),
    line_prefix: str | None = None,
    status_ok: Sequence[str] = (),
    status_failed: Sequence[str] = (),
) -> Source:
    """Return the source of that name with the user's settings for this log.

    >>> source_named("snowflake").title
    'Snowflake QUERY_HISTORY'
    >>> source_named("snowflak")
    Traceback (most recent call last):
    ...
    lineage_ingest.query_log.sources.UnknownSourceError: unknown source 'snowflak'; did you mean 'snowflake'?

    Args:
        name: one of SOURCES.
        dialect: SQL dialect of the statements, if it differs from the source's (MariaDB in a MySQL log, for example).
        zone: the time zone of times without one; default UTC.
        mapping: `generic` only: fields of the log schema mapped to columns, where the names differ.
        time_formats: `strptime` formats for times in none of the known formats.
        delimiter: the delimiter of CSV (or `tab`); detected in the first line by default.
        columns: the columns of CSV without a header, in order.
        line_prefix: `postgres_stderr` only: the server's log_line_prefix; detected by default.
        status_ok: further values of the status column that mean success.
        status_failed: further values of the status column that mean failure.

    Raises:
        UnknownSourceError: no source has that name.
        UnknownDialectError: no dialect has that name.
        MappingError: the mapping has an unknown field, or the source does not accept a mapping.
        TimeFormatError: a format is invalid.
        ColumnsMissingError: `columns` lacks the columns that the source requires.
        StatusError: the source has no column of statuses, or a value means both.
        LinePrefixError: the prefix is invalid, or the source does not accept one.
        DelimiterError: the delimiter is not a single character, or is a double quote or line break.
        ValueError: the time zone is unknown.
    """
    source = SOURCES.get(name.strip().lower())
    if source is None:
        near = difflib.get_close_matches(name.lower(), SOURCES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(SOURCES)}"
        raise UnknownSourceError(f"unknown source {name!r}; {hint}")
    if dialect is not None:
        source = replace(source, dialect=dialect_named(dialect).name)
    if zone is not None:
        source = replace(source, zone=zone_named(zone))
    if time_formats:
        source = replace(source, time_formats=tuple(map(time_format_named, time_formats)))
    if delimiter is not None:
        source = replace(source, delimiter=_delimiter_of(delimiter))
    if columns:
        source = replace(source, header=tuple(name.strip().lower() for name in columns))
    if line_prefix is not None:
        source = with_line_prefix(source, line_prefix)
    if status_ok or status_failed:
        source = replace(source, statuses=_statuses(source, status_ok, status_failed))
    if mapping is not None:
        if source.name != GENERIC.name:
            raise MappingError(f"{source.title} has known columns; --map is for the source 'generic' only")
        fields = dict(GENERIC.mapping) | dict(validate_mapping(mapping))
        columns = tuple(dict.fromkeys(fields.values()))
        source = replace(source, mapping=tuple(fields.items()), columns=columns, needed=(fields["query_text"],))
    if columns:
        source.check(columns)
    return source


def _statuses(source: Source, ok: Sequence[str], failed: Sequence[str]) -> tuple[tuple[str, Status], ...]:
    """Return the meanings of a source's statuses with those that the user gives."""
    if not source.statuses and source.name != GENERIC.name:
        raise StatusError(f"{source.title} has no column of statuses")
    successes = {value.strip().lower(): Status.SUCCESS for value in ok}
    failures = {value.strip().lower(): Status.FAILED for value in failed}
    if both := successes.keys() & failures.keys():
        raise StatusError(f"status {min(both)!r} is both --status-ok and --status-failed")
    return tuple((dict(source.statuses) | successes | failures).items())


def _delimiter_of(text: str) -> str:
    """Return the delimiter character for a user's text.

    >>> _delimiter_of("tab"), _delimiter_of("\\\\t"), _delimiter_of(";")
    ('\\t', '\\t', ';')
    """
    delimiter = {"tab": "\t", "\\t": "\t"}.get(text.lower(), text)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise DelimiterError(f"{text!r} is not a delimiter: expected one character, such as ; or | or tab")
    return delimiter
