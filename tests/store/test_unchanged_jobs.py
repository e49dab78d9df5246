"""Jobs that are recorded as observed again, unchanged, are as if they had been stated again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lineage.model.batch import JobKind, LineageBatch, definition_job_key
from lineage.store import GraphStore
from lineage.store.values import Direction
from tests.store.batch_builders import (
    JobWithEdges,
    batch,
    day,
    drop,
    drop_column,
    job,
    key,
    query,
    rename,
    rename_column,
    table,
    view,
)
from tests.store.dumped_times import with_own_times

LATE: dict[str, Callable[[str], LineageBatch]] = {
    "nothing": lambda p: batch(query(f"{p}q", at=8)),
    "a drop between": lambda p: batch(drop(f"{p}v", at=2)),
    "a drop between the last two": lambda p: batch(drop(f"{p}v", at=4)),
    "a drop after": lambda p: batch(drop(f"{p}v", at=9)),
    "a drop of what is read": lambda p: batch(drop(f"{p}a", at=4)),
    "an older schema": lambda p: batch(table(f"{p}v", "x", "y", "z", at=2)),
    "a schema without a column that is read": lambda p: batch(table(f"{p}a", "y", at=2)),
    "another definition": lambda p: batch(query(f"{p}q", f"{p}b.x -> {p}v.y", at=4)),
    "a renamed column": lambda p: batch(rename_column(f"{p}v", "x", "xx", at=2)),
    "a dropped column": lambda p: batch(drop_column(f"{p}v", "x", at=2)),
    "a rename": lambda p: batch(rename(f"{p}v", f"{p}w", at=4)),
    "an older view": lambda p: batch(view(f"{p}v", f"{p}a.x -> {p}v.x", at=2)),
}


def model(prefix: str, *lines: str, at: float) -> JobWithEdges:
    """Return the dbt model `v`."""
    return job(f"dbt:{prefix}v", *lines, at=at, kind=JobKind.DBT, writes=[f"{prefix}v"])


def state(store: GraphStore, prefix: str) -> str:
    """Return what a store says of the datasets with a prefix, without it and runs, in every way that edges are read."""
    keys = [one for one in store.dataset_keys() if one.startswith(key(prefix))]
    jobs = store.job_keys_of(keys)
    listed = sorted({one for found in jobs.values() for one in found})
    days = [edge for number in range(1, 10) for edge in store.edges_into(keys, as_of=day(number))]
    columns = store.columns(keys, dropped=True)
    ends = [*keys, *(one.key for one in columns)]
    found: list[list[object]] = [
        [(one.key, one.first_seen, one.last_seen, one.retired_at, one.reads, one.writes) for one in store.jobs(listed)],
        [*store.datasets(keys)],
        [*columns],
        [*store.edges_of(listed), *days],
        [one for one in store.changed_edges(day(0), day(10))[0] if prefix in repr(one)],
    ]
    ways = [(way, at) for way in Direction for at in (None, day(4))]
    found += [[*store.feeds(keys, way, as_of=at), *store.expand(ends, way, as_of=at)] for way, at in ways]
    return "\n".join(str(one) for part in found for one in part).replace(prefix, "")


@pytest.mark.parametrize("late", LATE)
def test_what_comes_late_finds_jobs_that_were_seen_again(store: GraphStore, late: str) -> None:
    for prefix in ("stated_", "seen_"):
        lines = [line.replace("@", prefix) for line in ("@a.x -> @v.x", "@a.y ~> @v", "@a.y -> @v.y")]
        stated = (model(prefix, *lines, at=1), table(f"{prefix}v", "x", "y"), table(f"{prefix}c", "z", at=1))
        store.apply(batch(model(prefix, f"{prefix}a.z -> {prefix}v.x", at=0.5)))
        store.apply(batch(*stated))
        jobs, datasets = [f"dbt:{prefix}v"], [key(f"{prefix}v"), key(f"{prefix}c")]
        for since, at in ((1, 3), (3, 7)):
            if prefix == "seen_":
                assert not store.is_seen_after(jobs, datasets, day(since))
                store.see_again(jobs, datasets, day(since), day(at))
            else:
                again = (model(prefix, *lines, at=at), table(f"{prefix}v", "x", "y"))
                store.apply(batch(*again, table(f"{prefix}c", "z", at=at)))
    for prefix in ("stated_", "seen_"):
        store.apply(LATE[late](prefix))
    assert state(store, "seen_") == state(store, "stated_")


def observations(store: GraphStore, prefix: str) -> list[str]:
    """Return when jobs with a prefix read and write, without the prefix; contents are numbered."""
    numbers: dict[str, int] = {}
    found = []
    for name, source, target, properties in with_own_times(store.dump()).relationships:
        if name in ("READS", "WRITES") and source.startswith(f"dbt:{prefix}"):
            texts = [text.split() for text in properties.get("observations", ())]
            seen = [(at, numbers.setdefault(content, len(numbers))) for at, content in texts]
            found.append(f"{name} {source} {target} {properties['first_seen']} {properties.get('last_seen')} {seen}")
    return [one.replace(prefix, "") for one in found]


def test_the_observations_kept_are_those_of_stating_again(store: GraphStore) -> None:
    """Also of jobs that write something else, or nothing, at times, and after more observations than are kept."""
    with_z, elsewhere = (1, 6, 7, 21, 22, 23, 24), (1, 9, 10, 11, 24)

    def models(p: str, at: int) -> LineageBatch:
        v = model(p, f"{p}a.x -> {p}v.x", f"{p}a.y ~> {p}v", *([f"{p}b.z -> {p}v.z"] if at in with_z else []), at=at)
        w = job(f"dbt:{p}w", at=at, kind=JobKind.DBT, writes=[f"{p}w" if at in elsewhere else f"{p}u"])
        return batch(v, w)

    def is_same(number: int) -> bool:
        return all((number in some) == (number - 1 in some) for some in (with_z, elsewhere))

    for number in range(1, 45):
        store.apply(models("stated_", number))
        if number < 3 or not is_same(number):
            store.apply(models("seen_", number))
        else:
            store.see_again(["dbt:seen_v", "dbt:seen_w"], [], day(number - 1), day(number))
        assert observations(store, "seen_") == observations(store, "stated_"), number


@pytest.mark.parametrize(("name", "stored"), [("dbt:v", 1), ("file:v.sql", 1), ("definition:v", 3)])
def test_edges_of_what_is_stated_again_take_the_time_of_their_output(
    store: GraphStore, name: str, stored: float
) -> None:
    """Those of files and models are not written again; the answers have the time of the last statement."""
    for at in (1, 2, 3):
        done = store.apply(batch(job(name, "a.x -> v.x", "a.y ~> v", at=at, kind=JobKind.DBT, writes=["v"])))
        assert done.edges_refreshed == (2 if at > 1 else 0)
        assert {one.last_seen for one in store.edges_of([name])} == {day(at)}
    lineage = {"CONTRIBUTES", "REFERENCES", "FEEDS"}
    found = [one.get("last_seen") for kind, _, _, one in store.dump().relationships if kind in lineage]
    assert found == [day(stored)] * 3
    store.apply(batch(job(name, "a.x -> v.x", at=4, kind=JobKind.DBT, writes=["v"])))
    [retired] = [one for kind, _, _, one in store.dump().relationships if kind == "REFERENCED"]
    assert (retired["last_seen"], retired["valid_to"]) == (day(3), day(4))


@pytest.mark.parametrize(
    "later",
    [
        batch(drop("other", at=2)),
        batch(table("a", "x", at=2)),
        batch(table("c", "x", at=2)),
        batch(query("q", "v.x -> w.x", at=2)),
        batch(view("v", "a.x -> v.x", at=2)),
    ],
)
def test_what_is_known_from_after_a_time_is_noticed(store: GraphStore, later: LineageBatch) -> None:
    jobs, datasets = [definition_job_key(key("v"))], [key("v"), key("c")]
    store.apply(batch(view("v", "a.x -> v.x", at=1), table("c", "x", at=1), query("q", "x.x -> y.x", at=3)))
    assert not store.is_seen_after(jobs, datasets, day(1))
    store.apply(later)
    assert store.is_seen_after(jobs, datasets, day(1))
    assert not store.is_seen_after(jobs, datasets, day(2))


def test_a_prune_and_a_retired_job_are_noticed(store: GraphStore) -> None:
    jobs = [definition_job_key(key("v"))]
    store.apply(batch(view("v", "a.x -> v.x", at=1)))
    store.prune(day(0.5), at=day(2))
    assert store.is_seen_after(jobs, [], day(1))
    assert not store.is_seen_after(jobs, [], day(2))
    store.retire_jobs(jobs, day(2))
    assert store.is_seen_after(jobs, [], day(2))
