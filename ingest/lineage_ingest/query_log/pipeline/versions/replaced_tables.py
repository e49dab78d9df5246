"""Finds tables that a log replaces by others: rows copied earlier do not come from the new table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lineage.model.batch import DatasetChange, EdgeRecord
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import dataset_of
from lineage_ingest.batch.column_names import TODAY, ColumnNames
from lineage_ingest.query_log.pipeline.earlier import Earlier
from lineage_ingest.query_log.pipeline.versions.copied_tables import StatingJob
from lineage_ingest.query_log.pipeline.versions.names_of_parts import keeps_what_is_there
from lineage_ingest.query_log.pipeline.versions.version_keys import VersionKeys

__all__ = ["mark_replaced_tables"]


_Said = tuple[str, str, EdgeKind, tuple[Subtype, ...], bool, tuple[Subtype, ...]]
"""An edge's source, target, kind and subtypes, whether it masks, and the masked subtypes if others are not."""


def mark_replaced_tables(
    jobs: Sequence[StatingJob],
    changes: Iterable[DatasetChange],
    keys: VersionKeys,
    earlier: Earlier,
    before_at: datetime,
    columns: Callable[[str], Sequence[str]],
) -> None:
    """Mark in `keys` which tables the log replaces by others, and which it recreates unchanged.

    A table is unchanged if the new table has all edges of the old one, and their sources are unchanged, too. This holds
    for a table of an earlier log and for one that the log itself creates, however the new one takes its name: this one
    has all columns of the old one, too. `columns` returns those of a version, if they are known.
    """
    made = _created_tables(jobs, keys)
    held = {key for key in keys.gone if keys.holder(key) is not None}
    next_one = {key: keys.successor(key) for key in held}
    new = {key: after for key, after in next_one.items() if after not in keys.before}
    versions = new.keys() - keys.before
    there = earlier.there(sorted({*made, *(new.keys() & keys.before)}))
    if not there and not versions:
        return
    names = ColumnNames(changes)
    edges = _edges_by_version(jobs, keys, names)
    before = {name: set(edges[name]) if name in new and name in keys.before else set() for name in there}
    for edge in earlier.edges_into(sorted(there)):
        then = names.edge_at(edge, before_at, TODAY)
        before[dataset_of(then.target)].add(_said(then.source, then.target, then))
    same = _Unchanged(keys, set(there), set(versions), there)
    first_one = {name: keys.first(name) for name in there}
    found = True
    while found:
        replaced = {
            name
            for name in same.tables
            if not (same.lasts(first_one[name]) and same.then(before[name]) <= same.now(edges[first_one[name]]))
        }
        outdated = {
            key
            for key in same.versions
            if not (
                same.lasts(next_one[key])
                and same.now(edges[key]) <= same.now(edges[next_one[key]])
                and (set(columns(key)) <= set(columns(next_one[key])) or not columns(next_one[key]))
            )
        }
        same.tables -= replaced
        same.versions -= outdated
        found = bool(replaced or outdated)
    _mark(keys, same, made)


@dataclass(slots=True)
class _Unchanged:
    """What is taken for recreated unchanged: tables of earlier logs, by key, and versions of this one."""

    keys: VersionKeys
    tables: set[str]
    versions: set[str]
    there: Collection[str]
    """All tables of earlier logs that this one creates again."""

    def lasts(self, version: str) -> bool:
        """Return whether a version is there at the end of the log, perhaps recreated."""
        return version in self.versions or not self.keys.is_gone(version)

    def then(self, edges: Iterable[_Said]) -> set[_Said]:
        """Return edges into a table of an earlier log, with sources that are equal only if the tables are the same."""
        return {(self._source_then(edge[0]), *edge[1:]) for edge in edges}

    def now(self, edges: Iterable[_Said]) -> set[_Said]:
        """Return edges into a version, with sources that are equal only if the tables are the same."""
        return {(self._source_now(edge[0]), *edge[1:]) for edge in edges}

    def _source_then(self, source: str) -> str:
        name = dataset_of(source)
        return source if name in self.tables or name not in self.there else _old(source)

    def _source_now(self, source: str) -> str:
        dataset = dataset_of(source)
        if dataset in self.keys.before:
            return self._source_then(source)
        is_outdated = self.keys.is_gone(source) and dataset not in self.versions
        return f"\x01{source}" if is_outdated else self.keys.key(source)  # a first version may have the key of the last


def _mark(keys: VersionKeys, same: _Unchanged, made: Mapping[str, datetime]) -> None:
    """Mark what goes on unchanged, and what is replaced by a table that is `made` at a time."""
    for key in sorted(same.versions):
        keys.go_on(key)
    for name in sorted(same.there):
        if keys.is_gone(name) and name in keys.before:
            if name in same.tables and not keys.moves(name):  # one that moves is dropped under another name
                keys.go_on(name)
        elif name not in same.tables:
            keys.replace(name, made[name])


def _old(source: str) -> str:
    """Return a key that no present table has."""
    return f"\x00{source}"


def _created_tables(jobs: Iterable[StatingJob], keys: VersionKeys) -> dict[str, datetime]:
    """Return the tables that the log creates and keeps, by key in the graph, with the time of the first definition."""
    made: dict[str, datetime] = {}
    for job in jobs:
        record = job.record
        if record.kind.defines_output and not keeps_what_is_there(record.sql or ""):
            for key in record.writes:
                if not keys.is_gone(key):
                    name = keys.key(key)
                    made[name] = min(record.first_seen, made.get(name, record.first_seen))
    return made


def _edges_by_version(jobs: Iterable[StatingJob], keys: VersionKeys, names: ColumnNames) -> Mapping[str, set[_Said]]:
    """Return the log's edges into each version; the targets are named by the key that the table has in the graph."""
    found: dict[str, set[_Said]] = defaultdict(set)
    for job in jobs:
        for edge in job.stated():
            own = names.edge_at(edge, job.record.last_seen, TODAY)
            found[dataset_of(own.target)].add(_said(own.source, keys.key(own.target), own))
    return found


def _said(source: str, target: str, edge: EdgeRecord) -> _Said:
    return source, target, edge.kind, edge.subtypes, edge.masking, edge.partly_masking
