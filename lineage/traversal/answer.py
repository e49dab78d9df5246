"""What impact and root cause answer with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from lineage.model.transformations import EdgeKind, Step
from lineage.store.protocol import Direction
from lineage.traversal.route import PathStep, Route
from lineage.traversal.target import Target

__all__ = ["Answer", "PossiblyAffected", "Reached"]


@dataclass(frozen=True, slots=True)
class Reached:
    """A column that the traversal reached: how far away, by what kinds of path, and a proof of it.

    `route` is a shortest path, of those one with the fewest references. `contribution` is a shortest path on
    which the value itself flows, unmasked if there is such a path at all; None if it is only influenced.
    `root` says that nothing contributes to it (upstream only).
    """

    key: str
    dataset: str
    table: str
    column: str
    route: Route
    contribution: Route | None
    influence: frozenset[EdgeKind]
    root: bool = False

    @property
    def name(self) -> str:
        """Its full name, as people write it."""
        return f"{self.table}.{self.column}"

    @property
    def hops(self) -> int:
        """The length of a shortest path."""
        return self.route.hops

    @property
    def references(self) -> int:
        """How many steps of that path are references."""
        return self.route.references

    @property
    def path(self) -> tuple[PathStep, ...]:
        """The steps of that path, in the direction in which data flows."""
        return self.route.steps

    @property
    def transformation(self) -> Step:
        """What that path amounts to."""
        return self.route.transformation

    @property
    def masked(self) -> bool:
        """Whether the value flows here and every path that it takes hides it."""
        return self.contribution is not None and self.contribution.transformation.masking

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON values."""
        return {
            "key": self.key,
            "dataset": self.dataset,
            "table": self.table,
            "column": self.column,
            "hops": self.hops,
            "references": self.references,
            "influence": sorted(str(kind) for kind in self.influence),
            "transformation": str(self.transformation.subtype),
            "masked": self.masked,
            "root": self.root,
            "path": [step.to_dict() for step in self.path],
            "contribution": self.contribution.to_dict() if self.contribution else None,
        }


@dataclass(frozen=True, slots=True)
class PossiblyAffected:
    """A dataset that only table-level lineage leads to: `job` ties it to `neighbour`, one hop nearer the start."""

    dataset: str
    table: str
    hops: int
    neighbour: str
    job: str

    def to_dict(self) -> dict[str, Any]:
        """Return the dataset as JSON values."""
        return {
            "dataset": self.dataset,
            "table": self.table,
            "hops": self.hops,
            "neighbour": self.neighbour,
            "job": self.job,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns reached from `start`, by hops, references and key; datasets that may be besides; what cut it short.

    `truncated` is None when the answer is whole, else it says which limit cut it and how.
    """

    start: Target
    direction: Direction
    columns: tuple[Reached, ...]
    possibly_affected: tuple[PossiblyAffected, ...] = ()
    truncated: str | None = None

    @property
    def by_hop(self) -> dict[int, int]:
        """How many columns lie how many hops away."""
        return dict(sorted(Counter(column.hops for column in self.columns).items()))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the datasets that the columns belong to, sorted."""
        return tuple(sorted({column.table for column in self.columns}))

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return {
            "start": self.start.name,
            "direction": str(self.direction),
            "columns": [column.to_dict() for column in self.columns],
            "possibly_affected": [dataset.to_dict() for dataset in self.possibly_affected],
            "by_hop": {str(hops): count for hops, count in self.by_hop.items()},
            "truncated": self.truncated,
        }
