"""Connections as Relay has them: any list in pages from both ends, with counts, while the graph changes."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lineage.store import GraphStore
from tests.service.running import Service, running
from tests.store.batch_builders import batch, day, drop_column, job, key, table

_PAGE = """totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  edges { cursor node { %s } } nodes { %s }"""
_PAGING = "first: $first, after: $after, last: $last, before: $before"
CONNECTIONS = {
    "tables": ("{ tables(@) { # } }", "key"),
    "tables by name": ("{ tables(orderBy: {field: NAME, direction: DESC}, @) { # } }", "key"),
    "tables of a schema": ('{ tables(schema: "s", @) { # } }', "key"),
    "jobs": ("{ jobs(@) { # } }", "key"),
    "newest jobs": ("{ jobs(orderBy: {field: LAST_SEEN, direction: DESC}, @) { # } }", "key"),
    "runs": ("{ runs(@) { # } }", "key"),
    "oldest runs": ("{ runs(orderBy: {field: AT}, @) { # } }", "key"),
    "search": ('{ search(text: "a", @) { # } }', "key"),
    "impact": ('{ impact(table: "a0", @) { # } }', "key"),
    "some impact": ('{ impact(table: "a0", filter: {table: "a"}, @) { # } }', "key"),
    "root cause": ('{ rootCause(column: "last.x", @) { # } }', "key"),
    "columns": ('{ table(name: "a0") { columns(@) { # } } }', "key"),
    "jobs of a table": ('{ table(name: "a0") { jobs(@) { # } } }', "key"),
    "edges of a job": ('{ job(key: "all") { edges(@) { # } } }', "sourceKey"),
    "changed edges": ('{ lineageDiff(asOfA: "2024-01-01T00:00Z", asOfB: "2024-01-20T00:00Z", @) { # } }', "change"),
}  # fmt: skip


@pytest.fixture
def chained(store: GraphStore) -> GraphStore:
    in_schema = (table(f"s.t{n}", "y") for n in range(3))
    store.apply(batch(table("a0", *(f"c{n}" for n in range(5))), *in_schema, run="schema"))
    for n in range(4):
        store.apply(batch(job(f"j{n}", f"a0.c{n} -> a{n + 1}.x", at=n + 1), run=f"run{n}"))
    into = [f"a{n}.x -> last.x" for n in range(1, 5)]
    store.apply(batch(job("all", *into, at=9), run="last"))
    return store


def ask(service: Service, query: str, shown: str, **asked: Any) -> dict[str, Any]:
    text = "query ($first: Int!, $after: String, $last: Int, $before: String) " + query
    if asked.get("last"):
        text = text.replace("$first: Int!, ", "").replace("@", _PAGING.replace("first: $first, ", ""))
    text = text.replace("@", _PAGING).replace("#", _PAGE % (shown, shown))
    answer: Any = service.data(text, **asked)
    while "pageInfo" not in answer:
        [answer] = answer.values()
    return dict(answer)


def test_any_connection_is_read_whole_from_both_ends(chained: GraphStore, subtests: pytest.Subtests) -> None:
    with running(chained) as service:
        for name, (query, shown) in CONNECTIONS.items():
            with subtests.test(name):
                read_from_both_ends(service, query, shown)


def read_from_both_ends(service: Service, query: str, shown: str) -> None:
    whole = ask(service, query, shown, first=100)
    assert whole["totalCount"] == len(whole["nodes"]) >= 3
    assert whole["nodes"] == [edge["node"] for edge in whole["edges"]]
    assert not whole["pageInfo"]["hasNextPage"]
    assert not whole["pageInfo"]["hasPreviousPage"]
    forwards: list[Any] = []
    info: dict[str, Any] = {"endCursor": None, "hasNextPage": True}
    while info["hasNextPage"]:
        page = ask(service, query, shown, first=2, after=info["endCursor"])
        info = page["pageInfo"]
        assert info["hasPreviousPage"] == bool(forwards)
        assert page["totalCount"] == whole["totalCount"]
        forwards += page["nodes"]
    assert forwards == whole["nodes"]
    backwards: list[Any] = []
    info = {"startCursor": None, "hasPreviousPage": True}
    while info["hasPreviousPage"]:
        page = ask(service, query, shown, last=2, before=info["startCursor"])
        info = page["pageInfo"]
        assert info["hasNextPage"] == bool(backwards)
        backwards = page["nodes"] + backwards
    assert backwards == whole["nodes"]
    cursors = [edge["cursor"] for edge in whole["edges"]]
    between = ask(service, query, shown, first=100, after=cursors[0], before=cursors[-1])
    assert between["nodes"] == whole["nodes"][1:-1]
    assert (between["pageInfo"]["hasNextPage"], between["pageInfo"]["hasPreviousPage"]) == (True, True)
    empty = ask(service, query, shown, first=100, after=cursors[-1])
    assert (empty["nodes"], empty["pageInfo"]["endCursor"]) == ([], None)
    assert (empty["pageInfo"]["hasNextPage"], empty["pageInfo"]["hasPreviousPage"]) == (False, True)


def test_a_cursor_of_another_list_is_refused(chained: GraphStore) -> None:
    with running(chained) as service:
        cursors = {
            name: ask(service, query, shown, first=1)["pageInfo"]["endCursor"]
            for name, (query, shown) in CONNECTIONS.items()
        }
        cursors["columns of another table"] = ask(
            service, '{ table(name: "last") { columns(@) { # } } }', "key", first=1
        )["pageInfo"]["endCursor"]
        same = {
            "tables": "tables of a schema",
            "tables of a schema": "tables",
            "impact": "some impact",
            "some impact": "impact",
        }
        for name, (query, shown) in CONNECTIONS.items():
            text = "query ($after: String) " + query.replace("@", "after: $after").replace("#", f"nodes {{ {shown} }}")
            for other, cursor in cursors.items():
                if other not in (name, same.get(name)):
                    refusal = service.refusal(text, after=cursor)
                    assert (refusal["code"], other, name) == ("BAD_ARGUMENT", other, name)


def test_what_is_no_cursor_is_refused(service: Service) -> None:
    texts = ("", "x", "W10=", "bnVsbA==", "WzEwMDBd", "WyJqb2JzIl0=", "WyJqb2JzIiwxXQ==", "[" * 5000)
    for cursor in texts:
        for query in ("{ jobs(after: $c) { nodes { key } } }", "{ jobs(last: 1, before: $c) { nodes { key } } }"):
            assert service.refusal(f"query ($c: String) {query}", c=cursor)["code"] == "BAD_ARGUMENT"


def test_a_cursor_of_what_is_no_text_is_refused(service: Service) -> None:
    cursor = service.data("{ jobs(first: 1) { pageInfo { endCursor } } }")["jobs"]["pageInfo"]["endCursor"]
    name, _ = json.loads(base64.urlsafe_b64decode(cursor))
    forged = base64.urlsafe_b64encode(json.dumps([name, "\ud800"]).encode()).decode()
    assert (
        service.refusal("query ($c: String) { jobs(after: $c) { nodes { key } } }", c=forged)["code"] == "BAD_ARGUMENT"
    )


def test_sizes_that_mean_nothing_are_refused(service: Service) -> None:
    for sizes in ("first: 0", "first: -1", "last: 0", "last: -5", "first: 2, last: 2"):
        assert service.refusal(f"{{ jobs({sizes}) {{ totalCount }} }}")["code"] == "BAD_ARGUMENT"
    assert service.refusal("{ jobs(first: 501) { totalCount } }")["code"] == "LIMIT_EXCEEDED"
    both = "query ($first: Int!, $last: Int) { jobs(first: $first, last: $last) { nodes { key } } }"
    assert service.refusal(both, first=1, last=1)["code"] == "BAD_ARGUMENT"
    assert len(service.data(both, first=1, last=None)["jobs"]["nodes"]) == 1


def test_empty_lists_and_texts_are_refused(service: Service) -> None:
    for query in (
        "jobs(kinds: [])", 'jobs(user: "")', 'jobs(file: " ")', 'jobs(project: "")', "tables(kinds: [])",
        'tables(namespace: "")', 'tables(schema: "")', "diagnostics(codes: [])", "diagnostics(severities: [])",
        'diagnostics(source: "")', 'search(text: "a", types: [])',
    ):  # fmt: skip
        assert service.refusal(f"{{ {query} {{ totalCount }} }}")["code"] == "BAD_ARGUMENT", query


def test_columns_go_on_where_they_were_when_others_come_and_go(store: GraphStore) -> None:
    def names(service: Service, after: str | None, first: int) -> tuple[list[str], str]:
        query = """query ($first: Int!, $after: String) {
          table(name: "t") { columns(first: $first, after: $after) { nodes { path } pageInfo { endCursor } } } }"""
        page = service.data(query, first=first, after=after)["table"]["columns"]
        return [one["path"] for one in page["nodes"]], page["pageInfo"]["endCursor"]

    store.apply(batch(table("t", "z", "y", "x", "w", "v", at=1), run="1"))
    with running(store) as service:
        first, after = names(service, None, 3)
        assert first == ["z", "y", "x"]
        # What the cursor names is dropped, and one before it: the ordinals of the others shift.
        store.apply(batch(drop_column("t", "x", at=2), drop_column("t", "z", at=2), run="2"))
        assert names(service, after, 10)[0] == ["w", "v"]
        store.apply(batch(table("t", "new", "y", "w", "v", at=3), run="3"))
        assert names(service, after, 10)[0] == ["w", "v"]
        first, after = names(service, None, 2)
        store.apply(batch(table("t", "newer", "new", "y", "w", "v", at=4), run="4"))
        assert (first, names(service, after, 10)[0]) == (["new", "y"], ["w", "v"])


def test_impact_goes_on_where_it_was_when_the_graph_changes(chained: GraphStore) -> None:
    query = """query ($after: String) { impact(table: "a0", first: 2, after: $after) {
      nodes { key } pageInfo { endCursor } } }"""
    with running(chained) as service:
        page = service.data(query)["impact"]
        assert [one["key"] for one in page["nodes"]] == [key("a1.x"), key("a2.x")]
        # One before it comes, the one of the cursor goes.
        chained.apply(batch(job("new", "a0.c4 -> a0new.x", at=10), run="new"))
        chained.retire_jobs(["j1"], day(10))
        rest = service.data(query, after=page["pageInfo"]["endCursor"])["impact"]
        assert [one["key"] for one in rest["nodes"]] == [key("a3.x"), key("a4.x")]


def test_a_search_without_end_is_refused_at_its_limit(store: GraphStore) -> None:
    store.apply(batch(table("wide", *(f"c{n}" for n in range(1_005))), run="wide"))
    query = """query ($after: String) { search(text: "c", types: [COLUMN], first: 500, after: $after) {
      totalCount pageInfo { endCursor hasNextPage } } }"""
    with running(store) as service:
        after = None
        for _ in range(2):
            page = service.data(query, after=after)["search"]
            assert (page["totalCount"], page["pageInfo"]["hasNextPage"]) == (1_005, True)
            after = page["pageInfo"]["endCursor"]
        refusal = service.refusal(query, after=after)
        assert (refusal["code"], refusal["limit"], refusal["allowed"]) == ("LIMIT_EXCEEDED", "search", 1_000)


def test_orders_that_are_chosen(chained: GraphStore) -> None:
    with running(chained) as service:
        query = "{ jobs(orderBy: {field: LAST_SEEN, direction: DESC}) { nodes { key } } }"
        assert [one["key"] for one in service.data(query)["jobs"]["nodes"]] == ["all", "j3", "j2", "j1", "j0"]
        asc = service.data("{ runs(orderBy: {field: AT}, first: 2) { nodes { key } } }")["runs"]["nodes"]
        desc = service.data("{ runs(first: 2) { nodes { key } } }")["runs"]["nodes"]
        assert [one["key"] for one in asc] == ["run:run0", "run:schema"]
        assert [one["key"] for one in desc] == ["run:last", "run:run3"]
