"""Lineage past stored tables and columns that a log drops: their copies come from the sources in the store.

`pipeline/versions/copied_tables.py` does this for tables that the same log creates, copies and drops; here the table
or column comes from an earlier log.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from operator import attrgetter

from lineage.model.batch import DatasetChange, EdgeRecord, JobRecord, LineageBatch, RunRecord, definition_job_key
from lineage.model.names import ColumnPath, column_key, dataset_of, split_column_key
from lineage.model.statement import ChangeKind, DatasetKind
from lineage.store.planning.graph_state import change_key
from lineage.store.planning.naming import NamesOverTime
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredEdge
from lineage_ingest.batch.column_names import TODAY, ColumnNames
from lineage_ingest.batch.composition import edges_past, merged_edge
from lineage_ingest.batch.restated_jobs import observe_again, stated_outputs
from lineage_ingest.query_log.earlier_graph import record_of

__all__ = ["copies_of_later_logs", "with_earlier_sources"]

_MOMENT = timedelta(microseconds=1)
_ALWAYS = datetime.min.replace(tzinfo=UTC)
_MOVES = (ChangeKind.RENAME, ChangeKind.SWAP)


def with_earlier_sources(store: GraphStore, batch: LineageBatch) -> Iterator[LineageBatch]:
    """Yield the batches to store for a batch: edges for stored copies of what it drops, then the batch.

    If the batch drops anything, its column renames (except in tables it has renamed) are applied to the store first, so
    that the store has the current column names. Table renames are not: edges for copies are dated before the first one.

    Raises:
        StoreError: the store could not be read or written.
    """
    drops = [one for one in batch.changes if one.kind in (ChangeKind.DROP, ChangeKind.DROP_COLUMN)]
    names = ColumnNames(batch.changes)
    moves = sorted((one for one in batch.changes if one.kind in _MOVES), key=attrgetter("at"))
    columns = (one for one in batch.changes if one.kind is ChangeKind.RENAME_COLUMN)
    if drops and (renames := tuple(one for one in columns if _name_before(one, moves) == one.dataset)):
        run = RunRecord(f"renames:{_digest(*renames)}", "renames", batch.run.source, batch.run.at, {})
        store.apply(LineageBatch(run, changes=renames))
    gone: set[str] = set()
    wrote = _edges_by_target(batch, names) if drops else {}
    before = moves[0].at - _MOMENT if moves else TODAY
    # A log that is ingested again drops what its own renames have moved in the store.
    moved = NamesOverTime.of((), store.dataset_changes(before, TODAY) if drops and moves else ())
    for change in sorted(drops, key=lambda one: (one.at, one.dataset, one.column or "")):
        drop = replace(change, dataset=moved.today(_name_before(change, moves), before))
        if drop.column is None:
            gone.add(drop.dataset)
        keys = _keys(store, drop, names)
        views = _views_over(store, keys, drop)
        into = _edges_into(store, keys, drop, batch.changes)
        into_all = [
            *into, *_edges_into(store, views, drop, batch.changes), *_batch_edges_into(wrote, keys | views, drop)
        ]  # fmt: skip
        if not into_all:
            continue
        stating = {job.key for job in batch.jobs if job.first_seen <= drop.at}
        at = min((drop.at, *(move.at for move in moves)))
        yield from _restate(store, keys | views, into_all, replace(drop, at=at), stating, gone)
        if drop.column is not None:  # readers of a dropped table are handled by table versions
            batch = _with_sources(batch, keys, [edge for _, edge in into], drop, names)
    yield batch


def _name_before(change: DatasetChange, moves: Sequence[DatasetChange]) -> str:
    """Return the name of a change's dataset before these renames and swaps, which are sorted by time."""
    name = change.dataset
    for move in reversed(moves):
        if move.at <= change.at:
            if move.other == name:
                name = move.dataset
            elif move.kind is ChangeKind.SWAP and move.dataset == name and move.other is not None:
                name = move.other
    return name


def copies_of_later_logs(store: GraphStore, batches: Sequence[LineageBatch]) -> Iterator[LineageBatch]:
    """Yield edges for copies of what stored batches wrote, if the store has a later DROP or replacement of it.

    This happens if the later log was ingested first.

    Raises:
        StoreError: the store could not be read.
    """
    drops = [*_drops_since(store, batches), *_replacements_since(store, batches)]
    changed: set[str] = set()
    for drop in sorted(drops, key=lambda one: (one.at, one.dataset)):  # each may use the edges stored for earlier ones
        keys = _keys(store, drop, ColumnNames(()))
        if _is_recreated_unchanged(store, keys, drop, changed):
            continue
        changed.add(drop.dataset)
        views = _views_over(store, keys, drop)
        into = _edges_into(store, keys | views, drop, ())
        yield from _restate(store, keys | views, into, drop, (), ())


def _is_recreated_unchanged(
    store: GraphStore, keys: Collection[str], drop: DatasetChange, changed: Container[str]
) -> bool:
    """Return whether all edges into a dropped table were stated again later, of sources that have not changed.

    `changed` are tables that others replaced. Within a log, `pipeline/versions/replaced_tables.py` decides this.
    """
    into = _stored_edges_into(store, keys, drop)
    return bool(into) and all(edge.last_seen > drop.at and dataset_of(edge.source) not in changed for edge in into)


def _drops_since(store: GraphStore, batches: Sequence[LineageBatch]) -> list[DatasetChange]:
    """Return the stored DROPs of datasets that the batches wrote earlier, except those that the batches contain."""
    written: dict[str, datetime] = {}
    for job in chain.from_iterable(batch.jobs for batch in batches):
        for key in job.writes:
            written[key] = min(job.first_seen, written.get(key, job.first_seen))
    if not written:
        return []
    own = {change_key(change) for batch in batches for change in batch.changes}
    changes = store.dataset_changes(min(written.values()), TODAY)
    naming = NamesOverTime.of(changes, ())
    return [
        change
        for change in changes
        if change.kind is ChangeKind.DROP
        and change_key(change) not in own
        and any(at <= change.at and naming.name_at(key, at, change.at) == change.dataset for key, at in written.items())
    ]


def _replacements_since(store: GraphStore, batches: Sequence[LineageBatch]) -> Iterator[DatasetChange]:
    """Yield a DROP for each definition in the batches that a newer one in the store replaced."""
    defined: dict[str, tuple[datetime, str]] = {}
    for job in chain.from_iterable(batch.jobs for batch in batches):
        if job.kind.defines_output:
            for key in job.writes:
                defined[key] = max((job.last_seen, job.key), defined.get(key, (job.last_seen, job.key)))
    for dataset in store.datasets(sorted(defined)):
        ran, maker = defined[dataset.key]
        if dataset.schema_at is not None and dataset.schema_at > ran:
            keys = [dataset.key, *(column.key for column in store.columns([dataset.key], dropped=True))]
            hops = store.expand(keys, Direction.UPSTREAM, as_of=ran)
            ends = [hop.edge.valid_to for hop in hops if hop.edge.valid_to is not None and hop.edge.job == maker]
            if ends:
                yield DatasetChange(ChangeKind.DROP, dataset.key, min(ends))


def _keys(store: GraphStore, drop: DatasetChange, names: ColumnNames) -> frozenset[str]:
    """Return the dropped keys: of a table and its columns, or of a column and its fields."""
    columns = store.columns([drop.dataset], dropped=True)
    if drop.column is None:
        return frozenset((drop.dataset, *(column.key for column in columns)))
    key = names.key_at(column_key(drop.dataset, drop.column), drop.at, TODAY)
    gone = ColumnPath.parse(split_column_key(key)[1]).parts
    within = (column for column in columns if ColumnPath.parse(column.path).parts[: len(gone)] == gone)
    return frozenset((key, *(column.key for column in within)))


def _views_over(store: GraphStore, keys: frozenset[str], drop: DatasetChange) -> frozenset[str]:
    """Return the keys of views that depend on the dropped keys, and of their columns.

    For a dropped column, these are only the view columns computed from it. A view stores no rows: earlier copies of it
    come from what it read at that time.
    """
    dependents: set[str] = set()
    frontier = keys
    while frontier:
        hops = store.expand(sorted(frontier), Direction.DOWNSTREAM, as_of=drop.at - _MOMENT)
        outputs = {hop.edge.target: dataset_of(hop.edge.target) for hop in hops if hop.edge.source in frontier}
        kinds = store.datasets(sorted(set(outputs.values())))
        views = {one.key for one in kinds if one.kind is DatasetKind.VIEW}
        if drop.column is None:
            columns = store.columns(sorted(views), dropped=True)
            reached = {*views, *(column.key for column in columns)}
        else:
            reached = {key for key, output in outputs.items() if output in views and key != output}
        frontier = frozenset(reached - keys - dependents)
        dependents |= frontier
    return frozenset(dependents)


def _edges_into(
    store: GraphStore, keys: Collection[str], drop: DatasetChange, changes: Iterable[DatasetChange]
) -> list[tuple[datetime, EdgeRecord]]:
    """Return the edges into these keys just before a DROP, each with the time since when a copy may come from it.

    `changes` are those of the batch. What was composed just before a change has been true for as long as its job.
    """
    edges = _stored_edges_into(store, keys, drop)
    if not edges:
        return []
    stored = store.dataset_changes(min(edge.valid_from for edge in edges), drop.at)
    composed = {change.at - _MOMENT for change in (*stored, *changes)}
    return [
        _dated(record_of(edge), _ALWAYS if edge.valid_from in composed else edge.valid_from, drop) for edge in edges
    ]


def _dated(edge: EdgeRecord, since: datetime, drop: DatasetChange) -> tuple[datetime, EdgeRecord]:
    """Return an edge with the time since when a copy may come from it: only a definition replaces what was there."""
    return since if edge.job == definition_job_key(drop.dataset) else _ALWAYS, edge


def _stored_edges_into(store: GraphStore, keys: Collection[str], drop: DatasetChange) -> list[StoredEdge]:
    """Return the edges into these keys just before a DROP."""
    hops = store.expand(sorted(keys), Direction.UPSTREAM, as_of=drop.at - _MOMENT)
    return [hop.edge for hop in hops if hop.edge.target in keys]


def _edges_by_target(batch: LineageBatch, names: ColumnNames) -> Mapping[str, Sequence[tuple[datetime, EdgeRecord]]]:
    """Return a batch's edges by target, with current column names, each with the time its job was first seen."""
    ran = {job.key: job for job in batch.jobs}
    found: dict[str, list[tuple[datetime, EdgeRecord]]] = defaultdict(list)
    for edge in batch.edges:
        own = names.edge_at(edge, ran[edge.job].last_seen, TODAY)
        found[own.target].append((ran[edge.job].first_seen, own))
    return found


def _batch_edges_into(
    wrote: Mapping[str, Sequence[tuple[datetime, EdgeRecord]]], keys: Iterable[str], drop: DatasetChange
) -> Iterator[tuple[datetime, EdgeRecord]]:
    """Yield the edges into these keys that were first seen by the time of the DROP, dated like those of the store."""
    for key in sorted(keys):
        yield from (_dated(edge, first_seen, drop) for first_seen, edge in wrote.get(key, ()) if first_seen <= drop.at)


def _restate(
    store: GraphStore,
    keys: frozenset[str],
    into: Collection[tuple[datetime, EdgeRecord]],
    drop: DatasetChange,
    stating: Collection[str],
    gone: Collection[str],
) -> Iterator[LineageBatch]:
    """Yield a batch with the edges of stored jobs and the composed edges past the dropped keys, just before the DROP.

    Jobs in `stating` are skipped, because the batch contains their edges. Outputs in `gone` are skipped, because they
    are dropped by then.
    """
    outputs = stated_outputs(store, sorted(keys), drop.at - _MOMENT)
    views = {one.key for one in store.datasets([o.output for o in outputs]) if one.kind is DatasetKind.VIEW}
    edges: dict[tuple[str, str, str, str, str], EdgeRecord] = {}
    jobs: list[JobRecord] = []
    at = drop.at - _MOMENT
    for said in outputs:
        if said.output in views or said.output in keys or said.output in gone:
            continue
        if said.job.last_seen > drop.at or said.job.key in stating:
            continue
        own = [record_of(edge) for edge in said.edges]
        stated = {(edge.source, edge.target, edge.kind) for edge in own}
        read = (edge for edge in own if edge.source in keys)
        then = (edge for since, edge in into if since <= said.job.last_seen)
        found = edges_past(then, read, keys.__contains__)
        past = [edge for edge in found if (edge.source, edge.target, edge.kind) not in stated]
        if past:
            reads = {*said.job.reads, *(dataset_of(edge.source) for edge in past)}
            jobs.append(replace(observe_again(said.job, at), reads=tuple(sorted(reads))))
            for edge in (*own, *past):
                _state(edges, edge)
    if not jobs:
        return
    named = "\x1f".join(sorted(f"{edge.source}>{edge.target}" for edge in edges.values()))
    digest = _digest(drop.dataset, drop.column, at, named)
    run = RunRecord(f"copies:{digest}", "copies", drop.dataset, at, {"jobs": len(jobs), "edges": len(edges)})
    yield LineageBatch(run, jobs=tuple(jobs), edges=tuple(edges.values()))


def _with_sources(
    batch: LineageBatch, keys: frozenset[str], into: Iterable[EdgeRecord], drop: DatasetChange, names: ColumnNames
) -> LineageBatch:
    """Return the batch with composed edges past the dropped keys, for its jobs that read these before the DROP."""
    views = {record.key for record in batch.datasets if record.kind is DatasetKind.VIEW}
    ran = {
        job.key: job.last_seen
        for job in batch.jobs
        if (job.last_seen if job.kind.defines_output else job.first_seen) <= drop.at
    }
    # A job's edges have the column names at its time; the store has the current names.
    stated = (names.edge_at(e, ran[e.job], TODAY) for e in batch.edges if e.job in ran and e.output not in views)
    reading = [e for e in stated if e.source in keys and e.target not in keys]
    if not reading:
        return batch
    past = (names.edge_at(e, TODAY, ran[e.job]) for e in edges_past(into, reading, keys.__contains__))
    edges: dict[tuple[str, str, str, str, str], EdgeRecord] = {}
    for edge in (*batch.edges, *past):
        _state(edges, edge)
    return replace(batch, edges=tuple(edges.values()))


def _digest(*parts: object) -> str:
    return hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()[:24]


def _state(edges: dict[tuple[str, str, str, str, str], EdgeRecord], edge: EdgeRecord) -> None:
    key = (edge.source, edge.target, edge.kind, edge.job, edge.output)
    edges[key] = merged_edge(edges[key], edge) if key in edges else edge
