"""Metabase: parts of cards and dashboards that are damaged, or refer to what is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from tests.bi.exports import codes, completeness, ingest, into, write_json
from tests.bi.test_metabase import DATABASE, card

SHOP = "postgres://db:5432/shop.public"
STAGE = {"lib/type": "mbql.stage/mbql", "source-table": 10}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"source-table": 10, "joins": ["x"]}, "a join is not of a known form"),
        ({"source-table": 10, "expressions": {"e": ["case", [["x"], [True, ["field", 101, None]]]]}},
         "a branch of a case is not of a known form"),
        ({"source-table": "card__2", "fields": [["field", 104, {"join-alias": "C"}]]},
         "which column 'country' of the join 'C' is in what the query reads is not known: it is taken by its name"),
    ],
)  # fmt: skip
def test_parts_of_a_query_that_are_not_read(tmp_path: Path, query: dict[str, Any], message: str) -> None:
    cards = [card(1, query), card(2, {"source-table": 11}, "Customers")]
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": cards})
    with open_store(tmp_path / "store.db") as store:
        assert [one.diagnostic.message for one in ingest(store, "metabase", folder).diagnostics] == [message]
        assert completeness(store)["card/1-Card"] is Completeness.PARTIAL


def test_a_stage_that_is_no_object(tmp_path: Path) -> None:
    five = {"id": 1, "name": "Card", "dataset_query": {"database": 2, "stages": [STAGE, "x"]}}
    targets = ["x"], ["dimension", ["field", {}, "status"]], ["variable", ["template-tag", "t"]]
    board = {"id": 3, "name": "D", "dashcards": [
        {"card_id": 1, "parameter_mappings": [{"target": one, "card_id": 1} for one in targets]}
    ]}  # fmt: skip
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "card.json": five, "board.json": board})
    with open_store(tmp_path / "store.db") as store:
        assert {one.diagnostic.message for one in ingest(store, "metabase", folder).diagnostics} == {
            "the card's query is not of a known form (TypeError)",
            "what a filter of the dashboard filters is not of a known form",
            "it is filtered by the column 'status', which card/1-Card does not have",
        }


def test_a_metric_that_filters_by_a_foreign_key(tmp_path: Path) -> None:
    condition = ["=", ["field", 104, {"source-field": 105}], "DE"]
    metric = card(
        2, {"source-table": 10, "aggregation": [["sum", ["field", 102, None]]], "filter": condition}, type="metric"
    )
    query = {"source-table": 10, "aggregation": [["metric", 2]], "breakout": [["field", 103, None]]}
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": [metric, card(1, query)]})
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", folder).diagnostics
        assert {one for one in into(store, "card/1-Card", rows=True) if "customers" in one} == {
            f"{SHOP}.customers.country ~> card/1-Card.sum [CONDITIONAL]",
            f"{SHOP}.customers.id ~> card/1-Card [JOIN]",
        }


def test_a_table_that_two_files_describe(tmp_path: Path) -> None:
    other = {**DATABASE, "tables": [{**DATABASE["tables"][1], "fields": [{"id": 106, "name": "id"}]}]}  # type: ignore[index]
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "later.json": other, "again.json": DATABASE})
    with open_store(tmp_path / "store.db") as store:
        [found] = ingest(store, "metabase", folder).diagnostics
        assert found.diagnostic.message.startswith("the table public.customers is in another file, too")


EXPORTED = """
name: Paid
entity_id: abcdefghijklmnopqrstu
created_at: '2030-01-01T00:00:00Z'
database_id: Warehouse
dataset_query:
  database: Warehouse
  lib/type: mbql/query
  stages:
  - aggregation:
    - - sum
      - {lib/uuid: 5c}
      - - field
        - {base-type: type/Float}
        - [Warehouse, public, orders, amount]
    filters:
    - - =
      - {}
      - - field
        - {base-type: type/Text}
        - [Warehouse, public, orders, status]
      - paid
    - ['!=', {}, [field, {}, [Warehouse, public, orders, on]], no]
    source-table: [Warehouse, public, orders]
    lib/type: mbql.stage/mbql
serdes/meta:
- {id: abcdefghijklmnopqrstu, label: paid, model: Card}
"""


def test_yaml_as_the_serialization_export_has_it(tmp_path: Path) -> None:
    """`=` stands there without quotes, which YAML 1.1 reads as a value of its own, and `on` as true."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "card.yaml").write_text(EXPORTED, encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        assert codes(ingest(store, "metabase", tmp_path / "in", dialect="postgres")) == {"CONNECTION_UNKNOWN"}
        assert {one.split(" [")[0] for one in into(store, "card/", rows=True)} == {
            "postgres/public.orders.amount -> card/abcdefghijklmnopqrstu-Paid.sum",
            "postgres/public.orders.status ~> card/abcdefghijklmnopqrstu-Paid",
            "postgres/public.orders.on ~> card/abcdefghijklmnopqrstu-Paid",
        }


def exported_table(name: str, *fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of a newer serialization export, which has its fields in it."""
    path = [{"id": "Warehouse", "model": "Database"}, {"id": "public", "model": "Schema"},
            {"id": name, "model": "Table"}]  # fmt: skip
    own = [{**one, "serdes/meta": [*path, {"id": one["name"], "model": "Field"}]} for one in fields]
    return {"name": name, "db_id": "Warehouse", "schema": "public", "fields": own, "serdes/meta": path}


def test_fields_that_a_serialization_export_has_in_its_tables(tmp_path: Path) -> None:
    """Two tables have columns of one name, and only one of these is a foreign key."""
    field = ["Warehouse", "public"]
    shown = [{"type": "external", "human_readable_field_id": [*field, "customers", "name"]}]
    key = {"name": "customer", "fk_target_field_id": [*field, "customers", "id"], "dimensions": shown}
    tables = [
        exported_table("customers", {"name": "id"}, {"name": "name"}),
        exported_table("orders", {"name": "id"}, key, {"name": "old", "active": False}),
        exported_table("visits", {"name": "id"}, {"name": "customer"}, {"name": "name"}),
    ]
    country = ["field", {"source-field": [*field, "orders", "customer"]}, [*field, "customers", "name"]]
    stages = [{"lib/type": "mbql.stage/mbql", "source-table": [*field, "orders"], "breakout": [country]}]
    names = {"entity_id": "c1", "serdes/meta": [{"id": "c1", "model": "Card"}]}
    grouped = {**names, "name": "Grouped", "dataset_query": {"database": "Warehouse", "stages": stages}}
    stages = [{"lib/type": "mbql.stage/mbql", "source-table": [*field, "orders"]}]
    plain = {**names, "entity_id": "c2", "name": "Plain", "dataset_query": {"database": "Warehouse", "stages": stages}}
    files = {f"{number}.json": one for number, one in enumerate([grouped, plain, *tables])}
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "metabase", write_json(tmp_path / "in", files), dialect="postgres", namespace="pg")
        assert [one.diagnostic.message for one in summary.diagnostics] == [
            "customer is shown as public.customers.name: that is not followed"
        ]
        assert {one.split(" [")[0] for one in into(store, "card/c1", rows=True)} == {
            "pg/public.customers.name -> card/c1-Grouped.name", "pg/public.customers.name ~> card/c1-Grouped",
            "pg/public.customers.id ~> card/c1-Grouped", "pg/public.orders.customer ~> card/c1-Grouped",
        }  # fmt: skip
        assert {one.split(" [")[0] for one in into(store, "card/c2", rows=True)} == {
            f"pg/public.orders.{one} -> card/c2-Plain.{one}" for one in ("id", "customer")
        }


def test_transforms_are_reported(tmp_path: Path) -> None:
    api = {"id": 1, "name": "Daily", "source": {"type": "query"}, "target": {"type": "table", "name": "daily"}}
    exported = {"name": "Weekly", "entity_id": "t2", "serdes/meta": [{"id": "t2", "model": "Transform"}]}
    files = {"db.json": DATABASE, "api.json": api, "exported.json": exported}
    with open_store(tmp_path / "store.db") as store:
        messages = {
            one.diagnostic.message for one in ingest(store, "metabase", write_json(tmp_path / "in", files)).diagnostics
        }
        assert messages == {
            f"the transform {name!r} writes a table of the database: it is not read" for name in ("Daily", "Weekly")
        }


def stages(identity: int, *listed: object, name: str = "Card", **more: object) -> dict[str, object]:
    """Return a card in MBQL 5."""
    query = {"lib/type": "mbql/query", "database": 2, "stages": list(listed)}
    return {"id": identity, "name": name, "database_id": 2, "dataset_query": query, **more}


def test_a_query_that_begins_with_a_metric_reads_what_the_metric_aggregates(tmp_path: Path) -> None:
    """Metabase puts the metric's last stage there, without its aggregation and breakouts, but with its filters."""
    join = {"alias": "C", "strategy": "left-join", "stages": [{"source-table": 11}],
            "conditions": [["=", {}, ["field", {}, 105], ["field", {"join-alias": "C"}, 106]]]}  # fmt: skip
    metric = stages(
        2,
        {"source-table": 10, "joins": [join], "filters": [["=", {}, ["field", {}, 107], "paid"]],
         "aggregation": [["sum", {"lib/uuid": "s"}, ["field", {}, 102]]], "breakout": [["field", {}, 101]]},
        name="Revenue",
        type="metric",
    )  # fmt: skip
    days = stages(
        3,
        {"source-card": 2, "aggregation": [["metric", {"lib/uuid": "m"}, 2]],
         "breakout": [["field", {}, 103], ["field", {"join-alias": "C"}, 104]]},
        name="Days",
    )  # fmt: skip
    above = stages(4, {"source-card": 3, "fields": [["field", {}, "sum"]]}, name="Above")
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": [metric, days, above]})
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", folder).diagnostics
        assert into(store, "card/3-Days.") == {
            f"{SHOP}.orders.amount -> card/3-Days.sum [AGGREGATION]",
            f"{SHOP}.orders.created_at -> card/3-Days.created_at [IDENTITY]",
            f"{SHOP}.customers.country -> card/3-Days.country [IDENTITY]",
        }
        rows = {one.partition(" ~>")[0] for one in into(store, "card/3-Days ", rows=True) if "FILTER" in one}
        assert rows == {f"{SHOP}.orders.status"}
        assert into(store, "card/4-Above.") == {"card/3-Days.sum -> card/4-Above.sum [IDENTITY]"}


def test_the_column_of_an_aggregation_has_its_name_not_its_title(tmp_path: Path) -> None:
    named = ["aggregation-options", ["sum", ["field", 102, None]], {"display-name": "Total"}]
    above = {"source-table": "card__1", "fields": [["field", "sum", {"base-type": "type/Integer"}]]}
    cards = [card(1, {"source-table": 10, "aggregation": [named]}), card(2, above)]
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": cards})
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", folder).diagnostics
        assert into(store, "card/2-Card.") == {"card/1-Card.sum -> card/2-Card.sum [IDENTITY]"}


def test_metrics_that_are_made_of_each_other(tmp_path: Path) -> None:
    cards = [
        stages(one, {"source-card": other, "aggregation": [["metric", {"lib/uuid": "u"}, other]]}, type="metric")
        for one, other in ((1, 2), (2, 1))
    ]
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": cards})
    with open_store(tmp_path / "store.db") as store:
        assert codes(ingest(store, "metabase", folder)) == {"EXPRESSION_NOT_READ"}
        assert set(completeness(store).values()) == {Completeness.PARTIAL}


@pytest.mark.parametrize(
    ("shown", "column"), [([101, 105], "customer_id"), ([101, 108, 105], "customer_id_2"), ([101], None)]
)
def test_a_foreign_key_of_what_a_query_reads(tmp_path: Path, shown: list[int], column: str | None) -> None:
    """The key is the column that it has become: another field before it can have its name."""
    old = {"id": 12, "name": "old", "schema": "public", "db_id": 2, "fields": [{"id": 108, "name": "customer_id"}]}
    database: dict[str, Any] = {**DATABASE, "tables": [*DATABASE["tables"], old]}  # type: ignore[misc]
    join = {
        "alias": "O",
        "source-table": 12,
        "condition": ["=", ["field", 101, None], ["field", 108, {"join-alias": "O"}]],
    }
    fields = [["field", one, {"join-alias": "O"} if one == 108 else None] for one in shown]
    inner = {"source-table": 10, "joins": [join], "fields": fields}
    query = {"source-query": inner, "aggregation": [["count"]], "breakout": [["field", 104, {"source-field": 105}]]}
    folder = write_json(tmp_path / "in", {"db.json": database, "cards.json": [card(1, query)]})
    with open_store(tmp_path / "store.db") as store:
        messages = [one.diagnostic.message for one in ingest(store, "metabase", folder).diagnostics]
        assert messages == ([] if column else ["the foreign key customer_id is not in what the query reads"])
        joined = {one for one in into(store, "card/1-Card ", rows=True) if "JOIN" in one}
        assert any(f"{SHOP}.orders.customer_id ~>" in one for one in joined) is (column is not None)
