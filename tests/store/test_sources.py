"""Complete sources: jobs that a file no longer contains are retired."""

from __future__ import annotations

from lineage.store import GraphStore
from tests.store.batch_builders import batch, day, history, job, key, live, query, table_history, view


def test_what_a_file_no_longer_holds_is_retired(store: GraphStore) -> None:
    both = (job("v", "a.x -> v.x", at=1, source="f.sql"), job("w", "a.x -> w.x", at=1, source="f.sql"))
    store.apply(batch(*both, files=["f.sql"]))
    store.apply(batch(job("v", "a.x -> v.x", at=4, source="f.sql"), files=["f.sql"]))
    assert history(store) == ["a.x -> v.x 1..", "a.x -> w.x 1..4"]
    assert table_history(store) == ["a => v 1..", "a => w 1..4"]
    kept, retired = store.jobs(["v", "w"])
    assert (kept.retired_at, kept.writes) == (None, (key("v"),))
    assert (retired.retired_at, retired.reads, retired.writes) == (day(4), (), ())


def test_a_file_that_is_empty_now_retires_all_it_said(store: GraphStore) -> None:
    store.apply(batch(job("v", "a.x -> v.x", at=1, source="f.sql"), files=["f.sql"]))
    store.apply(batch(at=3, files=["f.sql"]))
    assert history(store) == ["a.x -> v.x 1..3"]


def test_other_files_keep_what_they_say(store: GraphStore) -> None:
    store.apply(batch(job("v", "a.x -> v.x", at=1, source="f.sql"), job("w", "a.x -> w.x", at=1, source="g.sql")))
    store.apply(batch(at=3, files=["f.sql"]))
    assert live(store) == ["a.x -> w.x"]


def test_a_job_that_comes_back_begins_anew(store: GraphStore) -> None:
    record = job("v", "a.x -> v.x", at=1, source="f.sql")
    store.apply(batch(record, files=["f.sql"]))
    store.apply(batch(at=3, files=["f.sql"]))
    store.apply(batch(job("v", "a.x -> v.x", at=5, source="f.sql"), files=["f.sql"]))
    assert history(store) == ["a.x -> v.x 1..3", "a.x -> v.x 5.."]
    assert store.jobs(["v"])[0].retired_at is None


def test_a_late_state_of_the_file_never_retires_what_was_seen_since(store: GraphStore) -> None:
    store.apply(batch(job("v", "a.x -> v.x", at=5, source="f.sql"), files=["f.sql"]))
    store.apply(batch(at=3, files=["f.sql"]))
    assert history(store) == ["a.x -> v.x 5.."]
    assert store.jobs(["v"])[0].retired_at is None


def test_a_late_state_of_the_file_fills_history_only(store: GraphStore) -> None:
    store.apply(batch(job("v", "a.x -> v.x", at=5, source="f.sql"), files=["f.sql"]))
    store.apply(batch(job("w", "a.x -> w.x", at=2, source="f.sql"), files=["f.sql"]))
    assert history(store) == ["a.x -> v.x 5..", "a.x -> w.x 2..5"]
    assert [(one.key, one.retired_at) for one in store.jobs()] == [("v", None), ("w", day(5))]


def test_a_retired_job_stays_as_it_is_when_the_file_is_ingested_again(store: GraphStore) -> None:
    store.apply(batch(job("v", "a.x -> v.x", at=1, source="f.sql"), files=["f.sql"]))
    store.apply(batch(at=3, files=["f.sql"], run="empty"))
    before = store.dump()
    store.apply(batch(at=4, files=["f.sql"], run="empty"))
    after = store.dump()
    assert after.relationships == before.relationships
    changed = [(one[1], one[2].keys()) for one, other in zip(after.nodes, before.nodes, strict=True) if one != other]
    assert [name for name, _ in changed] == ["run:empty"]


def test_queries_of_a_file_are_retired_with_it(store: GraphStore) -> None:
    record = job("query:q", "a.x -> v.x", at=1, source="f.sql", kind=query("q", at=1).job.kind)
    store.apply(batch(record, files=["f.sql"]))
    store.apply(batch(at=3, files=["f.sql"]))
    assert history(store) == ["a.x -> v.x 1..3"]


def test_definitions_without_a_file_are_not_retired(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=1)))
    store.apply(batch(at=3, files=["f.sql"]))
    assert live(store) == ["a.x -> v.x"]
