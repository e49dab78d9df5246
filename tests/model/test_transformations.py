from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lineage.model.influence.transformations import (
    CONTRIBUTION_ORDER,
    IDENTITY,
    EdgeKind,
    StepEffect,
    Subtype,
    compose,
    compose_path,
)

steps = st.builds(StepEffect, st.sampled_from(Subtype), st.booleans())
paths = st.lists(steps, max_size=6)


@given(steps, steps, steps)
def test_composition_is_associative(a: StepEffect, b: StepEffect, c: StepEffect) -> None:
    assert compose(compose(a, b), c) == compose(a, compose(b, c))


@given(steps)
def test_identity_changes_nothing(step: StepEffect) -> None:
    assert compose(step, IDENTITY) == step == compose(IDENTITY, step)


@given(paths)
def test_one_reference_makes_a_path_a_reference(path: list[StepEffect]) -> None:
    has_reference = any(step.kind is EdgeKind.REFERENCES for step in path)
    assert (compose_path(path).kind is EdgeKind.REFERENCES) == has_reference


@given(paths)
def test_masking_sticks_and_does_not_appear_from_nowhere(path: list[StepEffect]) -> None:
    assert compose_path(path).masking == any(step.masking for step in path)


@given(st.lists(st.sampled_from(CONTRIBUTION_ORDER), min_size=1, max_size=6))
def test_of_contributions_the_strongest_wins(subtypes: list[Subtype]) -> None:
    composed = compose_path(StepEffect(subtype) for subtype in subtypes).subtype
    assert composed is max(subtypes, key=CONTRIBUTION_ORDER.index)


@given(paths, paths)
def test_a_path_in_two_parts_is_the_whole_path(head: list[StepEffect], tail: list[StepEffect]) -> None:
    assert compose(compose_path(head), compose_path(tail)) == compose_path(head + tail)
