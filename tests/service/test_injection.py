"""No string that a caller sends becomes part of a question to the store, whichever argument it is sent in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLUnionType,
    get_named_type,
    get_nullable_type,
)

from lineage.store import GraphStore
from lineage_graphql.schema.root import schema
from lineage_graphql.settings import Limits, Settings
from tests.service.graph import fill
from tests.service.running import Service, running

INNOCENT = "there_is_no_such_thing"
TRIES = (
    "x' OR 1=1 OR 'x'='",
    'x" OR true //',
    "users.id'}) RETURN n UNION MATCH (n) DETACH DELETE n //",
    "`) MATCH (n) DETACH DELETE n //",
    r"\u0060) MATCH (n) DETACH DELETE n //",
    r"\u0027 OR 1=1 //",
    "users' OR n.key =~ '.*",
    "$key",
    "{key: 'users'}",
    "*",
    "*:*",
    "users~2 OR key:*",
    '+ - && || ! ( ) { } [ ] ^ " ~ * ? : \\ /',
    "'; DROP TABLE users; --",
    "%",
    "__proto__",
    "../../etc/passwd",
    "${jndi:ldap://127.0.0.1:9/x}",
    "a\x00b",
    "\ud7ff\u202e\U0001f4a3",
    "x" * 3_000,
)
GIVEN: dict[str, dict[str, Any]] = {
    "table": {"name": "users"},
    "column": {"name": "users.id"},
    "search": {"text": "users"},
    "impact": {"column": "users.id"},
    "rootCause": {"column": "contacts.n"},
    "paths": {"from": "users.email", "to": "contacts.n"},
    "job": {"key": "contacts.sql"},
    "usage": {"table": "users"},
    "lineageDiff": {"asOfA": "2024-01-01T00:00:00Z", "asOfB": "2024-01-05T00:00:00Z"},
    "extract": {"sql": "insert into contacts select mail from staged", "dialect": "postgres"},
    "describe": {"of": "users"},
    "assertEdge": {"source": "users.id", "target": "contacts.n"},
    "retireEdge": {"source": "users.id", "target": "contacts.n", "kind": "CONTRIBUTES"},
    "prune": {"olderThan": "2000-01-01T00:00:00Z"},
    "forget": {"dryRun": True},
}
"""What a field needs to be asked for, beside the string that is tried."""
INSTEAD = {
    ("table", "key"): {"name"},
    ("table", "namespace"): set(),
    ("column", "key"): {"name"},
    ("impact", "table"): {"column"},
    ("rootCause", "table"): {"column"},
    ("usage", "column"): {"table"},
}
"""Which of these an argument stands instead of."""
OTHERWISE = {
    *(("describe", name) for name in ("description", "tags")),
    *(("extract", name) for name in ("sql", "dialect", "defaultDatabase", "defaultSchema")),
    ("lineageDiff", "scope"),
}
"""Where the answer may differ from string to string: they are kept, are SQL, or with a slash are the start of keys."""


@dataclass(frozen=True)
class Place:
    """An argument that takes a string, and the fields that lead to it from a root."""

    operation: str
    way: tuple[str, ...]
    argument: str
    member: str | None = None
    is_list: bool = False

    def __str__(self) -> str:
        return ".".join((*self.way, self.argument, *([self.member] if self.member else [])))

    def document(self, value: str) -> str:
        """Return a request with the value in this place."""
        asked = "__typename"
        for depth in range(len(self.way), 0, -1):
            name, _, kind = self.way[depth - 1].partition(":")
            given = dict(GIVEN.get(name, {})) if depth == 1 else {}
            if depth == len(self.way):
                for other in INSTEAD.get((name, self.argument), ()):
                    del given[other]
                given[self.argument] = self._put(value)
            listed = ", ".join(f"{one}: {_literal(one, what)}" for one, what in given.items())
            asked = f"{name}{f'({listed})' if listed else ''} {{ {f'... on {kind} {{ {asked} }}' if kind else asked} }}"
        return f"{self.operation} {{ {asked} }}"

    def _put(self, value: str) -> Any:
        inner: Any = [value] if self.is_list else value
        return {self.member: inner} if self.member else inner


def _literal(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{one}: {_literal(one, what)}" for one, what in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_literal(name, one) for one in value) + "]"
    return str(value) if name == "kind" else json.dumps(value)


def _places() -> Iterator[Place]:
    """Yield each argument of the schema that takes strings, by a shortest way to its field."""
    core = schema._schema
    roots = [("query", core.query_type), ("mutation", core.mutation_type)]
    waiting: list[tuple[str, tuple[str, ...], Any]] = [(operation, (), root) for operation, root in roots]
    seen = set()
    while waiting:
        operation, way, kind = waiting.pop(0)
        if kind in seen:
            continue
        seen.add(kind)
        for name, field in kind.fields.items():
            here = (*way, name)
            for argument, arguments in field.args.items():
                yield from _strings(operation, here, argument, arguments)
            waiting += [(operation, step, inner) for step, inner in _inner(here, field)]


def _inner(way: tuple[str, ...], field: GraphQLField) -> Iterator[tuple[tuple[str, ...], GraphQLObjectType]]:
    named = get_named_type(field.type)
    if isinstance(named, GraphQLUnionType):
        yield from (((*way[:-1], f"{way[-1]}:{one.name}"), one) for one in named.types)
    elif isinstance(named, GraphQLObjectType):
        yield way, named


def _strings(operation: str, way: tuple[str, ...], argument: str, arguments: GraphQLArgument) -> Iterator[Place]:
    named = get_named_type(arguments.type)
    if named.name in {"String", "ID"}:
        yield Place(operation, way, argument, is_list=isinstance(get_nullable_type(arguments.type), GraphQLList))
    elif isinstance(named, GraphQLInputObjectType):
        for member, inner in named.fields.items():
            if get_named_type(inner.type).name in {"String", "ID"}:
                yield Place(operation, way, argument, member)


PLACES = tuple(_places())


def test_the_table_of_places_is_whole() -> None:
    arguments = {str(place) for place in PLACES}
    assert {"search.text", "search.tags", "impact.filter.table", "job.key", "describe.tags", "extract.sql"} <= arguments
    assert any(str(place).endswith(".edges.after") for place in PLACES)
    assert len(arguments) == len(PLACES) >= 40


@pytest.fixture
def asked(store: GraphStore) -> Iterator[Service]:
    """A service without a limit on how much a document may cost, over the small graph."""
    fill(store)
    with running(store, Settings(limits=Limits(cost=10_000_000))) as started:
        yield started


def test_strings_stay_strings(asked: Service, store: GraphStore) -> None:
    before = store.dump()
    step = 3 if store.is_file else len(TRIES)  # every string is tried in many places: a server takes longer to answer
    for number, place in enumerate(PLACES):
        if place.operation != "query":
            continue
        arguments = _replies(asked, place, INNOCENT)
        for value in TRIES[number % step :: step]:
            found = _replies(asked, place, value)
            assert (place.way[0], place.argument) in OTHERWISE or found == arguments, (str(place), value)
    assert store.dump() == before


def test_no_scope_is_all(asked: Service) -> None:
    question = """query ($scope: String) {
        lineageDiff(asOfA: "2024-01-01T00:00:00Z", asOfB: "2024-01-06T00:00:00Z", scope: $scope) { began ended } }"""
    assert asked.data(question)["lineageDiff"]["began"] > 0
    for value in TRIES:
        answer = asked.ask(question, scope=value)
        codes = [error["extensions"]["code"] for error in answer.get("errors") or ()]
        assert codes == ["NOT_FOUND"] or answer["data"]["lineageDiff"] == {"began": 0, "ended": 0}, value


def test_strings_of_changes_stay_strings(asked: Service, store: GraphStore) -> None:
    before = store.dump()
    for number, place in enumerate(PLACES):
        if place.operation == "query" or (place.way[0], place.argument) in OTHERWISE:
            continue
        arguments = _replies(asked, place, INNOCENT)
        nothing = place.way[0] == "forget"  # of what is not there, nothing is forgotten
        assert arguments[1] or nothing, f"{place} should be refused"
        for value in TRIES if store.is_file else TRIES[number % 3 :: 3]:
            assert _replies(asked, place, value) == arguments, (str(place), value)
    assert store.dump() == before


def test_a_description_is_kept_as_it_is_written(asked: Service, store: GraphStore) -> None:
    before = store.dump()
    for value in TRIES:
        change = 'mutation ($d: String!) { describe(of: "users", description: $d, tags: [$d]) { __typename } }'
        answer = asked.ask(change, d=value)
        [error] = answer.get("errors") or [None]
        assert error is None or error["extensions"]["code"] == "BAD_ARGUMENT", (value, error)
        [table] = [one for one in store.datasets() if one.name == "users"]
        assert error is not None or table.description == value
        again = store.dump()
        assert len(again.nodes) == len(before.nodes)
        assert again.relationships == before.relationships


def _replies(service: Service, place: Place, value: str) -> tuple[Any, list[str]]:
    """Return the data of an answer and the codes of its errors; none is that the service failed."""
    answer = service.ask(place.document(value))
    codes = [error["extensions"]["code"] for error in answer.get("errors") or ()]
    assert "INTERNAL" not in codes, (str(place), value)
    return answer.get("data"), codes


HALF = "\ud83d"
SEARCH = "query ($text: String!, $tags: [String!]) { search(text: $text, tags: $tags) { edges { cursor } } }"


@pytest.mark.parametrize(
    "sent",
    [
        {"query": SEARCH, "variables": {"text": HALF}},
        {"query": SEARCH, "variables": {"text": "a", "tags": [HALF]}},
        {"query": SEARCH, "variables": {"text": "a", HALF: 1}},
        {"query": "query named { __typename }", "operationName": HALF},
        {"query": f"query {HALF} {{ __typename }}"},
        {"query": f'{{ search(text: "{HALF}") {{ edges {{ cursor }} }} }}'},
    ],
    ids=["text", "tags", "name", "operation", "query", "literal"],
)
def test_half_a_surrogate_pair_is_refused(asked: Service, sent: dict[str, Any]) -> None:
    answer = asked.http.post("/graphql", content=json.dumps(sent), headers={"content-type": "application/json"})
    assert answer.status_code == 200, answer.text
    [error] = answer.json()["errors"]
    assert error["extensions"]["code"] in ("BAD_ARGUMENT", "BAD_REQUEST")
