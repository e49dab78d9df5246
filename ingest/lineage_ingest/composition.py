"""Lineage through what is not there in the end: a column or table that was read before it was dropped.

What was made of it goes on, and comes from what it was made of. So edges into it and edges out of it are joined to
edges past it, as those of temporary tables are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from lineage.model.batch import EdgeRecord
from lineage.model.transformations import EdgeKind, Step, Subtype, compose

__all__ = ["edges_past", "merged_edge"]

_ORDER = tuple(Subtype)


def edges_past(edges: Iterable[EdgeRecord], is_gone: Callable[[str], bool]) -> Iterator[EdgeRecord]:
    """Yield edges of what reads the columns and tables (by key) that are gone, from what these were made of.

    Each is of the job that reads what is gone, with the places where it does.
    """
    into: dict[str, list[EdgeRecord]] = defaultdict(list)
    out_of: list[EdgeRecord] = []
    for edge in edges:
        if is_gone(edge.target):
            if edge.source != edge.target:
                into[edge.target].append(edge)
        elif is_gone(edge.source):
            out_of.append(edge)
    for reader in out_of:
        seen = {reader.source}
        stack = [reader]
        while stack:
            read = stack.pop()
            for made in into.get(read.source, ()):
                past = _joined(made, read)
                if is_gone(made.source):
                    if made.source not in seen:
                        seen.add(made.source)
                        stack.append(past)
                elif past.source != past.target:
                    yield past


def _joined(first: EdgeRecord, second: EdgeRecord) -> EdgeRecord:
    """Return what two edges of which the second goes on from the first one's end amount to, as the second one's."""
    subtypes = first.subtypes if second.of_rows else _composed(first, second)
    is_value = first.kind is second.kind is EdgeKind.CONTRIBUTES
    return replace(
        second,
        source=first.source,
        kind=EdgeKind.CONTRIBUTES if is_value else EdgeKind.REFERENCES,
        subtypes=subtypes,
        masking=first.masking or second.masking,
        limited=first.limited or second.limited,
        ambiguous=first.ambiguous or second.ambiguous,
    )


def _composed(first: EdgeRecord, second: EdgeRecord) -> tuple[Subtype, ...]:
    found = {compose(Step(one), Step(other)).subtype for one in first.subtypes for other in second.subtypes}
    return tuple(sorted(found, key=_ORDER.index))


def merged_edge(one: EdgeRecord, other: EdgeRecord) -> EdgeRecord:
    """Return what two statements of one job say of the same pair."""
    return replace(
        one,
        subtypes=tuple(sorted({*one.subtypes, *other.subtypes}, key=_ORDER.index)),
        masking=one.masking and other.masking,
        limited=one.limited or other.limited,
        ambiguous=one.ambiguous and other.ambiguous,
        spans=tuple(sorted({*one.spans, *other.spans})),
    )
