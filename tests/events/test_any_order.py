"""Every permutation of a set of events, in whatever batches they come, leaves one graph."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.store import open_store
from lineage.store.values import GraphDump
from lineage_ingest.openlineage import EventIngest
from tests.events.event_builders import event
from tests.events.random_events import describe, random_events


def graph(events: Sequence[dict[str, Any]], sizes: Sequence[int], path: Path) -> GraphDump:
    """Return the graph that events leave when they come in batches of these sizes."""
    with open_store(path) as store:
        ingest, start = EventIngest(store), 0
        for size in sizes:
            outcomes = ingest.take(events[start : start + size])
            assert all(one.accepted for one in outcomes), outcomes
            start += size
        return store.dump()


def without_diagnostics(dump: GraphDump) -> GraphDump:
    """Return a graph without its diagnostics: runs at one moment that come together leave those of one of them."""
    nodes = [one for one in dump.nodes if one[0] != "Diagnostic"]
    return GraphDump(nodes, [one for one in dump.relationships if one[0] not in ("ABOUT", "REPORTED")])


def random_sizes(number: int, chance: random.Random) -> list[int]:
    """Return sizes of batches that add up to a number."""
    sizes = []
    while number:
        sizes.append(min(number, chance.choice([1, 1, 2, 5, number])))
        number -= sizes[-1]
    return sizes


@pytest.mark.parametrize("seed", range(4))
def test_random_sets_of_events(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    events = random_events(chance)
    one_by_one = graph(events, [1] * len(events), tmp_path / "one_by_one.db")
    assert graph(events, [len(events)], tmp_path / "at_once.db") == one_by_one, describe(events)
    for number in range(2):
        sent = list(events)
        chance.shuffle(sent)
        found = graph(sent, random_sizes(len(sent), chance), tmp_path / f"{number}.db")
        assert found == one_by_one, f"{describe(events)}\n\nsent as\n{describe(sent)}"


def written(*fields: str, source: str = "pg.a") -> dict[str, Any]:
    return {"columnLineage": {"fields": {one: [f"{source} {one} DIRECT/IDENTITY"] for one in fields}}}


STREAM = {"job": "s/tail", "job_facets": {"jobType": {"processingType": "STREAMING", "integration": "FLINK"}}}


def test_a_streaming_job_has_the_history_of_its_events(tmp_path: Path) -> None:
    all_events = [
        {**STREAM, "run": 1, "type": "RUNNING", "at": at, "outputs": {"pg.b": written(column)}}
        for at, column in ((1, "x"), (2, "y"), (3, "y"))
    ]
    events = [event(one) for one in all_events]
    for name, sent, sizes in (
        ("singly", events, [1, 1, 1]),
        ("at_once", events, [3]),
        ("backwards", events[::-1], [1, 1, 1]),
    ):
        dump = graph(sent, sizes, tmp_path / f"{name}.db")
        found = {
            (kind, (properties.get("valid_from") or properties["first_seen"]).day)
            for kind, _, _, properties in dump.relationships
            if kind in ("CONTRIBUTES", "CONTRIBUTED")
        }
        assert found == {("CONTRIBUTED", 1), ("CONTRIBUTES", 2)}, name


def test_a_streaming_job_that_says_the_same_for_long_has_one_history(tmp_path: Path) -> None:
    """Its hours are those of all its events, however many come at once, and its edges begin with the first."""
    base = {**STREAM, "run": 1, "type": "RUNNING", "outputs": {"pg.b": written("x")}}
    plain = {**base, "job_facets": {}}  # the first does not say that the job is streaming
    all_events = [{**(plain if number == 0 else base), "at": 1 + number / 48} for number in range(100)]
    for count, sizes in ((4, ([1] * 4, [4], [1, 3])), (100, ([100], [1, 99], [40, 1, 59]))):
        events = [event(one) for one in all_events[:count]]
        found = [graph(events, each, tmp_path / f"{count}_{at}.db") for at, each in enumerate(sizes)]
        assert found.count(found[0]) == len(found)
        assert len([node for node in found[0].nodes if node[0] == "Run"]) == count / 2
    few = [event(one) for one in all_events[:6]]
    backwards = graph(few[::-1], [1] * 6, tmp_path / "backwards.db")
    assert backwards == graph(few, [6], tmp_path / "at_once.db")


def test_a_drop_that_comes_before_the_definition(tmp_path: Path) -> None:
    drop = event({"run": 2, "at": 5, "outputs": {"pg.b": {"lifecycleStateChange": "DROP"}}})
    made = event({"run": 1, "at": 1, "outputs": {"pg.b": written("x")}})
    with open_store(tmp_path / "store.db") as store:
        EventIngest(store).take([drop])
        EventIngest(store).take([made])
        [dropped] = [one for one in store.datasets() if one.name.endswith(".b")]
        assert dropped.dropped_at is not None
        assert dropped.dropped_at.day == 5
        EventIngest(store).take([event({"run": 3, "at": 7, "outputs": {"pg.b": written("x")}})])
        assert [one.dropped_at for one in store.datasets()] == [None, None]


def test_a_rename_that_comes_first_leaves_the_earlier_name(tmp_path: Path) -> None:
    change = {
        "lifecycleStateChange": "RENAME",
        "previousIdentifier": {"namespace": "postgres://db:5432", "name": "db.public.old"},
    }
    renamed = event({"run": 2, "at": 5, "outputs": {"pg.new": {"lifecycleStateChange": change}}})
    made = event({"run": 1, "at": 1, "outputs": {"pg.old": written("x")}})
    for name, sent in (("first", [renamed, made]), ("last", [made, renamed])):
        with open_store(tmp_path / f"{name}.db") as store:
            for one in sent:
                EventIngest(store).take([one])
            [found] = store.find_datasets("db.public.old")
            assert (found.name, found.aliases) == ("db.public.new", ("db.public.old",))


def test_what_was_made_of_a_table_that_is_made_anew_holds_on(tmp_path: Path) -> None:
    all_events = [
        {"run": 1, "at": 1, "job": "j/a", "outputs": {"pg.b": written("x")}},
        {"run": 2, "at": 2, "job": "j/b", "outputs": {"pg.c": written("x", source="pg.b")}},
        {"run": 3, "at": 3, "job": "j/d", "outputs": {"pg.b": {"lifecycleStateChange": "DROP"}}},
        {"run": 4, "at": 4, "job": "j/e", "outputs": {"pg.b": written("x", source="pg.z")}},
    ]
    dumps = []
    for number, order in enumerate([(0, 1, 2, 3), (3, 2, 1, 0), (2, 3, 0, 1)]):
        events = [event(all_events[index]) for index in order]
        dumps.append(graph(events, [1] * 4, tmp_path / f"{number}.db"))
    assert dumps[0] == dumps[1] == dumps[2]
    live = {
        (a.rpartition(".")[2], b.rpartition(".")[2])
        for kind, a, b, _ in dumps[0].relationships
        if kind == "CONTRIBUTES"
    }
    assert live == {("b#x", "c#x"), ("z#x", "b#x")}


_TIED = st.lists(
    st.tuples(st.sampled_from(["x", "y", "z"]), st.sampled_from(["pg.a", "pg.c"]), st.sampled_from(["", "1", "2"])),
    min_size=2,
    max_size=4,
)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(said=_TIED, chance=st.randoms(use_true_random=False), before=st.booleans())
def test_runs_of_one_job_at_one_moment(
    said: list[tuple[str, str, str]], chance: random.Random, before: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of what runs say at the same microsecond one holds, whichever came last."""
    all_events: list[dict[str, Any]] = [
        {"run": number, "at": 3, "outputs": {"pg.b": written(column, source=source)}} | ({"sql": sql} if sql else {})
        for number, (column, source, sql) in enumerate(((*one[:2], one[2] and f"select {one[2]}") for one in said), 1)
    ]
    if before:
        all_events.append({"run": 9, "at": 2, "outputs": {"pg.b": written("w")}})
    events = [event(one) for one in all_events]
    path = tmp_path_factory.mktemp("tied")
    expected = without_diagnostics(graph(events, [1] * len(events), path / "in_order.db"))
    sent = list(events)
    chance.shuffle(sent)
    assert without_diagnostics(graph(sent, [1] * len(sent), path / "shuffled.db")) == expected
    batches = graph(sent, random_sizes(len(sent), chance), path / "batches.db")
    assert without_diagnostics(batches) == expected
    twice = graph([*sent, *events[::-1]], [1] * 2 * len(events), path / "twice.db")
    assert without_diagnostics(twice) == expected
    live = {source for kind, source, _, _ in expected.relationships if kind == "CONTRIBUTES"}
    assert len(live) == 1
    assert live <= {f"postgres://db:5432/db.public.{source[3:]}#{column}" for column, source, _ in said}
