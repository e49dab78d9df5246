"""Databricks' system.query.history, and responses of its REST API (`databricks query-history list`).

https://docs.databricks.com/aws/en/admin/system-tables/query-history
https://docs.databricks.com/api/workspace/queryhistory/list

Traps:
- `statement_text` is empty if the workspace uses customer-managed keys.
- Very long texts can be cut without a mark; they cannot be distinguished from complete ones.
- There is no default catalog or schema: unqualified names are resolved by the user's defaults and by USE.
- The REST API returns times in milliseconds and no sessions: each statement is processed independently.
- Only SQL warehouses and serverless compute are logged.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.source import Reading, Source, SourceRows, selecting

__all__ = ["DATABRICKS"]

_COLUMNS = (
    "statement_id",
    "session_id",
    "execution_status",
    "executed_by",
    "statement_text",
    "start_time",
    "end_time",
    "total_duration_ms",
    "produced_rows",
)
_STATUS = {
    "finished": Status.SUCCESS,
    "failed": Status.FAILED,
    "canceled": Status.CANCELED,
    "running": Status.RUNNING,
    "pending": Status.RUNNING,
    **dict.fromkeys(("queued", "started", "compiling", "compiled"), Status.RUNNING),
}


_ALIASES = (
    ("query_id", "statement_id"), ("query_text", "statement_text"), ("status", "execution_status"),
    ("query_start_time_ms", "start_time"), ("query_end_time_ms", "end_time"), ("user_name", "executed_by"),
    ("duration", "total_duration_ms"), ("rows_produced", "produced_rows"),
)  # fmt: skip
"""Column names in the REST API, each with the name in the system table."""


def _convert(log: SourceRows) -> Any:
    status = log.status("execution_status")
    return log.batch(
        query_text=log.statement("statement_text"),
        statement_id=log.text("statement_id"),
        started_at=log.time("start_time"),
        duration_us=log.count("total_duration_ms", scale=1_000),
        user=log.text("executed_by"),
        session=log.text("session_id"),
        status=pc.fill_null(status, str(Status.UNKNOWN)),
        rows=log.count("produced_rows"),
    )


DATABRICKS = Source(
    name="databricks",
    title="Databricks system.query.history",
    dialect="databricks",
    columns=_COLUMNS,
    needed=("statement_text",),
    convert=_convert,
    statuses=tuple(_STATUS.items()),
    known_by=(
        ("statement_text", "statement_id"),
        ("statement_text", "executed_by"),
        ("statement_text", "execution_status"),
        ("query_text", "query_start_time_ms"),
    ),
    reading=Reading(aliases=_ALIASES),
    jdbc=selecting(_COLUMNS, "FROM system.query.history WHERE start_time >= TIMESTAMP '{since} UTC'"),
    documentation=(
        "https://docs.databricks.com/aws/en/admin/system-tables/query-history",
        "https://docs.databricks.com/api/workspace/queryhistory/list",
    ),
)
