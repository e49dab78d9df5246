"""DuckDB's query log: the view `duckdb_logs`, or the single file that `storage = 'file', normalize = false` writes.

https://duckdb.org/docs/stable/operations_manual/logging/overview

`CALL enable_logging('QueryLog')` enables it; `COPY (FROM duckdb_logs) TO 'log.parquet'` exports it.

Traps:
- The log also contains entries of other types (`FileSystem`, `HTTP`, …); only those of type `QueryLog` are read.
- A statement is logged before it is bound: whether it succeeds is unknown (the status is `unknown`).
- Connection and query ids restart with each process: if the query id of a connection decreases, a new session begins.
- By default the file storage writes two files, and only `duckdb_log_contexts.csv` has the connections. Its ids repeat
  in each process: export the view, or write a single file.
- The log has no users. Each text is one statement, without its parameter values.
- `PREPARE p AS …` does not run its statement; `EXECUTE p` does, and is logged without it.
- A transaction that ends without COMMIT is rolled back: the next statement has another transaction id. A COMMIT that
  rolls back, because a statement failed, cannot be told from another.
- A PIVOT without values is logged as two statements: one creates an enum of the values, under a name that is new each
  time, and one pivots by it.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.reading import coercion
from lineage_ingest.query_log.reading.time_columns import times
from lineage_ingest.query_log.sources.runs import carry_forward, starts
from lineage_ingest.query_log.sources.source import FILE, Assembly, Reading, Source, SourceRows

__all__ = ["DUCKDB"]

_COLUMNS = ("connection_id", "transaction_id", "query_id", "timestamp", "type", "message")
_SESSION = "session"
"""Added by `assemble`: distinguishes connections with the same id."""
_UNFINISHED = "unfinished"
"""Added by `assemble`: whether the row's transaction ended without COMMIT."""
_NAME = r"(?P<name>\"[^\"]*\"|[^\s(;]+)"
_PREPARE = rf"(?is)^\s*prepare\s+{_NAME}\s*(?:\([^)]*\))?\s+as\s+(?P<sql>.*)$"
_EXECUTE = rf"(?is)^\s*execute\s+{_NAME}"
_ENUM = r'"__pivot_enum_[0-9a-fA-F-]+"'
_VERB = r"(?i)^\s*(?P<verb>begin|start|commit|end|rollback|abort)\b"


def _convert(every: SourceRows) -> Any:
    log = every.where(pc.equal(every.text("type"), "QueryLog"))
    return log.batch(
        query_text=log.statement("message"),
        started_at=log.time("timestamp"),
        position=log.count("query_id"),
        session=log.text(_SESSION, "connection_id"),
        status=pc.if_else(
            pc.fill_null(pc.equal(log.text(_UNFINISHED), "true"), False), str(Status.CANCELED), str(Status.UNKNOWN)
        ),
    )


def _assemble(table: Any) -> Any:
    """Return the rows in order, each with its session."""
    names = {name.lower(): name for name in table.column_names}
    keys = {
        "file": coercion.texts(_column(table, FILE)),
        "connection": coercion.texts(_column(table, names.get("connection_id", ""))),
        "at": times(_column(table, names.get("timestamp", "")), None),
        "query": coercion.count_of(_column(table, names.get("query_id", ""))),
    }
    order = pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys])
    keys = {name: values.take(order) for name, values in keys.items()}
    begins = starts(keys["file"], keys["connection"])
    before = pa.concat_arrays([pa.nulls(1, pa.int64()), keys["query"].slice(0, max(table.num_rows - 1, 0))])
    anew = pc.or_(begins, pc.fill_null(pc.less(keys["query"], before.slice(0, table.num_rows)), False))
    first = carry_forward(keys["at"].cast(pa.int64()).cast(pa.string()), anew, begins)
    # Arrow drops a row if all joined values are null.
    named = pc.binary_join_element_wise(pc.fill_null(keys["connection"], ""), first, "@", null_handling="skip")
    session = pc.if_else(pc.is_valid(keys["connection"]), named, pa.scalar(None, pa.string()))
    table = table.take(order).append_column(_SESSION, session)
    message = coercion.texts(_column(table, names.get("message", "")))
    message = pc.replace_substring_regex(message, _ENUM, '"__pivot_enum"')
    texts, runs = _executed(message, session)
    unfinished = _unfinished(message, session, coercion.texts(_column(table, names.get("transaction_id", ""))))
    table = table.append_column(_UNFINISHED, unfinished)
    if "message" not in names:
        return table
    return table.set_column(table.column_names.index(names["message"]), names["message"], texts).filter(runs)


def _executed(message: Any, session: Any) -> tuple[Any, Any]:
    """Return the messages with what EXECUTE runs in its place, and a mask that is false at PREPARE."""
    prepares = pc.extract_regex(message, _PREPARE)
    executes = pc.extract_regex(message, _EXECUTE)
    touched = pc.indices_nonzero(pc.or_(pc.is_valid(prepares), pc.is_valid(executes)))
    if not len(touched):
        return message, pa.repeat(pa.scalar(True), len(message))
    listed = message.to_pylist()
    prepared: dict[tuple[str | None, str], str] = {}
    columns = (prepares.field(0), prepares.field(1), executes.field(0), session)
    for at, name, sql, executed, owner in zip(
        touched.to_pylist(), *(one.take(touched).to_pylist() for one in columns), strict=True
    ):
        if sql:
            prepared[owner, name.lower()] = sql
        elif executed:
            listed[at] = prepared.get((owner, executed.lower()), listed[at])
    return pa.array(listed, pa.string()), pc.invert(pc.is_valid(prepares))


def _unfinished(message: Any, session: Any, transaction: Any) -> Any:
    """Return a mask of the rows of transactions that were begun, not ended, and followed by another one."""
    own = pc.binary_join_element_wise(pc.fill_null(session, ""), pc.fill_null(transaction, ""), "/")
    verb = pc.utf8_lower(pc.extract_regex(message, _VERB).field(0))
    begun = own.filter(pc.fill_null(pc.is_in(verb, pa.array(["begin", "start"])), False))
    ended = own.filter(pc.fill_null(pc.is_in(verb, pa.array(["commit", "end", "rollback", "abort"])), False))
    last = own.filter(pa.concat_arrays([starts(session).slice(1), pa.array([True])]).slice(0, len(own)))
    open_ones = pc.is_in(own, value_set=pc.unique(begun))
    for others in (ended, last):
        open_ones = pc.and_(open_ones, pc.invert(pc.is_in(own, value_set=pc.unique(others))))
    return pc.and_(open_ones, pc.is_valid(transaction)).cast(pa.string())


def _column(table: Any, name: str) -> Any:
    if name not in table.column_names:
        return pa.nulls(table.num_rows, pa.string())
    column = table.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


DUCKDB = Source(
    name="duckdb",
    title="DuckDB's query log",
    dialect="duckdb",
    columns=_COLUMNS,
    needed=("connection_id",),
    convert=_convert,
    known_by=(("connection_id", "transaction_id", "message"),),
    reading=Reading(placed=True),
    assembly=Assembly(by=(FILE, "connection_id"), order=("timestamp", "query_id"), rows=_assemble),
    documentation=("https://duckdb.org/docs/stable/operations_manual/logging/overview",),
)
