"""Pages of a table's columns in their order, which changes when columns are added or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lineage.store.page_requests import PageRequest, Position
from lineage.store.values import StoredColumn

__all__ = ["ColumnRows"]

_LAST = 2**31
"""Columns without an ordinal come last."""


@dataclass(frozen=True)
class ColumnRows:
    """Columns in order.

    Ordinals shift when a column is dropped. A position therefore names its column and the next one, in case the first
    is gone; the ordinal is used only if both are.
    """

    rows: Sequence[StoredColumn]

    def position(self, row: StoredColumn) -> Position:
        """Return the path of a column, that of the next one, and its ordinal."""
        index = self._indexes[row.path]
        following = self.rows[index + 1].path if index + 1 < len(self.rows) else ""
        return (row.path, following, _LAST if row.ordinal is None else row.ordinal)

    async def read(self, page: PageRequest) -> Sequence[StoredColumn]:
        """Return the columns of a page."""
        start = 0 if page.after is None else self._index(page.after, behind=True)
        end = len(self.rows) if page.before is None else self._index(page.before, behind=False)
        found = self.rows[start : max(start, end)]
        return found[-page.limit :] if page.backwards else found[: page.limit]

    async def count(self) -> int:
        """Return the number of columns."""
        return len(self.rows)

    @cached_property
    def _indexes(self) -> dict[str, int]:
        return {row.path: index for index, row in enumerate(self.rows)}

    def _index(self, position: Position, *, behind: bool) -> int:
        path, following, ordinal = position
        indexes = self._indexes
        if path in indexes:
            return indexes[str(path)] + behind
        if following in indexes:
            return indexes[str(following)]
        found = (
            i for i, row in enumerate(self.rows) if (_LAST if row.ordinal is None else row.ordinal) >= int(ordinal)
        )
        return next(found, len(self.rows))
