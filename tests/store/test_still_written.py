"""A job's relationships to what it writes have no time of their own as long as it writes that (schema version 23)."""

from __future__ import annotations

from itertools import permutations

import pytest

from lineage.model.batch import JobKind
from lineage.store import GraphStore
from lineage.store.values import GraphDump
from tests.store.batch_builders import JobWithEdges, batch, day, job, key
from tests.store.dumped_times import with_own_times


def dbt_model(*written: str, at: float, name: str = "dbt:v") -> JobWithEdges:
    return job(name, at=at, kind=JobKind.DBT, reads=["a"], writes=list(written))


def writes(dump: GraphDump) -> dict[str, tuple[object, list[str]]]:
    """Return the stored `last_seen` of what a job writes and the days of its observations, by table."""
    found = {}
    for name, _, end, properties in dump.relationships:
        if name == "WRITES":
            days = [text.partition("T")[0][-5:] for text in properties.get("observations", [])]
            found[end.partition("/")[2]] = (properties.get("last_seen"), days)
    return found


@pytest.mark.parametrize("order", [*permutations(range(3))], ids=str)
def test_what_was_written_last_is_what_is_written(store: GraphStore, order: tuple[int, ...]) -> None:
    """Whichever order the versions of a model arrive in: u, v; v, w; v."""
    versions = [dbt_model("u", "v", at=1), dbt_model("v", "w", at=2), dbt_model("v", at=3)]
    for number in order:
        store.apply(batch(versions[number]))
    assert {table: at for table, (at, _) in writes(store.dump()).items()} == {"u": day(1), "v": None, "w": day(2)}
    all_days = {"u": ["01-01", "01-02"], "v": ["01-01", "01-02", "01-03"], "w": ["01-01", "01-02", "01-03"]}
    assert {table: days for table, (_, days) in writes(with_own_times(store.dump())).items()} == all_days
    [stored] = store.jobs()
    assert (stored.writes, stored.last_seen, stored.observed_at) == ((key("v"),), day(3), (day(1), day(2), day(3)))


def test_a_job_that_is_seen_again_leaves_what_it_writes_as_it_is(store: GraphStore) -> None:
    """With all times of the job, of which the latest are kept, as stating it again does."""
    store.apply(batch(dbt_model("u", "v", at=1)))
    store.apply(batch(dbt_model("v", at=2), dbt_model("x", at=2, name="dbt:x")))
    before = writes(store.dump())
    for number in range(3, 23):
        store.see_again(["dbt:v"], [], day(number - 1), day(number))
        store.apply(batch(dbt_model("x", at=number, name="dbt:x")))
    assert writes(store.dump()) == before
    assert before == {"u": (day(1), ["01-01", "01-02"]), "v": (None, ["01-01"]), "x": (None, ["01-02"])}
    latest = tuple(day(number) for number in range(8, 23))
    assert [one.observed_at for one in store.jobs()] == [latest, latest]
    of_latest = [f"{at:%m-%d}" for at in latest]
    timed = writes(with_own_times(store.dump()))
    assert (timed["v"], timed["x"]) == ((day(22), ["01-01", *of_latest]), (day(22), ["01-02", *of_latest]))


def test_the_same_moment_twice_is_one(store: GraphStore) -> None:
    store.apply(batch(dbt_model("v", at=1)))
    for _ in range(2):
        store.see_again(["dbt:v"], [], day(1), day(2))
        store.see_again(["dbt:v"], [], day(2), day(2))
    assert [one.observed_at for one in store.jobs()] == [(day(1), day(2))]


def test_an_ad_hoc_job_has_no_observations(store: GraphStore) -> None:
    for at in (2, 3, 1):
        store.apply(batch(job("query:q", "a.x -> v.x", at=at, kind=JobKind.QUERY)))
    assert writes(store.dump()) == {"v": (None, [])}
    [stored] = store.jobs()
    assert (stored.writes, stored.observed_at) == ((key("v"),), ())


# A model that wrote `w` on the 2nd and no longer on the 3rd, and still writes `v`; one that wrote `old` before another
# one was merged with it.
