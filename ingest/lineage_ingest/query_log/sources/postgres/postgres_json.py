"""PostgreSQL's jsonlog (from 15). postgres_messages describes the content of its messages.

https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-JSONLOG

Traps: keys without a value are omitted, and some keys are named differently from csvlog's columns.
"""

from __future__ import annotations

from typing import Any

from lineage_ingest.query_log.sources.postgres.postgres_messages import assemble_messages, convert_messages
from lineage_ingest.query_log.sources.source import Assembly, Source, SourceRows

__all__ = ["POSTGRES_JSON"]

_NAMES = {
    "log_time": "timestamp",
    "user_name": "user",
    "database_name": "dbname",
    "connection_from": "remote_host",
    "remote_port": "remote_port",
    "session_line_num": "line_num",
    "session_start_time": "session_start",
    "sql_state_code": "state_code",
    "query": "statement",
}


def _convert(log: SourceRows) -> Any:
    return convert_messages(log, _NAMES)


def _assemble(table: Any) -> Any:
    return assemble_messages(table, _NAMES)


POSTGRES_JSON = Source(
    name="postgres_json",
    title="PostgreSQL jsonlog",
    dialect="postgres",
    columns=(*_NAMES.values(), "session_id", "error_severity", "message", "detail"),
    needed=("message",),
    convert=_convert,
    known_by=(("timestamp", "error_severity", "message"), ("message", "session_id", "line_num")),
    assembly=Assembly(by=("session_id",), order=("line_num",), rows=_assemble),
    documentation=(
        "https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-JSONLOG",
    ),
)
