"""Datasets and columns: created when referenced, described by schemas, looked up by names that users type."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from lineage.model.batch import ColumnRecord, DatasetRecord
from lineage.model.statement import DatasetKind
from lineage.store import GraphStore
from lineage.store.values import Direction, StoredColumn
from lineage.traversal import resolve
from tests.store.batch_builders import batch, day, drop, job, key, live, query, rename, table, view


def test_what_an_edge_names_is_made_and_marked_inferred(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.y", at=1)))
    assert [(one.key, one.namespace, one.name, one.schema_known) for one in store.datasets()] == [
        ("pg/a", "pg", "a", False),
        ("pg/v", "pg", "v", False),
    ]
    assert store.columns([key("a"), key("v")]) == [
        StoredColumn(key("a.x"), key("a"), "x", None, None, True, first_seen=day(1)),
        StoredColumn(key("v.y"), key("v"), "y", None, None, True, first_seen=day(1)),
    ]


def test_an_inferred_column_becomes_known_and_never_the_other_way(store: GraphStore) -> None:
    inferred = DatasetRecord("pg", "a", columns=(ColumnRecord("x", inferred=True),))
    store.apply(batch(inferred, view("v", "a.x -> v.x", at=1)))
    store.apply(batch(table("a", "x", at=2)))
    store.apply(batch(inferred, view("v", "a.x -> v.x", at=3)))
    assert store.columns([key("a")]) == [StoredColumn(key("a.x"), key("a"), "x", "int", 0, False, first_seen=day(1))]
    assert store.datasets([key("a")])[0].schema_known


def test_datasets_whose_names_end_in_others(store: GraphStore) -> None:
    store.apply(batch(*(table(name, "x", at=1) for name in ("wh.shop.Daily", "shop.daily", "daily", "shop.adaily"))))
    every = [one.key for one in store.datasets()]
    longer, own = [one for one in every if "shop.d" in one.lower()], [one for one in every if one.lower() == "pg/daily"]
    assert (len(longer), len(own)) == (2, 1)
    many = [f"t{number}" for number in range(600)]
    for names in (["DAILY"], ["daily", *many]):
        assert store.dataset_keys_ending(names) == longer
    for names in (["shop.daily"], ["shop.daily", *many]):
        assert [one.lower() for one in store.dataset_keys_ending(names)] == ["pg/wh.shop.daily"]
    assert store.dataset_keys_ending(["hop.daily", "x"]) == store.dataset_keys_ending([]) == []


def test_a_nested_field_hangs_on_its_parents(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.address.city.name -> v.x", 'a."full.name" -> v.y', at=1)))
    assert [(one.path, one.parent) for one in store.columns([key("a")])] == [
        ('"full.name"', None),
        ("address", None),
        ("address.city", key("a.address")),
        ("address.city.name", key("a.address.city")),
    ]
    fields = [(a, b) for name, a, b, _ in store.dump().relationships if name == "HAS_FIELD"]
    assert fields == [
        (key("a.address"), key("a.address.city")),
        (key("a.address.city"), key("a.address.city.name")),
    ]


def test_columns_that_a_schema_has_no_more_are_dropped(store: GraphStore) -> None:
    store.apply(batch(table("a", "x", "unused", "read", at=1), view("v", "a.read -> v.x", at=1)))
    store.apply(batch(view("v", at=2)))
    store.apply(batch(table("a", "x", "new", at=3)))
    assert [one.path for one in store.columns([key("a")])] == ["x", "new"]
    assert [(one.path, one.dropped_at, one.ordinal) for one in store.columns([key("a")], dropped=True)] == [
        ("x", None, 0),
        ("new", None, 1),
        ("read", day(3), None),
        ("unused", day(3), None),
    ]


def test_a_dropped_column_comes_back_with_its_schema(store: GraphStore) -> None:
    store.apply(batch(table("a", "x", "y", at=1), view("v", "a.y -> v.y", at=1)))
    store.apply(batch(table("a", "x", at=2)))
    store.apply(batch(table("a", "y", "x", at=3)))
    assert [(one.path, one.ordinal) for one in store.columns([key("a")])] == [("y", 0), ("x", 1)]


def test_an_old_schema_removes_nothing_and_fills_in_what_is_missing(store: GraphStore) -> None:
    store.apply(batch(replace(table("a", "x", "y", at=5), columns=(ColumnRecord("x", None, 0), ColumnRecord("y")))))
    old = replace(table("a", "x", "z", at=2), kind=DatasetKind.VIEW)
    store.apply(batch(replace(old, columns=(ColumnRecord("x", "text", 7), ColumnRecord("z", "text", 1)))))
    assert [(one.path, one.data_type, one.ordinal) for one in store.columns([key("a")])] == [
        ("x", "text", 0),
        ("y", None, 1),
    ]
    [stored] = store.datasets()
    # No newer record has the kind.
    assert (stored.kind, stored.first_seen, stored.last_seen) == (DatasetKind.VIEW, day(2), day(5))


FED = [
    batch(table("t", "x", "y", at=1), query("feed", "a.q -> t.y", at=1)),
    batch(query("read", "t.y -> w.y", at=2)),
    batch(table("t", "x", "z", at=4), query("other", "a.p -> t.x", at=6)),
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(len(FED)))))
def test_a_column_that_a_newer_schema_lacks_ends_whoever_feeds_it(store: GraphStore, order: tuple[int, ...]) -> None:
    for number in order:
        store.apply(FED[number])
    assert [(one.path, one.ordinal, one.dropped_at) for one in store.columns([key("t")], dropped=True)] == [
        ("x", 0, None),
        ("z", 1, None),
        ("y", None, day(4)),
    ]
    assert live(store) == ["a.p -> t.x"]
    assert [one.edge.target for one in store.expand([key("a.q")], Direction.DOWNSTREAM, as_of=day(3))] == [key("t.y")]
    # A later record of the column takes precedence.
    store.apply(batch(query("feed", "a.q -> t.y", at=8)))
    assert live(store) == ["a.p -> t.x", "a.q -> t.y"]
    assert [one.path for one in store.columns([key("t")])] == ["x", "z", "y"]


def test_a_column_that_no_schema_ever_had_outlives_them(store: GraphStore) -> None:
    """Ingesting a definition every night does not remove a column that a logged statement added."""
    store.apply(batch(table("t", "x", at=1), query("feed", "a.q -> t.y", at=2)))
    store.apply(batch(table("t", "x", at=3)))
    assert live(store) == ["a.q -> t.y"]
    assert [(one.path, one.ordinal, one.inferred) for one in store.columns([key("t")])] == [
        ("x", 0, False),
        ("y", None, True),
    ]


def test_a_guess_of_the_kind_does_not_beat_what_defined_it(store: GraphStore) -> None:
    definition = DatasetRecord("pg", "v", DatasetKind.VIEW, "postgres")
    store.apply(batch(definition, view("v", "a.x -> v.x", at=1)))
    store.apply(batch(DatasetRecord("pg", "v"), view("w", "v.x -> w.x", at=2)))
    assert store.datasets([key("v")])[0].kind is DatasetKind.VIEW
    store.apply(batch(DatasetRecord("pg", "v"), view("v", "a.x -> v.x", at=3)))
    assert store.datasets([key("v")])[0].kind is DatasetKind.TABLE


def test_names_that_hold_the_sign_between_table_and_column(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.serial# -> v.x", at=1)))
    assert [(one.dataset, one.path) for one in store.columns([key("a")])] == [(key("a"), "serial#")]


@pytest.mark.parametrize("text", ["a\nb", "it's", 'say "hi"', "back`tick", "ünïcödé 表", "semi;colon -- x", "$key"])
def test_any_text_may_be_a_name(store: GraphStore, text: str) -> None:
    record = DatasetRecord("pg", text, columns=(ColumnRecord("x"),), schema_known=True)
    store.apply(batch(record))
    assert [one.name for one in store.datasets([f"pg/{text}"])] == [text]
    assert [one.key for one in store.find_datasets(text)] == [f"pg/{text}"]
    assert [one.key for one in store.columns([f"pg/{text}"])] == [f"pg/{text}#x"]


def test_datasets_are_found_by_key_then_name_then_alias_then_last_parts(store: GraphStore) -> None:
    records = [DatasetRecord("pg", name) for name in ("db.shop.orders", "old.shop.orders", "orders_raw", "shop.items")]
    store.apply(batch(*records, DatasetRecord("mysql", "shop.items")))

    def found(name: str) -> list[str]:
        return [one.key for one in store.find_datasets(name)]

    assert found("pg/shop.items") == ["pg/shop.items"]
    assert found("shop.items") == ["mysql/shop.items", "pg/shop.items"]
    assert found("ITEMS") == ["mysql/shop.items", "pg/shop.items"]
    assert found("orders") == ["pg/db.shop.orders", "pg/old.shop.orders"]
    assert found("shop.orders") == ["pg/db.shop.orders", "pg/old.shop.orders"]
    assert found("PG/DB.Shop.orders") == ["pg/db.shop.orders"]
    assert found("ders") == []
    assert found("nothing") == []
    store.apply(batch(drop("db.shop.orders", at=2)))
    assert found("orders") == ["pg/old.shop.orders", "pg/db.shop.orders"]
    store.apply(batch(rename("orders_raw", "bronze", at=3), table("bronze_2", at=3)))
    assert found("orders_raw") == ["pg/bronze"]
    assert found("pg/orders_raw") == ["pg/bronze"]


def test_case_matters_only_where_it_tells_two_apart(store: GraphStore) -> None:
    store.apply(batch(DatasetRecord("pg", "s.Orders"), DatasetRecord("pg", "s.orders"), DatasetRecord("pg", "s.Items")))
    assert [one.name for one in store.find_datasets("s.Orders")] == ["s.Orders"]
    assert [one.name for one in store.find_datasets("S.ORDERS")] == ["s.Orders", "s.orders"]
    assert [one.name for one in store.find_datasets("s.items")] == ["s.Items"]


def test_a_file_is_found_by_the_end_of_its_path(store: GraphStore) -> None:
    store.apply(batch(DatasetRecord("s3://lake", "raw/2026/orders", DatasetKind.FILE), table("shop.items")))
    store.apply(batch(DatasetRecord("s3://lake", "raw/items", DatasetKind.FILE)))

    def found(name: str) -> list[str]:
        return [one.name for one in store.find_datasets(name)]

    assert found("Orders") == ["raw/2026/orders"]
    assert found("2026/orders") == ["raw/2026/orders"]
    assert found("rders") == []
    assert found("items") == ["shop.items"]  # a table precedes a file


def test_search_ranks_whole_names_then_beginnings(store: GraphStore) -> None:
    store.apply(
        batch(
            DatasetRecord(
                "pg", "shop.orders", columns=(ColumnRecord("id"), ColumnRecord("Order_Date")), schema_known=True
            ),
            DatasetRecord("pg", "shop.orders_archive"),
            DatasetRecord("pg", "shop.reorders"),
        )
    )
    hits = store.search("ORDERS")
    assert [(hit.key, hit.type, hit.name) for hit in hits] == [
        ("pg/shop.orders", "Table", "shop.orders"),
        ("pg/shop.orders_archive", "Table", "shop.orders_archive"),
        ("pg/shop.reorders", "Table", "shop.reorders"),
    ]
    assert hits[0].score > hits[1].score > hits[2].score
    assert [hit.key for hit in store.search("order_")] == ["pg/shop.orders#Order_Date"]
    assert [hit.key for hit in store.search("order", types=["Column"])] == ["pg/shop.orders#Order_Date"]
    assert len(store.search("o", limit=2)) == 2
    assert store.search("  ") == []


def test_expand_goes_one_hop_from_a_column_its_fields_and_its_parents(store: GraphStore) -> None:
    store.apply(
        batch(view("v", "a.p -> v.whole", "a.p.q -> v.part", "a.p.q.r -> v.deep", "a.p.sibling -> v.other", at=1))
    )

    def targets(*names: str) -> list[tuple[str, str]]:
        hops = store.expand([key(name) for name in names], Direction.DOWNSTREAM)
        return [(hop.via.partition("#")[2], hop.edge.target.partition("#")[2]) for hop in hops]

    assert targets("a.p.q") == [("p.q", "whole"), ("p.q", "part"), ("p.q", "deep")]
    assert targets("a.p") == [("p", "whole"), ("p", "part"), ("p", "deep"), ("p", "other")]
    assert targets("a.p.q.r") == [("p.q.r", "whole"), ("p.q.r", "part"), ("p.q.r", "deep")]
    upstream = store.expand([key("v.part")], Direction.UPSTREAM)
    assert [hop.edge.source for hop in upstream] == [key("a.p.q")]
    assert [hop.via for hop in store.expand([key("a.p.q"), key("a.p")], Direction.DOWNSTREAM)] == [
        *[key("a.p")] * 4,
        *[key("a.p.q")] * 3,
    ]


def test_expand_reaches_datasets_as_what_rows_depend_on(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", "a.y ~> v", "a.z ~> v.x", at=1)))
    downstream = store.expand([key("a.x"), key("a.y"), key("a.z")], Direction.DOWNSTREAM)
    assert [(hop.edge.source, hop.edge.target, str(hop.edge.kind)) for hop in downstream] == [
        (key("a.x"), key("v.x"), "CONTRIBUTES"),
        (key("a.y"), key("v"), "REFERENCES"),
        (key("a.z"), key("v.x"), "REFERENCES"),
    ]
    assert [hop.edge.source for hop in store.expand([key("v")], Direction.UPSTREAM)] == [key("a.y")]
    assert store.expand([key("v")], Direction.DOWNSTREAM) == []
    kinds = store.expand([key("v.x"), key("v")], Direction.UPSTREAM, kinds=[downstream[0].edge.kind])
    assert [hop.edge.source for hop in kinds] == [key("a.x")]
    assert store.expand([], Direction.UPSTREAM) == []
    assert store.expand([key("nobody.x")], Direction.UPSTREAM) == []


def test_an_edge_keeps_all_that_is_said_of_it(store: GraphStore) -> None:
    store.apply(batch(job("etl", "a.x ~> v JOIN SORT LIMITED AMBIGUOUS MASKING", at=1)))
    [hop] = store.expand([key("a.x")], Direction.DOWNSTREAM)
    edge = hop.edge
    assert [str(subtype) for subtype in edge.subtypes] == ["JOIN", "SORT"]
    assert (edge.masking, edge.limited, edge.ambiguous, edge.spans) == (True, True, True, ((7, 12),))
    assert (edge.job, edge.valid_from, edge.last_seen, edge.valid_to) == ("etl", day(1), day(1), None)


def test_a_day_of_sharded_tables_finds_them(store: GraphStore) -> None:
    sharded = replace(table("p.d.events_*", "x"), namespace="bigquery", dialect="bigquery")
    parts = replace(table("p.d.orders", "x"), namespace="bigquery", dialect="bigquery")
    store.apply(batch(sharded, parts, table("d.other", "x"), table("d.v", "x")))
    for name in ("events_20260103", "d.events_20260103", "p.d.events_2026*", "bigquery/p.d.events_20260103"):
        assert [one.name for one in store.find_datasets(name)] == ["p.d.events_*"], name
        assert resolve(store, f"{name}.x").key == "bigquery/p.d.events_*#x"
    assert [one.name for one in store.find_datasets("`p.d.orders$20260103`")] == []
    assert [one.name for one in store.find_datasets("d.orders$20260103")] == ["p.d.orders"]
    assert store.find_datasets("d.other$20260103") == store.find_datasets("clicks_20260103") == []
    for text in ("events_20260103", "d.events_20260103", "events_2026", "EVENTS_202601"):
        assert [hit.name for hit in store.search(text)] == ["p.d.events_*"], text
        assert store.count_search(text) == 1
    assert store.search("v$20260103") == store.search("clicks_2026") == []
