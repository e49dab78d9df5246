"""The log schema, to which the query history of every source is converted."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import pyarrow as pa

__all__ = ["FIELDS", "LOG_SCHEMA", "LogField", "Problem", "Status", "log_batch"]


class Status(StrEnum):
    """The outcome of a statement. Only `success` and `unknown` produce lineage."""

    SUCCESS = "success"
    FAILED = "failed"
    CANCELED = "canceled"
    RUNNING = "running"
    UNKNOWN = "unknown"
    """The source logs statements before it runs them, without an outcome (MySQL's general log)."""


class Problem(StrEnum):
    """Why a row of a log cannot be used. A short fixed list, so that rows can be counted by problem; worst first."""

    UNREADABLE = "unreadable record"
    NOT_TEXT = "not UTF-8 text"
    OLDER = "older AuditData, not read"
    NOT_A_QUERY = "load, copy or extract job without a statement"
    SCRIPT = "script whose statements have rows of their own"
    """In streams only: a batch ingest knows whether the statements have rows, and reads the script if not."""
    NO_TEXT = "no text"
    UNKNOWN_DIALECT = "unknown dialect"
    UNKNOWN_STATUS = "unknown status, see --status-ok and --status-failed"
    """`query_text` contains the status."""
    LEGACY_SQL = "legacy SQL"
    ABSURD_TIME = "absurd time"
    FILE_REPORT = "file report"
    """Not a statement: `query_text` contains a `FileReport`."""


class LogField(NamedTuple):
    """A field of the log schema with its description."""

    name: str
    type: Any
    meaning: str


_TEXT = pa.string()
_COUNT = pa.int64()
_LINEAGE = pa.list_(
    pa.struct(
        [("target_table", _TEXT), ("target_column", _TEXT), ("source_table", _TEXT), ("source_column", _TEXT)],
    )
)

FIELDS: tuple[LogField, ...] = (
    LogField("query_text", _TEXT, "The SQL text: a statement or a script. Null if the source has none."),
    LogField("statement_id", _TEXT, "The source's id of this run. Null if it has none."),
    LogField(
        "parent_id",
        _TEXT,
        "The id of the run that started this one, such as a script or a procedure. Null if there is none.",
    ),
    LogField(
        "is_script",
        pa.bool_(),
        "Whether the statements of this run may have rows of their own, with this run as their parent. The row is used "
        "if there are none. Not null.",
    ),
    LogField(
        "started_at", pa.timestamp("us", "UTC"), "When the run began: event time. Null if the log does not state it."
    ),
    LogField(
        "position",
        _COUNT,
        "The position within the session, as in the log: a session is sorted by it if all of its rows "
        "have one, else by started_at. Times decide between sessions only.",
    ),
    LogField(
        "duration_us",
        _COUNT,
        "Total duration of the runs in microseconds. Whole numbers, so that sums do not depend on their order; not "
        "milliseconds, because many runs take less than one.",
    ),
    LogField("runs", _COUNT, "Number of runs in this row: 1, unless the log is aggregated. Not null."),
    LogField("user", _TEXT, "The user who ran it, as named by the source."),
    LogField(
        "session",
        _TEXT,
        "The session, which has the temporary tables and the USE of its statements. Null: none is known.",
    ),
    LogField("default_database", _TEXT, "The database (catalog, project) of unqualified names when this run began."),
    LogField(
        "default_schema",
        _TEXT,
        "The schema of unqualified names (a dataset in BigQuery, a database in MySQL, Hive and ClickHouse).",
    ),
    LogField("dialect", _TEXT, "The dialect's name in lineage.model.dialects. Null only if the row has a problem."),
    LogField("status", _TEXT, "A Status. Not null."),
    LogField("rows", _COUNT, "Total number of rows that the runs returned or wrote."),
    LogField(
        "truncated",
        pa.bool_(),
        "Whether the source truncated the text: its tables are used, its columns are not. Not null.",
    ),
    LogField(
        "destination",
        _TEXT,
        "The table that the result was written to, if the text does not name it, such as BigQuery's destination table "
        "of a SELECT.",
    ),
    LogField(
        "appends",
        pa.bool_(),
        "Whether the destination keeps its other rows: the result is appended or replaces a partition. Null: unknown.",
    ),
    LogField("source_lineage", _LINEAGE, "The column lineage that the source itself reports. Null if it reports none."),
    LogField(
        "unread_time",
        _TEXT,
        "An unreadable time, with each digit replaced by 9 and each letter by x.",
    ),
    LogField("problem", _TEXT, "Null for a usable row, else a Problem. Unusable rows are kept, counted and sampled."),
)

LOG_SCHEMA = pa.schema([pa.field(field.name, field.type) for field in FIELDS])

_DEFAULTS: dict[str, object] = {
    "runs": 1,
    "is_script": False,
    "truncated": False,
    "status": str(Status.UNKNOWN),
}


def log_batch(length: int, /, **columns: Any) -> Any:
    """Return a record batch of the log schema. Missing columns are null; fields that are not null have a default.

    >>> batch = log_batch(1, query_text=pa.array(["SELECT 1"]), status="success")
    >>> [(name, value) for name, value in batch.to_pylist()[0].items() if value is not None]
    [('query_text', 'SELECT 1'), ('is_script', False), ('runs', 1), ('status', 'success'), ('truncated', False)]

    Args:
        length: the number of rows.
        columns: by field name: an array that can be cast to the field's type, one value for all rows, or None.

    Raises:
        TypeError: a column is not in the schema.
    """
    if unknown := columns.keys() - {field.name for field in FIELDS}:
        raise TypeError(f"not in the log schema: {', '.join(sorted(unknown))}")
    arrays = []
    for field in FIELDS:
        given = columns.get(field.name)
        fallback = _DEFAULTS.get(field.name)
        if isinstance(given, pa.Array):
            column = given if given.type == field.type else given.cast(field.type)
            arrays.append(column if fallback is None else column.fill_null(fallback))
        else:
            arrays.append(pa.repeat(pa.scalar(fallback if given is None else given, field.type), length))
    return pa.RecordBatch.from_arrays(arrays, schema=LOG_SCHEMA)
