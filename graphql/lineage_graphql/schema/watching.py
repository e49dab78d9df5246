"""The subscription to stored runs, of this and other processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime

import strawberry

from lineage.store.values import StoredRun
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import doc_field
from lineage_graphql.schema.objects.overview import Run

__all__ = ["GraphChange", "graph_changes"]

_POLLING_SECONDS = 1.0
_RUNS_AT_ONCE = 50


@strawberry.type(description="A change of the graph.")
class GraphChange:
    """A change of the graph."""

    at: datetime = doc_field("Time of the change.")
    run: Run = doc_field("The ingest, or the steward's change.")


async def graph_changes(info: LineageInfo) -> AsyncGenerator[GraphChange, None]:
    """Yield each run that is stored or stored again from now on.

    The store is polled once a second, which also finds the runs of other processes.
    """
    seen = {(run.key, run.last_seen) for run in await _newest(info)}
    while True:
        await asyncio.sleep(_POLLING_SECONDS)
        newest = await _newest(info)
        for run in reversed([run for run in newest if (run.key, run.last_seen) not in seen]):
            yield GraphChange(at=run.last_seen, run=Run.of(run))
        seen = {(run.key, run.last_seen) for run in newest} | seen
        if len(seen) > 20 * _RUNS_AT_ONCE:
            seen = {(run.key, run.last_seen) for run in newest}


async def _newest(info: LineageInfo) -> list[StoredRun]:
    found: list[StoredRun] = await info.context.ask(lambda store: store.runs(_RUNS_AT_ONCE))
    return found
