"""Global ids: any node is found again by its id, after a rename as well."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.store import GraphStore
from lineage_graphql.errors import RefusedError
from lineage_graphql.schema.objects.ids import NodeKind, global_id, parse_global_id
from tests.service.running import Service, running
from tests.store.batch_builders import batch, day, drop, job, key, rename, rename_column, swap, table

_NODES = """query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id
  ... on Table { key droppedAt } ... on Column { key aliases } ... on Job { key sql } ... on Run { key kind } } }"""


@given(st.sampled_from(NodeKind), st.text())
def test_an_id_is_read_back_as_it_was_made(kind: NodeKind, text: str) -> None:
    made = global_id(kind, text)
    assert parse_global_id(made) == (kind, text)
    assert made.replace("-", "").replace("_", "").isalnum()


@given(st.text(st.characters(codec="ascii")) | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_any_other_text_is_no_id(text: str) -> None:
    try:
        kind, found = parse_global_id(text)
    except RefusedError:
        return
    assert global_id(kind, found) == text  # one id of one node, no second spelling of it


def test_what_has_an_id_is_found_by_it(service: Service) -> None:
    reply = service.data(
        """{ table(name: "users") { id columns(first: 1) { nodes { id } } jobs { nodes { id } } }
             runs(first: 1) { nodes { id } } }"""
    )
    table_id = reply["table"]["id"]
    ids = [table_id, *(one["id"] for one in reply["table"]["columns"]["nodes"] + reply["table"]["jobs"]["nodes"])]
    ids += [reply["runs"]["nodes"][0]["id"], global_id(NodeKind.JOB, "none"), table_id]
    found = service.data(_NODES, ids=ids)["nodes"]
    assert [one and one["__typename"] for one in found] == ["Table", "Column", "Job", "Run", None, "Table"]
    assert [one["id"] for one in found if one] == [one for one in ids if one != global_id(NodeKind.JOB, "none")]
    assert service.data("query ($id: ID!) { node(id: $id) { id } }", id=table_id) == {"node": {"id": table_id}}
    assert service.data(_NODES, ids=[])["nodes"] == []
    shown = service.data('{ search(text: "mail", types: [COLUMN]) { nodes { node { ... on Node { id } } } } }')
    assert shown["search"]["nodes"][0]["node"]["id"] == global_id(NodeKind.COLUMN, key("staged.mail"))


def test_an_id_that_is_none_is_an_error_in_its_place(service: Service) -> None:
    table_id = global_id(NodeKind.TABLE, key("users"))
    answer = service.ask(_NODES, ids=[table_id, "nonsense", key("users")])
    assert [one and one["id"] for one in answer["data"]["nodes"]] == [table_id, None, None]
    assert [(one["path"], one["extensions"]["code"]) for one in answer["errors"]] == [
        (["nodes", 1], "BAD_ARGUMENT"),
        (["nodes", 2], "BAD_ARGUMENT"),
    ]
    assert service.refusal('{ node(id: "users") { id } }')["code"] == "BAD_ARGUMENT"


def test_an_id_from_before_a_rename_finds_what_was_renamed(store: GraphStore) -> None:
    def id_of(name: str) -> str:
        return global_id(NodeKind.COLUMN if "." in name else NodeKind.TABLE, key(name))

    store.apply(batch(table("t", "a", "b"), table("gone", "x"), job("j", "t.a -> v.a", "gone.x -> v.x", at=1), run="1"))
    store.apply(batch(rename_column("t", "a", "a2", at=2), rename("t", "t2", at=3), drop("gone", at=3), run="2"))
    with running(store) as service:
        ids = [id_of("t"), id_of("t.a"), id_of("t2.a2"), id_of("t.b"), id_of("gone"), id_of("gone.x"), id_of("t.none")]
        [t, a, a2, b, gone, x, none] = service.data(_NODES, ids=ids)["nodes"]
        assert (t["key"], a["key"], b["key"]) == (key("t2"), key("t2.a2"), key("t2.b"))
        assert a == a2 == {"__typename": "Column", "id": id_of("t2.a2"), "key": key("t2.a2"), "aliases": ["a"]}
        assert gone["droppedAt"] == day(3).isoformat()
        assert x["key"] == key("gone.x")
        assert none is None
        # A new table takes the name: the id is the new one's.
        store.apply(batch(job("new", "src.x -> t.a", at=5), run="3"))
        [t, a] = service.data(_NODES, ids=ids[:2])["nodes"]
        assert (t["key"], a["key"]) == (key("t"), key("t.a"))


def test_an_id_of_a_name_that_several_had_is_an_error(store: GraphStore) -> None:
    store.apply(batch(table("t", "a"), job("j", "t.a -> v.a", at=1), run="1"))
    store.apply(batch(rename("t", "one", at=2), run="2"))
    store.apply(batch(job("k", "t.a -> v.a", at=3), run="3"))
    store.apply(batch(rename("t", "two", at=4), run="4"))
    with running(store) as service:
        refusal = service.refusal("query ($id: ID!) { node(id: $id) { id } }", id=global_id(NodeKind.TABLE, key("t")))
    assert (refusal["code"], refusal["candidates"]) == ("AMBIGUOUS_NAME", [key("one"), key("two")])


def test_ids_after_a_swap_are_those_of_the_names(store: GraphStore) -> None:
    store.apply(batch(table("t", "a"), table("u", "b"), job("j", "t.a -> v.a", "u.b -> v.b", at=1), run="1"))
    store.apply(batch(swap("t", "u", at=2), run="2"))
    with running(store) as service:
        [t, u] = service.data(_NODES, ids=[global_id(NodeKind.TABLE, key(name)) for name in ("t", "u")])["nodes"]
    assert (t["key"], u["key"]) == (key("t"), key("u"))


@pytest.mark.parametrize("text", ["", "=", "VGFibGU6", "VGFibGU", "Vg==", "VGFibGU6cGcvdXNlcnM=", "é"])
def test_ids_have_one_spelling(text: str) -> None:
    try:
        assert parse_global_id(text) == (NodeKind.TABLE, "")
        assert text == "VGFibGU6"
    except RefusedError:
        assert text != "VGFibGU6"
