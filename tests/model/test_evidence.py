from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.model.influence.evidence import (
    SourcePosition,
    chain_text,
    chains_from,
    is_sound,
    position_in_source,
    spans_of,
)

places = st.tuples(st.integers(0, 10_000), st.integers(0, 500)).map(lambda one: (one[0], one[0] + one[1]))


@given(st.lists(places, min_size=1, max_size=15))
def test_a_stored_chain_is_read_back(listed: list[tuple[int, int]]) -> None:
    chain = tuple(number for place in listed for number in place)
    assert is_sound(chain)
    assert chains_from([chain_text(chain)]) == (chain,)
    assert spans_of(chain) == listed


@pytest.mark.parametrize("text", ["-1-0", "", "7", "7-", "7-12 ", "7-12  9-10", "a-b", "7-12 30"])
def test_what_is_no_chain_is_left_out(text: str) -> None:
    assert chains_from([text, "1-2"]) == ((1, 2),)


@pytest.mark.parametrize("chain", [(), (3,), (3, 2), (-1, 2), (1, 2, 5, 4)])
def test_unsound_chains(chain: tuple[int, ...]) -> None:
    assert not is_sound(chain)


def test_positions_of_several_statements() -> None:
    sql = "SELECT a,\n  b;\nSELECT c"
    positions = [SourcePosition(0, 4, 20), SourcePosition(15, 9, 5)]
    assert [position_in_source(sql, positions, at) for at in (7, 12, 22)] == [(4, 27), (5, 3), (9, 12)]
    assert position_in_source(sql, [], 7) is None
