"""Personal data is the same on every store: classes, where values are, unused tables, the plan to erase."""

from __future__ import annotations

from dataclasses import replace

from lineage.governance.erasure.erasure_plan import plan_erasure
from lineage.governance.report.pii_report import make_report
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify
from lineage.governance.unused_tables import find_unused
from lineage.model.batch import JobKind, UsageRecord
from lineage.model.facts import Facts, FactsRecord
from lineage.sql.resolve.calls.functions import value_functions
from lineage.store import GraphStore
from lineage.store.values import StoredTag
from tests.store.batch_builders import batch, day, job, key, query, rename_column, table

SQL = "create table b as select left(x, 1) as part, id from a"


def test_the_same_answers(store: GraphStore) -> None:
    made = job("b.sql", "a.x -> b.part TRANSFORMATION", "a.id -> b.id", at=1, sql=SQL)
    at = SQL.index("x,")
    made = replace(made, edges=tuple(replace(one, spans=((at, at + 1),)) for one in made.edges))
    copied = job("c.sql", "b.part -> c.part", at=1)
    stated = FactsRecord(key("b"), Facts("dbt/p:b@", day(2)), {"id": Facts("dbt/p:b@", day(2), tags=("national_id",))})
    read = UsageRecord(key("b"), day(3).date(), reads=1, users=(("ana", 1),), last_read=day(3))
    batch_ = batch(table("a", "x", "id"), made, copied, query("q", at=3, reads=["b"]))
    store.apply(replace(batch_, facts=(stated,), usage=(read,)))
    store.change_tags([StoredTag(key("a.x"), "email", "manual", day(2)), StoredTag(key("a.y"), "email", "csv", day(2))])
    store.apply(batch(rename_column("a", "x", "mail", at=4), run="renamed"))
    store.describe(key("a.id"), tags=["pii"])

    found = classify(store, default_rules())
    assert {column: [one.name for one in tags] for column, tags in found.tags.items()} == {
        key("a.mail"): ["email"], key("a.id"): ["pii"], key("b.id"): ["national_id"],
    }  # fmt: skip
    assert [one.column for one in found.pending] == [key("a.y")]
    report = make_report(store, found, value_functions(), day(5), classes={"email"})
    [source] = report.sources
    assert [(one.name, str(one.exposure), one.hops) for one in source.holders] == [
        ("b.part", "partial", 1), ("c.part", "partial", 2),
    ]  # fmt: skip
    unused = find_unused(store, 2, day(3).date())
    assert [one.name for one in unused.tables] == ["c"]
    plan = plan_erasure(store, found, value_functions(), key("a.mail"), key("a.id"))
    assert [one.statement for one in plan.steps] == ["DELETE FROM b WHERE id = :key;", "DELETE FROM a WHERE id = :key;"]
    assert [one.table for one in plan.out_of_reach] == ["c"]


def test_what_a_policy_names_is_not_used_by_that_and_what_something_unknown_reads_is(store: GraphStore) -> None:
    granted = job("grant", at=3, reads=["granted"], kind=JobKind.POLICY)
    read = UsageRecord(key("read"), day(3).date(), reads=1, users=(("ana", 1),), last_read=day(3))
    made = batch(table("granted", "x", at=1), table("read", "x", at=1), query("q", at=3, reads=["other"]), granted)
    store.apply(replace(made, usage=(read,)))
    assert [one.name for one in find_unused(store, 2, day(3).date()).tables] == ["granted"]
