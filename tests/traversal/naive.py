"""Impact by brute force, in two ways that share nothing with the search: all simple paths, and all walks by length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import split_column_key
from lineage.store.values import Direction, StoredEdge

Links = dict[str, list[tuple[str, int, bool]]]
"""For each column: where one step leads, whether it is a reference (1 or 0), and whether it masks."""


@dataclass(frozen=True)
class Found:
    """What is to be known of a reached column."""

    hops: int
    references: int
    influence: frozenset[EdgeKind]
    masked: bool


def links(edges: list[StoredEdge], columns: list[str], direction: Direction) -> Links:
    """Return one link a pair and kind, between columns and the rows of datasets (by the dataset's key).

    A pair is masked only if every edge of it masks.
    """
    masks: defaultdict[tuple[str, str, bool], list[bool]] = defaultdict(list)
    for edge in edges:
        reference = edge.kind is EdgeKind.REFERENCES
        inside = (c for c in columns if "#" not in edge.target and split_column_key(c)[0] == edge.target)
        for end in (edge.target, *inside):
            pair = (edge.source, end) if direction is Direction.DOWNSTREAM else (end, edge.source)
            if edge.source != end:
                masks[*pair, reference].append(edge.masking)
    found: Links = defaultdict(list)
    for (source, target, reference), flags in sorted(masks.items()):
        found[source].append((target, int(reference), all(flags)))
    return found


def simple_paths(graph: Links, start: str, max_hops: int, max_references: int) -> Iterator[list[tuple[str, int, bool]]]:
    """Yield every path from `start` that visits no column twice."""
    stack: list[list[tuple[str, int, bool]]] = [[link] for link in graph.get(start, ())]
    while stack:
        path = stack.pop()
        visited = {start, *(node for node, _, _ in path)}
        if len(visited) <= len(path) or sum(reference for _, reference, _ in path) > max_references:
            continue
        yield path
        if len(path) < max_hops:
            stack += [[*path, link] for link in graph.get(path[-1][0], ())]


def by_simple_paths(graph: Links, start: str, max_hops: int, max_references: int) -> dict[str, Found]:
    """Return what the simple paths say of each column."""
    ends: defaultdict[str, list[tuple[int, int, bool]]] = defaultdict(list)
    for path in simple_paths(graph, start, max_hops, max_references):
        references = sum(reference for _, reference, _ in path)
        ends[path[-1][0]].append((len(path), references, any(masked for _, _, masked in path)))
    return {end: _found(arrivals) for end, arrivals in ends.items() if "#" in end}


def by_walks(graph: Links, start: str, max_hops: int, max_references: int) -> dict[str, Found]:
    """Return what the walks that do not come back to `start` say of each column."""
    ends: defaultdict[str, list[tuple[int, int, bool]]] = defaultdict(list)
    layer = {(start, 0, False)}
    for hops in range(1, max_hops + 1):
        layer = {
            (node, references + reference, masked or masks)
            for before, references, masked in layer
            for node, reference, masks in graph.get(before, ())
            if node != start and references + reference <= max_references
        }
        for node, references, masked in layer:
            ends[node].append((hops, references, masked))
    return {end: _found(arrivals) for end, arrivals in ends.items() if "#" in end}


def _found(arrivals: list[tuple[int, int, bool]]) -> Found:
    hops, references, _ = min(arrivals)
    flows = [masked for _, count, masked in arrivals if count == 0]
    influence = {EdgeKind.CONTRIBUTES} if flows else set()
    if len(flows) < len(arrivals):
        influence.add(EdgeKind.REFERENCES)
    return Found(hops, references, frozenset(influence), bool(flows) and all(flows))
