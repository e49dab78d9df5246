"""When each source was last ingested, for alerts on sources that have stopped coming."""

from __future__ import annotations

import asyncio
import logging

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from lineage.model.batch import UNFINISHED
from lineage.store.errors import StoreError
from lineage.store.protocol import GraphStore
from lineage_graphql.service_state import ServiceState

__all__ = ["LAST_INGEST", "STORE_UP", "ingest_ages"]

STORE_UP, LAST_INGEST = "lineage_store_up", "lineage_last_ingest_timestamp_seconds"

_LOGGER = logging.getLogger(__name__)
_RUNS, _SOURCES, _SECONDS = 1_000, 100, 2.0
"""The latest ingests that are looked at, the most sources that are listed, and how long the store may take."""


async def ingest_ages(state: ServiceState) -> bytes:
    """Return the metrics STORE_UP and LAST_INGEST, as Prometheus reads them.

    Sources are those of the latest 1,000 finished ingests, at most 100. If the store does not answer, none is listed.
    """
    loop = asyncio.get_running_loop()
    times: dict[tuple[str, str], float] | None = None
    try:
        asked = loop.run_in_executor(state.readiness.thread, _latest, state.store)
        times = await asyncio.wait_for(asked, _SECONDS)
    except (StoreError, TimeoutError) as error:
        _LOGGER.warning("metrics: the store does not answer: %s", error)
    up = GaugeMetricFamily(STORE_UP, "Whether the store answers.", value=float(times is not None))
    last = GaugeMetricFamily(LAST_INGEST, "When a source was last ingested.", labels=["kind", "source"])
    for labels, at in (times or {}).items():
        last.add_metric(labels, at)
    registry = CollectorRegistry()
    registry.register(_Collected([up, last]))
    return generate_latest(registry)


def _latest(store: GraphStore) -> dict[tuple[str, str], float]:
    times: dict[tuple[str, str], float] = {}
    for run in store.runs(_RUNS):
        if run.counts and UNFINISHED not in run.counts and len(times) < _SOURCES:
            times.setdefault((run.kind, run.source), run.last_seen.timestamp())
    return times


class _Collected:
    def __init__(self, families: list[GaugeMetricFamily]) -> None:
        self._families = families

    def collect(self) -> list[GaugeMetricFamily]:
        return self._families
