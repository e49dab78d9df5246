"""Facts that sources state of tables and columns."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import permutations
from typing import Any

from lineage.model.batch import LineageBatch
from lineage.model.facts import Check, CheckResult, Facts, FactsRecord, Freshness
from lineage.store import GraphStore
from lineage.store.values import StoredColumn
from tests.store.batch_builders import batch, day, job, key, rename, table

SOURCE, OTHER = "dbt/shop:model.a@pg", "dbt/mart:source.a@pg"


def stating(table_name: str, *records: Facts, **columns: Facts) -> LineageBatch:
    """Return a batch with the table `a(x, y)` and facts about it."""
    found = tuple(FactsRecord(key(table_name), one, columns) for one in records)
    at = max(one.at for one in records)
    return replace(batch(table(table_name, "x", "y", at=at.day)), facts=found)


def facts(text: str, at: float, source: str = SOURCE, **more: Any) -> Facts:
    return replace(Facts(source, day(at), description=text), **more)


def descriptions(store: GraphStore, name: str) -> list[str | None]:
    found = store.columns_by_key([key(name)]) if "." in name else store.datasets([key(name)])
    return [one.description for node in found for one in node.stated_facts]


def test_newer_facts_of_a_source_replace_its_older_ones(store: GraphStore) -> None:
    first = stating("a", facts("old", 1), x=facts("old x", 1), y=facts("old y", 1))
    second = stating("a", facts("new", 2), x=facts("new x", 2))
    for one in (first, second, second, first):  # again, and late
        store.apply(one)
    assert [descriptions(store, one) for one in ("a", "a.x", "a.y")] == [["new"], ["new x"], []]


def test_sources_do_not_overwrite_each_other_nor_stewards(store: GraphStore) -> None:
    store.apply(stating("a", facts("mine", 1, tags=("core",)), x=facts("mine x", 1, tags=("pii",))))
    store.describe(key("a"), description="steward", tags=["ours"])
    store.apply(stating("a", facts("theirs", 2, OTHER)))
    assert (descriptions(store, "a"), descriptions(store, "a.x")) == (["theirs", "mine"], ["mine x"])
    assert store.datasets([key("a")])[0].description == "steward"
    assert [hit.key for hit in store.search("", tags=["pii"])] == [key("a.x")]
    assert [hit.key for hit in store.search("a", tags=["core", "ours"])] == [key("a")]
    assert store.search("", tags=["other"]) == []
    assert store.count_search("", tags=["core"]) == 1


def test_a_source_is_forgotten(store: GraphStore) -> None:
    store.apply(stating("a", facts("mine", 1), facts("theirs", 1, OTHER), x=facts("x", 1)))
    store.apply(stating("b", facts("mine", 1)))
    mine = [(SOURCE, key("a")), (SOURCE, key("b"))]
    assert store.fact_sources("dbt/") == [(OTHER, key("a")), *mine]
    assert store.fact_sources("dbt/shop:") == mine
    assert store.forget_facts([(SOURCE, key("b"))]) == 1
    assert store.fact_sources("dbt/shop:") == mine[:1]
    assert store.forget_facts(mine) == 1
    assert (descriptions(store, "a"), descriptions(store, "b"), descriptions(store, "a.x")) == (["theirs"], [], [])
    assert store.fact_sources("dbt/") == [(OTHER, key("a"))]


def test_facts_go_along_with_a_renamed_table_in_any_order(both_stores: tuple[GraphStore, GraphStore]) -> None:
    moves = (stating("a", facts("text", 1), x=facts("text x", 1)), batch(rename("a", "b", at=2)))
    for store, order in zip(both_stores, permutations(moves), strict=True):
        for one in order:
            store.apply(one)
        assert (descriptions(store, "b"), descriptions(store, "b.x")) == (["text"], ["text x"])


def test_a_result_stays_until_a_later_one(store: GraphStore) -> None:
    check = Check("test.one", "unique", ("x",), "error")
    failed = replace(check, result=CheckResult("fail", day(1), 3))
    passed = replace(check, result=CheckResult("pass", day(3)))
    fresh = Freshness("warn", day(1), day(0.5))
    for at, stated in ((1, failed), (2, check), (4, passed), (5, failed)):
        more: dict[str, Any] = {"checks": (stated,), "freshness": fresh if at == 1 else None}
        store.apply(stating("a", facts("text", at, **more), x=facts("x", at, checks=(stated,))))
        [own] = store.datasets([key("a")])[0].stated_facts
        assert own.checks == ((failed,) if at < 4 else (passed,))
        assert own.freshness == fresh


def test_facts_of_columns_that_do_not_exist_are_left_out(store: GraphStore) -> None:
    store.apply(stating("a", facts("text", 1), gone=facts("none", 1)))
    assert store.columns_by_key([key("a.gone")]) == []


def test_parts_of_a_batch_have_its_facts(store: GraphStore) -> None:
    whole = replace(
        batch(job("one", "a.x -> b.x", at=1), table("a", "x")),
        facts=(FactsRecord(key("a"), facts("text", 1), {"x": facts("text x", 1)}),),
    )
    for parts in store.parts(whole):
        for part in parts:
            store.apply(part)
    assert (descriptions(store, "a"), descriptions(store, "a.x")) == (["text"], ["text x"])


def test_a_column_with_other_facts_keeps_every_other_field() -> None:
    values = {one.name: object() for one in fields(StoredColumn)}
    column = StoredColumn(**values)  # type: ignore[arg-type]
    assert column.with_facts("new") == replace(column, facts="new")
