"""A job's relationships to what it reads have no time of their own as long as it reads that (schema version 22)."""

from __future__ import annotations

from itertools import permutations

import pytest

from lineage.model.batch import JobKind
from lineage.store import GraphStore
from tests.store.batch_builders import JobWithEdges, batch, day, job, key


def dbt_model(*read: str, at: float, name: str = "dbt:v") -> JobWithEdges:
    return job(name, at=at, kind=JobKind.DBT, reads=read, writes=[name[4:]])


def times(store: GraphStore, name: str = "dbt:v") -> dict[str, object]:
    """Return the stored `last_seen` of what a job reads, by table; None as long as it does."""
    found = (one for one in store.dump().relationships if one[:2] == ("READS", name))
    return {end.partition("/")[2]: properties.get("last_seen") for _, _, end, properties in found}


@pytest.mark.parametrize("order", [*permutations(range(3))], ids=str)
def test_what_was_read_last_is_what_is_read(store: GraphStore, order: tuple[int, ...]) -> None:
    """Whichever order the versions of a model arrive in: a, b; b, c; b."""
    versions = [dbt_model("a", "b", at=1), dbt_model("b", "c", at=2), dbt_model("b", at=3)]
    for number in order:
        store.apply(batch(versions[number]))
    assert times(store) == {"a": day(1), "b": None, "c": day(2)}
    [stored] = store.jobs()
    assert (stored.reads, stored.last_seen) == ((key("b"),), day(3))


def test_what_is_read_again_is_read(store: GraphStore) -> None:
    """As it is when what was no longer read is read again, and when the job is seen again in between."""
    for at, read in enumerate(("a", "b", "a"), 1):
        store.apply(batch(dbt_model(read, at=at)))
        store.see_again(["dbt:v"], [], day(at), day(at + 0.5))
        assert [one.reads for one in store.jobs()] == [(key(read),)]
    assert times(store) == {"a": None, "b": day(2.5)}


def test_a_query_that_runs_again_leaves_what_it_reads(store: GraphStore) -> None:
    for at in (2, 3, 1):
        store.apply(batch(job("query:q", at=at, kind=JobKind.QUERY, reads=["a", "b"])))
    assert times(store, "query:q") == {"a": None, "b": None}
    [stored] = store.jobs()
    assert (stored.reads, stored.first_seen, stored.last_seen) == ((key("a"), key("b")), day(1), day(3))


def test_tables_that_are_read_are_seen_with_the_job(store: GraphStore) -> None:
    store.apply(batch(dbt_model("a", at=1)))
    store.apply(batch(dbt_model("b", at=2)))
    store.see_again(["dbt:v"], [], day(2), day(3))
    assert [(one.name, one.last_seen) for one in store.datasets([key("a"), key("b")])] == [("a", day(1)), ("b", day(3))]
