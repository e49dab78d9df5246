"""Metabase: real answers of its API, hand-written queries of every kind, and the serialization export."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from lineage.traversal import impact, resolve
from tests.bi.exports import DATA, codes, columns_of, completeness, edges_of, ingest, into, write_json

DATABASE = {
    "id": 2, "name": "Warehouse", "engine": "postgres", "details": {"host": "db", "port": 5432, "dbname": "shop"},
    "tables": [
        {"id": 10, "name": "orders", "schema": "public", "db_id": 2, "fields": [
            {"id": 101, "name": "id"}, {"id": 102, "name": "amount"}, {"id": 103, "name": "created_at"},
            {"id": 105, "name": "customer_id", "fk_target_field_id": 106}, {"id": 107, "name": "status"}]},
        {"id": 11, "name": "customers", "schema": "public", "db_id": 2, "fields": [
            {"id": 106, "name": "id"}, {"id": 104, "name": "country"}]},
    ],
}  # fmt: skip


def card(identity: int, query: Mapping[str, object], name: str = "Card", **more: object) -> dict[str, object]:
    return {"id": identity, "name": name, "database_id": 2, **more,
            "dataset_query": {"database": 2, "type": "query", "query": query}}  # fmt: skip


def native(identity: int, sql: str, tags: dict[str, object] | None = None) -> dict[str, object]:
    query = {"database": 2, "type": "native", "native": {"query": sql, "template-tags": tags or {}}}
    return {"id": identity, "name": "Native", "dataset_query": query}


@pytest.mark.parametrize("version", ["mbql4", "mbql5"])
def test_columns_are_those_that_metabase_states(tmp_path: Path, version: str) -> None:
    """`result_metadata` is Metabase's own list of a card's columns."""
    folder = DATA / "metabase" / version
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "metabase", folder)
        assert not summary.diagnostics
        assert set(completeness(store).values()) == {Completeness.FULL}
        for file in sorted((folder / "card").iterdir()):
            stated = json.loads(file.read_text(encoding="utf-8"))
            [key] = [one.key for one in store.datasets() if f"/card/{stated['id']}-" in one.key]
            names = [one["name"] for one in stated["result_metadata"]]
            assert sorted(columns_of(store, key)) == sorted(names), file.name


def test_both_versions_of_mbql_have_the_same_edges(tmp_path: Path) -> None:
    found = []
    for version in ("mbql4", "mbql5"):
        folder = DATA / "metabase" / version
        with open_store(tmp_path / f"{version}.db") as store:
            ingest(store, "metabase", [folder / "card", folder / "metadata.json"])
            found.append(edges_of(store, rows=True))
    assert found[0] == found[1]
    assert len(found[0]) > 50


def test_a_structured_query(tmp_path: Path) -> None:
    query = {
        "source-table": 10,
        "expressions": {"net": ["-", ["field", 102, None], 1]},
        "aggregation": [["sum", ["expression", "net"]], ["aggregation-options", ["count"], {"name": "orders"}]],
        "breakout": [["field", 103, {"temporal-unit": "month"}], ["field", 104, {"source-field": 105}]],
        "filter": ["and", ["=", ["field", 107, None], "paid"], ["not-null", ["field", 101, None]]],
        "order-by": [["desc", ["aggregation", 0]]],
    }
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": [card(1, query)]})
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", folder).diagnostics
        own = "card/1-Card"
        assert into(store, own, rows=True) == {
            f"postgres://db:5432/shop.public.orders.amount -> {own}.sum [AGGREGATION]",
            f"postgres://db:5432/shop.public.orders.created_at -> {own}.created_at [TRANSFORMATION]",
            f"postgres://db:5432/shop.public.customers.country -> {own}.country [IDENTITY]",
            f"postgres://db:5432/shop.public.orders.status ~> {own} [FILTER]",
            f"postgres://db:5432/shop.public.orders.id ~> {own} [FILTER]",
            f"postgres://db:5432/shop.public.orders.customer_id ~> {own} [JOIN]",
            f"postgres://db:5432/shop.public.customers.id ~> {own} [JOIN]",
            f"postgres://db:5432/shop.public.orders.created_at ~> {own} [GROUP_BY]",
            f"postgres://db:5432/shop.public.customers.country ~> {own} [GROUP_BY]",
            f"postgres://db:5432/shop.public.orders.amount ~> {own} [SORT]",
        }
        assert columns_of(store, "metabase://bi.test/card/1-Card") == ["created_at", "country", "sum", "orders"]


def test_the_join_distinguishes_columns_of_one_name(tmp_path: Path) -> None:
    joined: dict[str, object] = {
        "source-table": 10,
        "joins": [{"alias": "C", "source-table": 11, "fields": "all",
                   "condition": ["=", ["field", 105, None], ["field", 106, {"join-alias": "C"}]]}],
    }  # fmt: skip
    query = {"source-query": joined, "aggregation": [["max", ["field", 106, {"join-alias": "C"}]],
             ["min", ["field", 101, None]], ["max", ["field", "C__id", {"base-type": "type/Integer"}]]]}  # fmt: skip
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": [card(1, query)]})
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", folder).diagnostics
        shop = "postgres://db:5432/shop.public"
        assert {
            f"{shop}.customers.id -> card/1-Card.max [AGGREGATION]",
            f"{shop}.orders.id -> card/1-Card.min [AGGREGATION]",
            f"{shop}.customers.id -> card/1-Card.max_2 [AGGREGATION]",
        } == into(store, "card/1-Card.")


def test_archived_cards_are_read_only_for_those_that_read_them(tmp_path: Path) -> None:
    base = {**card(1, {"source-table": 10}, "Base"), "archived": True}
    other = {**card(2, {"source-table": 10}, "Other"), "archived": True}
    sums = card(3, {"source-table": "card__1", "aggregation": [["sum", ["field", "amount", None]]]}, "Sum")
    query = sums["dataset_query"]
    assert isinstance(query, dict)
    query["database"] = -1337  # the virtual database of cards
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": [sums, base, other]})
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "metabase", folder)
        assert [one.diagnostic.message for one in summary.diagnostics] == ["1 archived card left out: nobody sees them"]
        assert "card/1-Base.amount -> card/3-Sum.sum [AGGREGATION]" in edges_of(store)
        assert set(completeness(store)) == {"card/1-Base", "card/3-Sum"}


def test_metrics_and_segments_of_older_versions_have_ids_of_their_own(tmp_path: Path) -> None:
    segment = {"id": 1, "name": "Big", "table_id": 10, "definition": {"filter": [">", ["field", 102, None], 5]}}
    metric = {
        "id": 1,
        "table_id": 10,
        "definition": {
            "source-table": 10,
            "filter": ["=", ["field", 107, None], "paid"],
            "aggregation": [["sum", ["field", 102, None]]],
        },
    }
    query = {"source-table": 10, "filter": ["segment", 1], "aggregation": [["metric", 1]]}
    files = {"db.json": DATABASE, "a.json": [segment], "b.json": [metric], "cards.json": [card(2, query)]}
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", write_json(tmp_path / "in", files)).diagnostics
        orders = "postgres://db:5432/shop.public.orders"
        assert into(store, "card/2-Card", rows=True) == {
            f"{orders}.amount -> card/2-Card.sum [AGGREGATION]",
            f"{orders}.status ~> card/2-Card.sum [CONDITIONAL]",
            f"{orders}.amount ~> card/2-Card [FILTER]",
        }


def test_filters_of_dashboards(tmp_path: Path) -> None:
    cards = [
        card(1, {"source-table": 10, "aggregation": [["count"]]}, "Count"),
        card(2, {"source-table": "card__3", "aggregation": [["count"]]}, "On"),
        card(3, {"source-table": 10}, "Base"),
    ]
    targets = [
        (1, ["dimension", ["field", 107, None]]),
        (1, ["dimension", ["field", {"base-type": "type/Text"}, 104], {"stage-number": 0}]),
        (2, ["dimension", ["field", "created_at", {"base-type": "type/Date"}]]),
        (1, ["variable", ["template-tag", "x"]]),
    ]
    dashcards = [{"card_id": number, "parameter_mappings": [{"card_id": number, "target": one}]}
                 for number, one in targets]  # fmt: skip
    board = {"id": 9, "name": "Board", "dashcards": dashcards}
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": cards, "board.json": board})
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", folder).diagnostics
        assert {one for one in into(store, "dashboard/9-Board", rows=True) if "FILTER" in one} == {
            "postgres://db:5432/shop.public.orders.status ~> dashboard/9-Board [FILTER]",
            "postgres://db:5432/shop.public.customers.country ~> dashboard/9-Board [FILTER]",
            "card/3-Base.created_at ~> dashboard/9-Board [FILTER]",
        }
        assert completeness(store)["dashboard/9-Board"] is Completeness.FULL
        board["dashcards"] = [{"card_id": 2, "parameter_mappings": [{"card_id": 2, "target": ["dimension",
                              ["field", "gone", None]]}]}]  # fmt: skip
        write_json(folder, {"board.json": board})
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "metabase", folder))
        assert completeness(store)["dashboard/9-Board"] is Completeness.PARTIAL


def test_an_error_in_place_of_an_answer_retires_nothing(tmp_path: Path) -> None:
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": [card(1, {"source-table": 10})]})
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "metabase", folder)
        write_json(folder, {"cards.json": {"message": "Unauthenticated"}})
        summary = ingest(store, "metabase", folder)
        assert summary.gone == ()
        assert summary.notices
        write_json(folder, {"cards.json": []})
        assert ingest(store, "metabase", folder).gone == ("card/1-Card",)
        [dataset] = [one for one in store.datasets() if one.name == "card/1-Card"]
        assert dataset.dropped_at is not None


def test_what_is_referred_to_is_not_retired(tmp_path: Path) -> None:
    cards = [card(number, {"source-table": 10}, f"C{number}") for number in (1, 2, 3, 4)]
    readers = [card(5, {"source-table": "card__2"}), native(6, "SELECT * FROM {{#3}} AS x")]
    board = {"id": 9, "name": "Board", "dashcards": [{"card_id": 1}]}
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "board.json": board, "cards.json": [*cards, *readers]})
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "metabase", folder)
        write_json(folder, {"cards.json": readers})
        assert ingest(store, "metabase", folder).gone == ("card/4-C4",)


def test_native_queries_with_variables_cards_and_snippets(tmp_path: Path) -> None:
    sql = (
        "SELECT o.id, {{snippet: money}} AS amount, r.total -- {{no}}\nFROM orders o\n"
        "JOIN {{#1-base}} AS r ON r.customer_id = o.customer_id\n"
        'JOIN {{which}} AS w ON {{mb.time_grouping("unit", "w.country")}} = o.id\n'
        "WHERE o.status = {{status}} [[AND {{created}}]] AND o.status <> 'secret {{x}}' LIMIT {{n}}"
    )
    tags = {
        "status": {"type": "text"}, "n": {"type": "number"}, "x": {"type": "text"},
        "#1-base": {"type": "card", "card-id": 1}, "snippet: money": {"type": "snippet", "snippet-name": "money"},
        "which": {"type": "table", "table-id": 11}, "unit": {"type": "temporal-unit"},
        "created": {"type": "dimension", "dimension": ["field", 103, None], "alias": "o.created_at"},
    }  # fmt: skip
    base = card(1, {"source-table": 10, "aggregation": [["aggregation-options", ["sum", ["field", 102, None]],
                {"name": "total"}]], "breakout": [["field", 105, None]]})  # fmt: skip
    snippet = {"id": 3, "name": "money", "content": "o.amount / 100"}
    folder = write_json(
        tmp_path / "in", {"db.json": DATABASE, "c.json": [native(2, sql, tags), base], "s.json": snippet}
    )
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "metabase", folder)
        assert [one.diagnostic.message for one in summary.diagnostics if one.diagnostic.severity == "error"] == []
        found = into(store, "card/2-Native", rows=True)
        assert {
            "postgres://db:5432/shop.public.orders.amount -> card/2-Native.amount [TRANSFORMATION]",
            "card/1-Card.total -> card/2-Native.total [IDENTITY]",
            "postgres://db:5432/shop.public.orders.created_at ~> card/2-Native [FILTER]",
            "postgres://db:5432/shop.public.orders.status ~> card/2-Native [FILTER]",
            "postgres://db:5432/shop.public.customers.country ~> card/2-Native [JOIN]",
        } <= found
        [job] = store.jobs([key for key in _jobs(store) if "card/2" in key])
        assert job.sql is not None
        assert "secret" not in job.sql
        answer = impact(store, resolve(store, "shop.public.orders.amount"))
        assert "card/2-Native" in {one.table for one in answer.columns}


def _jobs(store: object) -> list[str]:
    from tests.bi.exports import _job_keys  # noqa: PLC0415

    return _job_keys(store)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "query",
    [
        {"source-table": 10, "aggregation": [["quantum", ["field", 102, None]]]},
        {"source-table": 10, "filter": ["segment", 9]},
        {"source-table": 99},
        {"source-table": "card__77"},
        {"source-table": 10, "fields": [["field", 999, None]]},
        {"source-table": 10, "surprise": True},
        {"source-table": 10, "aggregation": [["metric", 5]]},
        {"source-table": 10, "aggregation": [["sum", ["+", ["aggregation", 0], ["aggregation", 0]]]]},
        {
            "source-table": 10,
            "expressions": {"twice": ["+", ["expression", "twice"], ["expression", "twice"]]},
            "fields": [["expression", "twice"]],
        },
        {
            "source-table": 10,
            "joins": [{"alias": "j", "source-table": 11, "strategy": "odd", "condition": ["=", 1, 1]}],
        },
    ],
)
def test_what_is_not_known_is_reported_and_the_card_is_not_full(tmp_path: Path, query: dict[str, object]) -> None:
    folder = write_json(
        tmp_path / "in", {"db.json": DATABASE, "cards.json": [card(1, query), card(2, {"source-table": 10})]}
    )
    with open_store(tmp_path / "store.db") as store:
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "metabase", folder))
        found = completeness(store)
        assert found["card/1-Card"] is not Completeness.FULL
        assert found["card/2-Card"] is Completeness.FULL


def test_a_statement_that_is_no_query_is_not_full(tmp_path: Path) -> None:
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "c.json": [native(1, "DELETE FROM orders")]})
    with open_store(tmp_path / "store.db") as store:
        assert "EXPRESSION_NOT_READ" in codes(ingest(store, "metabase", folder))
        assert completeness(store)["card/1-Native"] is not Completeness.FULL


def test_a_card_that_reads_itself(tmp_path: Path) -> None:
    cards = [card(1, {"source-table": "card__2"}, "A"), card(2, {"source-table": "card__1"}, "B")]
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": cards})
    with open_store(tmp_path / "store.db") as store:
        assert "CYCLIC_DEFINITION" in codes(ingest(store, "metabase", folder))
        assert Completeness.FULL not in completeness(store).values()


SERIALIZED = {
    "databases/shop/shop.yaml": "name: Shop\nengine: postgres\nserdes/meta: [{id: Shop, model: Database}]\n",
    "databases/shop/schemas/public/tables/orders/orders.yaml": (
        "name: orders\nschema: public\ndb_id: Shop\nserdes/meta:\n- {id: Shop, model: Database}\n"
        "- {id: public, model: Schema}\n- {id: orders, model: Table}\n"
    ),
    "databases/shop/schemas/public/tables/orders/fields/amount.yaml": (
        "name: amount\ntable_id: [Shop, public, orders]\nserdes/meta:\n- {id: Shop, model: Database}\n"
        "- {id: public, model: Schema}\n- {id: orders, model: Table}\n- {id: amount, model: Field}\n"
    ),
    "collections/main/cards/abc_total.yaml": (
        "name: Total\nentity_id: abc\ncreator_id: ann@example.com\ndatabase_id: Shop\n"
        "dataset_query:\n  database: Shop\n"
        "  type: query\n  query:\n    source-table: [Shop, public, orders]\n    aggregation:\n    - - sum\n"
        "      - [field, [Shop, public, orders, amount], null]\nserdes/meta: [{id: abc, model: Card}]\n"
    ),
    "collections/main/dashboards/def_board.yaml": (
        "name: Board\nentity_id: def\ndashcards:\n- {card_id: abc}\nserdes/meta: [{id: def, model: Dashboard}]\n"
    ),
}


def test_a_serialization_export(tmp_path: Path) -> None:
    for name, text in SERIALIZED.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "metabase", tmp_path / "in", connections=("Shop=postgres://db:5432,database=shop",))
        assert not summary.diagnostics
        assert edges_of(store) == {
            "postgres://db:5432/shop.public.orders.amount -> card/abc-Total.sum [AGGREGATION]",
            "card/abc-Total.sum -> dashboard/def-Board.Total / sum [IDENTITY]",
        }
        [dataset] = [one for one in store.datasets() if one.name == "card/abc-Total"]
        assert "owner:ann@example.com" in dataset.tags
        assert dataset.kind == "exposure"


def test_an_unknown_connection_is_reported(tmp_path: Path) -> None:
    folder = write_json(tmp_path / "in", {"cards.json": [native(1, "SELECT a FROM t")]})
    with open_store(tmp_path / "store.db") as store:
        assert "CONNECTION_UNKNOWN" in codes(ingest(store, "metabase", folder))
        assert completeness(store)["card/1-Native"] is Completeness.PARTIAL
        mapped = ingest(store, "metabase", folder, connections=("2=postgres://db:5432,dialect=postgres,schema=s",))
        assert not mapped.diagnostics


def test_replacing_renaming_and_two_servers(tmp_path: Path) -> None:
    one, other = card(1, {"source-table": 10}, "One"), card(2, {"source-table": 10}, "Two")
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": [one, other]})
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "metabase", folder)
        again = ingest(store, "metabase", folder)
        assert (again.applied.edges_created, again.applied.edges_ended, again.gone) == (0, 0, ())
        assert ingest(store, "metabase", folder, server="other.test").gone == ()
        write_json(folder, {"cards.json": [{**one, "name": "Renamed"}]})
        assert ingest(store, "metabase", folder, is_part=True).gone == ("card/1-One",)
        assert ingest(store, "metabase", folder).gone == ("card/2-Two",)
        (folder / "cards.json").write_text("[{", encoding="utf-8")
        damaged = ingest(store, "metabase", folder)
        assert damaged.gone == ()
        assert "ARTIFACT_DAMAGED" in codes(damaged)
        answer = impact(store, resolve(store, "shop.public.orders.amount"))
        assert sorted({one.table for one in answer.columns}) == ["card/1-One", "card/1-Renamed", "card/2-Two"]


def test_a_foreign_key_of_a_joined_table(tmp_path: Path) -> None:
    people = {"id": 12, "name": "people", "schema": "public", "db_id": 2, "fields": [{"id": 108, "name": "id"},
              {"id": 109, "name": "land", "fk_target_field_id": 106}]}  # fmt: skip
    query = {
        "source-table": 10,
        "joins": [{"alias": "P", "source-table": 12, "condition": ["=", ["field", 105, None],
                   ["field", 108, {"join-alias": "P"}]]}],
        "fields": [["field", 104, {"source-field": 109, "source-field-join-alias": "P"}]],
    }  # fmt: skip
    files = {"db.json": DATABASE, "people.json": people, "c.json": [card(1, query)]}
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", write_json(tmp_path / "in", files)).diagnostics
        assert {one for one in into(store, "card/1-Card", rows=True) if "people.land" in one} == {
            "postgres://db:5432/shop.public.people.land ~> card/1-Card [JOIN]"
        }


def test_a_card_in_two_files(tmp_path: Path) -> None:
    one, two = (card(1, {"source-table": 10, "fields": [["field", number, None]]}) for number in (101, 102))
    board = {"id": 5, "name": "B", "dashcards": [{"card_id": 1, "card": one}]}
    folder = write_json(tmp_path / "in", {"a.json": board, "b.json": one, "c.json": one, "db.json": DATABASE})
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "metabase", folder).diagnostics
        write_json(folder, {"c.json": two})
        [record] = ingest(store, "metabase", folder).diagnostics
        assert "the card 1 is in" in record.diagnostic.message
        assert into(store, "card/1-Card") == {
            "postgres://db:5432/shop.public.orders.amount -> card/1-Card.amount [IDENTITY]"
        }


def test_objects_without_an_id(tmp_path: Path) -> None:
    by_entity = {**card(1, {"source-table": 10}, "E"), "id": None, "entity_id": "abc"}
    nameless = {**card(1, {"source-table": 10}, "N"), "id": None}
    folder = write_json(tmp_path / "in", {"db.json": DATABASE, "cards.json": [by_entity, nameless, card(2, {})]})
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "metabase", folder)
        assert "a card has no id, and is not read" in {one.diagnostic.message for one in summary.diagnostics}
        assert set(completeness(store)) == {"card/abc-E", "card/2-Card"}
