"""Snowflake's QUERY_HISTORY: the view in ACCOUNT_USAGE, and the table function of INFORMATION_SCHEMA.

https://docs.snowflake.com/en/sql-reference/account-usage/query_history
https://docs.snowflake.com/en/sql-reference/functions/query_history
https://docs.snowflake.com/en/sql-reference/sql/copy-into-location

Traps:
- QUERY_TEXT is cut at 100,000 characters, without a mark.
- The text of a statement with a syntax error is `<redacted>`, unless ENABLE_UNREDACTED_QUERY_SYNTAX_ERROR is set.
- A cancelled statement is a failed one with error code 604, or 630 after a timeout.
- The view's rows arrive up to 45 minutes late, and START_TIME is in the session's zone (TIMESTAMP_LTZ).
- A request of several statements (MULTI_STATEMENT) has one row with its full text and one row per statement. The
  request's row is skipped; otherwise its statements would count twice.
- The rows of a session are ordered only by START_TIME, in milliseconds.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.source import Layout, Reading, Source, SourceRows, selecting

__all__ = ["HISTORY_COLUMNS", "SNOWFLAKE", "STATUSES", "history_fields", "single_statements"]

_CUT_AT = 100_000
_CANCELED = "0*(604|630)"
STATUSES = {
    "success": Status.SUCCESS,
    "fail": Status.FAILED,
    "incident": Status.FAILED,
    "failed_with_error": Status.FAILED,
    "failed_with_incident": Status.FAILED,
    "running": Status.RUNNING,
    "queued": Status.RUNNING,
    "blocked": Status.RUNNING,
    "resuming_warehouse": Status.RUNNING,
}

HISTORY_COLUMNS = (
    "query_id",
    "query_text",
    "database_name",
    "schema_name",
    "query_type",
    "session_id",
    "user_name",
    "execution_status",
    "error_code",
    "start_time",
    "total_elapsed_time",
    "rows_produced",
)


_LAYOUT = Layout(
    (
        *(
            "query_id",
            "query_text",
            "",
            "database_name",
            "",
            "schema_name",
            "query_type",
            "session_id",
            "user_name",
            "",
            "",
            "",
        ),
        *("", "", "", "", "execution_status", "error_code", "", "start_time", "", "total_elapsed_time"),
        *("", "", "", "", "", "rows_produced"),
    ),
    (
        ("query_id", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ("execution_status", r"(?i)success|fail\w*|incident|running|queued|blocked|resuming_warehouse"),
        ("start_time", r"\d{4}-\d\d-\d\d[ T]\d.*"),
    ),
)
"""The columns of the view, which COPY INTO unloads without a header by default."""


def single_statements(log: SourceRows) -> SourceRows:
    """Return the rows without MULTI_STATEMENT requests; their statements are separate rows."""
    several = pc.equal(pc.utf8_upper(log.trimmed("query_type")), "MULTI_STATEMENT")
    return log.where(pc.invert(pc.fill_null(several, False)))


def history_fields(log: SourceRows) -> dict[str, Any]:
    """Return the fields of the log schema that QUERY_HISTORY provides."""
    text = log.statement("query_text")
    text = pc.if_else(pc.equal(text, "<redacted>"), pa.scalar(None, pa.string()), text)
    status = pc.fill_null(log.status("execution_status"), str(Status.UNKNOWN))
    canceled = pc.fill_null(pc.match_substring_regex(log.trimmed("error_code"), f"^{_CANCELED}$"), False)
    return {
        "query_text": text,
        "statement_id": log.text("query_id"),
        "started_at": log.time("start_time"),
        "duration_us": log.count("total_elapsed_time", scale=1_000),
        "user": log.text("user_name"),
        "session": log.text("session_id"),
        "default_database": log.text("database_name"),
        "default_schema": log.text("schema_name"),
        "status": pc.if_else(canceled, str(Status.CANCELED), status),
        "rows": log.count("rows_produced"),
        "truncated": pc.greater_equal(pc.utf8_length(text), _CUT_AT),
    }


def _convert(every: SourceRows) -> Any:
    log = single_statements(every)
    return log.batch(**history_fields(log))


SNOWFLAKE = Source(
    name="snowflake",
    title="Snowflake QUERY_HISTORY",
    dialect="snowflake",
    columns=HISTORY_COLUMNS,
    needed=("query_text",),
    convert=_convert,
    statuses=tuple(STATUSES.items()),
    known_by=(
        ("query_text", "execution_status"),
        ("query_text", "warehouse_name"),
        ("query_text", "role_name"),
        ("query_text", "query_tag"),
        ("query_text", "schema_name"),
    ),
    reading=Reading(layouts=(_LAYOUT,)),
    jdbc=selecting(
        HISTORY_COLUMNS,
        "FROM SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY WHERE start_time >= TO_TIMESTAMP_TZ('{since} +00:00')",
    ),
    documentation=("https://docs.snowflake.com/en/sql-reference/account-usage/query_history",),
)
