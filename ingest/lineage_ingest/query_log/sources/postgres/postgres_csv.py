"""PostgreSQL's csvlog. postgres_messages describes the content of its messages.

https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-CSVLOG

Traps:
- There is no header; the number of columns identifies the release: 23 up to 12, 24 in 13, 26 from 14.
- A quoted statement can span lines.
- `log_time` has a zone abbreviation (log_timezone). An ambiguous one is resolved from the session's id and start
  (postgres_zones); if that fails, the user must set the zone.
"""

from __future__ import annotations

from typing import Any

from lineage_ingest.query_log.sources.postgres.postgres_messages import assemble_messages, convert_messages
from lineage_ingest.query_log.sources.source import Assembly, Reading, Source, SourceRows

__all__ = ["POSTGRES_CSV"]

_HEADER = (
    "log_time",
    "user_name",
    "database_name",
    "process_id",
    "connection_from",
    "session_id",
    "session_line_num",
    "command_tag",
    "session_start_time",
    "virtual_transaction_id",
    "transaction_id",
    "error_severity",
    "sql_state_code",
    "message",
    "detail",
    "hint",
    "internal_query",
    "internal_query_pos",
    "context",
    "query",
    "query_pos",
    "location",
    "application_name",
    "backend_type",
    "leader_pid",
    "query_id",
)
_NAMES = {
    name: name
    for name in (
        "log_time",
        "user_name",
        "database_name",
        "connection_from",
        "session_line_num",
        "session_start_time",
        "sql_state_code",
        "query",
    )
}


def _convert(log: SourceRows) -> Any:
    return convert_messages(log, _NAMES)


def _assemble(table: Any) -> Any:
    return assemble_messages(table, _NAMES)


POSTGRES_CSV = Source(
    name="postgres_csv",
    title="PostgreSQL csvlog",
    dialect="postgres",
    columns=(*_NAMES, "session_id", "error_severity", "message", "detail"),
    needed=("message",),
    convert=_convert,
    known_by=(("log_time", "error_severity", "message"),),
    reading=Reading("table", headers=(_HEADER[:23], _HEADER[:24], _HEADER), severities=(11, "[A-Z]+[1-5]?")),
    assembly=Assembly(by=("session_id",), order=("session_line_num",), rows=_assemble),
    documentation=(
        "https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-CSVLOG",
    ),
)
