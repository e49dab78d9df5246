"""`lineage runs`: list the ingests, latest first."""

from __future__ import annotations

from typing import Annotated

import typer

from lineage.cli.store_options import FormatOption, StoreOption
from lineage.model.batch import UNFINISHED
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredRun

__all__ = ["runs"]

_COLUMNS = ("when", "kind", "source", "read", "statements", "resolved", "diagnostics", "edges", "seconds")
_LOOK = Look(words=("source",), cuts=("read", "source"), phrases={"read": "{}"})
_READ = (("rows", "row"), ("events", "event"), ("files", "file"))


def runs(
    store: StoreOption = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Maximum number, latest first; 0 lists all.")] = 20,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """What was ingested, when, and how much of it was resolved? Following a log makes one run per micro-batch.

    An `unfinished` run is in progress or was interrupted: ingest the same input again to complete it.

    Example: lineage runs --limit 5
    """
    with open_store(store, read_only=True) as opened:
        latest_runs = _latest(opened, limit)
    if not latest_runs:
        note("nothing has been ingested yet", "yellow")
    print_listing(
        _COLUMNS, map(_row, latest_runs), output, _LOOK, values=lambda: [_description(run) for run in latest_runs]
    )


def _latest(store: GraphStore, limit: int) -> list[StoredRun]:
    """Return the latest ingests. An ingest stored in several parts has its counts in the last one."""
    asked = limit or 1_000
    while True:
        stored = store.runs(asked)
        found = [run for run in stored if run.counts]
        if len(stored) < asked or 0 < limit <= len(found):
            return found[: limit or None]
        asked *= 4


def _row(run: StoredRun) -> tuple[object, ...]:
    figures = [run.counts.get(name) for name in ("statements", "resolved", "diagnostics", "edges")]
    if UNFINISHED in run.counts:
        return (f"{run.last_seen:%Y-%m-%d %H:%M:%S}", run.kind, run.source, UNFINISHED, *figures, None)
    read = next((counted(run.counts[name], what) for name, what in _READ if name in run.counts), None)
    seconds = None if run.seconds is None else f"{run.seconds:.1f}"
    return (f"{run.last_seen:%Y-%m-%d %H:%M:%S}", run.kind, run.source, read, *figures, seconds)


def _description(run: StoredRun) -> dict[str, object]:
    return {
        "key": run.key,
        "kind": run.kind,
        "source": run.source,
        "at": run.at.isoformat(),
        "last_seen": run.last_seen.isoformat(),
        "seconds": run.seconds,
        **run.counts,
    }
