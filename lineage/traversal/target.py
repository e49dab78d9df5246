"""The target of a query: a dataset, or one of its columns."""

from __future__ import annotations

from lineage.frozen import frozen

__all__ = ["Target"]


@frozen
class Target:
    """A dataset (`column` is None) or one of its columns: its key and its full display name."""

    key: str
    name: str
    dataset: str
    column: str | None = None

    @property
    def is_table(self) -> bool:
        """Whether it is a whole dataset."""
        return self.column is None
