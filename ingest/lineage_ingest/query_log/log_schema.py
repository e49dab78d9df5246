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
    LogField("query_text", _TEXT, "The statement, or a script of them; null where the source has none."),
    LogField("statement_id", _TEXT, "The source's own name of this run; null where it gives none."),
    LogField("parent_id", _TEXT, "The run that started this one: a script, a procedure. Null at the top."),
    LogField(
        "is_script",
        pa.bool_(),
        "The statements of this run may have rows of their own, which have it as their parent: it counts where none "
        "has. Not null.",
    ),
    LogField("started_at", pa.timestamp("us", "UTC"), "When the run began: event time. Null where it is not said."),
    LogField(
        "position",
        _COUNT,
        "The place within the session, as the log itself has it: a session is sorted by it where all of its rows "
        "have one, else by started_at. Times decide between sessions only.",
    ),
    LogField(
        "duration_us",
        _COUNT,
        "Microseconds that the runs took together. Not milliseconds: a million runs of 0.3 ms would be none; and "
        "whole, so that sums do not depend on their order.",
    ),
    LogField("runs", _COUNT, "How many runs this row stands for: 1, but in a log that is summed up already. Not null."),
    LogField("user", _TEXT, "Who ran it, as the source names its users."),
    LogField("session", _TEXT, "What temporary tables and USE live in. Null: the statement stands alone."),
    LogField("default_database", _TEXT, "The database (catalog, project) of names without one, when this run began."),
    LogField("default_schema", _TEXT, "The schema (dataset; MySQL's, Hive's, ClickHouse's database) likewise."),
    LogField("dialect", _TEXT, "The dialect's name, as lineage.model.dialects has it. Not null but with a problem."),
    LogField("status", _TEXT, "A Status. Not null."),
    LogField("rows", _COUNT, "Rows that the runs returned or wrote together."),
    LogField(
        "truncated", pa.bool_(), "The source cut the text: what it says of tables holds, of columns not. Not null."
    ),
    LogField(
        "destination",
        _TEXT,
        "The table that the result was written to where the text does not say it: BigQuery's destination table of a "
        "SELECT. That write is lineage, and is lost without this field.",
    ),
    LogField(
        "appends",
        pa.bool_(),
        "The destination's other rows stay: the result is added to it, or written to a partition. Null: not known.",
    ),
    LogField("source_lineage", _LINEAGE, "What the source itself knows of the columns; null where it says nothing."),
    LogField(
        "unread_time",
        _TEXT,
        "What stands where the time should, if that could not be read: its digits as 9, its letters as x.",
    ),
    LogField("problem", _TEXT, "Null for a good row, else a Problem. Such a row is kept, counted and sampled."),
)

LOG_SCHEMA = pa.schema([pa.field(field.name, field.type) for field in FIELDS])

_WHERE_NOTHING_IS_SAID: dict[str, object] = {
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
        fallback = _WHERE_NOTHING_IS_SAID.get(field.name)
        if isinstance(given, pa.Array):
            column = given if given.type == field.type else given.cast(field.type)
            arrays.append(column if fallback is None else column.fill_null(fallback))
        else:
            arrays.append(pa.repeat(pa.scalar(fallback if given is None else given, field.type), length))
    return pa.RecordBatch.from_arrays(arrays, schema=LOG_SCHEMA)
