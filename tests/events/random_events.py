"""Random sets of events about a few datasets, as agents send them: runs, streaming jobs, DDL, descriptions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from lineage.store.values import GraphDump
from tests.events.event_builders import event

Json = dict[str, Any]

STREAMING = {"jobType": {"processingType": "STREAMING", "integration": "FLINK", "jobType": "JOB"}}


def random_events(chance: random.Random) -> list[Json]:
    """Return about a dozen events at different times; a name that was renamed is not taken again."""
    clock = iter(sorted(chance.sample(range(1, 400), 60)))
    names = [f"t{number}" for number in range(4)]
    live = list(names)
    all_events: list[Json] = []
    for run in range(1, chance.randrange(3, 7)):
        source, target = (f"pg.{name}" for name in chance.sample(live, 2))
        job = f"etl/j{chance.randrange(2)}"
        column = f"c{chance.randrange(3)}"
        written = {"columnLineage": {"fields": {column: [f"{source} c{chance.randrange(3)} DIRECT/IDENTITY"]}}}
        what = chance.randrange(6)
        if what == 0:
            all_events += _streaming(run, source, target, clock, chance)
        elif what == 1 and len(live) > 2:
            old = target.removeprefix("pg.")
            live.remove(old)
            new = f"{old}_r"
            live.append(new)
            change = {"lifecycleStateChange": "RENAME", "previousIdentifier": _identifier(old)}
            all_events.append(
                {
                    "run": run,
                    "at": _at(clock),
                    "job": "ddl/x",
                    "outputs": {f"pg.{new}": {"lifecycleStateChange": change}},
                }
            )
        elif what == 2:
            state = chance.choice(["DROP", "TRUNCATE", "ALTER", "OVERWRITE", "CREATE"])
            all_events.append(
                {"run": run, "at": _at(clock), "job": "ddl/x", "outputs": {target: {"lifecycleStateChange": state}}}
            )
        elif what == 3:
            all_events.append(
                {
                    "at": _at(clock),
                    "dataset": {target: {"schema": ["c0", "c1", "c2"], "datasetType": {"datasetType": "VIEW"}}},
                }
            )
        else:
            ends = chance.choice(["COMPLETE", "COMPLETE", "COMPLETE", "FAIL"])
            all_events.append({"run": run, "type": "START", "at": _at(clock), "job": job, "inputs": [source]})
            if chance.random() < 0.5:
                all_events.append(
                    {"run": run, "type": "RUNNING", "at": _at(clock), "job": job, "outputs": {target: written}}
                )
                written = {}
            all_events.append({"run": run, "type": ends, "at": _at(clock), "job": job, "outputs": {target: written}})
    return [event(one) for one in all_events]


def _streaming(run: int, source: str, target: str, clock: Iterator[int], chance: random.Random) -> list[Json]:
    """Return the events of a job of its own that runs on, and says more of its output as it does."""
    all_events = []
    base = {"run": run, "job": f"stream/s{run}", "job_facets": STREAMING}
    for number, kind in enumerate(["START", "RUNNING", "RUNNING", "RUNNING", "COMPLETE"][: chance.randrange(2, 6)]):
        into = {f"c{number % 3}": [f"{source} c{number % 3} DIRECT/IDENTITY"]}
        facets = {"columnLineage": {"fields": into}} if number else {}
        all_events.append({**base, "type": kind, "at": _at(clock), "inputs": [source], "outputs": {target: facets}})
    return all_events


def _at(clock: Iterator[int]) -> float:
    return 1 + next(clock) / 24


def _identifier(name: str) -> Json:
    return {"namespace": "postgres://db:5432", "name": f"db.public.{name}"}


def comparable(dump: GraphDump) -> tuple[list[Any], list[Any]]:
    """Return a dump without what a run is: when it was applied."""
    return dump.nodes, dump.relationships


def describe(events: Iterable[Json]) -> str:
    """Return events as short lines."""
    lines = []
    for one in events:
        at = datetime.fromisoformat(one["eventTime"])
        what = one.get("eventType", "DATASET")
        outputs = [
            (
                put["name"].rpartition(".")[2],
                {
                    name: facet.get("lifecycleStateChange") or facet.get("fields")
                    for name, facet in put["facets"].items()
                },
            )
            for put in one.get("outputs", [one.get("dataset", {"name": "", "facets": {}})])
        ]
        inputs = [put["name"].rpartition(".")[2] for put in one.get("inputs", [])]
        job, run = one.get("job", {}).get("name", ""), one.get("run", {}).get("runId", "")[-2:]
        lines.append(f"{at:%d %H} {job} {run} {what} {inputs} -> {outputs}")
    return "\n".join(lines)
