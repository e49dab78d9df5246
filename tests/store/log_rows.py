"""Ingest rows of query logs into a store, and query the columns that they affect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineage.store import GraphStore
from lineage.traversal import TraversalOptions, UnknownNameError, impact, resolve_column
from lineage_ingest.query_log import source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions, open_engine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import LogInput

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def reached(store: GraphStore, column: str) -> set[str]:
    """Return the columns that `impact` reaches."""
    try:
        target = resolve_column(store, column)
    except UnknownNameError:
        return set()
    answer = impact(store, target, TraversalOptions())
    return {f"{each.table.removeprefix('main.')}.{each.key.rpartition('#')[2]}" for each in answer.outlines}


def ingest_rows(store: GraphStore, path: Path, day: int, rows: Sequence[str]) -> None:
    """Ingest a log whose rows begin with the session's number."""
    lines = []
    for minute, row in enumerate(rows):
        session, text = row.split(": ", 1)
        at = BEGIN + timedelta(days=day, minutes=minute)
        lines.append(json.dumps({"query_text": text, "started_at": at.isoformat(), "session": session, "user": "ann"}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = LogInput(source_named("generic", dialect="duckdb"), (str(path),))
    with open_engine(given, EngineKind.LOCAL, SparkOptions()) as engine:
        ingest_log_rows(engine, store, LogContext(given.name, BEGIN + timedelta(days=day), schema="main"))
