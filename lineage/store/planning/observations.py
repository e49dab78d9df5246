"""When a unit (a job and one output) was observed, and with which content."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from lineage.frozen import frozen

__all__ = [
    "ABSENT",
    "CONTENT_SIZE",
    "KEPT",
    "TIE",
    "TIME_SIZE",
    "UNOBSERVED",
    "Timeline",
    "latest_times",
    "times_from",
    "times_text",
]

KEPT = 15
"""Number of latest observations that are always kept, so that late ones can be inserted."""

TIME_SIZE = 33
"""Number of characters of a stored time, with the space before it."""

CONTENT_SIZE = 12
"""Number of characters of a digest of content."""

TIE = "~"
"""Separates the content from the tie-breaker for equal times (`JobRecord.ties`)."""

ABSENT = "-"
"""The content of an observation without the unit: its job no longer writes that output."""


@frozen
class Timeline:
    """Observations in order of time: each a moment and a digest of the unit's edges, with an optional tie-breaker.

    The latest `KEPT` observations are kept. Of older ones, only the first and last of each run of equal observations
    are kept, so that a unit that is observed hourly and never changes has few. Between two kept observations the
    content is taken to be unchanged.

    >>> from datetime import UTC, datetime
    >>> line = Timeline()
    >>> for day in range(1, 32):
    ...     line = line.observe(datetime(2024, 1, day, tzinfo=UTC), "a")
    >>> [at.day for at, _ in line.points][:3], len(line.points)
    ([1, 17, 18], 16)
    """

    points: tuple[tuple[datetime, str], ...] = ()

    def observe(self, at: datetime, content: str, tie: str = "") -> Timeline:
        """Return the timeline with one more observation; one of the same moment is replaced unless it outranks it.

        >>> from datetime import UTC, datetime
        >>> at = datetime(2024, 1, 1, tzinfo=UTC)
        >>> Timeline().observe(at, "a", "1").observe(at, "b", "0").content_at(at)
        'a'
        """
        content, _, own = content.partition(TIE)
        tie = tie or own
        if self.outranks(at, tie):
            return self
        index = bisect_left(self.points, at, key=_moment)
        same = index < len(self.points) and self.points[index][0] == at
        if same and not tie and _content(self.points[index]) == content:
            return self
        before, after = self.points[:index], self.points[index + same :]
        text = f"{content}{TIE}{tie}" if tie else content
        return Timeline(_compact((*before, (at, text), *after)))

    def outranks(self, at: datetime, tie: str) -> bool:
        """Return whether a known observation of that moment takes precedence over one with this tie-breaker."""
        index = bisect_left(self.points, at, key=_moment)
        known = self.points[index] if tie and index < len(self.points) else None
        return known is not None and known[0] == at and known[1].partition(TIE)[2] > tie

    def without_repeated_absence(self) -> Timeline:
        """Return the timeline without repeated absences at its end, which runs record as well.

        >>> from datetime import UTC
        >>> day = [datetime(2024, 1, number, tzinfo=UTC) for number in range(1, 5)]
        >>> line = Timeline().observe(day[0], "a").observe(day[1], ABSENT).observe(day[3], ABSENT)
        >>> [at.day for at, _ in line.without_repeated_absence().points]
        [1, 2]
        """
        points = self.points
        while len(points) > 1 and _content(points[-1]) == _content(points[-2]) == ABSENT:
            points = points[:-1]
        return Timeline(points)

    def next_after(self, at: datetime) -> datetime | None:
        """Return the first observation after that moment."""
        index = bisect_right(self.points, at, key=_moment)
        return self.points[index][0] if index < len(self.points) else None

    def first_from(self, at: datetime) -> datetime | None:
        """Return the first observation at or after that moment."""
        index = bisect_left(self.points, at, key=_moment)
        return self.points[index][0] if index < len(self.points) else None

    def last_before(self, at: datetime) -> datetime | None:
        """Return the last observation before that moment."""
        index = bisect_left(self.points, at, key=_moment)
        return self.points[index - 1][0] if index else None

    def content_at(self, at: datetime) -> str:
        """Return the content at that moment, `ABSENT` before the first observation."""
        index = bisect_right(self.points, at, key=_moment)
        return _content(self.points[index - 1]) if index else ABSENT

    @property
    def present(self) -> bool:
        """Whether the job wrote the output at the last observation."""
        return bool(self.points) and _content(self.points[-1]) != ABSENT

    def to_texts(self, observed_at: Sequence[datetime]) -> list[str]:
        """Return the observations as texts to store, without those that the times of its job tell.

        These are the last equal observations, if the job has no other times since. So the texts of a unit that is
        observed again unchanged stay the same. `observed_at` are the latest times of the job, in order; absences since
        the first of a run are left out whatever they are.

        >>> from datetime import UTC
        >>> days = [datetime(2024, 1, day, tzinfo=UTC) for day in range(1, 4)]
        >>> line = Timeline().observe(days[0], "a").observe(days[1], "b").observe(days[2], "b")
        >>> [text.partition("T")[0] for text in line.to_texts(days)]
        ['2024-01-01', '2024-01-02']
        >>> Timeline.from_texts(line.to_texts(days), days) == line
        True
        """
        points = self.points
        number = len(points)
        while number > 1 and _is_repeated(points[number - 1], points[number - 2]):
            number -= 1
        if self.present:
            moments = [at for at, _ in points]
            while number < len(points) and moments[number:] != _after(observed_at, moments[number - 1]):
                number += 1
        return [f"{at.isoformat()} {content}" for at, content in points[:number]]

    @classmethod
    def from_texts(cls, texts: Sequence[str], observed_at: Sequence[datetime]) -> Timeline:
        """Return the timeline that `to_texts` stored; its last content was observed at all later times of its job."""
        points = tuple((datetime.fromisoformat(at), content) for at, _, content in map(_parts, texts))
        if not points:
            return UNOBSERVED
        last, content = points[-1]
        since = content if _content(points[-1]) != ABSENT else ABSENT
        return cls(_compact((*points, *((at, since) for at in _after(observed_at, last)))))


UNOBSERVED = Timeline()
"""The timeline of a unit of an ad-hoc job."""


def latest_times(known: Iterable[datetime], others: Iterable[datetime]) -> tuple[datetime, ...]:
    """Return the times of a job that are kept, in order: those of its latest observations."""
    return tuple(sorted({*known, *others})[-KEPT:])


def times_text(times: Iterable[datetime]) -> str:
    """Return times as a text to store, of `TIME_SIZE` characters each.

    >>> from datetime import UTC
    >>> times_text([datetime(2024, 1, 2, tzinfo=UTC)])
    ' 2024-01-02T00:00:00.000000+00:00'
    """
    return "".join(f" {at.astimezone(UTC).isoformat(timespec='microseconds')}" for at in times)


def times_from(text: str | None) -> tuple[datetime, ...]:
    """Return the times of such a text; older jobs have none."""
    return tuple(map(datetime.fromisoformat, (text or "").split()))


def _is_repeated(point: tuple[datetime, str], before: tuple[datetime, str]) -> bool:
    """Return whether an observation is as the one before, also in its tie-breaker; an absence has none."""
    return point[1] == (before[1] if _content(before) != ABSENT else ABSENT)


def _moment(point: tuple[datetime, str]) -> datetime:
    return point[0]


def _content(point: tuple[datetime, str]) -> str:
    return point[1].partition(TIE)[0]


def _after(times: Sequence[datetime], at: datetime) -> list[datetime]:
    return [*times[bisect_right(times, at) :]]


def _parts(text: str) -> tuple[str, str, str]:
    return text.partition(" ")


def _compact(points: tuple[tuple[datetime, str], ...]) -> tuple[tuple[datetime, str], ...]:
    contents = [_content(point) for point in points]
    older = len(points) - KEPT
    return tuple(
        point
        for index, point in enumerate(points)
        if not (0 < index < older and contents[index - 1] == contents[index] == contents[index + 1])
    )
