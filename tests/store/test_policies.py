"""What SQL says of who may see a table is stored with a job that reads it, on every store."""

from __future__ import annotations

from dataclasses import replace

from lineage.governance.warehouse.warehouse_policies import load_warehouse_policies
from lineage.model.batch import JobKind, JobRecord, policy_job_key
from lineage.model.policies import PolicyAct, PolicyStatement, policies_text
from lineage.store import GraphStore
from tests.store.batch_builders import batch, day, drop, key, rename, table


def _states(name: str, at: float, *policies: PolicyStatement, file: str | None = None) -> JobRecord:
    return JobRecord(
        policy_job_key(name, key("a")), JobKind.POLICY, day(at), day(at), (key("a"),), sql="ALTER TABLE a",
        dialect="snowflake", operation="POLICY", source=file, file_key=file, policies=policies_text(policies),
    )  # fmt: skip


def _masks(store: GraphStore, column: str) -> list[str]:
    return [one.policy for one in load_warehouse_policies(store, [key(column)]).protection(key(column)).masks]


SET = PolicyStatement(PolicyAct.SET_MASK, None, ("x",), "s.p")
UNSET = PolicyStatement(PolicyAct.UNSET_MASK, None, ("x",))


def test_policies_follow_a_table_and_end_with_it(store: GraphStore) -> None:
    store.apply(replace(batch(table("a", "x", "y", at=1)), jobs=(_states("one", 2, SET),)))
    assert (_masks(store, "a.x"), _masks(store, "a.y")) == (["s.p"], [])
    store.apply(batch(rename("a", "b", at=3)))
    assert (_masks(store, "b.x"), _masks(store, "a.x")) == (["s.p"], [])
    store.apply(batch(drop("b", at=4)))
    store.apply(batch(table("b", "x", at=5)))
    assert _masks(store, "b.x") == []


def test_statements_count_in_order_of_time_whenever_they_arrive(store: GraphStore) -> None:
    store.apply(replace(batch(table("a", "x", at=1)), jobs=(_states("unset", 5, UNSET),)))
    store.apply(replace(batch(), jobs=(_states("set", 4, SET),)))
    assert _masks(store, "a.x") == []
    store.apply(replace(batch(), jobs=(_states("set", 6, SET),)))
    assert _masks(store, "a.x") == ["s.p"]
    store.apply(replace(batch(), jobs=(_states("set", 3, SET),)))
    assert _masks(store, "a.x") == ["s.p"]


def test_what_a_file_no_longer_says_is_over(store: GraphStore) -> None:
    said = _states("f", 2, SET, file="p:f.sql@snowflake")
    store.apply(replace(batch(table("a", "x", at=1)), jobs=(said,), complete_sources=("p:f.sql@snowflake",)))
    assert _masks(store, "a.x") == ["s.p"]
    later = batch(table("a", "x", at=3))
    store.apply(replace(later, run=replace(later.run, at=day(3)), complete_sources=("p:f.sql@snowflake",)))
    assert _masks(store, "a.x") == []
