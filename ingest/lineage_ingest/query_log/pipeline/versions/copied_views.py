"""Lineage of copies from a view before a table under it was recreated: they come from what the view read then.

A view stores no rows: its names are resolved each time it is read. A log's lineage has the view as of the log's end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from lineage.model.batch import DatasetChange, EdgeRecord
from lineage.model.names import column_key, dataset_of, is_column_key, split_column_key
from lineage.model.statement import ChangeKind
from lineage_ingest.batch.column_names import ColumnNames
from lineage_ingest.batch.composition import edges_past
from lineage_ingest.query_log.pipeline.earlier import Earlier
from lineage_ingest.query_log.pipeline.versions.copied_tables import StatingJob, declared_only
from lineage_ingest.query_log.pipeline.versions.version_keys import VersionKeys

__all__ = ["state_past_views"]


def state_past_views(
    jobs: Sequence[StatingJob],
    changes: Collection[DatasetChange],
    keys: VersionKeys,
    earlier: Earlier,
    before_at: datetime,
    is_view: Callable[[str], bool],
    columns: Callable[[str], Sequence[str]],
) -> None:
    """Add edges to tables filled from a view that has since changed, from the sources that the view had then.

    `columns` returns a table's columns in order, as far as they are known.
    """
    dropped: dict[str, datetime] = {}
    for change in changes:
        if change.kind is ChangeKind.DROP_COLUMN:
            dropped[change.dataset] = max(change.at, dropped.get(change.dataset, change.at))
    if keys.plain and not dropped:
        return
    edges = _edges_into_views(jobs, keys, earlier, before_at, is_view)
    views = _Views(edges, keys, dropped, ColumnNames(changes), columns, _defined_at(jobs), declared_only(jobs))
    for job in jobs:
        first, last = job.record.first_seen, job.record.last_seen
        at = job.began if job.began < first else last  # in a session block, an earlier part may have read it
        changed = {key for key in job.record.reads if views.has_changed(key, at)}
        if not changed or all(map(is_view, job.record.writes)):
            continue
        passed = views.closure(changed, at)
        made = [edge for view in sorted(passed) for edge in views.edges_at(view, at)]
        read = [edge for edge in job.stated() if dataset_of(edge.source) in changed]
        past = list(edges_past(made, read, _within(passed)))
        for edge in past:
            job.state(edge)
        behind = {dataset_of(edge.source) for edge in made}
        job.record = replace(job.record, reads=tuple(sorted({*job.record.reads, *(behind - passed)})))


def _defined_at(jobs: Iterable[StatingJob]) -> dict[str, datetime]:
    """Return when the log first defines each table and view that it defines."""
    found: dict[str, datetime] = {}
    for job in jobs:
        for key in job.record.writes if job.record.kind.defines_output else ():
            found[key] = min(job.record.first_seen, found.get(key, job.record.first_seen))
    return found


def _within(datasets: Collection[str]) -> Callable[[str], bool]:
    return lambda key: dataset_of(key) in datasets


def _edges_into_views(
    jobs: Sequence[StatingJob],
    keys: VersionKeys,
    earlier: Earlier,
    before_at: datetime,
    is_view: Callable[[str], bool],
) -> dict[str, list[tuple[EdgeRecord, datetime]]]:
    """Return the edges into each view that the log reads or creates, with the time at which their names are valid."""
    edges_by_view: dict[str, list[tuple[EdgeRecord, datetime]]] = defaultdict(list)
    made: set[str] = set()
    for job in jobs:
        made.update(job.record.writes if job.record.kind.defines_output else ())
        if any(map(is_view, job.record.writes)):
            for edge in job.stated():
                if is_view(edge.output):
                    edges_by_view[edge.output].append((edge, job.record.last_seen))
    wanted = {key for job in jobs for key in job.record.reads} - made
    while wanted := {key for key in earlier.views(sorted(wanted)) if key not in edges_by_view}:
        for edge in earlier.edges_into(sorted(wanted)):
            source = keys.version_at(dataset_of(edge.source), None) + edge.source[len(dataset_of(edge.source)) :]
            edges_by_view[dataset_of(edge.target)].append((replace(edge, source=source), before_at))
        wanted = {dataset_of(edge.source) for key in wanted for edge, _ in edges_by_view[key]} - made
    return edges_by_view


class _Views:
    """The views of a log and of the graph before it, and what they read at a given time."""

    def __init__(
        self,
        edges: Mapping[str, list[tuple[EdgeRecord, datetime]]],
        keys: VersionKeys,
        dropped: Mapping[str, datetime],
        names: ColumnNames,
        columns: Callable[[str], Sequence[str]],
        defined_at: Mapping[str, datetime],
        declared: Collection[str],
    ) -> None:
        self._declared = declared
        self._columns = columns
        self._defined_at = defined_at
        self._edges = edges
        self._keys = keys
        self._dropped = dropped
        self._names = names
        self._sources = {view: {dataset_of(edge.source) for edge, _ in own} - {view} for view, own in edges.items()}

    def has_changed(self, view: str, at: datetime, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a view had other sources at a time than at the end of the log."""
        at = self._when_there(view, at)
        return view not in seen and any(
            self._keys.is_gone(source)
            or not self._keys.is_one_table(self._then(view, source, at), source)
            or (source in self._dropped and at < self._dropped[source])
            or self.has_changed(source, at, seen | {view})
            for source in self._sources.get(view, ())
        )

    def closure(self, views: Iterable[str], at: datetime) -> frozenset[str]:
        """Return views and all views below them that have changed since a time."""
        changed_views = set(views)
        stack = list(changed_views)
        while stack:
            below = {key for key in self._sources.get(stack.pop(), ()) if self.has_changed(key, at)} - changed_views
            changed_views |= below
            stack += below
        return frozenset(changed_views)

    def edges_at(self, view: str, at: datetime) -> Iterable[EdgeRecord]:
        """Yield the edges into a view as of a time, but those that it still has, of sources that nothing is behind."""
        at = self._when_there(view, at)
        for edge, named_at in self._edges[view]:
            own = self._names.edge_at(edge, named_at, at)
            source = dataset_of(own.source)
            then = self._then(view, source, at)
            key = self._column_then(own.source, source, then)
            if then not in self._declared or self._keys.key(key) != self._keys.key(own.source):
                yield replace(own, source=key)

    def _when_there(self, view: str, at: datetime) -> datetime:
        """Return a time, or that of the view's definition if it is later: nothing has read the view before."""
        return max(at, self._defined_at.get(view, at))

    def _column_then(self, key: str, source: str, then: str) -> str:
        """Return the column that a view read when the source's name referred to `then`: by name, else by position."""
        if then != source and is_column_key(key):
            path = split_column_key(key)[1]
            old, new = self._columns(then), self._columns(source)
            if path not in old and path in new and new.index(path) < len(old):
                return column_key(then, old[new.index(path)])
        return then + key[len(source) :]

    def _then(self, view: str, source: str, at: datetime) -> str:
        """Return the version that had the name at a time by which a view reads a source."""
        return self._keys.version_at(self._keys.read_as(view, source), at)
