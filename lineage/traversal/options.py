"""Options and limits of a traversal."""

from __future__ import annotations

from datetime import datetime

from lineage.frozen import frozen
from lineage.model.influence.transformations import EdgeKind

__all__ = ["TraversalOptions"]


@frozen
class TraversalOptions:
    """Options of a traversal: how far to go, and over which edges. The answer names the limits that cut it.

    `max_hops` is the maximum length of a path in edges; `max_references` of them may be references (None: any number).
    Without `through_masking`, edges that mask the value are not followed. `limit_per_hop` and `limit_total` bound the
    number of columns reached; `as_of` queries the graph as of that time. A traversal that takes longer than `timeout`
    seconds fails with `StoreTimeoutError`.

    Raises:
        ValueError: a limit is out of range, or `kinds` is empty.
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
