"""Stored jobs whose lineage is stored again, because more is known about the tables that they read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from lineage.frozen import frozen
from lineage.model.batch import JobRecord
from lineage.model.names import dataset_of
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredEdge, StoredJob

__all__ = ["StatedOutput", "observe_again", "stated_outputs"]


@frozen
class StatedOutput:
    """The edges of one job into one output."""

    job: StoredJob
    output: str
    edges: tuple[StoredEdge, ...]


def stated_outputs(store: GraphStore, sources: Sequence[str], as_of: datetime | None = None) -> list[StatedOutput]:
    """Return the outputs that jobs compute from these columns or from the rows of these tables, with all their edges.

    `as_of` selects the edges that were valid at that time.
    """
    if not sources:
        return []
    asked = set(sources)
    touched: dict[str, set[str]] = defaultdict(set)
    for hop in store.expand(sources, Direction.DOWNSTREAM, as_of=as_of):
        if hop.edge.source in asked:
            touched[dataset_of(hop.edge.target)].add(hop.edge.job)
    jobs = {job.key: job for job in store.jobs(sorted({key for keys in touched.values() for key in keys}))}
    found: list[StatedOutput] = []
    for output, keys in sorted(touched.items()):
        ends = [output, *(column.key for column in store.columns([output], dropped=True))]
        edges = {
            (hop.edge.job, hop.edge.source, hop.edge.target, hop.edge.kind): hop.edge
            for hop in store.expand(ends, Direction.UPSTREAM, as_of=as_of)
        }
        for key in sorted(keys):
            own = tuple(edge for (job, *_), edge in edges.items() if job == key)
            found.append(StatedOutput(jobs[key], output, own))
    return found


def observe_again(job: StoredJob, at: datetime) -> JobRecord:
    """Return the unchanged job, last seen at a time, without counting another run."""
    seen = max(job.last_seen, at)
    return JobRecord(
        key=job.key,
        kind=job.kind,
        first_seen=seen,
        last_seen=seen,
        reads=job.reads,
        writes=job.writes,
        sql=job.sql,
        dialect=job.dialect,
        source=job.source,
        source_line=job.source_line,
        operation=job.operation,
        completeness=job.completeness,
        observations=0,
        file_key=job.file_key,
        positions=job.positions,
    )
