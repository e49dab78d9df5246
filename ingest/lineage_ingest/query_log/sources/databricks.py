"""Databricks' system.query.history.

https://docs.databricks.com/aws/en/admin/system-tables/query-history

Traps:
- `statement_text` is empty where the workspace has customer-managed keys.
- Very long texts can end early, without a mark; nothing tells them from whole ones.
- There is no default catalog or schema: names that say none are completed by what the user gives, and by USE.
- Only SQL warehouses and serverless compute are logged.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.source import Source, SourceRows, selecting, status_of

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
}


def _convert(log: SourceRows) -> Any:
    status = status_of(log.column("execution_status"), _STATUS)
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
    jdbc=selecting(_COLUMNS, "FROM system.query.history WHERE start_time >= TIMESTAMP '{since} UTC'"),
    documentation=("https://docs.databricks.com/aws/en/admin/system-tables/query-history",),
)
