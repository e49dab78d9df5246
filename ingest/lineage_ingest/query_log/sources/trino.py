"""Trino's query-completed events, as the HTTP and Kafka event listeners write them: JSON, one event per line.

https://trino.io/docs/current/admin/event-listeners-http.html
https://trino.io/docs/current/admin/event-listeners-kafka.html

Traps:
- Query-created events are skipped; the query-completed event follows.
- `query` of a prepared statement is `EXECUTE name`; what runs is `preparedQuery`.
- There are no sessions and no temporary tables.
- The Kafka listener wraps the event: `{"eventMetadata": …, "eventPayload": {…}}`.
- The format may change between releases; times are ISO 8601, or seconds since 1970.
- `ioMetadata.output.columns[].sourceColumns` is Trino's own column lineage.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.names import format_name
from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.json_lines import LINEAGE, flatten_documents, nested, written_column
from lineage_ingest.query_log.sources.source import LINE, Reading, Source, SourceRows

__all__ = ["TRINO"]

_FLAT = ("query", "query_id", "start", "end", "user", "catalog", "schema", "status", "rows")
_CANCELED = frozenset(("USER_CANCELED", "ADMINISTRATIVELY_KILLED", "ADMINISTRATIVELY_PREEMPTED"))


def _convert(lines: SourceRows) -> Any:
    log = flatten_documents(lines, _FLAT, _flatten, only='"endTime"')
    started, ended = log.time("start", unit="s"), log.time("end", unit="s")
    return log.batch(
        query_text=log.statement("query"),
        statement_id=log.text("query_id"),
        started_at=started,
        duration_us=pc.subtract(ended.cast(pa.int64()), started.cast(pa.int64())),
        user=log.text("user"),
        default_database=log.text("catalog"),
        default_schema=log.text("schema"),
        status=log.text("status"),
        rows=log.count("rows"),
        source_lineage=log.column(LINEAGE),
    )


def _flatten(written: dict[str, Any]) -> dict[str, Any] | None:
    payload = written.get("eventPayload")
    event = payload if isinstance(payload, dict) else written
    if event.get("endTime") is None:
        return None
    metadata = event.get("metadata")
    statistics = event.get("statistics")
    written_rows = nested(statistics, "writtenRows")
    return {
        "query": nested(metadata, "preparedQuery") or nested(metadata, "query"),
        "query_id": nested(metadata, "queryId"),
        "start": event.get("createTime"),
        "end": event.get("endTime"),
        "user": nested(event, "context", "user"),
        "catalog": nested(event, "context", "catalog"),
        "schema": nested(event, "context", "schema"),
        "status": str(_status(nested(metadata, "queryState"), nested(event, "failureInfo", "errorCode", "name"))),
        "rows": written_rows or nested(statistics, "outputRows"),
        LINEAGE: _lineage(nested(event, "ioMetadata", "output")),
    }


def _status(state: Any, error: Any) -> Status:
    if state == "FINISHED":
        return Status.SUCCESS
    if state == "FAILED":
        return Status.CANCELED if error in _CANCELED else Status.FAILED
    return Status.UNKNOWN if state is None else Status.RUNNING


def _lineage(output: Any) -> list[dict[str, str | None]] | None:
    columns = nested(output, "columns")
    if not isinstance(columns, list):
        return None
    target = _table(output, "catalogName")
    return [
        edge
        for column in columns  # in the order of the statement's columns
        if isinstance(column, dict) and column.get("columnName") is not None
        if isinstance(sources := column.get("sourceColumns"), list)
        for edge in written_column(
            (target, column["columnName"]),
            ((_table(one, "catalog"), one.get("columnName")) for one in sources if isinstance(one, dict)),
        )
    ]


def _table(described: dict[str, Any], catalog: str) -> str:
    parts = (described.get(part) for part in (catalog, "schema", "table"))
    return format_name([str(part) for part in parts if part])


TRINO = Source(
    name="trino",
    title="Trino query-completed events",
    dialect="trino",
    columns=(LINE,),
    needed=(LINE,),
    convert=_convert,
    known_by=(("metadata", "createtime"), ("eventpayload",)),
    reading=Reading("lines", mark='"(?:createTime|eventPayload)"'),
    documentation=(
        "https://trino.io/docs/current/admin/event-listeners-http.html",
        "https://trino.io/docs/current/admin/event-listeners-kafka.html",
    ),
)
