"""ClickHouse's system.query_log.

https://clickhouse.com/docs/operations/system-tables/query_log
https://clickhouse.com/docs/operations/settings/settings#log_queries_cut_to_length

Traps:
- Each query logs a row when it starts and one when it ends. Only the second is read, so rows need no joining.
- The parts of a distributed query are logged on their servers (`is_initial_query` = 0); they are skipped.
- The text is cut at `log_queries_cut_to_length` bytes (100,000), without a mark.
- DateTime columns are exported in the server's zone, without saying which; over JDBC they are read in UTC.
- TSV and CSV have no header by default, and releases add columns, not always at the end.
- The text does not contain the rows of an INSERT.
- The table has no sessions: a temporary table is resolved to its sources only if the log creates one of that name.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.source import Layout, Reading, Source, SourceRows

__all__ = ["CLICKHOUSE"]

_CUT_AT = 100_000
_COLUMNS = (
    "type",
    "query_start_time",
    "query_start_time_microseconds",
    "query_duration_ms",
    "result_rows",
    "written_rows",
    "current_database",
    "query",
    "exception_code",
    "is_initial_query",
    "user",
    "query_id",
    "initial_query_id",
)
# The enum is exported as names, or as numbers in some formats.
_STATUS = {
    "queryfinish": Status.SUCCESS,
    "2": Status.SUCCESS,
    "exceptionbeforestart": Status.FAILED,
    "3": Status.FAILED,
    "exceptionwhileprocessing": Status.FAILED,
    "4": Status.FAILED,
}
_STARTS = ("querystart", "1")
_QUERY_WAS_CANCELLED = 394


_LEADING = ((), ("hostname",), ("hostname", "clickhouse_version", "system_processor"))
_TIMES = (
    *("type", "event_date", "event_time", "event_time_microseconds", "query_start_time"),
    *("query_start_time_microseconds", "query_duration_ms", "read_rows", "read_bytes", "written_rows", "written_bytes"),
    *("result_rows", "result_bytes", "memory_usage", "current_database", "query"),
)
_FORMATTED = (("formatted_query",), ())
_NAMED = ("normalized_query_hash", "query_kind", "databases", "tables", "columns")
_PARTS = (("partitions", "projections", "views"), ("projections", "views"), ("projections",), ())
_ENDED = ("exception_code", "exception", "stack_trace", "is_initial_query")
_CONNECTION = (("connection_address", "connection_port"), ())
_WHO = ("user", "query_id", "address", "port", "initial_user", "initial_query_id")
_MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?"
_MARKS = (
    ("type", r"QueryStart|QueryFinish|Exception\w+|[1-4]"),
    ("event_date", r"\d{4}-\d\d-\d\d"),
    ("query_start_time_microseconds", _MOMENT),
    ("query_duration_ms", r"\d+"),
    ("normalized_query_hash", r"\d+"),
    ("exception_code", r"-?\d+"),
    ("is_initial_query", "[01]|true|false"),
    ("address", r"[\da-f:.]+"),
    ("port", r"\d+"),
)
_LAYOUTS = tuple(
    Layout((*leading, *_TIMES, *formatted, *_NAMED, *parts, *_ENDED, *connection, *_WHO), _MARKS)
    for leading, formatted, parts, connection in product(_LEADING, _FORMATTED, _PARTS, _CONNECTION)
)
"""Column orders of SELECT * in releases since 21: `FORMAT TSV` and `FORMAT CSV` write no header."""


def _convert(every: SourceRows) -> Any:
    starts = pc.is_in(pc.utf8_lower(every.trimmed("type")), pa.array(_STARTS))
    part_of_another = pc.fill_null(pc.invert(every.flag("is_initial_query")), False)
    log = every.where(pc.invert(pc.or_(starts, part_of_another)))
    text = log.statement("query")
    canceled = pc.fill_null(pc.equal(log.count("exception_code"), _QUERY_WAS_CANCELLED), False)
    precise, coarse = log.time("query_start_time_microseconds"), log.time("query_start_time")
    written = log.count("written_rows")
    return log.batch(
        query_text=text,
        statement_id=log.text("query_id"),
        started_at=pc.coalesce(precise, coarse),
        duration_us=log.count("query_duration_ms", scale=1_000),
        user=log.text("user"),
        default_schema=log.text("current_database"),
        status=pc.if_else(canceled, str(Status.CANCELED), pc.fill_null(log.status("type"), str(Status.UNKNOWN))),
        rows=pc.if_else(pc.fill_null(pc.greater(written, 0), False), written, log.count("result_rows")),
        truncated=pc.greater_equal(pc.binary_length(text), _CUT_AT),
    )


CLICKHOUSE = Source(
    name="clickhouse",
    title="ClickHouse system.query_log",
    dialect="clickhouse",
    columns=_COLUMNS,
    needed=("query",),
    convert=_convert,
    known_by=(
        ("query", "query_duration_ms"),
        ("query", "query_start_time"),
        ("query", "normalized_query_hash"),
        ("query", "is_initial_query"),
    ),
    statuses=tuple(_STATUS.items()),
    reading=Reading(layouts=_LAYOUTS),
    jdbc="SELECT type, toTimeZone(query_start_time_microseconds, 'UTC') AS query_start_time_microseconds, "
    "query_duration_ms, result_rows, written_rows, current_database, query, exception_code, is_initial_query, user, "
    "query_id, initial_query_id FROM system.query_log WHERE type != 'QueryStart' AND is_initial_query "
    "AND event_time >= toDateTime('{since}', 'UTC')",
    documentation=("https://clickhouse.com/docs/operations/system-tables/query_log",),
)
