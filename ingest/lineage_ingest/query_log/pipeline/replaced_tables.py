"""Finds tables of earlier logs that a log replaces: rows copied earlier do not come from the new table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from lineage.model.batch import DatasetChange, EdgeRecord
from lineage.model.names import dataset_of
from lineage.model.transformations import EdgeKind, Subtype
from lineage_ingest.column_names import TODAY, ColumnNames
from lineage_ingest.query_log.pipeline.copied_tables import StatingJob
from lineage_ingest.query_log.pipeline.earlier import Earlier
from lineage_ingest.query_log.pipeline.version_keys import VersionKeys
from lineage_ingest.query_log.pipeline.versions import keeps_what_is_there

__all__ = ["mark_replaced_tables"]


_Said = tuple[str, str, EdgeKind, tuple[Subtype, ...], bool, tuple[Subtype, ...]]
"""An edge's source, target, kind and subtypes, whether it masks, and the masked subtypes if others are not."""


def mark_replaced_tables(
    jobs: Sequence[StatingJob],
    changes: Iterable[DatasetChange],
    keys: VersionKeys,
    earlier: Earlier,
    before_at: datetime,
) -> None:
    """Mark in `keys` which earlier tables the log replaces by others, and which it recreates unchanged.

    A table is unchanged if the new table has all edges of the old one, and their sources are unchanged, too.
    """
    made = _created_tables(jobs, keys)
    there = earlier.there(sorted(made))
    if not there:
        return
    names = ColumnNames(changes)
    before: dict[str, set[_Said]] = defaultdict(set)
    for edge in earlier.edges_into(sorted(there)):
        own = names.edge_at(edge, before_at, TODAY)
        before[dataset_of(own.target)].add(_said(own.source, own.target, own))
    now = _edges_by_table(jobs, keys, names)
    replaced: set[str] = set()
    while found := {
        name
        for name in there - replaced
        if not before[name] <= {(_same(source, keys, made, there - replaced), *rest) for source, *rest in now[name]}
    }:
        replaced |= found
    for name in sorted(there):
        if keys.is_gone(name) and name in keys.before:
            if name not in replaced and not keys.moves(name):  # one that was renamed was dropped under another name
                keys.go_on(name)
        elif name in replaced:
            keys.replace(name, made[name])


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


def _edges_by_table(jobs: Iterable[StatingJob], keys: VersionKeys, names: ColumnNames) -> Mapping[str, set[_Said]]:
    """Return the log's edges into tables that exist at its end, by the table's key in the graph."""
    found: dict[str, set[_Said]] = defaultdict(set)
    for job in jobs:
        for edge in job.stated():
            if not keys.is_gone(edge.target):
                own = names.edge_at(edge, job.record.last_seen, TODAY)
                target = keys.key(own.target)
                found[dataset_of(target)].add(_said(own.source, target, own))
    return found


def _said(source: str, target: str, edge: EdgeRecord) -> _Said:
    return source, target, edge.kind, edge.subtypes, edge.masking, edge.partly_masking


def _same(source: str, keys: VersionKeys, made: Mapping[str, datetime], kept: Collection[str]) -> str:
    """Return the key that a source had before the log; empty for a source that is new or replaced."""
    dataset = dataset_of(source)
    if dataset in keys.before:
        return source
    own = keys.key(source)
    name = dataset_of(own)
    if name in made and (name not in kept or keys.is_gone(source)):
        return ""
    return own
