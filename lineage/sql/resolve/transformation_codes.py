"""Transformations as small integers, and their composition as a table, since the resolver composes millions."""

from __future__ import annotations

from lineage.model.influence.transformations import CONTRIBUTION_ORDER, StepEffect, Subtype, compose

__all__ = [
    "AGGREGATION",
    "COMPOSE",
    "COMPUTED",
    "CONDITIONAL",
    "DISTINCT",
    "FILTER",
    "FIRST_MASKED",
    "FIRST_REFERENCE",
    "GROUP_BY",
    "IDENTITY",
    "JOIN",
    "LIMITED_SORT",
    "LIMITED_SORTS",
    "MASKED_AGGREGATION",
    "MASKED_TRANSFORMATION",
    "MERGE_MATCH",
    "ROWS",
    "SET_OPERATION",
    "SORT",
    "STEPS",
    "TRANSFORMATION",
    "WINDOW",
]

_REFERENCES = (
    Subtype.CONDITIONAL,
    Subtype.WINDOW,
    Subtype.FILTER,
    Subtype.JOIN,
    Subtype.GROUP_BY,
    Subtype.SORT,
    Subtype.DISTINCT,
    Subtype.SET_OPERATION,
    Subtype.MERGE_MATCH,
    Subtype.SORT,
    Subtype.ROWS,
)
"""The last SORT is one whose order matters because of a LIMIT."""

STEPS: tuple[StepEffect, ...] = tuple(
    StepEffect(subtype, masking)
    for subtypes in (CONTRIBUTION_ORDER, _REFERENCES)
    for masking in (False, True)
    for subtype in subtypes
)
"""The transformation of each code: the contributions and their masked variants, then the same of the references."""

IDENTITY, TRANSFORMATION, AGGREGATION = 0, 1, 2
FIRST_MASKED = 3
MASKED_TRANSFORMATION, MASKED_AGGREGATION = 4, 5
FIRST_REFERENCE = 6
CONDITIONAL, WINDOW, FILTER, JOIN, GROUP_BY, SORT, DISTINCT, SET_OPERATION, MERGE_MATCH, LIMITED_SORT, ROWS = range(
    6, 17
)
LIMITED_SORTS = frozenset((LIMITED_SORT, LIMITED_SORT + len(_REFERENCES)))
"""LIMITED_SORT and its masked variant."""


def _compose(outer: int, inner: int) -> int:
    """Return the code of a composition; of two references, the outer one, as `compose` does."""
    masking = STEPS[outer].masking or STEPS[inner].masking
    for code in (outer, inner):
        if code >= FIRST_REFERENCE:
            return code + len(_REFERENCES) if masking and not STEPS[code].masking else code
    return STEPS.index(compose(STEPS[inner], STEPS[outer]))


COMPOSE: tuple[tuple[int, ...], ...] = tuple(
    tuple(_compose(outer, inner) for inner in range(len(STEPS))) for outer in range(len(STEPS))
)
"""`COMPOSE[outer][inner]`: the code of an inner transformation (nearer the source) composed with an outer one."""

COMPUTED: tuple[int, ...] = tuple(seen[TRANSFORMATION] for seen in COMPOSE)
"""The code of a computation's operand, composed with each outer code."""
