"""A job's relationships to what it writes have no time of their own as long as it writes that (schema version 23)."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from lineage.model.batch import JobKind
from lineage.store import GraphStore, open_store
from lineage.store.cypher.schema import LABELS, Changes, Node, Relationship
from lineage.store.values import GraphDump
from tests.store.batch_builders import JobWithEdges, batch, day, job, key
from tests.store.dumped_times import with_own_times
from tests.store.old_stores import Migrated, make_old_embedded


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
OLD_WRITES = (
    *(
        f"""CREATE (:Job {{key: 'dbt:{name}', kind: 'dbt', completeness: 'full',
        first_seen: datetime('2024-01-01T00:00:00Z'), last_seen: datetime('2024-01-04T00:00:00.250Z')}})"""
        for name in ("v", "merged")
    ),
    *(
        f"""CREATE (:`Table` {{key: 'pg/{table}', namespace: 'pg', name: '{table}', kind: 'table', schema_known: true,
        aliases: [], first_seen: datetime('2024-01-01T00:00:00Z'), last_seen: datetime('2024-01-04T00:00:00Z')}})"""
        for table in ("a", "v", "w", "old")
    ),
    *(
        f"""MATCH (j:Job {{key: 'dbt:{model}'}}), (t:`Table` {{key: 'pg/{table}'}}) CREATE (j)-[:WRITES {{
        first_seen: datetime('2024-01-01T00:00:00Z'), last_seen: datetime('{last_seen}Z'),
        observations: {[f"{at}T00:00:00+00:00 {content}" for at, content in observed]}}}]->(t)"""
        for model, table, last_seen, observed in (
            ("v", "v", "2024-01-04T00:00:00.250", [("2024-01-01", "aaaaaaaaaaaa"), ("2024-01-03", "bbbbbbbbbbbb")]),
            ("v", "w", "2024-01-02T00:00:00", [("2024-01-01", "aaaaaaaaaaaa"), ("2024-01-03", "-")]),
            ("merged", "old", "2024-01-03T00:00:00", [("2024-01-02", "aaaaaaaaaaaa")]),
        )
    ),
)


def check_writes_migrated(store: GraphStore) -> None:
    jobs = {one.key: one for one in store.jobs()}
    seen_at = jobs["dbt:v"].last_seen
    assert {name: one.writes for name, one in jobs.items()} == {"dbt:v": (key("v"),), "dbt:merged": (key("old"),)}
    assert jobs["dbt:v"].observed_at == (seen_at,)
    assert writes(with_own_times(store.dump())) == {
        "v": (seen_at, ["01-01", "01-03", "01-04"]),
        "w": (day(2), ["01-01", "01-03"]),
        "old": (day(3), ["01-02", "01-03"]),
    }
    store.see_again([*jobs], [], seen_at, day(20))
    assert {one.key: one.writes for one in store.jobs()} == {name: one.writes for name, one in jobs.items()}
    assert {table: at for table, (at, _) in writes(store.dump()).items()} == {"v": None, "w": day(2), "old": None}
    assert writes(with_own_times(store.dump())) == {
        "v": (day(20), ["01-01", "01-03", "01-04", "01-20"]),
        "w": (day(2), ["01-01", "01-03"]),
        "old": (day(20), ["01-02", "01-03", "01-20"]),
    }
    store.apply(batch(dbt_model("w", at=21)))
    assert [one.writes for one in store.jobs(["dbt:v"])] == [(key("w"),)]


def test_writes_of_version_22_are_migrated(migrated: Migrated) -> None:
    check_writes_migrated(migrated(22, OLD_WRITES))


def test_deferred_writes_of_version_22_are_of_that_version(tmp_path: Path) -> None:
    """A writer was stopped before it had written that the model writes `w` again, and no longer `v`."""
    path = tmp_path / "old.lbug"
    times = {"first_seen": day(1), "last_seen": day(9)}
    seen = Node("Job", "dbt:v", {**dict.fromkeys(LABELS["Job"]), "kind": "dbt", "completeness": "full", **times})
    at = [day(number).isoformat() for number in (1, 3, 9)]
    changes = Changes(
        updated_nodes=(replace(seen, changed=("last_seen",)),),
        updated_relationships=(
            Relationship(
                *("WRITES", "Job", "dbt:v", "Table", "pg/v"),
                {**times, "last_seen": day(4), "observations": [f"{at[0]} aaaaaaaaaaaa", f"{at[2]} -"]},
            ),
            Relationship(
                *("WRITES", "Job", "dbt:v", "Table", "pg/w"),
                {**times, "observations": [f"{at[0]} aaaaaaaaaaaa", f"{at[1]} -", f"{at[2]} cccccccccccc"]},
            ),
        ),
    )
    make_old_embedded(path, 22, OLD_WRITES, changes)
    with open_store(path) as store:
        [job] = store.jobs(["dbt:v"])
        assert (job.writes, job.last_seen, job.observed_at) == ((key("w"),), day(9), (day(9),))
        found = {table: at for table, (at, _) in writes(store.dump()).items() if table in ("v", "w")}
        assert found == {"v": day(4), "w": None}
