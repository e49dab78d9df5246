"""The history of an edge: the periods in which it was valid, each with its meaning. Pure interval arithmetic.

A history is a sorted tuple of periods that do not overlap; only the last may be open (the edge is live). Functions
take the timeline of the edge's unit, which is empty for an ad-hoc job.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from lineage.model.influence.edge_effects import effects_of, merge_effects
from lineage.model.influence.evidence import Chain
from lineage.model.influence.transformations import Subtype
from lineage.store.planning.observations import Timeline

__all__ = [
    "NOTHING_SAID",
    "History",
    "Meaning",
    "Period",
    "retire_at",
    "extend",
    "holds_at",
    "join",
    "set_window",
    "merge_periods",
]


class Meaning(NamedTuple):
    """What an edge means; when it changes, one period ends and another begins."""

    subtypes: tuple[Subtype, ...] = ()
    masking: bool = False
    limited: bool = False
    ambiguous: bool = False
    partly_masking: tuple[Subtype, ...] = ()

    def joined(self, other: Meaning) -> Meaning:
        """Return the meaning of both together: masked if both are, limited if either is."""
        effects = merge_effects((*effects_of(self), *effects_of(other)))
        return Meaning(
            effects.subtypes,
            self.masking and other.masking,
            self.limited or other.limited,
            self.ambiguous and other.ambiguous,
            effects.partly_masking,
        )

    def __str__(self) -> str:
        # Stores keep hashes of this text: it is the same as before there was `partly_masking`.
        partly = f", partly_masking={self.partly_masking!r}" if self.partly_masking else ""
        flags = f"masking={self.masking}, limited={self.limited}, ambiguous={self.ambiguous}{partly}"
        return f"Meaning(subtypes={self.subtypes!r}, {flags})"


NOTHING_SAID = Meaning()
"""The meaning of table-level lineage."""


class Period(NamedTuple):
    """The edge is valid from `start` until before `end` (None: still valid), and was last observed at `last_seen`.

    `spans` are its proofs. They change when SQL is reformatted, which does not end a period.
    """

    start: datetime
    end: datetime | None
    last_seen: datetime
    meaning: Meaning = NOTHING_SAID
    spans: tuple[Chain, ...] = ()

    @property
    def live(self) -> bool:
        """Whether the edge is valid now."""
        return self.end is None


History = tuple[Period, ...]


def holds_at(start: datetime, end: datetime | None, at: datetime) -> bool:
    """Return whether a period includes that moment; it includes its start even if it is empty."""
    return start == at or (start < at and (end is None or at < end))


def set_window(
    history: History, window: tuple[datetime, datetime | None], stated: Period | None, timeline: Timeline
) -> History:
    """Return the history with the part within the window replaced by `stated`, or removed if that is None.

    `stated` lies within the window. The history outside the window does not change.
    """
    start, end = window
    if stated is not None and stated.end == end and history and _goes_on(history[-1], stated):
        newest = history[-1]
        if end is None:
            return (*history[:-1], _union(newest, stated))
        # The period extends beyond both ends of the window.
        return history if newest.last_seen >= end else (*history[:-1], newest._replace(last_seen=end))
    kept: list[Period] = []
    for period in history:
        if period.start < start:
            kept.append(_cut(period, start, timeline) if _reaches(period, start) else period)
        if end is not None and _reaches(period, end):
            kept.append(period._replace(start=max(period.start, end), last_seen=max(period.last_seen, end)))
    if stated is not None:
        kept.append(stated)
    return _join(kept)


def retire_at(history: History, at: datetime, timeline: Timeline) -> History:
    """Return the history with periods observed before `at` ended then, until they are observed again."""
    kept: list[Period] = []
    for period in history:
        again = timeline.first_from(at) if timeline.points else (at if period.last_seen >= at else None)
        if not (period.start < at and _reaches(period, at)) or again == at:
            kept.append(period)
            continue
        kept.append(_cut(period, at, timeline))
        if again is not None and _reaches(period, again):
            kept.append(period._replace(start=again))
    return tuple(kept)


def extend(history: History, stated: Period) -> History:
    """Return the history with `stated` added and nothing removed.

    It is merged with the periods that it overlaps or touches; the meaning seen last applies to all.
    """
    apart: list[Period] = []
    for period in history:
        if _apart(period, stated):
            apart.append(period)
        else:
            stated = _union(period, stated)
    return tuple(sorted((*apart, stated), key=_start))


def join(first: History, second: History) -> History:
    """Merge two histories; where they overlap, the meaning seen last applies.

    Periods with the same times come from two edges that were merged: their meanings are combined.
    """
    for period in second:
        alike = next((one for one in first if _times(one) == _times(period)), None)
        both = period if alike is None else _both(alike, period)
        first = extend(tuple(one for one in first if one is not alike), both)
    return first


def _times(period: Period) -> tuple[datetime, datetime | None, datetime]:
    return period.start, period.end, period.last_seen


def _both(one: Period, other: Period) -> Period:
    return one._replace(meaning=one.meaning.joined(other.meaning), spans=tuple(sorted({*one.spans, *other.spans})))


def _start(period: Period) -> datetime:
    return period.start


def _goes_on(newest: Period, stated: Period) -> bool:
    """Return whether a live edge is observed again unchanged: the most common case, with a fast path."""
    return newest.live and newest.start <= stated.start and newest.meaning == stated.meaning


def _reaches(period: Period, at: datetime) -> bool:
    return period.end is None or period.end > at


def _apart(one: Period, other: Period) -> bool:
    return (one.end is not None and one.end < other.start) or (other.end is not None and other.end < one.start)


def _cut(period: Period, end: datetime, timeline: Timeline) -> Period:
    seen = timeline.last_before(end)
    last_seen = period.last_seen if seen is None else min(period.last_seen, seen)
    return period._replace(end=end, last_seen=max(period.start, last_seen))


def _union(known: Period, stated: Period) -> Period:
    newest = stated if stated.last_seen >= known.last_seen else known
    open_ended = known.end is None or stated.end is None
    return newest._replace(
        start=min(known.start, stated.start),
        end=None if open_ended else max(end for end in (known.end, stated.end) if end is not None),
    )


def merge_periods(periods: Iterable[Period]) -> History:
    """Return periods as a history: in order, adjacent ones with the same meaning merged."""
    return _join(periods)


def _join(periods: Iterable[Period]) -> History:
    joined: list[Period] = []
    for period in sorted(periods, key=_start):
        if joined and joined[-1].end == period.start and joined[-1].meaning == period.meaning:
            joined[-1] = _union(joined[-1], period)
        else:
            joined.append(period)
    return tuple(joined)
