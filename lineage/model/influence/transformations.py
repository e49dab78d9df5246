"""Transformation types of lineage steps, and how they compose along a path.

Composition is OpenLineage's (column lineage facet 1-2-0, transformation types DIRECT and INDIRECT): one INDIRECT
step makes the path INDIRECT; among DIRECT steps AGGREGATION takes precedence over TRANSFORMATION, and that over
IDENTITY; one masking step makes the path masking.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from lineage.frozen import frozen

__all__ = [
    "CONTRIBUTION_ORDER",
    "IDENTITY",
    "EdgeKind",
    "StepEffect",
    "Subtype",
    "compose",
    "compose_path",
    "strongest",
]


class EdgeKind(StrEnum):
    """Whether the value flows (CONTRIBUTES) or only influences the target (REFERENCES)."""

    CONTRIBUTES = "CONTRIBUTES"
    REFERENCES = "REFERENCES"


class Subtype(StrEnum):
    """How the value flows, or the clause through which it influences the target."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    CONDITIONAL = "CONDITIONAL"
    WINDOW = "WINDOW"
    FILTER = "FILTER"
    JOIN = "JOIN"
    GROUP_BY = "GROUP_BY"
    SORT = "SORT"
    DISTINCT = "DISTINCT"
    SET_OPERATION = "SET_OPERATION"
    MERGE_MATCH = "MERGE_MATCH"
    ROWS = "ROWS"
    """The rows of a table in FROM determine the rows of the target."""

    @property
    def kind(self) -> EdgeKind:
        """The kind of edge that has this subtype."""
        return EdgeKind.CONTRIBUTES if self in _CONTRIBUTING else EdgeKind.REFERENCES


CONTRIBUTION_ORDER = (Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION)
"""Contributing subtypes, from the weakest to the strongest."""

_CONTRIBUTING = frozenset(CONTRIBUTION_ORDER)


@frozen
class StepEffect:
    """One step of a path: its subtype, and whether it hides the value."""

    subtype: Subtype
    masking: bool = False

    @property
    def kind(self) -> EdgeKind:
        """CONTRIBUTES or REFERENCES, by the subtype."""
        return self.subtype.kind


IDENTITY = StepEffect(Subtype.IDENTITY)


def compose(first: StepEffect, second: StepEffect) -> StepEffect:
    """Return the composition of `first` (nearer the source) and `second` (nearer the target).

    Of two references the one nearer the target determines the subtype: it is the clause in the target's SQL.

    >>> compose(StepEffect(Subtype.AGGREGATION), StepEffect(Subtype.TRANSFORMATION, masking=True))
    StepEffect(subtype=<Subtype.AGGREGATION: 'AGGREGATION'>, masking=True)
    >>> compose(StepEffect(Subtype.JOIN), StepEffect(Subtype.IDENTITY)).subtype
    <Subtype.JOIN: 'JOIN'>
    """
    masking = first.masking or second.masking
    if second.kind is EdgeKind.REFERENCES:
        return StepEffect(second.subtype, masking)
    if first.kind is EdgeKind.REFERENCES:
        return StepEffect(first.subtype, masking)
    return StepEffect(strongest((first.subtype, second.subtype)), masking)


def compose_path(steps: Iterable[StepEffect]) -> StepEffect:
    """Return the composition of a path's steps, from source to target; an empty path is the identity.

    >>> compose_path([StepEffect(Subtype.IDENTITY), StepEffect(Subtype.AGGREGATION)]).subtype
    <Subtype.AGGREGATION: 'AGGREGATION'>
    """
    total = IDENTITY
    for step in steps:
        total = compose(total, step)
    return total


def strongest(subtypes: Iterable[Subtype]) -> Subtype:
    """Return the strongest of the contributing subtypes.

    >>> strongest([Subtype.TRANSFORMATION, Subtype.IDENTITY])
    <Subtype.TRANSFORMATION: 'TRANSFORMATION'>

    Raises:
        ValueError: there is none, or one of them does not contribute.
    """
    return max(subtypes, key=CONTRIBUTION_ORDER.index)
