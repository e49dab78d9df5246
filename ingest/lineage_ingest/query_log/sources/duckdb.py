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
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log import coercion
from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.runs import carry_forward, starts
from lineage_ingest.query_log.sources.source import FILE, Assembly, Reading, Source, SourceRows
from lineage_ingest.query_log.time_columns import times

__all__ = ["DUCKDB"]

_COLUMNS = ("connection_id", "transaction_id", "query_id", "timestamp", "type", "message")
_SESSION = "session"
"""Added by `assemble`: distinguishes connections with the same id."""


def _convert(every: SourceRows) -> Any:
    log = every.where(pc.equal(every.text("type"), "QueryLog"))
    return log.batch(
        query_text=log.statement("message"),
        started_at=log.time("timestamp"),
        position=log.count("query_id"),
        session=log.text(_SESSION, "connection_id"),
        status=str(Status.UNKNOWN),
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
    return table.take(order).append_column(_SESSION, session)


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
