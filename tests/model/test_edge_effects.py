"""An edge's subtypes, each masked or not, whichever was stated first."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from lineage.model.influence.edge_effects import effects_of, masked_subtypes_of, merge_effects
from lineage.model.influence.transformations import StepEffect, Subtype

EFFECTS = st.lists(st.builds(StepEffect, st.sampled_from(Subtype), st.booleans()), max_size=5)


@given(EFFECTS)
def test_a_subtype_is_masked_if_it_always_is(effects: list[StepEffect]) -> None:
    edge = merge_effects(effects)
    masked = {one.subtype for one in effects} - {one.subtype for one in effects if not one.masking}
    assert set(edge.subtypes) == {one.subtype for one in effects}
    assert set(masked_subtypes_of(edge)) == masked
    assert edge.masking == (bool(effects) and all(one.masking for one in effects))
    assert not (edge.masking and edge.partly_masking)


@given(EFFECTS, EFFECTS)
def test_edges_merge_as_their_effects_do(one: list[StepEffect], other: list[StepEffect]) -> None:
    both = merge_effects((*one, *other))
    assert merge_effects((*effects_of(merge_effects(one)), *effects_of(merge_effects(other)))) == both
    assert merge_effects((*other, *one)) == both


def test_the_order_of_statements_does_not_matter() -> None:
    stated = [
        StepEffect(Subtype.AGGREGATION, masking=True),
        StepEffect(Subtype.IDENTITY),
        StepEffect(Subtype.IDENTITY, masking=True),
        StepEffect(Subtype.TRANSFORMATION, masking=True),
    ]
    [edge] = {merge_effects(order) for order in permutations(stated)}
    assert edge.subtypes == (Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION)
    assert edge.partly_masking == (Subtype.TRANSFORMATION, Subtype.AGGREGATION)
