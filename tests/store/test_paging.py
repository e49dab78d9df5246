"""Cursor pagination: in any order, from both ends, while the graph changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.model.batch import JobKind, UsageRecord
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.names import dataset_key
from lineage.model.statement import DatasetKind
from lineage.store import GraphStore
from lineage.store.graph.reading.pages import position_in
from lineage.store.page_requests import DatasetFilter, DiagnosticFilter, JobFilter, Order, PageRequest
from tests.store.batch_builders import NAMESPACE, batch, day, drop, job, table
from tests.store.batch_builders import key as key_of
from tests.store.test_runs import finding, with_findings


def key(name: str) -> str:
    """Return the key of a dataset, whose name may have dots."""
    return dataset_key(NAMESPACE, name)


def keys_of(store: GraphStore, wanted: DatasetFilter) -> list[str]:
    found = [one.key for one in store.page_of_datasets(PageRequest(), wanted)]
    assert store.count_datasets(wanted) == len(found)
    return found


@pytest.mark.parametrize("order", [Order.KEY, Order.NAME, Order.FIRST_SEEN, Order.LAST_SEEN])
@pytest.mark.parametrize("descending", [False, True])
def test_pages_hold_each_row_once_in_order_from_both_ends(store: GraphStore, order: Order, descending: bool) -> None:
    # Two items have the same time, so that the key determines their order.
    store.apply(batch(*(job(f"j{n}", f"a{n}.x -> b{n}.x", at=5 - n // 2) for n in range(5))))

    def read(*, backwards: bool) -> list[str]:
        pages: list[list[str]] = []
        bound = None
        while True:
            page = PageRequest(3, order, descending, backwards=backwards)
            page = replace(page, before=bound) if backwards else replace(page, after=bound)
            found = store.page_of_datasets(page)
            if not found:
                return [one for rows in (pages[::-1] if backwards else pages) for one in rows]
            pages.append([one.key for one in found])
            bound = position_in(order, found[0 if backwards else -1])

    whole = store.page_of_datasets(PageRequest(order=order, descending=descending))
    values = [position_in(order, one)[0] for one in whole]
    assert values == sorted(values, reverse=descending)
    assert len(whole) == 10
    assert read(backwards=False) == [one.key for one in whole] == read(backwards=True)
    between = PageRequest(4, order, descending, position_in(order, whole[1]), position_in(order, whole[8]))
    assert store.page_of_datasets(between) == whole[2:6]
    assert store.page_of_datasets(replace(between, backwards=True)) == whole[4:8]


def test_a_page_goes_on_behind_a_row_that_is_gone_or_moved(store: GraphStore) -> None:
    store.apply(batch(*(job(f"j{n}", f"a.x -> b{n}.x", at=n) for n in range(1, 6)), run="first"))
    newest = PageRequest(2, Order.LAST_SEEN, descending=True)
    first = store.page_of_jobs(newest)
    assert [one.key for one in first] == ["j5", "j4"]
    # The page's last item moves to the front, and another one is deleted: the rest is neither repeated nor skipped.
    store.apply(batch(job("j4", "a.x -> b4.x", at=9), run="second"))
    store.retire_jobs(["j3"], day(9))
    rest = store.page_of_jobs(replace(newest, limit=9, after=position_in(Order.LAST_SEEN, first[-1])))
    assert [one.key for one in rest] == ["j2", "j1"]


def test_datasets_are_asked_for_by_namespace_schema_kind_tag_and_use(store: GraphStore) -> None:
    names = ("db.shop.orders", "db.shop.items", "db.Shop2.orders", "shop.v", "plain", '"a.b".t')
    tables = [
        replace(table(name, "x"), kind=DatasetKind.VIEW if name == "shop.v" else DatasetKind.TABLE) for name in names
    ]
    used = (
        UsageRecord(key("shop.v"), day(3).date(), 4, 1),
        UsageRecord(key("plain"), day(1).date(), 7, 0),
        UsageRecord(key("db.shop.items"), day(4).date(), 0, 5),
    )
    other = replace(table("shop.x", "x"), namespace="other")
    store.apply(replace(batch(*tables, other, job("j", "plain.x -> gone.x", at=1)), usage=used))
    store.apply(batch(drop("gone", at=5)))
    store.describe(key("plain"), tags=["pii", "gold"])
    assert keys_of(store, DatasetFilter(schema="shop")) == [
        "other/shop.x",
        *sorted(map(key, ("db.shop.items", "db.shop.orders", "shop.v"))),
    ]
    assert keys_of(store, DatasetFilter("pg", "DB.shop")) == [key("db.shop.items"), key("db.shop.orders")]
    assert keys_of(store, DatasetFilter(schema='"a.b"')) == [key('"a.b".t')]
    assert keys_of(store, DatasetFilter(schema="b")) == []
    assert keys_of(store, DatasetFilter(kinds=(DatasetKind.VIEW,))) == [key("shop.v")]
    assert keys_of(store, DatasetFilter(tags=("pii",))) == [key("plain")]
    assert keys_of(store, DatasetFilter(tags=("pii", "other"))) == []
    assert key("gone") not in keys_of(store, DatasetFilter())
    assert key("gone") in keys_of(store, DatasetFilter(dropped=True))
    unread = keys_of(store, DatasetFilter("pg", unread_since=day(2).date()))
    assert key("shop.v") not in unread
    assert {key("plain"), key("db.shop.items")} <= set(unread)
    small = PageRequest(1)
    walked = []
    while found := store.page_of_datasets(small, DatasetFilter(schema="shop")):
        walked.append(found[0].key)
        small = replace(small, after=(found[0].key,))
    assert walked == keys_of(store, DatasetFilter(schema="shop"))
    totals = {one.of: (one.reads, one.writes, one.first_day) for one in store.usage_totals(since=day(2).date())}
    assert totals == {key("shop.v"): (4, 1, day(3).date()), key("db.shop.items"): (0, 5, day(4).date())}


def test_jobs_are_asked_for_by_file_project_and_user(store: GraphStore) -> None:
    def of(name: str, file: str, *users: tuple[str, int]) -> object:
        new_record = job(
            name, f"a.x -> {name}.x", at=1, kind=JobKind.SQL_FILE, source=f"/home/ana/{file.partition(':')[2]}"
        )
        record = replace(new_record.job, file_key=f"{file}@postgres", users=users)
        return replace(new_record, job=record)

    new_record = [
        of("one", "shop:models/orders.sql", ("ana", 2)),
        of("two", "shop:models/x/items.sql", ("bo", 1), ("ana", 1)),
        of("three", "crm:models/orders.sql"),
        of("four", "crm:models2/orders.sql", ("cy", 1)),
    ]
    store.apply(batch(*new_record))  # type: ignore[arg-type]

    def found(**asked: object) -> list[str]:
        wanted = JobFilter(**asked)  # type: ignore[arg-type]
        keys = [one.key for one in store.page_of_jobs(PageRequest(), wanted)]
        assert store.count_jobs(wanted) == len(keys)
        return keys

    assert found(file="models/orders.sql") == ["one", "three"]
    assert found(file="models") == found(file="models/") == ["one", "three", "two"]
    assert found(file="/home/ana/models") == ["one", "three", "two"]
    assert found(project="crm") == ["four", "three"]
    assert found(project="cr") == []
    assert found(project="shop", file="models/x") == ["two"]
    assert found(user="ana") == ["one", "two"]
    assert found(user="bo") == ["two"]
    assert found(user="an") == []
    store.retire_jobs(["one"], day(5))
    assert found(user="ana") == ["two"]
    assert found(user="ana", retired=True) == ["one", "two"]


def test_runs_and_diagnostics_by_page(store: GraphStore) -> None:
    findings = [finding("f.sql", "no table t", "etl"), finding("g.sql", "not SQL"), finding("g.sql", "nor this")]
    store.apply(with_findings(batch(job("etl", at=1, source="f.sql"), run="one"), *findings))
    store.apply(batch(job("etl", at=2, source="f.sql"), run="two"))
    newest = PageRequest(1, Order.LAST_SEEN, descending=True)
    [two] = store.page_of_runs(newest)
    [one] = store.page_of_runs(replace(newest, after=position_in(Order.LAST_SEEN, two)))
    assert (two.key, one.key, store.count_runs()) == ("run:two", "run:one", 2)
    assert store.runs_by_key(["run:two", "none"]) == [two]
    of_g = DiagnosticFilter(source="g.sql")
    assert [found.source for found in store.page_of_diagnostics(PageRequest(), of_g)] == ["g.sql", "g.sql"]
    assert store.count_diagnostics(of_g) == 2
    assert store.count_diagnostics(DiagnosticFilter((DiagnosticCode.PARSE_ERROR,))) == 0


def test_hits_of_a_search_are_counted(store: GraphStore) -> None:
    store.apply(batch(job("one", "mail.x -> b.mail", "mail.y -> b.y", at=1)))
    assert store.count_search("mail") == len(store.search("mail")) == 2
    assert store.count_search("mail", types=["Table"]) == 1
    assert store.count_search("none") == store.count_search("") == 0
    store.describe(key_of("b.mail"), tags=["pii"])
    assert store.count_search("", tags=["pii"]) == 1
