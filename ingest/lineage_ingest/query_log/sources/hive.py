"""Hive's LineageLogger: a hook that writes each statement and its column lineage as JSON to Hive's log.

https://hive.apache.org/docs/latest/capture-lineage-info
(`hive.exec.post.hooks` = org.apache.hadoop.hive.ql.hooks.LineageLogger)

Traps:
- log4j writes a prefix before the JSON (time, level, class), and the log has lines of other loggers.
- `timestamp` is the start of the statement in seconds; `duration` is in milliseconds.
- A post-execution hook sees only successful statements, and no session: a temporary table is resolved to its sources
  only if the log creates one of that name.
- A column of a result may be qualified by a table name or alias, `src1.key`. A column of a table also has its database.
- A PREDICATE edge is indirect lineage; only PROJECTION edges are read as column lineage.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.json_lines import LINEAGE, flatten_documents, written_column
from lineage_ingest.query_log.sources.source import LINE, Reading, Source, SourceRows

__all__ = ["HIVE"]

_FLAT = ("queryText", "hash", "timestamp", "duration", "user", "database")


def _convert(every: SourceRows) -> Any:
    # Skip lines of other loggers, but keep unreadable lines of the hook.
    spoken = pc.or_(
        pc.is_null(every.text(LINE)), pc.fill_null(pc.match_substring(every.text(LINE), '"queryText"'), False)
    )
    log = flatten_documents(every.where(spoken), _FLAT, _flatten)
    return log.batch(
        query_text=log.statement("queryText"),
        statement_id=log.text("hash"),
        started_at=log.time("timestamp", unit="s"),
        duration_us=log.count("duration", scale=1_000),
        user=log.text("user"),
        default_schema=log.text("database"),
        status=str(Status.SUCCESS),
        source_lineage=log.column(LINEAGE),
    )


def _flatten(document: dict[str, Any]) -> dict[str, Any] | None:
    if "queryText" not in document:
        return None
    return {**{name: document.get(name) for name in _FLAT}, LINEAGE: _lineage(document)}


def _lineage(document: dict[str, Any]) -> list[dict[str, str | None]] | None:
    vertices, edges = document.get("vertices"), document.get("edges")
    if not isinstance(vertices, list) or not isinstance(edges, list):
        return None
    columns: dict[Any, tuple[str, str]] = {}
    for vertex in vertices:
        if isinstance(vertex, dict) and vertex.get("vertexType") == "COLUMN":
            table, _, column = str(vertex.get("vertexId")).rpartition(".")
            # A table has its database; a vertex without one is a column of a result that is not written.
            if "." in table and isinstance(vertex.get("id"), int):
                columns[vertex["id"]] = (table, column)
    sources: dict[int, dict[int, None]] = {}
    for edge in edges:
        if isinstance(edge, dict) and edge.get("edgeType") == "PROJECTION":
            # Hive repeats a pair for each statistic that it gathers on a column.
            for target in _ids(edge.get("targets")):
                sources.setdefault(target, {}).update(dict.fromkeys(_ids(edge.get("sources"))))
    return [
        edge
        for target, read in sorted(sources.items())  # vertex ids follow the order of the table's columns
        if target in columns
        for edge in written_column(columns[target], (columns[source] for source in read if source in columns))
    ]


def _ids(values: Any) -> list[int]:
    return [value for value in values if isinstance(value, int)] if isinstance(values, list) else []


HIVE = Source(
    name="hive",
    title="Hive LineageLogger",
    dialect="hive",
    columns=(LINE,),
    needed=(LINE,),
    convert=_convert,
    known_by=(("querytext",),),
    reading=Reading("lines", mark='"queryText"'),
    documentation=("https://hive.apache.org/docs/latest/capture-lineage-info",),
)
