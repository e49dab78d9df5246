"""What events of a run tell together: in any order and grouping the same."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from lineage_ingest.openlineage.run_state import RunState, run_state_of
from lineage_ingest.openlineage.validation.event_validation import check
from tests.events.event_builders import event

EVENT = st.fixed_dictionaries(
    {
        "run": st.just(1),
        "type": st.sampled_from(["START", "RUNNING", "COMPLETE", "OTHER", "FAIL"]),
        "at": st.integers(1, 3),
        "job": st.sampled_from(["etl/a", "etl/b"]),
    },
    optional={
        "inputs": st.lists(st.sampled_from(["pg.t", "pg.u"]), max_size=2),
        "outputs": st.dictionaries(
            st.sampled_from(["pg.v", "pg.w"]),
            st.fixed_dictionaries({}, optional={"schema": st.lists(st.sampled_from("ab"), max_size=2, unique=True)}),
        ),
        "sql": st.sampled_from(["select 1", "select 2 from t"]),
    },
)


def together(states: list[RunState]) -> RunState:
    first, *rest = states
    for one in rest:
        first = first.merged(one)
    return first


@given(st.lists(EVENT, min_size=1, max_size=4))
def test_order_and_repetition_do_not_show(events: list[dict[str, object]]) -> None:
    all_events = [run_state_of(check(event(one))) for one in events]
    whole = together(all_events)
    for order in itertools.permutations(all_events):
        assert together([*order, order[0]]) == whole
    middle = len(all_events) // 2 or 1
    if all_events[middle:]:
        assert together(all_events[:middle]).merged(together(all_events[middle:])) == whole
    assert RunState.from_text(whole.to_text()) == whole
    assert whole.merged(whole).digest == whole.digest
