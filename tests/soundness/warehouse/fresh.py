"""A store that has seen a warehouse change, against a fresh one: of the last files, or of all parts of a log in one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from lineage.model.statement import DatasetKind
from lineage.store import GraphStore
from lineage.store.values import GraphDump

__all__ = ["unlike_fresh", "unlike_whole"]

_LIVE = ("CONTRIBUTES", "REFERENCES", "FEEDS")
_TABLE = re.compile(r"\b[a-z]\w*\.[a-z]\w*(?=[^\w.])")
_HISTORY = {"first_seen", "last_seen", "observations", "observed_at", "seconds"}


def unlike_fresh(store: GraphStore, fresh: GraphStore) -> list[str]:
    """Return how what holds now differs: edges, what jobs read and write, diagnostics, and properties of nodes.

    A table or column that only earlier states had stays, without edges. A type that an earlier state gave, and the
    position that a column had before its table was made anew without it, stay as well.
    """
    one, other = store.dump(), fresh.dump()
    found = [f"edited only: {line}" for line in sorted(_facts(store, one) - _facts(fresh, other))]
    found += [f"fresh only: {line}" for line in sorted(_facts(fresh, other) - _facts(store, one))]
    nodes = _nodes(one)
    for place, expected in _nodes(other).items():
        present = dict(nodes.get(place, {}))
        if expected.get("data_type") is None:
            present.pop("data_type", None)
        if expected.get("ordinal") is None and expected.get("last_ordinal") is None:
            present.pop("last_ordinal", None)
        if present != expected:
            names = sorted(name for name in present.keys() | expected.keys() if present.get(name) != expected.get(name))
            found += [f"{place[1]}: {name} is {present.get(name)}, not {expected.get(name)}" for name in names]
    return found


def unlike_whole(store: GraphStore, whole: GraphStore, changed: Collection[str]) -> list[str]:
    """Return how a log that was ingested in parts differs from the same log ingested whole.

    `changed` are the tables that a later part renames, drops, replaces or alters, and the views that this breaks. What
    earlier parts made of them was stated by what was known then: facts about them, and what a job says that reads
    or writes them, are not compared. A column that is gone was known by its schema in one and by its readers in the
    other, and only a store that had a table's earlier name has it as an alias.
    """
    dumps = store.dump(), whole.dump()
    passed = _jobs_about(store, changed) | _jobs_about(whole, changed)
    found = [
        f"parts only: {line}" for line in sorted(_facts(store, dumps[0], passed) - _facts(whole, dumps[1], passed))
    ]
    found += [
        f"whole only: {line}" for line in sorted(_facts(whole, dumps[1], passed) - _facts(store, dumps[0], passed))
    ]
    nodes = [_nodes(dump) for dump in dumps]
    for place in sorted(nodes[0].keys() | nodes[1].keys()):
        one, other = (each.get(place, {}) for each in nodes)
        if not one.get("dropped_at") and not other.get("dropped_at"):
            names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
            found += [
                f"{place[1]}: {name} is {one.get(name)}, not {other.get(name)}" for name in names if name != "aliases"
            ]
    return [line for line in found if set(_TABLE.findall(line)).isdisjoint(changed)]


def _jobs_about(store: GraphStore, tables: Collection[str]) -> set[str]:
    """Return the keys of the jobs that read or write one of these tables, or a view over them."""
    views = {one.key for one in store.datasets() if one.kind is DatasetKind.VIEW}
    reached = {one.key for one in store.datasets() if one.name in tables}
    passed: set[str] = set()
    while more := {
        job.key: job.writes for job in store.jobs() if job.key not in passed and reached & {*job.reads, *job.writes}
    }:
        passed |= more.keys()
        reached |= views & {key for writes in more.values() for key in writes}
    return passed


def _facts(store: GraphStore, dump: GraphDump, passed: Collection[str] = ()) -> set[str]:
    """Return the live edges, jobs and diagnostics, but for those of the jobs that are passed over."""
    said = {str(one.diagnostic) for one in store.diagnostics() if one.job not in passed}
    return {*_edges(dump, passed), *_jobs(store, passed), *said}


def _edges(dump: GraphDump, passed: Collection[str]) -> Iterator[str]:
    for kind, start, end, properties in dump.relationships:
        if kind in _LIVE and properties["job"] not in passed:
            yield f"{start} {kind} {end} {_lasting(properties)}"


def _jobs(store: GraphStore, passed: Collection[str]) -> Iterator[str]:
    for job in store.jobs():
        if job.retired_at is None and job.key not in passed:
            yield f"{job.key} reads {job.reads}, writes {job.writes}, {job.completeness}"


def _nodes(dump: GraphDump) -> dict[tuple[str, str], dict[str, Any]]:
    return {(label, key): _lasting(properties) for label, key, properties in dump.nodes if label in ("Table", "Column")}


def _lasting(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in _HISTORY and value is not None}
