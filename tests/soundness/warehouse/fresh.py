"""A store that has seen a warehouse's files change, against a fresh one of their last state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lineage.store import GraphStore
from lineage.store.values import GraphDump

__all__ = ["unlike_fresh"]

_LIVE = ("CONTRIBUTES", "REFERENCES", "FEEDS")
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


def _facts(store: GraphStore, dump: GraphDump) -> set[str]:
    return {*_edges(dump), *_jobs(store), *(str(one.diagnostic) for one in store.diagnostics())}


def _edges(dump: GraphDump) -> Iterator[str]:
    for kind, start, end, properties in dump.relationships:
        if kind in _LIVE:
            yield f"{start} {kind} {end} {_lasting(properties)}"


def _jobs(store: GraphStore) -> Iterator[str]:
    for job in store.jobs():
        if job.retired_at is None:
            yield f"{job.key} reads {job.reads}, writes {job.writes}, {job.completeness}"


def _nodes(dump: GraphDump) -> dict[tuple[str, str], dict[str, Any]]:
    return {(label, key): _lasting(properties) for label, key, properties in dump.nodes if label in ("Table", "Column")}


def _lasting(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in _HISTORY and value is not None}
