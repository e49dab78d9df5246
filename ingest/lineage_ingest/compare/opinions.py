"""The lineage that a product states: its edges as read, and the same edges merged over all of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from lineage.frozen import frozen
from lineage.model.names import dataset_of

__all__ = ["ReadRow", "Opinion", "OpinionEdge", "OpinionLineage", "UnreadRow", "several_origins", "strongest"]

_MAX_LISTED = 1_000
"""Maximum number of unread rows to list; the others are only counted."""


@frozen
class OpinionEdge:
    """An edge as a product states it, with the proof that it gives.

    `source` and `target` are keys of columns, or of datasets where the product states tables only; `source` is None if
    it states that the column is written without a source (a constant). `influence` is whether the source only
    influences the target (a filter, a join); None if the product does not distinguish that. `how` is the
    transformation in the product's own word. `run` is the query or run, `entity` the job, notebook or model.
    """

    source: str | None
    target: str
    place: str
    influence: bool | None = False
    how: str | None = None
    at: datetime | None = None
    run: str | None = None
    entity: str | None = None


@frozen
class UnreadRow:
    """A part of the input that could not be read: where, why, and what to do. `is_error` is False for a notice."""

    place: str
    reason: str
    hint: str | None = None
    is_error: bool = True


def several_origins(count: int, what: str, column: str) -> UnreadRow:
    """Return the notice that an export has rows of several accounts or the like, whose tables may have one name."""
    reason = f"the export has rows of {count:,} {what}: tables of one name are not told apart; filter by {column}"
    return UnreadRow("", reason, is_error=False)


ReadRow: TypeAlias = OpinionEdge | UnreadRow


@dataclass(slots=True)
class Opinion:
    """What the rows of one edge state together. `run`, `entity` and `place` are those of the latest row.

    `through` are the tables, unknown to the graph, that the product names between source and target.
    """

    influence: bool | None
    place: str
    count: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    run: str | None = None
    entity: str | None = None
    how: set[str] = field(default_factory=set)
    through: tuple[str, ...] = ()

    def add(self, edge: OpinionEdge) -> None:
        """Merge a row. A value that flows in one row outweighs influence in another."""
        self.influence = strongest(self.influence, edge.influence)
        self.count += 1
        if edge.how:
            self.how.add(edge.how)
        if edge.at is not None:
            self.first_at = edge.at if self.first_at is None else min(self.first_at, edge.at)
        if self.last_at is None or (edge.at is not None and edge.at >= self.last_at):
            self.last_at = edge.at or self.last_at
            self.run, self.entity, self.place = edge.run, edge.entity, edge.place

    def merge(self, other: Opinion) -> None:
        """Merge what is stated of the same edge under another name of its columns."""
        self.influence = strongest(self.influence, other.influence)
        self.count += other.count
        self.how |= other.how
        starts = [at for at in (self.first_at, other.first_at) if at is not None]
        self.first_at = min(starts, default=None)
        if self.last_at is None or (other.last_at is not None and other.last_at > self.last_at):
            self.last_at = other.last_at or self.last_at
            self.run, self.entity, self.place = other.run, other.entity, other.place
        if not other.through:
            self.through = ()


def strongest(one: bool | None, other: bool | None) -> bool | None:
    """Return what two rows of an edge state together: value, else not stated, else influence."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


class OpinionLineage:
    """All that an export states, merged: memory grows with the number of distinct edges, not of rows."""

    def __init__(self) -> None:
        self.edges: dict[tuple[str, str], Opinion] = {}
        self.written_without_source: set[str] = set()
        """Columns of which the product states that they have no source."""
        self.rows = 0
        self.unread: list[UnreadRow] = []
        self.unread_count = 0
        self.notices: Counter[str] = Counter()
        self.first_at: datetime | None = None
        self.last_at: datetime | None = None

    def add(self, row: ReadRow, as_of: datetime | None = None) -> None:
        """Add a row; those after `as_of` are left out."""
        if isinstance(row, UnreadRow):
            if not row.is_error:
                self.notices[row.reason] += 1
                return
            self.unread_count += 1
            if len(self.unread) < _MAX_LISTED:
                self.unread.append(row)
            return
        if as_of is not None and row.at is not None and row.at > as_of:
            self.notices["rows after --as-of"] += 1
            return
        self.rows += 1
        if row.at is not None:
            self.first_at = row.at if self.first_at is None else min(self.first_at, row.at)
            self.last_at = row.at if self.last_at is None else max(self.last_at, row.at)
        if row.source is None:
            self.written_without_source.add(row.target)
            return
        known = self.edges.get((row.source, row.target))
        if known is None:
            known = self.edges[row.source, row.target] = Opinion(row.influence, row.place)
        known.add(row)

    def datasets(self) -> set[str]:
        """Return the keys of all datasets that the export names."""
        found = {dataset_of(key) for pair in self.edges for key in pair}
        return found | {dataset_of(key) for key in self.written_without_source}

    @classmethod
    def of(cls, rows: Iterable[ReadRow], as_of: datetime | None = None) -> OpinionLineage:
        """Return these rows, merged."""
        lineage = cls()
        for row in rows:
            lineage.add(row, as_of)
        return lineage
