"""A job's new lineage replaces its earlier lineage, by event time: retirement, late data, revival."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations

from lineage.model.batch import JobKind
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.store import GraphStore
from lineage.store.values import Direction
from tests.store.batch_builders import batch, day, history, job, key, later, live, query, table_history, view


def test_what_is_no_longer_said_ends_when_that_is_seen(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", "a.y -> v.y", at=1)))
    changes = store.apply(batch(view("v", "a.x -> v.x", at=3)))
    assert history(store) == ["a.x -> v.x 1..", "a.y -> v.y 1..3"]
    assert (changes.edges_created, changes.edges_refreshed, changes.edges_ended) == (0, 1, 1)


def test_an_ended_edge_is_of_the_other_type_with_its_times(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x ~> v", "a.y -> v.y", at=1)))
    store.apply(batch(view("v", "a.y -> v.y", at=2)))
    store.apply(batch(view("v", "a.y -> v.y", at=5)))
    (ended,) = [one for one in store.dump().relationships if one[0] == "REFERENCED"]
    assert ended[1:3] == (key("a.x"), key("v"))
    assert {name: ended[3][name] for name in ("valid_from", "valid_to", "last_seen")} == {
        "valid_from": day(1),
        "valid_to": day(2),
        "last_seen": day(1),
    }


def test_late_data_never_retires_newer_lineage(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.new -> v.x", at=5)))
    store.apply(batch(view("v", "a.old -> v.x", at=2)))
    assert history(store) == ["a.new -> v.x 5..", "a.old -> v.x 2..5"]


def test_late_data_fills_a_gap_and_splits_what_was_taken_to_hold(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=1)))
    store.apply(batch(view("v", "a.x -> v.x", at=9)))
    store.apply(batch(view("v", "a.y -> v.x", at=4)))
    assert history(store) == ["a.x -> v.x 1..4", "a.x -> v.x 9..", "a.y -> v.x 4..9"]


def test_an_edge_that_is_said_again_begins_anew(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=1)))
    store.apply(batch(view("v", at=2)))
    store.apply(batch(view("v", "a.x -> v.x", at=6)))
    assert history(store) == ["a.x -> v.x 1..2", "a.x -> v.x 6.."]


def test_a_change_of_meaning_is_an_end_and_a_beginning(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=1)))
    store.apply(batch(view("v", "a.x -> v.x MASKING", at=4)))
    assert history(store) == ["a.x -> v.x 1..4", "a.x -> v.x masked 4.."]
    [hop] = store.expand([key("a.x")], Direction.DOWNSTREAM, as_of=day(2))
    assert not hop.edge.masking


def test_each_subtype_has_its_own_masking(store: GraphStore) -> None:
    masks = "a.x -> v.x IDENTITY AGGREGATION:MASKING", "a.x ~> v JOIN:MASKING FILTER"
    store.apply(batch(view("v", "a.x -> v.x IDENTITY AGGREGATION", "a.x ~> v JOIN FILTER", at=1)))
    for _ in range(2):
        store.apply(batch(view("v", *masks, at=3)))
        assert history(store) == [
            "a.x -> v.x 1..3",
            "a.x -> v.x AGGREGATION masked 3..",
            "a.x ~> v 1..3",
            "a.x ~> v JOIN masked 3..",
        ]
    edges = {hop.edge.kind: hop.edge for hop in store.expand([key("a.x")], Direction.DOWNSTREAM)}
    assert (edges[EdgeKind.CONTRIBUTES].masking, edges[EdgeKind.REFERENCES].masking) == (False, False)
    assert edges[EdgeKind.CONTRIBUTES].partly_masking == (Subtype.AGGREGATION,)
    assert edges[EdgeKind.REFERENCES].partly_masking == (Subtype.JOIN,)
    steps = store.steps([(key("a.x"), key("v.x"), EdgeKind.CONTRIBUTES), (key("a.x"), key("v"), EdgeKind.REFERENCES)])
    assert {step.partly_masking for step in steps} == {(Subtype.AGGREGATION,), (Subtype.JOIN,)}
    before = store.expand([key("a.x")], Direction.DOWNSTREAM, as_of=day(2))
    assert {hop.edge.partly_masking for hop in before} == {()}
    store.apply(batch(view("v", "a.x -> v.x IDENTITY AGGREGATION MASKING", at=5)))
    assert live(store) == ["a.x -> v.x masked"]


def test_observations_in_any_order_give_one_history(store: GraphStore) -> None:
    orders = list(permutations(range(4)))
    for number, order in enumerate(orders):
        name = f"v{number}"
        records = [
            view(name, f"a.x -> {name}.x", at=1),
            view(name, f"a.x -> {name}.x MASKING", f"b.x ~> {name}", at=3),
            view(name, f"b.x ~> {name}", at=5),
            view(name, f"a.x -> {name}.x", at=7),
        ]
        for index in order:
            store.apply(batch(records[index]))
    found = history(store)
    for number in range(len(orders)):
        name = f"v{number}"
        mine = [line for line in found if line.split()[2].partition(".")[0] == name]
        assert mine == [
            f"a.x -> {name}.x 1..3",
            f"a.x -> {name}.x 7..",
            f"a.x -> {name}.x masked 3..5",
            f"b.x ~> {name} 3..7",
        ]


def test_a_statement_held_over_the_whole_time_between_first_and_last_seen(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=2, until=6)))
    store.apply(batch(view("v", "a.y -> v.x", at=8)))
    store.apply(batch(view("v", "a.z -> v.x", at=1)))
    assert history(store) == ["a.x -> v.x 2..8", "a.y -> v.x 8..", "a.z -> v.x 1..2"]


def test_a_batch_told_anew_for_the_same_time_is_the_one_that_counts(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=2, until=4)))
    store.apply(batch(view("v", "b.x -> v.x", at=2, until=4)))
    assert history(store) == ["b.x -> v.x 2.."]


def test_a_new_layout_of_the_sql_moves_the_proof_and_ends_nothing(store: GraphStore) -> None:
    first = batch(view("v", "a.x -> v.x", at=1))
    [edge] = first.edges
    store.apply(first)
    second = batch(view("v", "a.x -> v.x", at=2))
    store.apply(replace(second, edges=(replace(edge, spans=((70, 75),)),)))
    [hop] = store.expand([key("a.x")], Direction.DOWNSTREAM)
    assert hop.edge.spans == ((70, 75),)
    assert history(store) == ["a.x -> v.x 1.."]


def test_what_two_jobs_say_of_one_pair_is_never_mixed(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.email -> v.x", at=1), job("two", "a.email -> v.x MASKING", at=1)))
    assert history(store) == ["a.email -> v.x 1..", "a.email -> v.x masked 1.."]
    store.apply(batch(job("one", writes=["v"], at=2)))
    assert history(store) == ["a.email -> v.x 1..2", "a.email -> v.x masked 1.."]


def test_the_unit_of_replacement_is_a_job_and_one_output(store: GraphStore) -> None:
    store.apply(batch(job("etl", "a.x -> v.x", "a.x -> w.x", at=1)))
    store.apply(batch(job("etl", "a.x -> v.x", at=3)))
    assert history(store) == ["a.x -> v.x 1..", "a.x -> w.x 1..3"]
    [stored] = store.jobs(["etl"])
    assert stored.writes == (key("v"),)


def test_late_news_that_a_job_wrote_something_else_ends_with_what_came_after(store: GraphStore) -> None:
    store.apply(batch(job("etl", "a.x -> v.x", at=5)))
    store.apply(batch(job("etl", "a.x -> w.x", at=2)))
    store.apply(batch(job("etl", "a.x -> v.x", at=8)))
    assert live(store) == ["a.x -> v.x"]
    assert "a.x -> w.x 2..5" in history(store)


def test_feeds_follow_what_the_job_reads_and_writes(store: GraphStore) -> None:
    store.apply(batch(job("etl", "a.x -> v.x", reads=["b"], at=1)))
    store.apply(batch(job("etl", "a.x -> v.x", at=4)))
    assert table_history(store) == ["a => v 1..", "b => v 1..4"]
    assert [feed.source for feed in store.feeds([key("v")], Direction.UPSTREAM)] == [key("a")]
    assert [feed.source for feed in store.feeds([key("v")], Direction.UPSTREAM, as_of=day(2))] == [key("a"), key("b")]
    assert [feed.target for feed in store.feeds([key("a")], Direction.DOWNSTREAM)] == [key("v")]


def test_a_job_that_reads_what_it_writes_does_not_feed_itself(store: GraphStore) -> None:
    store.apply(batch(job("etl", "v.x -> v.x", at=1)))
    assert table_history(store) == []
    assert live(store) == ["v.x -> v.x"]


def test_queries_only_add(store: GraphStore) -> None:
    store.apply(batch(query("q", "a.x -> v.x", at=1)))
    store.apply(batch(query("q", "a.y -> v.y", at=5)))
    assert history(store) == ["a.x -> v.x 1..", "a.y -> v.y 5.."]


def test_a_late_query_moves_the_beginning(store: GraphStore) -> None:
    store.apply(batch(query("q", "a.x -> v.x", at=6)))
    store.apply(batch(query("q", "a.x -> v.x", at=2, until=3)))
    assert history(store) == ["a.x -> v.x 2.."]
    [hop] = store.expand([key("a.x")], Direction.DOWNSTREAM)
    assert hop.edge.last_seen == day(6)


def test_what_a_query_means_is_what_was_made_out_last(store: GraphStore) -> None:
    store.apply(batch(query("q", "a.x -> v.x AMBIGUOUS", at=2)))
    store.apply(batch(query("q", "a.x -> v.x MASKING", at=2)))
    store.apply(batch(query("q", "a.x -> v.x AMBIGUOUS", at=1)))
    assert history(store) == ["a.x -> v.x masked 1.."]


def test_prune_ends_what_queries_have_not_said_again(store: GraphStore) -> None:
    store.apply(batch(query("old", "a.x -> v.x", at=1, until=3), query("new", "a.y -> v.y", at=1, until=8)))
    store.apply(batch(view("w", "a.x -> w.x", at=1)))
    assert store.prune(day(5), at=day(9)) == 1
    assert history(store) == ["a.x -> v.x 1..9", "a.x -> w.x 1..", "a.y -> v.y 1.."]
    assert table_history(store) == ["a => v 1..", "a => v 1..9", "a => w 1.."]
    assert store.prune(day(5), at=day(10)) == 0


def test_what_was_pruned_held_until_then(store: GraphStore) -> None:
    store.apply(batch(query("q", "a.x -> v.x", at=1)))
    before = datetime.now(UTC)
    assert store.prune(day(5)) == 1
    [ended] = store.expand([key("a.x")], Direction.DOWNSTREAM, as_of=before)
    assert ended.edge.valid_to is not None
    assert before <= ended.edge.valid_to <= datetime.now(UTC)
    assert store.expand([key("a.x")], Direction.DOWNSTREAM, as_of=ended.edge.valid_to) == []
    assert store.expand([key("a.x")], Direction.DOWNSTREAM) == []


def test_a_query_that_runs_again_after_pruning_begins_anew(store: GraphStore) -> None:
    store.apply(batch(query("q", "a.x -> v.x", at=1)))
    store.prune(day(5), at=day(6))
    assert history(store) == ["a.x -> v.x 1..6"]
    store.apply(batch(query("q", "a.x -> v.x", at=7)))
    assert history(store) == ["a.x -> v.x 1..6", "a.x -> v.x 7.."]


def test_the_same_log_does_not_revive_what_was_pruned(store: GraphStore) -> None:
    log = batch(query("old", "a.x -> v.x", at=1, until=3), query("new", "a.y -> v.y", at=1, until=8))
    store.apply(log)
    store.prune(day(5), at=day(9))
    once = store.dump()
    for new_batch in (log, batch(query("old", "a.x -> v.x", at=2)), batch(query("old", "a.x -> v.x", at=1))):
        store.apply(new_batch)
        assert history(store) == ["a.x -> v.x 1..9", "a.y -> v.y 1.."]
    store.apply(log)
    assert [one for one in store.dump().relationships if one[0] != "OBSERVED"] == [
        one for one in once.relationships if one[0] != "OBSERVED"
    ]


def test_what_is_older_than_a_prune_and_comes_late_is_history(store: GraphStore) -> None:
    store.prune(day(5), at=day(9))
    store.apply(batch(query("q", "a.x -> v.x", at=2), query("r", "a.y -> v.y", at=6)))
    assert history(store) == ["a.x -> v.x 2..9", "a.y -> v.y 6.."]
    store.apply(batch(query("q", "a.x -> v.x", at=7)))
    assert history(store) == ["a.x -> v.x 2..", "a.y -> v.y 6.."]


def test_a_prune_reaches_no_further_than_its_own_time(store: GraphStore) -> None:
    store.apply(batch(query("q", "a.x -> v.x", at=1)))
    store.prune(day(20), at=day(4))
    store.apply(batch(query("q", "a.x -> v.x", at=6)))
    assert history(store) == ["a.x -> v.x 1..4", "a.x -> v.x 6.."]


def test_prunes_and_observations_in_any_order_give_one_history(store: GraphStore) -> None:
    for number, order in enumerate(permutations(range(4))):
        # The days of a later order are after those that an earlier one pruned.
        first, name = 1 + 100 * number, f"v{number}"
        seen = [
            query(name, f"a.x -> {name}.x", at=first),
            query(name, f"a.x -> {name}.x", at=first + 1),
            query(name, f"a.y -> {name}.x", f"a.x ~> {name}", at=first + 2, until=first + 3),
        ]
        for index in order:
            if index < len(seen):
                store.apply(batch(seen[index]))
            else:
                store.prune(day(first + 2.5), at=day(first + 20))
        mine = [line for line in history(store) if line.split()[2].partition(".")[0] == name]
        assert mine == [
            f"a.x -> {name}.x {first}..{first + 20}",
            f"a.x ~> {name} {first + 2}..",
            f"a.y -> {name}.x {first + 2}..",
        ], order


def test_as_of_reads_what_held_then(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=2)))
    store.apply(batch(view("v", "a.y -> v.x", at=4)))

    def sources(number: float) -> list[str]:
        hops = store.expand([key("v.x")], Direction.UPSTREAM, as_of=day(number))
        return [hop.edge.source for hop in hops]

    assert sources(1) == []
    assert sources(2) == [key("a.x")]
    assert sources(3.9) == [key("a.x")]
    assert sources(4) == [key("a.y")]
    assert sources(30) == [key("a.y")]


def test_the_same_batch_twice_is_as_once(store: GraphStore) -> None:
    new_batch = batch(view("v", "a.x -> v.x", "a.y ~> v", at=1), query("q", "v.x -> w.x", at=1, until=4))
    store.apply(new_batch)
    once = store.dump()
    changes = store.apply(new_batch)
    assert store.dump() == once
    assert (changes.nodes_created, changes.edges_created, changes.edges_refreshed, changes.edges_ended) == (0, 0, 0, 0)


def test_the_same_content_later_moves_last_seen_and_nothing_else(store: GraphStore) -> None:
    new_batch = batch(
        job("file", "a.x -> v.x", "a.y ~> v", at=1, source="f.sql"),
        job("other", "v.x -> w.x", at=1, source="f.sql"),
        files=["f.sql"],
    )
    store.apply(new_batch)
    once = store.dump()
    store.apply(later(new_batch, 3))
    store.apply(later(new_batch, 5))
    again = store.dump()

    moving = ("last_seen", "observations", "observed_at")

    def still(properties: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in properties.items() if name not in moving}

    assert [(label, node, still(p)) for label, node, p in again.nodes] == [
        (label, node, still(p)) for label, node, p in once.nodes
    ]
    assert [(name, a, b, still(p)) for name, a, b, p in again.relationships] == [
        (name, a, b, still(p)) for name, a, b, p in once.relationships
    ]
    seen = {p["last_seen"] for name, _, _, p in again.relationships if name in ("CONTRIBUTES", "REFERENCES", "FEEDS")}
    assert seen == {day(6)}


def test_a_job_holds_what_was_last_seen_of_it(store: GraphStore) -> None:
    store.apply(batch(job("etl", "a.x -> v.x", at=5, sql="new", observations=3), run="two"))
    store.apply(batch(job("etl", "b.x -> v.x", at=2, sql="old", observations=4), run="one"))
    [stored] = store.jobs(["etl"])
    assert (stored.sql, stored.first_seen, stored.last_seen, stored.observations) == ("new", day(2), day(5), 7)
    assert (stored.reads, stored.kind) == ((key("a"),), JobKind.SQL_FILE)


def test_counts_of_one_source_batch_are_overwritten(store: GraphStore) -> None:
    store.apply(batch(job("etl", "a.x -> v.x", at=1, observations=3), run="one"))
    store.apply(batch(job("etl", "a.x -> v.x", at=1, observations=5), run="one"))
    assert [stored.observations for stored in store.jobs()] == [5]


def test_times_are_in_utc_whatever_zone_they_come_in(store: GraphStore) -> None:
    at = day(1).astimezone(timezone(timedelta(hours=5)))
    new_batch = batch(view("v", "a.x -> v.x", at=1))
    [only] = new_batch.jobs
    store.apply(
        replace(new_batch, jobs=(replace(only, first_seen=at, last_seen=at),), run=replace(new_batch.run, at=at))
    )
    [hop] = store.expand([key("a.x")], Direction.DOWNSTREAM)
    assert hop.edge.valid_from == day(1)
    assert hop.edge.valid_from.utcoffset() == timedelta(0)


def test_only_places_that_can_be_read_back_are_stored(store: GraphStore) -> None:
    first = batch(job("v", "a.x -> v.x", at=1))
    [edge] = first.edges
    store.apply(replace(first, edges=(replace(edge, spans=((-3, 2), (0, 4), (6, 5))),)))
    [hop] = store.expand([key("a.x")], Direction.DOWNSTREAM)
    assert hop.edge.spans == ((0, 4),)
