"""Runs in the shape of each source: the rows that it would have written of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from lineage_ingest.query_log import SOURCES, Status
from tests.query_logs.history import Run

__all__ = ["LINES", "MAPPING", "SHAPES", "postgres_csv_line"]

Row = dict[str, Any]
MAPPING = {
    "query_text": "sql", "statement_id": "id", "started_at": "started_at", "duration_us": "duration_us",
    "user": "user", "session": "session", "position": "position", "default_schema": "schema", "dialect": "dialect",
    "status": "status", "rows": "rows", "truncated": "truncated",
}  # fmt: skip
"""What `generic` is told of the rows made here."""
_CUT = 100_000


def _iso(micros: int, end: str = "Z") -> str:
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{micros % 1_000_000:06d}{end}"


def _at(micros: int, end: str = "") -> str:
    return _iso(micros, end).replace("T", " ", 1)


def _snowflake(run: Run) -> Iterable[Row]:
    yield {
        "QUERY_ID": f"01b1-{run.number:08x}",
        "QUERY_TEXT": run.text[:_CUT],
        "DATABASE_NAME": "PROD",
        "SCHEMA_NAME": "SHOP",
        "QUERY_TYPE": "UNKNOWN",
        "SESSION_ID": run.session,
        "USER_NAME": run.user.upper(),
        "EXECUTION_STATUS": {"success": "SUCCESS", "running": "RUNNING"}.get(run.status, "FAIL"),
        "ERROR_CODE": {"failed": "904", "canceled": "604"}.get(run.status),
        "START_TIME": _at(run.started, " +0000"),
        "TOTAL_ELAPSED_TIME": run.duration // 1_000,
        "ROWS_PRODUCED": run.rows,
    }


def _snowflake_access(run: Run) -> Iterable[Row]:
    yield from _snowflake(run)
    if run.status is Status.SUCCESS:
        yield {
            "QUERY_ID": f"01b1-{run.number:08x}",
            "QUERY_START_TIME": _at(run.started, " +0000"),
            "OBJECTS_MODIFIED": "[]",
        }


def _bigquery(run: Run) -> Iterable[Row]:
    reason = {"failed": "invalidQuery", "canceled": "stopped"}.get(run.status)
    yield {
        "creation_time": _at(run.started, " UTC"),
        "start_time": _at(run.started, " UTC"),
        "end_time": None if run.status is Status.RUNNING else _at(run.started + run.duration, " UTC"),
        "project_id": "shop-prod",
        "user_email": run.user,
        "job_id": f"job_{run.number}",
        "job_type": "QUERY",
        "state": "RUNNING" if run.status is Status.RUNNING else "DONE",
        "error_result": json.dumps({"reason": reason}) if reason else None,
        "query": run.text,
        "session_info": json.dumps({"session_id": str(run.session)}),
    }


def _bigquery_audit(run: Run) -> Iterable[Row]:
    code = {"failed": 3, "canceled": 1}.get(run.status)
    job = {
        "jobName": f"projects/shop-prod/jobs/job_{run.number}",
        "jobConfig": {
            "type": "QUERY",
            "queryConfig": {"query": run.text[:50_000], "queryTruncated": len(run.text) > 50_000},
        },
        "jobStatus": {"jobState": "DONE", **({"errorResult": {"code": code}} if code else {})},
        "jobStats": {"startTime": _iso(run.started), "endTime": _iso(run.started + run.duration)},
    }
    started = {**job, "jobStatus": {"jobState": "RUNNING"}}
    person = {"principalEmail": run.user}
    yield {"protoPayload": {"authenticationInfo": person, "metadata": {"jobInsertion": {"job": started}}}}
    if run.status is not Status.RUNNING:
        yield {"protoPayload": {"authenticationInfo": person, "metadata": {"jobChange": {"job": job}}}}


def _databricks(run: Run) -> Iterable[Row]:
    yield {
        "statement_id": f"st-{run.number}",
        "session_id": str(run.session),
        "execution_status": "FINISHED" if run.status is Status.SUCCESS else run.status.upper(),
        "executed_by": run.user,
        "statement_text": run.text,
        "start_time": _iso(run.started),
        "total_duration_ms": run.duration // 1_000,
        "produced_rows": run.rows,
    }


def _redshift(run: Run) -> Iterable[Row]:
    text = run.text.replace("\\", "\\\\").replace("\n", "\\n").encode()
    pieces = [text[at : at + 4_000] for at in range(0, len(text), 4_000)]
    for sequence, piece in reversed(list(enumerate(pieces))):
        yield {
            "user_id": 100,
            "query_id": run.number,
            "session_id": run.session,
            "database_name": "shop".ljust(128),
            "status": run.status.ljust(10),
            "start_time": _at(run.started),
            "elapsed_time": run.duration,
            "returned_rows": run.rows,
            "query_text": text[:4_000].decode(errors="ignore"),
            "user_name": run.user,
            "sequence": sequence,
            "text": piece.decode(errors="replace").rstrip(),
        }


def _postgres(run: Run) -> list[tuple[str, str, str, str | None]]:
    """Return severity, SQLSTATE, message and statement of what log_statement and log_duration write of a run."""
    started = ("LOG", "00000", f"statement: {run.text}", None)
    if run.status is Status.SUCCESS:
        if run.number % 2:
            return [("LOG", "00000", f"duration: {run.duration / 1e3:.3f} ms  statement: {run.text}", None)]
        return [started, ("LOG", "00000", f"duration: {run.duration / 1e3:.3f} ms", None)]
    state = {"failed": "42P01", "canceled": "57014"}.get(run.status)
    return [started] if state is None else [started, ("ERROR", state, "it did not end well", run.text)]


def postgres_csv_line(run: Run) -> str:
    """Return the lines of csvlog, with its 26 columns."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    for row in _postgres_rows(run):
        head = (row["log_time"], run.user, "shop", 4711, "[local]", row["session_id"], row["number"], "SELECT")
        middle = (row["log_time"], "3/1", 0, row["severity"], row["state"], row["message"], "", "", "", "", "")
        write.writerow((*head, *middle, row["statement"] or "", "", "", "app", "client backend", "", 0))
    return out.getvalue()


def _postgres_rows(run: Run) -> Iterable[Row]:
    for part, (severity, state, message, statement) in enumerate(_postgres(run)):
        ended = message.startswith("duration")
        yield {
            "log_time": _at(run.started + (run.duration if ended else 0), " UTC"),
            "session_id": f"{run.session:x}.1267",
            "number": 2 * run.position + part,
            "severity": severity,
            "state": state,
            "message": message,
            "statement": statement,
        }


def _postgres_json(run: Run) -> Iterable[Row]:
    for row in _postgres_rows(run):
        said = {
            "timestamp": row["log_time"],
            "user": run.user,
            "dbname": "shop",
            "session_id": row["session_id"],
            "line_num": row["number"],
            "error_severity": row["severity"],
            "state_code": row["state"] if row["severity"] == "ERROR" else None,
            "message": row["message"],
            "statement": row["statement"],
        }
        yield {key: value for key, value in said.items() if value is not None}


def _pg_stat_statements(run: Run) -> Iterable[Row]:
    yield {
        "userid": 1, "dbid": 2, "rolname": run.user, "datname": "shop", "queryid": run.number, "query": run.text,
        "calls": run.position, "total_exec_time": run.duration / 1_000, "rows": run.rows,
        "sampled_at": _at(run.started, "+00"),
    }  # fmt: skip


def _mysql(run: Run) -> Iterable[Row]:
    lines = []
    if run.position == 1:
        lines.append(f"{_iso(run.started - 1)}\t{run.session:5d} Connect\t{run.user}@localhost on shop using Socket")
    lines.append(f"{_iso(run.started)}\t{run.session:5d} Query\t{run.text}")
    yield {"text": "\n".join(lines) + "\n"}


def _trino(run: Run) -> Iterable[Row]:
    created = {"createTime": _iso(run.started), "context": {"user": run.user, "catalog": "hive", "schema": "shop"}}
    metadata = {"queryId": f"q_{run.number}", "query": run.text}
    yield {**created, "metadata": {**metadata, "queryState": "QUEUED"}}
    if run.status is Status.RUNNING:
        return
    error = {"failed": "COLUMN_NOT_FOUND", "canceled": "USER_CANCELED"}.get(run.status)
    yield {
        **created,
        "metadata": {**metadata, "queryState": "FAILED" if error else "FINISHED"},
        "statistics": {"outputRows": run.rows},
        "failureInfo": {"errorCode": {"name": error}} if error else None,
        "endTime": _iso(run.started + run.duration),
    }


def _clickhouse(run: Run) -> Iterable[Row]:
    text = run.text.encode()[:_CUT].decode(errors="ignore")
    row = {
        "type": "QueryStart",
        "query_start_time": _at(run.started)[:19],
        "query_start_time_microseconds": _at(run.started),
        "query_duration_ms": 0,
        "current_database": "shop",
        "query": text,
        "is_initial_query": 1,
        "user": run.user,
        "query_id": f"q-{run.number}",
    }
    yield row
    ends = {
        "success": ("QueryFinish", 0),
        "failed": ("ExceptionWhileProcessing", 60),
        "canceled": ("ExceptionWhileProcessing", 394),
    }
    if run.status in ends:
        kind, code = ends[run.status]
        yield {
            **row,
            "type": kind,
            "query_duration_ms": run.duration // 1_000,
            "result_rows": run.rows,
            "exception_code": code,
        }


def _hive(run: Run) -> Iterable[Row]:
    if run.status is Status.SUCCESS:
        yield {
            "version": "1.0", "user": run.user, "timestamp": run.started // 1_000_000,
            "duration": run.duration // 1_000, "database": "shop", "hash": str(run.number),
            "queryText": run.text, "edges": [], "vertices": [],
        }  # fmt: skip


def _spark(run: Run) -> Iterable[Row]:
    event = "org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperation"
    name = {"id": f"op-{run.number}"}
    yield {
        "Event": f"{event}Start", **name, "sessionId": str(run.session), "statement": run.text,
        "startTime": run.started // 1_000, "userName": run.user,
    }  # fmt: skip
    end = {"success": "Finish", "failed": "Error", "canceled": "Canceled"}.get(run.status)
    if end:
        yield {"Event": event + end, **name, "finishTime": (run.started + run.duration) // 1_000}


def _generic(run: Run) -> Iterable[Row]:
    cut = len(run.text) > _CUT
    yield {
        "sql": run.text[:_CUT], "id": str(run.number), "started_at": datetime.fromtimestamp(run.started / 1e6, UTC),
        "duration_us": run.duration, "user": run.user, "session": str(run.session), "position": run.position,
        "schema": "shop", "dialect": run.dialect, "status": str(run.status), "rows": run.rows, "truncated": cut,
    }  # fmt: skip


SHAPES: dict[str, Callable[[Run], Iterable[Row]]] = {
    "snowflake": _snowflake,
    "snowflake_access": _snowflake_access,
    "bigquery": _bigquery,
    "bigquery_audit": _bigquery_audit,
    "databricks": _databricks,
    "redshift": _redshift,
    "postgres_csv": lambda run: [{"text": postgres_csv_line(run)}],
    "postgres_json": _postgres_json,
    "pg_stat_statements": _pg_stat_statements,
    "mysql": _mysql,
    "trino": _trino,
    "clickhouse": _clickhouse,
    "hive": _hive,
    "spark": _spark,
    "generic": _generic,
}
LINES = frozenset(name for name, source in SOURCES.items() if source.reading.kind != "table" or source.reading.headers)
"""Those that are text, whatever is asked for."""
