"""Snowflake's ACCESS_HISTORY: which columns were written from which, as Snowflake itself resolved them.

https://docs.snowflake.com/en/sql-reference/account-usage/access_history

`objects_modified[].columns[].directSources` are the columns that a written column was computed from; `baseSources`, the
same through views, are left out, since the views' own lineage leads there. The view has no statement text: its query
over JDBC joins QUERY_HISTORY, and files of both views may be read together, for they are joined by QUERY_ID.

Traps:
- VARIANT columns come as JSON text in CSV, and as text or nested in JSON, by the way of export.
- A column written from nothing but constants has no sources: then the lineage is known, and empty.
- Only successful statements have rows; reads without a write have none in `objects_modified`.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import LOG_SCHEMA, Status
from lineage_ingest.query_log.sources.json_lines import written_column
from lineage_ingest.query_log.sources.merging import merged
from lineage_ingest.query_log.sources.snowflake import HISTORY_COLUMNS, history_fields, single_statements
from lineage_ingest.query_log.sources.source import Assembly, Source, SourceRows, selecting

__all__ = ["SNOWFLAKE_ACCESS"]

_OWN = ("query_start_time", "objects_modified", "parent_query_id")


def _convert(every: SourceRows) -> Any:
    log = single_statements(every)
    fields = history_fields(log)
    lineage = pa.array(
        [_lineage(written) for written in log.objects("objects_modified")], LOG_SCHEMA.field("source_lineage").type
    )
    ran = pc.or_(pc.is_valid(lineage), pc.is_valid(log.text("query_start_time")))
    unsaid = pc.and_(pc.equal(fields["status"], str(Status.UNKNOWN)), ran)
    fields["status"] = pc.if_else(unsaid, str(Status.SUCCESS), fields["status"])
    fields["started_at"] = pc.coalesce(fields["started_at"], log.time("query_start_time"))
    return log.batch(parent_id=log.text("parent_query_id"), source_lineage=lineage, **fields)


def _lineage(written: Any) -> list[dict[str, str | None]] | None:
    """Return what `objects_modified` says; None if it speaks of no table's columns."""
    if not isinstance(written, list):
        return None
    edges: list[dict[str, str | None]] = []
    spoke = False
    for table in written:
        if not isinstance(table, dict) or not isinstance(columns := table.get("columns"), list):
            continue
        if not isinstance(name := table.get("objectName"), str):
            continue
        for column in sorted((one for one in columns if isinstance(one, dict)), key=_in_order):
            spoke = True
            sources = column.get("directSources")
            if not isinstance(sources, list):
                continue
            edges += written_column(
                (name, column.get("columnName")),
                (
                    (str(source.get("objectName")), source["columnName"])
                    for source in sources
                    if isinstance(source, dict) and source.get("columnName") is not None
                ),
            )
    return edges if spoke else None


def _in_order(column: dict[str, Any]) -> tuple[int, str]:
    """Return where a column stands in its table: columns are numbered as they are made."""
    number = column.get("columnId")
    return (number if isinstance(number, int) else 0, str(column.get("columnName")))


def _assemble(table: Any) -> Any:
    by_name = {name.lower(): name for name in table.column_names}
    return merged(table, by_name["query_id"]) if "query_id" in by_name else table


SNOWFLAKE_ACCESS = Source(
    name="snowflake_access",
    title="Snowflake ACCESS_HISTORY",
    dialect="snowflake",
    columns=(*HISTORY_COLUMNS, *_OWN),
    needed=("objects_modified", "query_text"),
    convert=_convert,
    known_by=(("objects_modified",), ("direct_objects_accessed",), ("base_objects_accessed",)),
    assembly=Assembly(by=("query_id",), order=(), rows=_assemble),
    jdbc=selecting(
        (*(f"q.{name}" for name in HISTORY_COLUMNS[1:]), "a.query_id", *(f"a.{name}" for name in _OWN)),
        "FROM SNOWFLAKE.ACCOUNT_USAGE.ACCESS_HISTORY AS a LEFT JOIN SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY AS q "
        "ON q.query_id = a.query_id WHERE a.query_start_time >= TO_TIMESTAMP_TZ('{since} +00:00')",
    ),
    documentation=("https://docs.snowflake.com/en/sql-reference/account-usage/access_history",),
)
