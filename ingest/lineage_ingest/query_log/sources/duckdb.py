"""DuckDB's query log: the view `duckdb_logs`, or the one file that `storage = 'file', normalize = false` writes.

https://duckdb.org/docs/stable/operations_manual/logging/overview

`CALL enable_logging('QueryLog')` begins it; `COPY (FROM duckdb_logs) TO 'log.parquet'` exports it.

Traps:
- Other kinds of entries (`FileSystem`, `HTTP`, …) stand between those of the type `QueryLog`.
- A statement is logged before it is bound: it is not known whether it succeeded (the status is `unknown`).
- A process that starts anew counts its connections and queries from the beginning: a connection whose queries are
  counted from further down is another session.
- The file storage writes two files by default, and only `duckdb_log_contexts.csv` says who ran what. Its numbers
  come again with each process: export the view, or write one file.
- There are no users; each text holds one statement, with its parameters left open.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log import coercion
from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.runs import carried, starts
from lineage_ingest.query_log.sources.source import FILE, Assembly, Reading, Source, SourceRows
from lineage_ingest.query_log.time_columns import times

__all__ = ["DUCKDB"]

_COLUMNS = ("connection_id", "transaction_id", "query_id", "timestamp", "type", "message")
_SESSION = "session"
"""Added by `assemble`: connections of one number apart."""


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
    """Return the rows in order, with the session that each belongs to."""
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
    first = carried(keys["at"].cast(pa.int64()).cast(pa.string()), anew, begins)
    # Where all that is joined is null, Arrow leaves the row out.
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
