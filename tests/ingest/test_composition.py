"""Lineage past what is gone: all ways through it count, whichever is met first."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from lineage.model.batch import EdgeRecord
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage_ingest.batch.composition import edges_past, merged_edge

VALUE, ONLY_DECIDES = EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES


def edge(source: str, target: str, kind: EdgeKind, subtype: Subtype, *, masking: bool = False) -> EdgeRecord:
    return EdgeRecord(f"t#{source}", f"t#{target}", kind, "job", "t", (subtype,), masking=masking)


def test_all_ways_through_what_is_gone_count() -> None:
    made = [
        edge("base", "w", VALUE, Subtype.IDENTITY),
        edge("w", "y", VALUE, Subtype.TRANSFORMATION, masking=True),
        edge("w", "z", VALUE, Subtype.IDENTITY),
        edge("y", "x", VALUE, Subtype.IDENTITY),
        edge("z", "x", VALUE, Subtype.IDENTITY),
        edge("w", "x", ONLY_DECIDES, Subtype.FILTER),
    ]
    reads = [edge("x", "out", VALUE, Subtype.IDENTITY)]
    for order in permutations(made):
        found: dict[EdgeKind, EdgeRecord] = {}
        for one in edges_past(order, reads, {"t#w", "t#x", "t#y", "t#z"}.__contains__):
            assert (one.source, one.target) == ("t#base", "t#out")
            found[one.kind] = merged_edge(found[one.kind], one) if one.kind in found else one
        assert found.keys() == {VALUE, ONLY_DECIDES}
        assert not found[VALUE].masking
        assert found[VALUE].subtypes == (Subtype.IDENTITY, Subtype.TRANSFORMATION)
        assert found[VALUE].partly_masking == (Subtype.TRANSFORMATION,)


def test_a_masked_step_masks_what_goes_through_it() -> None:
    partly = replace(
        edge("base", "x", VALUE, Subtype.IDENTITY),
        subtypes=(Subtype.IDENTITY, Subtype.AGGREGATION),
        partly_masking=(Subtype.AGGREGATION,),
    )
    reads = [
        edge("x", "plain", VALUE, Subtype.IDENTITY),
        edge("x", "hashed", VALUE, Subtype.TRANSFORMATION, masking=True),
        edge("x", "tested", ONLY_DECIDES, Subtype.CONDITIONAL),
    ]
    past = {one.target: one for one in edges_past([partly], reads, {"t#x"}.__contains__)}
    assert [(past[name].masking, past[name].partly_masking) for name in ("t#plain", "t#hashed", "t#tested")] == [
        (False, (Subtype.AGGREGATION,)),
        (True, ()),
        (False, ()),
    ]


def test_rows_of_a_dropped_table_keep_their_masking() -> None:
    made = [replace(edge("base", "x", ONLY_DECIDES, Subtype.FILTER, masking=True), target="t")]
    reads = [EdgeRecord("t", "u", ONLY_DECIDES, "job", "u", (Subtype.ROWS,))]
    [past] = edges_past(made, reads, {"t"}.__contains__)
    assert (past.source, past.target, past.subtypes, past.masking) == ("t#base", "u", (Subtype.FILTER,), True)


@pytest.mark.parametrize("circle", [("x", "y"), ("x", "x")])
def test_what_is_gone_may_be_made_of_itself(circle: tuple[str, str]) -> None:
    made = [edge("base", "y", VALUE, Subtype.IDENTITY), edge("y", "x", VALUE, Subtype.IDENTITY)]
    made.append(edge(*circle, VALUE, Subtype.AGGREGATION))
    past = list(edges_past(made, [edge("x", "out", VALUE, Subtype.IDENTITY)], {"t#x", "t#y"}.__contains__))
    assert {(one.source, one.target) for one in past} == {("t#base", "t#out")}


@pytest.mark.parametrize("doubt", ["limited", "ambiguous"])
def test_a_doubt_about_either_step_is_one_about_the_way(doubt: str) -> None:
    sure = [edge("base", "x", VALUE, Subtype.IDENTITY), edge("x", "out", VALUE, Subtype.IDENTITY)]
    for number in range(2):
        first, second = (replace(one, **{doubt: place == number}) for place, one in enumerate(sure))  # type: ignore[arg-type]
        [past] = edges_past([first], [second], {"t#x"}.__contains__)
        assert getattr(past, doubt) is True
