"""Snowflake's ACCESS_HISTORY: column lineage of writes, as resolved by Snowflake.

https://docs.snowflake.com/en/sql-reference/account-usage/access_history

`objects_modified[].columns[].directSources` are the source columns of a written column. `baseSources`, the source
columns behind views, are not read, because the lineage of the views leads to them. The view has no statement text:
the query over JDBC joins QUERY_HISTORY, and files of both views can be read together; they are joined by QUERY_ID.

Traps:
- VARIANT columns are JSON text in CSV, and text or nested values in JSON, depending on the export.
- A column written only from constants has no sources: its lineage is known and empty.
- Only successful statements have rows, and `objects_modified` is empty for a statement that only reads. Without
  QUERY_HISTORY, such a statement is read as a SELECT of the columns in `direct_objects_accessed`.
- The view of an organization has the rows of several accounts: `account_locator`.
- A column loaded from a stage by COPY INTO has the stage as its source, without a source column.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.names import split_name
from lineage_ingest.query_log.log_schema import LOG_SCHEMA, Status
from lineage_ingest.query_log.sources.cloud.snowflake import (
    HISTORY_COLUMNS,
    STATUSES,
    history_fields,
    single_statements,
)
from lineage_ingest.query_log.sources.first_values import merged
from lineage_ingest.query_log.sources.json_lines import written_column
from lineage_ingest.query_log.sources.source import Assembly, Source, SourceRows, selecting

__all__ = ["SNOWFLAKE_ACCESS", "unnamed_in"]

_OWN = ("query_start_time", "direct_objects_accessed", "objects_modified", "parent_query_id")
_HAVE_ROWS = frozenset(
    ("table", "view", "materialized view", "external table", "iceberg table", "dynamic table", "stream")
)
"""Kinds of objects whose columns a query can read."""


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
    if fields["query_text"].null_count:
        read = pa.array([_query_of(accessed) for accessed in log.objects("direct_objects_accessed")], pa.string())
        fields["query_text"] = pc.if_else(
            pc.is_valid(lineage), fields["query_text"], pc.coalesce(fields["query_text"], read)
        )
    return log.batch(parent_id=log.text("parent_query_id"), source_lineage=lineage, **fields)


def _lineage(written: Any) -> list[dict[str, str | None]] | None:
    """Return the column lineage in `objects_modified`; None if it has no columns.

    Of a column that has sources none of which has a name, nothing is known: it is not one without sources.
    """
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
            own, sources = column.get("columnName"), column.get("directSources")
            if not own or not isinstance(own, str):
                continue
            spoke = True
            if not isinstance(sources, list):
                continue
            named = [
                (str(source.get("objectName")), source.get("columnName"))
                for source in sources
                if isinstance(source, dict) and source.get("objectName") is not None
            ]
            if named or not sources:
                edges += written_column((name, own), named)
    return edges if spoke else None


def unnamed_in(written: Any) -> bool:
    """Return whether `objects_modified` has columns, or sources of columns, without a name.

    >>> unnamed_in([{"objectName": "T", "columns": [{"columnName": None, "directSources": []}]}])
    True
    """
    tables = [one for one in written if isinstance(one, dict)] if isinstance(written, list) else []
    for table in tables:
        columns = table.get("columns")
        for column in (one for one in columns if isinstance(one, dict)) if isinstance(columns, list) else ():
            sources = column.get("directSources")
            listed = [one for one in sources if isinstance(one, dict)] if isinstance(sources, list) else []
            if not column.get("columnName") or not table.get("objectName") or not all(map(_has_object, listed)):
                return True
    return False


def _has_object(source: dict[str, Any]) -> bool:
    return bool(source.get("objectName"))


def _query_of(accessed: Any) -> str | None:
    """Return a SELECT of the objects that a statement read; None if it read no tables or views.

    >>> _query_of([{"objectDomain": "Table", "objectName": 'DB.S."my t"', "columns": [{"columnName": "A"}]}])
    'SELECT t1."A" FROM "DB"."S"."my t" AS t1'
    """
    listed: list[str] = []
    tables: list[str] = []
    for one in accessed if isinstance(accessed, list) else ():
        if not isinstance(one, dict) or str(one.get("objectDomain")).lower() not in _HAVE_ROWS:
            continue
        name, columns = one.get("objectName"), one.get("columns")
        if isinstance(name, str) and name:
            tables.append(f"{'.'.join(_quote(part) for part, _ in split_name(name))} AS t{len(tables) + 1}")
            names = [str(c.get("columnName")) for c in columns or () if isinstance(c, dict) and c.get("columnName")]
            listed += (f"t{len(tables)}.{_quote(column)}" for column in names)
    return f"SELECT {', '.join(listed) or '1'} FROM {', '.join(tables)}" if tables else None  # noqa: S608  it is read, never run


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _in_order(column: dict[str, Any]) -> tuple[int, str]:
    """Return the sort key of a column in its table: `columnId` follows the order of creation."""
    number = column.get("columnId")
    return (number if isinstance(number, int) else 0, str(column.get("columnName")))


def _assemble(table: Any) -> Any:
    by_name = {name.lower(): name for name in table.column_names}
    return merged(table, by_name["query_id"]) if "query_id" in by_name else table


SNOWFLAKE_ACCESS = Source(
    name="snowflake_access",
    title="Snowflake ACCESS_HISTORY",
    dialect="snowflake",
    columns=(*HISTORY_COLUMNS, *_OWN, "account_locator"),
    needed=("objects_modified", "query_text"),
    convert=_convert,
    statuses=tuple(STATUSES.items()),
    known_by=(("objects_modified",), ("direct_objects_accessed",), ("base_objects_accessed",)),
    assembly=Assembly(by=("query_id",), order=(), rows=_assemble),
    jdbc=selecting(
        (*(f"q.{name}" for name in HISTORY_COLUMNS[1:]), "a.query_id", *(f"a.{name}" for name in _OWN)),
        "FROM SNOWFLAKE.ACCOUNT_USAGE.ACCESS_HISTORY AS a LEFT JOIN SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY AS q "
        "ON q.query_id = a.query_id WHERE a.query_start_time >= TO_TIMESTAMP_TZ('{since} +00:00')",
    ),
    documentation=("https://docs.snowflake.com/en/sql-reference/account-usage/access_history",),
)
