"""PostgreSQL's extension pg_stat_statements: normalized statements without constants, and their run counts.

https://www.postgresql.org/docs/current/pgstatstatements.html

A row is the total of `calls` runs: its times and row counts are sums.

Traps:
- Without the role pg_read_all_stats, the texts of other users are `<insufficient privilege>`. A text is null if the
  server discarded its file of query texts.
- Users and databases are oids: the query over JDBC adds their names and the time of sampling, `sampled_at`.
- Runs have no times: `sampled_at` is a time by which they had run, `stats_since` (from 17) the start of the counting.
- `total_exec_time` is `total_time` before 13.
- There are no sessions: a temporary table is resolved to its sources only if one statement creates a table of that
  name.
- Texts are not cut; pg_stat_activity cuts them (at track_activity_query_size).
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.source import Source, SourceRows

__all__ = ["PG_STAT_STATEMENTS"]


def _convert(log: SourceRows) -> Any:
    text = log.statement("query")
    hidden = pc.equal(text, "<insufficient privilege>")
    sampled, since = log.time("sampled_at"), log.time("stats_since")
    time = log.count("total_exec_time", "total_time", scale=1_000)
    calls = log.count("calls")
    return log.batch(
        query_text=pc.if_else(hidden, pa.scalar(None, pa.string()), text),
        statement_id=log.text("queryid"),
        started_at=pc.coalesce(sampled, since),
        duration_us=time,
        runs=pc.if_else(pc.fill_null(pc.greater(calls, 0), False), calls, 1),
        user=log.text("rolname", "usename", "userid"),
        default_database=log.text("datname"),
        status=str(Status.SUCCESS),
        rows=log.count("rows"),
    )


PG_STAT_STATEMENTS = Source(
    name="pg_stat_statements",
    title="PostgreSQL pg_stat_statements",
    dialect="postgres",
    columns=(
        "userid",
        "dbid",
        "rolname",
        "usename",
        "datname",
        "queryid",
        "query",
        "calls",
        "total_exec_time",
        "total_time",
        "rows",
        "stats_since",
        "sampled_at",
    ),
    needed=("query",),
    convert=_convert,
    known_by=(("query", "calls"),),
    # The view has no history: {since} filters nothing. Filtering by stats_since would need version 17.
    jdbc="SELECT s.userid, s.dbid, r.rolname, d.datname, s.queryid, s.query, s.calls, s.total_exec_time, s.rows, "
    "now() AS sampled_at FROM pg_stat_statements AS s LEFT JOIN pg_roles AS r ON r.oid = s.userid "
    "LEFT JOIN pg_database AS d ON d.oid = s.dbid WHERE now() >= TIMESTAMPTZ '{since}+00'",
    documentation=("https://www.postgresql.org/docs/current/pgstatstatements.html",),
)
