"""What bounds a traversal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lineage.model.transformations import EdgeKind

__all__ = ["TraversalOptions"]


@dataclass(frozen=True, slots=True)
class TraversalOptions:
    """How far to go, and over which edges. A limit that cuts something off is named in the answer.

    `max_hops` edges make the longest path; `max_references` of them may be references (any number, when None);
    without `through_masking` no edge that hides the value is followed;
    `limit_per_hop` and `limit_total` bound the columns that are reached; `as_of` asks the graph as it was then.
    A traversal that takes longer than `timeout` seconds is ended.

    Raises:
        ValueError: a bound that leaves nothing, or no kind of edge.
    """

    max_hops: int = 20
    kinds: frozenset[EdgeKind] = frozenset(EdgeKind)
    max_references: int | None = None
    through_masking: bool = True
    limit_per_hop: int | None = None
    limit_total: int = 10_000
    as_of: datetime | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("max_hops", 1), ("max_references", 0), ("limit_per_hop", 1), ("limit_total", 1)):
            bound = getattr(self, name)
            if bound is not None and bound < least:
                raise ValueError(f"{name} is {bound}; it must be at least {least}")
        if self.timeout is not None and self.timeout <= 0:
            raise ValueError(f"timeout is {self.timeout}; it must be more than 0")
        if not self.kinds:
            raise ValueError("kinds is empty; name CONTRIBUTES, REFERENCES or both")
