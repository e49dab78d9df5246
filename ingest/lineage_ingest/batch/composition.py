"""Lineage through columns and tables that were read before they were dropped.

Edges into a dropped column or table and edges out of it are composed into direct edges, as for temporary tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from lineage.model.batch import EdgeRecord
from lineage.model.influence.edge_effects import EdgeEffects, effects_of, merge_effects
from lineage.model.influence.transformations import EdgeKind, StepEffect, compose

__all__ = ["DECLARES", "edges_past", "merged_edge"]

DECLARES = "CREATE_TABLE"
"""The operation of a CREATE TABLE without a query: others may fill the table, so what is read of it has an origin."""


def edges_past(
    made: Iterable[EdgeRecord],
    read: Iterable[EdgeRecord],
    is_gone: Callable[[str], bool],
    is_origin: Callable[[str], bool] = lambda _: False,
) -> Iterator[EdgeRecord]:
    """Yield the edges that replace paths through columns and tables (by key) that no longer exist.

    `made` are the edges into these, `read` the edges out of them. Each yielded edge has the job and the spans of the
    edge in `read`. What is gone and an origin is a source itself, beside what it was made of.
    """
    into: dict[str, list[EdgeRecord]] = defaultdict(list)
    for edge in made:
        into[edge.target].append(edge)
    for reader in read:
        reached: dict[tuple[str, EdgeKind], EdgeRecord] = {}
        stack = [reader]
        while stack:
            last = stack.pop()
            for before in into.get(last.source, ()):
                past = _compose_edges(before, last)
                is_own = past.source in (past.target, past.output)  # a table always decides its own rows
                if is_gone(past.source):
                    # Several paths may lead there, with other subtypes, or without masking.
                    key = past.source, past.kind
                    known = reached.get(key)
                    every = past if known is None else merged_edge(known, past)
                    if every != known:
                        reached[key] = every
                        stack.append(every)
                if not is_own and (not is_gone(past.source) or is_origin(past.source)):
                    yield past


def _compose_edges(first: EdgeRecord, second: EdgeRecord) -> EdgeRecord:
    """Return the composition of two consecutive edges; job, output and spans are those of the second."""
    is_value = first.kind is second.kind is EdgeKind.CONTRIBUTES
    return replace(
        second,
        source=first.source,
        kind=EdgeKind.CONTRIBUTES if is_value else EdgeKind.REFERENCES,
        **_compose_effects(first, second)._asdict(),
        limited=first.limited or second.limited,
        ambiguous=first.ambiguous or second.ambiguous,
    )


def _compose_effects(first: EdgeRecord, second: EdgeRecord) -> EdgeEffects:
    if second.of_rows:  # what determines the rows of a table keeps its own subtype
        return merge_effects(StepEffect(one.subtype, one.masking or second.masking) for one in effects_of(first))
    return merge_effects(compose(one, other) for one in effects_of(first) for other in effects_of(second))


def merged_edge(edge: EdgeRecord, other: EdgeRecord) -> EdgeRecord:
    """Return one edge for two of the same job between the same nodes."""
    return replace(
        edge,
        **merge_effects((*effects_of(edge), *effects_of(other)))._asdict(),
        limited=edge.limited or other.limited,
        ambiguous=edge.ambiguous and other.ambiguous,
        spans=tuple(sorted({*edge.spans, *other.spans})),
    )
