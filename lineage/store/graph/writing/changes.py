"""The difference between two states of the graph, as nodes and relationships to write."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from lineage.store.graph.records import (
    alias_node,
    change_node,
    column_records,
    dataset_node,
    diagnostic_records,
    job_node,
    lineage_records,
    observed_relationship,
    prune_node,
    reads_relationship,
    run_node,
    usage_records,
    writes_relationship,
)
from lineage.store.graph.schema import Changes, Node, Refresh, Relationship
from lineage.store.planning.graph_state import EdgeType, GraphState, JobEdge
from lineage.store.planning.rival_definitions import FILE_JOBS
from lineage.store.planning.validity import History
from lineage.store.values import AppliedChanges, StoredDataset

__all__ = ["count_changes", "difference"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Record = Node | Relationship

_LIVE = tuple(str(of) for of in EdgeType if of is not EdgeType.FEEDS)
_RETIRED = tuple(of.retired for of in EdgeType if of is not EdgeType.FEEDS)


def difference(before: GraphState, after: GraphState) -> Changes:
    """Return the changes that turn `before` into `after`."""
    refreshed, units, seen = _refreshes(before, after)
    created: list[Record] = []
    deleted: list[Record] = []
    updated: list[Record] = []
    old = {record.id: record for record in _records(before, after, refreshed, deleted)}
    new = {record.id: record for record in _records(after, before, refreshed, created)}
    deleted += (record for key, record in old.items() if key not in new)
    created += (record for key, record in new.items() if key not in old)
    updated += (_with_changed(record, old[key]) for key, record in new.items() if key in old and record != old[key])
    return Changes(
        deleted_relationships=_relationships(deleted),
        deleted_nodes=_nodes(deleted),
        created_nodes=_nodes(created),
        updated_nodes=_nodes(updated),
        created_relationships=_relationships(created),
        updated_relationships=_relationships(updated),
        refreshed_units=tuple(units),
        seen_units=tuple(seen),
    )


def _with_changed(record: Record, before: Record) -> Record:
    if not isinstance(record, Node):
        return record
    return replace(record, changed=tuple(k for k, v in record.properties.items() if v != before.properties.get(k, ...)))


def count_changes(changes: Changes) -> AppliedChanges:
    """Return the numbers of changes. Edges are those from columns, not table-level lineage."""

    def edges(relationships: Iterable[Relationship], types: tuple[str, ...]) -> int:
        return sum(edge.type in types and edge.source_label == "Column" for edge in relationships)

    return AppliedChanges(
        nodes_created=len(changes.created_nodes),
        edges_created=edges(changes.created_relationships, _LIVE),
        edges_refreshed=edges(changes.updated_relationships, _LIVE)
        + sum(one.relationships for one in (*changes.refreshed_units, *changes.seen_units) if one.type in _LIVE),
        edges_ended=edges(changes.created_relationships, _RETIRED),
    )


def _refreshes(before: GraphState, after: GraphState) -> tuple[set[JobEdge], list[Refresh], list[Refresh]]:
    """Return the edges that were only seen again, one update of `last_seen` per unit for all of them, and the updates
    that need no writing, as these edges take the time of their output's observation.

    Ad-hoc jobs are left out: an output may have thousands, and each update would scan all edges of the output.
    """
    defining = {key for key, job in after.jobs.items() if job.kind.defines_output}
    live: dict[tuple[str, str], list[JobEdge]] = defaultdict(list)
    for pair, history in after.histories.items():
        if history[-1].live and pair.job in defining:
            live[pair.job, pair.output].append(pair)
    refreshed: set[JobEdge] = set()
    units: list[Refresh] = []
    dated: list[Refresh] = []
    for unit, pairs in live.items():
        last_seen = after.histories[pairs[0]][-1].last_seen
        again = [pair for pair in pairs if _only_seen_again(before.histories.get(pair), after.histories[pair])]
        if all(after.histories[pair][-1].last_seen == last_seen for pair in pairs):
            kinds = Counter((str(pair.relation), pair.target_label, pair.source_label) for pair in again)
            output = after.units.get(unit)
            is_dated = unit[0].startswith(FILE_JOBS) and output is not None and output.last_seen == last_seen
            (dated if is_dated else units).extend(
                Refresh(relation, target, *unit, last_seen, number, source)
                for (relation, target, source), number in kinds.items()
            )
            refreshed.update(again)
    return refreshed, units, dated


def _only_seen_again(before: History | None, after: History) -> bool:
    if before is None or len(before) != len(after) or before[-1].last_seen == after[-1].last_seen:
        return False
    return before == (*after[:-1], after[-1]._replace(last_seen=before[-1].last_seen))


def _records(
    state: GraphState, other: GraphState, refreshed: Container[JobEdge], only_here: list[Record]
) -> Iterator[Record]:
    """Yield the records of all values that differ from those of the other state, except refreshed edges.

    Those of values that the other state does not have go to `only_here`: no other value has the same records.
    """
    add, extend = only_here.append, only_here.extend
    for key, dataset in _differing(state.datasets, other.datasets):
        if key in other.datasets:
            yield dataset_node(dataset)
        else:
            add(dataset_node(dataset))
    spelled = {key for key, one in state.datasets.items() if _spelling(one) != _spelling(other.datasets.get(key))}
    for key, column in state.columns.items():
        known = other.columns.get(key)
        if known is None:
            extend(column_records(column, state.datasets.get(column.dataset)))
        elif column.dataset in spelled or known != column:
            yield from column_records(column, state.datasets.get(column.dataset))
    for key, job in _differing(state.jobs, other.jobs):
        if key in other.jobs:
            yield job_node(job)
        else:
            add(job_node(job))
    yield from _of_jobs(state, other)
    for pair, history in state.histories.items():
        known_history = other.histories.get(pair)
        if known_history is None:
            extend(lineage_records(pair, history))
        elif known_history != history and pair not in refreshed:
            yield from lineage_records(pair, history)
    yield from _of_runs(state, other)
    for key, used in _differing(state.usage, other.usage):
        if key in other.usage:
            yield from usage_records(used)
        else:
            extend(usage_records(used))


def _differing(items: Mapping[K, V], others: Mapping[K, V]) -> Iterator[tuple[K, V]]:
    return ((key, value) for key, value in items.items() if others.get(key) != value)


def _of_jobs(state: GraphState, other: GraphState) -> Iterator[Record]:
    """Yield what jobs read and write; what one no longer does changes when the job is seen without it."""
    for (job_key, dataset_key), seen in state.reads.items():
        if other.reads.get((job_key, dataset_key)) != seen or other.jobs.get(job_key) != state.jobs[job_key]:
            yield reads_relationship(state.jobs[job_key], dataset_key, seen)
    for (job_key, dataset_key), unit in state.units.items():
        if other.units.get((job_key, dataset_key)) != unit or other.jobs.get(job_key) != state.jobs[job_key]:
            yield writes_relationship(state.jobs[job_key], dataset_key, unit)


def _of_runs(state: GraphState, other: GraphState) -> Iterator[Record]:
    """Yield what runs did and found."""
    for _, run in _differing(state.runs, other.runs):
        yield run_node(run)
    for (run_key, job_key), count in _differing(state.observed, other.observed):
        yield observed_relationship(run_key, job_key, count)
    for _, change in _differing(state.changes, other.changes):
        yield change_node(change)
    for dataset_key, root in _differing(state.aliases, other.aliases):
        yield alias_node(dataset_key, root)
    for _, prune in _differing(state.prunes, other.prunes):
        yield prune_node(prune)
    for _, found in _differing(state.diagnostics, other.diagnostics):
        yield from diagnostic_records(found, job_known=found.job in state.jobs)


def _spelling(dataset: StoredDataset | None) -> str | None:
    return dataset.spelling if dataset is not None else None


def _nodes(records: Iterable[Record]) -> tuple[Node, ...]:
    return tuple(record for record in records if isinstance(record, Node))


def _relationships(records: Iterable[Record]) -> tuple[Relationship, ...]:
    return tuple(record for record in records if isinstance(record, Relationship))
