"""A job's relationships to what it reads have no time of their own as long as it reads that (schema version 22)."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from lineage.model.batch import JobKind
from lineage.store import GraphStore, open_store
from lineage.store.cypher.schema import LABELS, Changes, Node, Relationship
from tests.store.batch_builders import JobWithEdges, batch, day, job, key
from tests.store.old_stores import Migrated, make_old_embedded


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


OLD_READS = (
    """CREATE (:Job {key: 'dbt:v', kind: 'dbt', completeness: 'full', first_seen: datetime('2023-01-01T00:00:00Z'),
       last_seen: datetime('2024-01-01T00:00:00Z')})""",
    *(
        f"""CREATE (:`Table` {{key: 'pg/{table}', namespace: 'pg', name: '{table}', kind: 'table', schema_known: true,
        aliases: [], first_seen: datetime('2023-01-01T00:00:00Z'), last_seen: datetime('2024-01-01T00:00:00Z')}})"""
        for table in "ab"
    ),
    *(
        f"""MATCH (j:Job), (t:`Table` {{key: 'pg/{table}'}}) CREATE (j)-[:READS {{
        first_seen: datetime('2023-01-01T00:00:00Z'), last_seen: datetime('{last_seen}T00:00:00Z')}}]->(t)"""
        for table, last_seen in (("a", "2024-01-01"), ("b", "2023-01-02"))
    ),
)


def check_reads_migrated(store: GraphStore, read: str = "a") -> None:
    """A model of version 21 that no longer reads a table does not read it when it is seen again, in either way."""
    [job] = store.jobs()
    seen_at = job.last_seen
    assert job.reads == (key(read),)
    store.see_again([job.key], [], seen_at, day(20))
    [job] = store.jobs()
    assert (job.reads, job.last_seen) == ((key(read),), day(20))
    store.apply(batch(dbt_model(read, at=21)))
    [job] = store.jobs()
    assert (job.reads, job.last_seen) == ((key(read),), day(21))
    assert times(store) == {"a": None, "b": day(-363)} | ({"a": day(1), "b": None} if read == "b" else {})


def test_reads_of_version_21_are_migrated(migrated: Migrated) -> None:
    check_reads_migrated(migrated(21, OLD_READS))


def test_deferred_reads_of_version_21_are_of_that_version(tmp_path: Path) -> None:
    """A writer was stopped before it had written that the model reads `b` since, and no longer `a`."""
    path = tmp_path / "old.lbug"
    times = {"first_seen": day(9), "last_seen": day(9)}
    seen = Node("Job", "dbt:v", {**dict.fromkeys(LABELS["Job"]), "kind": "dbt", "completeness": "full", **times})
    changes = Changes(
        updated_nodes=(replace(seen, changed=("last_seen",)),),
        updated_relationships=(Relationship("READS", "Job", "dbt:v", "Table", "pg/b", times),),
    )
    make_old_embedded(path, 21, OLD_READS, changes)
    with open_store(path) as store:
        check_reads_migrated(store, "b")
