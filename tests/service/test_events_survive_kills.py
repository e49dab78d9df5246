"""A service that is killed while clients send events: what it has answered is stored, and sending again is safe."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from lineage.store import open_store
from lineage_ingest.openlineage import EventIngest
from tests.cli.test_serve_command import served
from tests.service.events_of_runs import events_of, start_clients

CLIENTS = 4
RUNS = 200
KILLED_AFTER = 60
"""Number of events that are answered before the service is killed."""


def graph(path: Path) -> list[str]:
    """Return what a store holds, but which of equal observations came together."""
    with open_store(path) as store:
        dump = store.dump()
    for *_, properties in dump.relationships:
        properties.pop("observations", None)
    for *_, properties in dump.nodes:
        properties.pop("observed_at", None)
    return sorted(map(repr, (*dump.nodes, *dump.relationships)))


def test_nothing_that_was_answered_is_lost(tmp_path: Path) -> None:
    store, runs = tmp_path / "store.db", [events_of(run) for run in range(1, RUNS + 1)]
    # Two clients send single events, two send batches that end in the middle of a run.
    singles = [[[one] for pair in runs[number::CLIENTS] for one in pair] for number in (0, 1)]
    flat = [[one for pair in runs[number::CLIENTS] for one in pair] for number in (2, 3)]
    batches = [[mine[start : start + 7] for start in range(0, len(mine), 7)] for mine in flat]
    answered: list[dict[str, Any]] = []
    with served("--store", str(store)) as (address, process):
        clients = start_clients(address, [*singles, *batches], answered)
        while len(answered) < KILLED_AFTER:
            time.sleep(0.005)
        process.kill()
        for client in clients:
            client.join()
    assert 0 < len(answered) < 2 * RUNS
    with open_store(store) as opened:
        known = set(opened.dataset_keys())
        buffered = opened.buffered_texts([f"openlineage:{one['run']['runId']}" for one in answered])
    completed = [one for one in answered if one["eventType"] == "COMPLETE"]
    assert all(f"postgres://db:5432/{one['outputs'][0]['name']}" in known for one in completed)
    assert {text.owner for text in buffered} == {f"openlineage:{one['run']['runId']}" for one in answered}
    with served("--store", str(store)) as (address, _):
        again: list[dict[str, Any]] = []
        for client in start_clients(address, [*singles, *batches], again):
            client.join()
        assert len(again) == 2 * RUNS
    with open_store(tmp_path / "whole.db") as whole:
        EventIngest(whole).take([one for pair in runs for one in pair])
    assert graph(store) == graph(tmp_path / "whole.db")
