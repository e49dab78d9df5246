"""Stored views that look up names when they are read: after a log's RENAME or SWAP they read another table.

`lineage.sql.script` does this for views and renames of one log or script; here the view comes from an earlier log,
which may be ingested after the one that renames. The store moves all edges of a renamed table with it, which is right
for tables, and for views that follow renames.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from lineage.frozen import frozen
from lineage.model.batch import EdgeRecord, LineageBatch, RunRecord
from lineage.model.dialects import UnknownDialectError, dialect_named
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import column_key, dataset_of, is_column_key, split_column_key
from lineage.model.statement import ChangeKind, DatasetKind
from lineage.sql.parse.questions.positional_aliases import tables_named_by_position
from lineage.store.planning.graph_state import change_key
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredJob
from lineage_ingest.batch.restated_jobs import observe_again, stated_outputs
from lineage_ingest.query_log.earlier_graph import record_of
from lineage_ingest.query_log.pipeline.versions.names_of_parts import last_part

__all__ = ["ViewsByName"]

_FOR_EVER = datetime.max.replace(tzinfo=UTC)
_MOVES = (ChangeKind.RENAME, ChangeKind.SWAP)


@frozen
class _View:
    """A view as its log stated it: its job, and its edges from the names of its time."""

    job: StoredJob
    output: str
    edges: tuple[EdgeRecord, ...]


@dataclass
class ViewsByName:
    """The stored views over tables that batches rename or swap, with the columns of these tables before."""

    store: GraphStore
    _views: dict[tuple[str, str], _View] = field(default_factory=dict)
    _columns: dict[str, list[str]] = field(default_factory=dict)
    _moved: dict[str, datetime] = field(default_factory=dict)
    """When each name got its last holder."""

    def note(self, batch: LineageBatch) -> None:
        """Remember the views whose tables a batch moves; call it before the batch is applied.

        Raises:
            StoreError: the store could not be read.
        """
        moves = [change for change in batch.changes if change.kind in _MOVES]
        for change in moves:
            for key in (change.dataset, change.other):
                if key is not None:
                    self._moved[key] = max(change.at, self._moved.get(key, change.at))
        if not moves:
            return
        self._columns = _columns(self.store, sorted(self._moved))
        stated = stated_outputs(self.store, _ends(self.store, sorted(self._moved)))
        kinds = {one.key: one.kind for one in self.store.datasets(sorted({one.output for one in stated}))}
        own = {job.key for job in batch.jobs}
        for stated_output in stated:
            is_view = kinds.get(stated_output.output) is DatasetKind.VIEW and stated_output.job.kind.defines_output
            if is_view and stated_output.job.key not in own and not _follows_renames(stated_output.job.dialect):
                self._views[stated_output.job.key, stated_output.output] = _View(
                    stated_output.job, stated_output.output, tuple(map(record_of, stated_output.edges))
                )

    def note_defined(self, batch: LineageBatch) -> None:
        """Remember the views of a batch whose tables a later log, ingested before, has moved; it is applied by now.

        Raises:
            StoreError: the store could not be read.
        """
        views = {one.key for one in batch.datasets if one.kind is DatasetKind.VIEW}
        made = {job.key: job for job in batch.jobs if job.kind.defines_output and not views.isdisjoint(job.writes)}
        made = {key: job for key, job in made.items() if not _follows_renames(job.dialect)}
        if not made:
            return
        own = {change_key(change) for change in batch.changes}
        later = self.store.dataset_changes(min(job.last_seen for job in made.values()), _FOR_EVER)
        moved: dict[str, datetime] = {}
        for change in later:
            if change.kind in _MOVES and change_key(change) not in own:
                moved.update({key: change.at for key in (change.dataset, change.other) if key is not None})
        if not moved:
            return
        self._moved = {**moved, **self._moved}
        for record in batch.datasets:
            if record.key in moved:
                self._columns.setdefault(record.key, [column.path for column in record.columns])
        for job in self.store.jobs(sorted(made)):
            edges = tuple(edge for edge in batch.edges if edge.job == job.key)
            if any(moved.get(dataset_of(edge.source), job.last_seen) > job.last_seen for edge in edges):
                self._views[job.key, edges[0].output] = _View(job, edges[0].output, edges)

    def read_again(self) -> Iterator[LineageBatch]:
        """Yield a batch with what the views read now; call it when all batches are applied.

        A view that does not fit the table which has the name now keeps its edges: it cannot be read.

        Raises:
            StoreError: the store could not be read.
        """
        there = {job.key: job for job in self.store.jobs(sorted({one.job.key for one in self._views.values()}))}
        edges_by_job: dict[str, list[EdgeRecord]] = {}
        seen: dict[str, datetime] = {}
        for (key, output), one in sorted(self._views.items()):
            edges = self._edges_now(one) if key in there and there[key].sql == one.job.sql else None
            if edges is None or _said(edges) == _said(self._stored(key, output)):
                continue
            edges_by_job.setdefault(key, []).extend(edges)
            seen[key] = max(self._moved[name] for name in self._names(one))
        if not edges_by_job:
            return
        edges = [edge for own in edges_by_job.values() for edge in own]
        named = "\x1f".join(sorted(f"{edge.source}>{edge.target}" for edge in edges))
        at = max(seen.values())
        digest = hashlib.sha256(f"{at} {named}".encode()).hexdigest()[:24]
        run = RunRecord(f"names:{digest}", "names", "", at, {"jobs": len(edges_by_job), "edges": len(edges)})
        yield LineageBatch(
            run, jobs=tuple(observe_again(there[key], seen[key]) for key in edges_by_job), edges=tuple(edges)
        )

    def _names(self, view: _View) -> set[str]:
        """Return the names in a view that have got another holder since it was defined."""
        read = {dataset_of(edge.source) for edge in view.edges}
        return {name for name in read if name in self._moved and self._moved[name] > view.job.last_seen}

    def _edges_now(self, view: _View) -> list[EdgeRecord] | None:
        """Return the edges of a view over the tables that have its names now; None if it does not fit them."""
        names = self._names(view)
        tables = {one.key: one for one in self.store.datasets(sorted(names)) if one.dropped_at is None}
        output = next(iter(self.store.datasets([view.output])), None)
        if not names or names != tables.keys() or output is None or output.dropped_at is not None:
            return None
        columns = _columns(self.store, sorted(names))
        by_position = tables_named_by_position(view.job.sql or "", dialect_named(view.job.dialect or "ansi"))
        edges: list[EdgeRecord] = []
        for edge in view.edges:
            name = dataset_of(edge.source)
            if name in names and is_column_key(edge.source) and tables[name].schema_known:
                path = split_column_key(edge.source)[1]
                is_placed = last_part(tables[name].name).casefold() in by_position
                now = _column_now(path, self._columns.get(name, ()), columns[name], is_placed=is_placed)
                if now is None:
                    return None
                edges.append(replace(edge, source=column_key(name, now)))
            else:
                edges.append(edge)
        return edges

    def _stored(self, job: str, output: str) -> list[EdgeRecord]:
        """Return the edges into a view that the store has now."""
        hops = self.store.expand(_ends(self.store, [output]), Direction.UPSTREAM)
        return [record_of(hop.edge) for hop in hops if hop.edge.job == job and dataset_of(hop.edge.target) == output]


def _ends(store: GraphStore, datasets: Sequence[str]) -> list[str]:
    """Return the keys of datasets and of all their columns."""
    return [*datasets, *(column.key for column in store.columns(datasets, dropped=True))]


def _columns(store: GraphStore, datasets: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns of datasets, and their fields, by path: those of the table in order, then others."""
    found: dict[str, list[str]] = {key: [] for key in datasets}
    for column in sorted(store.columns(datasets), key=lambda one: (one.ordinal is None, one.ordinal or 0, one.path)):
        found[column.dataset].append(column.path)
    return found


def _said(edges: Iterable[EdgeRecord]) -> set[tuple[str, str, EdgeKind]]:
    return {(edge.source, edge.target, edge.kind) for edge in edges}


def _follows_renames(dialect: str | None) -> bool:
    try:
        return dialect_named(dialect or "ansi").views_follow_renames
    except UnknownDialectError:  # defined by a package that is not installed
        return True


def _column_now(path: str, before: Sequence[str], now: Sequence[str], *, is_placed: bool) -> str | None:
    """Return the column that a view reads now; None if the table has none in that place or of that name."""
    if not is_placed:
        return path if path in now else None
    at = before.index(path) if path in before else len(now)
    return now[at] if at < len(now) else None
