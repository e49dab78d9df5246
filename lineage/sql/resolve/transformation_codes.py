"""Transformations as small integers, and their composition as a table, since the resolver composes millions."""

from __future__ import annotations

from lineage.model.transformations import EdgeKind, StepEffect, Subtype, compose

__all__ = [
    "AGGREGATION",
    "COMPOSE",
    "COMPUTED",
    "CONDITIONAL",
    "DISTINCT",
    "FILTER",
    "FIRST_REFERENCE",
    "GROUP_BY",
    "IDENTITY",
    "JOIN",
    "LIMITED_SORT",
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

STEPS: tuple[StepEffect, ...] = (
    StepEffect(Subtype.IDENTITY),
    StepEffect(Subtype.TRANSFORMATION),
    StepEffect(Subtype.AGGREGATION),
    StepEffect(Subtype.IDENTITY, masking=True),
    StepEffect(Subtype.TRANSFORMATION, masking=True),
    StepEffect(Subtype.AGGREGATION, masking=True),
    StepEffect(Subtype.CONDITIONAL),
    StepEffect(Subtype.WINDOW),
    StepEffect(Subtype.FILTER),
    StepEffect(Subtype.JOIN),
    StepEffect(Subtype.GROUP_BY),
    StepEffect(Subtype.SORT),
    StepEffect(Subtype.DISTINCT),
    StepEffect(Subtype.SET_OPERATION),
    StepEffect(Subtype.MERGE_MATCH),
    StepEffect(Subtype.SORT),
    StepEffect(Subtype.ROWS),
)
"""The transformation of each code. The last SORT is one whose order matters because of a LIMIT."""

IDENTITY, TRANSFORMATION, AGGREGATION = 0, 1, 2
MASKED_TRANSFORMATION, MASKED_AGGREGATION = 4, 5
FIRST_REFERENCE = 6
CONDITIONAL, WINDOW, FILTER, JOIN, GROUP_BY, SORT, DISTINCT, SET_OPERATION, MERGE_MATCH, LIMITED_SORT, ROWS = range(
    6, 17
)


def _compose(outer: int, inner: int) -> int:
    if outer >= FIRST_REFERENCE:
        return outer
    if inner >= FIRST_REFERENCE:
        return inner
    step = compose(STEPS[inner], STEPS[outer])
    assert step.kind is EdgeKind.CONTRIBUTES
    return STEPS.index(step)


COMPOSE: tuple[tuple[int, ...], ...] = tuple(
    tuple(_compose(outer, inner) for inner in range(len(STEPS))) for outer in range(len(STEPS))
)
"""`COMPOSE[outer][inner]`: the code of an inner transformation (nearer the source) composed with an outer one."""

COMPUTED: tuple[int, ...] = tuple(seen[TRANSFORMATION] for seen in COMPOSE)
"""The code of a computation's operand, composed with each outer code."""
