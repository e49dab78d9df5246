"""Lineage through what is not there in the end: a column or table that was read before it was dropped.

What was made of it goes on, and comes from what it was made of. So edges into it and edges out of it are joined to
edges past it, as those of temporary tables are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from lineage.model.batch import EdgeRecord
from lineage.model.transformations import EdgeKind, StepEffect, Subtype, compose

__all__ = ["edges_past", "merged_edge"]

_ORDER = tuple(Subtype)


def edges_past(
    made: Iterable[EdgeRecord], read: Iterable[EdgeRecord], is_gone: Callable[[str], bool]
) -> Iterator[EdgeRecord]:
    """Yield edges of what reads columns and tables (by key) that are gone, from what these were made of.

    `made` are the edges into what is gone, `read` those out of it; what is yielded is of the job that reads, with the
    places where it does.
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
                past = _joined(before, last)
                if is_gone(past.source):
                    # Several ways lead there: each may say more, or that a value is not masked after all.
                    key = past.source, past.kind
                    known = reached.get(key)
                    every = past if known is None else merged_edge(known, past)
                    if every != known:
                        reached[key] = every
                        stack.append(every)
                elif past.source not in (past.target, past.output):  # a table decides its own rows: that says nothing
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
    found = {compose(StepEffect(one), StepEffect(other)).subtype for one in first.subtypes for other in second.subtypes}
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
