"""What a question is about: a dataset, or one of its columns."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset (`column` is None) or a column of it: its key, and its full name as people write it."""

    key: str
    name: str
    dataset: str
    column: str | None = None

    @property
    def is_table(self) -> bool:
        """Whether it is a dataset as a whole."""
        return self.column is None
