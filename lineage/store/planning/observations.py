"""When a unit (a job and one output) was observed, and with which content."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import datetime

from lineage.frozen import frozen

__all__ = ["ABSENT", "CONTENT_SIZE", "KEPT", "TIE", "UNOBSERVED", "Timeline", "observation_text"]

KEPT = 15
"""Number of latest observations that are always kept, so that late ones can be inserted."""

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

    def to_texts(self) -> list[str]:
        """Return the observations as texts to store, without the end of the last run.

        That end is the unit's `last_seen`, so that the texts of a unit that is observed again unchanged stay the same.
        """
        points = self.points
        if self.present and len(points) > 1 and points[-1][1] == points[-2][1]:
            points = points[:-1]
        return [observation_text(at, content) for at, content in points]

    @classmethod
    def from_texts(cls, texts: list[str], last_seen: datetime) -> Timeline:
        """Return the timeline that `to_texts` stored; its last run ends at `last_seen`."""
        line = cls(tuple((datetime.fromisoformat(at), content) for at, _, content in map(_parts, texts)))
        if line.present and line.points[-1][0] < last_seen:
            return line.observe(last_seen, line.points[-1][1])
        return line


UNOBSERVED = Timeline()
"""The timeline of a unit of an ad-hoc job."""


def observation_text(at: datetime, content: str) -> str:
    """Return an observation as a text to store."""
    return f"{at.isoformat()} {content}"


def _moment(point: tuple[datetime, str]) -> datetime:
    return point[0]


def _content(point: tuple[datetime, str]) -> str:
    return point[1].partition(TIE)[0]


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
