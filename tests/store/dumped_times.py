"""The times of what jobs read and write, in a dump: most are those of the job (schema version 23)."""

from __future__ import annotations

from typing import Any

from lineage.store.graph.records import job_from, reads_from, writes_from
from lineage.store.values import GraphDump

__all__ = ["with_own_times"]


def with_own_times(dump: GraphDump) -> GraphDump:
    """Return a dump in which READS and WRITES have all their times; repeated absences at the end count once.

    (Runs have these absences, too.)
    """
    jobs = {key: job_from({"key": key, **properties}) for label, key, properties in dump.nodes if label == "Job"}
    found = [
        (name, source, target, _timed(name, properties, jobs.get(source)))
        for name, source, target, properties in dump.relationships
    ]
    return GraphDump(dump.nodes, found)


def _timed(name: str, properties: dict[str, Any], job: Any) -> dict[str, Any]:
    if name == "READS":
        return {**properties, "last_seen": reads_from(properties, job).last_seen}
    if name != "WRITES":
        return properties
    unit = writes_from(properties, job)
    line = unit.timeline.without_repeated_absence()
    texts = [f"{at.isoformat()} {content}" for at, content in line.points]
    return {**properties, "last_seen": unit.last_seen, "observations": texts}
