"""Names that a log takes over from tables which an earlier log renamed: what read such a name reads the new table.

Within a log, `pipeline/kept_backups.py` and `pipeline/replaced_names.py` decide this. Here the earlier log ends after
`RENAME t TO t_old`, and has moved the readers of `t` to `t_old`; this one begins with what takes `t`. Or the earlier
log ends after a SWAP of `t` and `t_tmp`, and this one drops `t_tmp`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter

from lineage.model.batch import (
    DatasetChange,
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    definition_job_key,
)
from lineage.model.names import column_key, dataset_of, is_column_key, split_column_key
from lineage.model.statement import ChangeKind, DatasetKind
from lineage.model.transformations import EdgeKind, Subtype
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage_ingest.composition import edges_past
from lineage_ingest.query_log.earlier_graph import record_of
from lineage_ingest.query_log.followed_views import follows_renames
from lineage_ingest.query_log.pipeline.copied_by_rename import COPYING
from lineage_ingest.restated_jobs import observe_again, stated_outputs

__all__ = ["readers_of_taken_names"]

_at = attrgetter("at")
_MOMENT = timedelta(microseconds=1)
_BY_CREATE, _BY_RENAME = timedelta(minutes=1), timedelta(hours=1)
"""The time within which the name is taken: another table of that name has nothing to do with the rename."""
_BY_SWAP = timedelta(days=7)
"""The time within which a table is dropped that was swapped out: later, the readers stay where the swap moved them."""


def readers_of_taken_names(store: GraphStore, batch: LineageBatch) -> Iterator[LineageBatch]:
    """Yield the lineage of stored jobs that read a name which the batch takes over, and of the copy of what had it.

    Raises:
        StoreError: the store could not be read.
    """
    yield from _after_swaps(store, batch)
    taken = {
        key: (job.first_seen, _BY_CREATE)
        for job in batch.jobs
        if job.kind.defines_output and job.operation != COPYING
        for key in job.writes
    }
    moves = [one for one in batch.changes if one.kind is ChangeKind.RENAME and one.other is not None]
    taken |= {one.other: (one.at, _BY_RENAME) for one in moves if one.other is not None}
    if not taken:
        return
    times = [at for at, _ in taken.values()]
    free = taken.keys() - {one.key for one in store.datasets(sorted(taken))}
    renames = store.dataset_changes(min(times) - _BY_RENAME, max(times)) if free else ()
    for rename in sorted(renames, key=lambda one: (one.at, one.dataset)):
        if rename.kind is ChangeKind.RENAME and rename.dataset in free:
            at, within = taken[rename.dataset]
            if rename.at < at <= rename.at + within:
                source = next((one.dataset for one in moves if one.other == rename.dataset), None)
                yield from _give_back(store, batch, rename, at - _MOMENT, source)


def _after_swaps(store: GraphStore, batch: LineageBatch) -> Iterator[LineageBatch]:
    """Yield what reads the former name of tables which the batch drops, and which were swapped out of it."""
    drops = {one.dataset: one.at for one in batch.changes if one.kind is ChangeKind.DROP}
    if not drops or not (there := {one.key for one in store.datasets(sorted(drops)) if one.dropped_at is None}):
        return
    since, until = min(drops.values()) - _BY_SWAP, max(drops.values())
    moves = [one for one in store.dataset_changes(since, until) if one.kind in (ChangeKind.RENAME, ChangeKind.SWAP)]
    for key in sorted(there):
        last = max((one for one in moves if key in one.datasets and one.at < drops[key]), key=_at, default=None)
        if last is not None and last.kind is ChangeKind.SWAP and last.other is not None:
            name = last.other if last.dataset == key else last.dataset
            if any(one.dropped_at is None for one in store.datasets([name])):
                move = replace(last, dataset=name, other=key)
                yield from _give_back(store, batch, move, drops[key] - _MOMENT, name)


def _give_back(
    store: GraphStore, batch: LineageBatch, rename: DatasetChange, at: datetime, arriving: str | None
) -> Iterator[LineageBatch]:
    """Yield what reads a name, and the copy of the table that had it; `arriving` is the stored table that takes it."""
    name, backup = rename.dataset, rename.other or ""
    is_kept = rename.kind is ChangeKind.RENAME
    known = store.datasets([backup])
    if not known or known[0].dropped_at is not None:
        return
    columns = [column.key for column in store.columns([backup], dropped=True)]
    keys = frozenset((backup, *columns))
    into = _into(store, keys)
    if arriving is None:
        new = [edge for edge in batch.edges if edge.output == name]
    else:
        new = _into(store, frozenset((arriving, *(column.key for column in store.columns([arriving])))))
    is_same = bool(into) and _stated(into) <= _stated(new)
    own = {job.key for job in batch.jobs}
    outputs = [
        one
        for one in stated_outputs(store, sorted(keys))
        if one.job.last_seen <= rename.at and one.output != backup and one.job.key not in own
    ]
    views = {one.key for one in store.datasets([one.output for one in outputs]) if one.kind is DatasetKind.VIEW}
    jobs: dict[str, JobRecord] = {}
    edges: list[EdgeRecord] = []
    for said in outputs:
        seen = observe_again(said.job, at)
        if said.output in views and follows_renames(seen):
            continue
        stated = [record_of(edge) for edge in said.edges]
        read = [edge for edge in stated if edge.source in keys]
        past = [] if is_same or said.output in views else edges_past(into, read, keys.__contains__)
        jobs[seen.key] = replace(seen, reads=tuple(sorted({name if key == backup else key for key in seen.reads})))
        edges += [*(_renamed(edge, backup, name) for edge in stated), *past]
    if is_kept:
        job = _definition(store, name, backup, at)
        jobs[job.key] = job
        edges += [] if is_same else [edge for edge in into if edge.job == job.key]
    for key in columns:
        if is_kept and is_column_key(key):
            source = column_key(name, split_column_key(key)[1])
            edges.append(EdgeRecord(source, key, EdgeKind.CONTRIBUTES, job.key, backup, (Subtype.IDENTITY,)))
    if not jobs:
        return
    digest = hashlib.sha256(f"{name} {backup} {at}".encode()).hexdigest()[:24]
    counts = {"jobs": len(jobs), "edges": len(edges)}
    run = RunRecord(f"taken:{digest}", "copies", name, at, counts)
    yield LineageBatch(run, jobs=tuple(jobs.values()), edges=tuple(dict.fromkeys(edges)))


def _into(store: GraphStore, keys: frozenset[str]) -> list[EdgeRecord]:
    hops = store.expand(sorted(keys), Direction.UPSTREAM)
    return [record_of(hop.edge) for hop in hops if hop.edge.target in keys]


def _stated(edges: list[EdgeRecord]) -> set[tuple[object, ...]]:
    """Return what edges into a table say, without its name."""
    return {
        (one.source, one.target[len(dataset_of(one.target)) :], one.kind, one.subtypes, one.masking) for one in edges
    }


def _renamed(edge: EdgeRecord, old: str, new: str) -> EdgeRecord:
    return replace(edge, source=new + edge.source[len(old) :]) if dataset_of(edge.source) == old else edge


def _definition(store: GraphStore, name: str, backup: str, at: datetime) -> JobRecord:
    """Return the job that defines a backup, which copies the table of a name."""
    key = definition_job_key(backup)
    for job in store.jobs([key]):
        seen = observe_again(job, at)
        return replace(seen, reads=tuple(sorted({*seen.reads, name})))
    return JobRecord(
        key, JobKind.DEFINITION, at, at, reads=(name,), writes=(backup,), operation=COPYING, observations=0
    )
