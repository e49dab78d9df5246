"""Logs for tests: rows in any order, ingested in-process, and the edges that a graph holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from lineage import Catalog
from lineage.sql.extraction import options_for
from lineage.store import GraphStore, open_store
from lineage_ingest.query_log.ingest import LogSummary, ingest_log_rows
from lineage_ingest.query_log.log_schema import LOG_SCHEMA, log_batch
from lineage_ingest.query_log.pipeline.engines.local_engine import LocalEngine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.sql_files import ingest_sql_files

AT = datetime(2026, 3, 1, tzinfo=UTC)


class Ran(NamedTuple):
    """A statement that a session ran, so many seconds after the beginning."""

    text: str | None
    session: str | None = "s"
    second: float = 0
    user: str = "ann"
    fields: dict[str, Any] = {}  # noqa: RUF012  never changed


def in_order(texts: Iterable[str], session: str = "s") -> list[Ran]:
    return [Ran(text, session, second) for second, text in enumerate(texts)]


def rows(ran: Sequence[Ran], dialect: str = "postgres") -> Any:
    """Return the log of what ran, as one batch of the log schema."""
    listed: dict[str, list[Any]] = {
        "query_text": [one.text for one in ran],
        "session": [one.session for one in ran],
        "started_at": [AT + timedelta(seconds=one.second) for one in ran],
        "user": [one.user for one in ran],
        "dialect": [dialect] * len(ran),
        "status": ["success"] * len(ran),
        "duration_us": [1_000] * len(ran),
    }
    for name in {name for one in ran for name in one.fields}:
        before = listed.get(name, [None] * len(ran))
        listed[name] = [one.fields.get(name, value) for one, value in zip(ran, before, strict=True)]
    arrays = {name: pa.array(values, LOG_SCHEMA.field(name).type) for name, values in listed.items()}
    return log_batch(len(ran), **arrays)


def ingested(
    store: GraphStore, ran: Sequence[Ran], dialect: str = "postgres", catalog: Catalog | None = None, size: int = 7
) -> LogSummary:
    """Ingest what ran, in batches of some rows."""
    batch = rows(ran, dialect)
    parts = [batch.slice(start, size) for start in range(0, len(ran), size)]
    return ingest_log_rows(LocalEngine(lambda: parts), store, LogContext("test log", AT), catalog)


def edges(store: GraphStore) -> set[str]:
    """Return all live edges, each as a line: what it says, not who says it."""
    return {
        f"{source} {kind} {target} {properties['subtypes']} {properties['masking']} {properties['limited']}"
        for kind, source, target, properties in store.dump().relationships
        if kind in ("CONTRIBUTES", "REFERENCES")
    }


@contextmanager
def two_stores(folder: Path) -> Iterator[tuple[GraphStore, GraphStore]]:
    with open_store(folder / "one.db") as one, open_store(folder / "other.db") as other:
        yield one, other


def of_files(
    store: GraphStore, folder: Path, files: dict[str, str], dialect: str = "postgres", catalog: Catalog | None = None
) -> None:
    """Ingest SQL files, as `lineage ingest sql` does."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    ingest_sql_files([folder], store, options_for(dialect), catalog, observed_at=AT)
