"""What is read at once says what resolvers would say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pytest
import strawberry
from graphql import GraphQLError

from lineage.model.transformations import EdgeKind
from lineage_graphql.execution import ReadingExecutor
from lineage_graphql.schema import fields as _enums  # noqa: F401
from tests.service.running import Service

QUERIES = (
    """{ impact(column: "users.email", first: 5) { totalCount direction asOf countsByHop { hops columns } __typename
         edges { cursor node { key hops influence transformation masked root
                               path { hops steps { kind subtypes validFrom jobKey __typename } }
                               contribution { masked steps { sourceKey } }
                               column { name table { key } } table { name } } }
         pageInfo { hasNextPage endCursor } possiblyAffected { name job { key } } truncated } }""",
    """query ($with: Boolean = false) { jobs(first: 2) { edges { node {
         ...Named other: key kind @skip(if: true) sql @include(if: $with) completeness
         edges { edges { node { ...Edge } } } diagnostics { code place { line text } } } } } }
       fragment Named on Job { key ...Again } fragment Again on Job { name: key }
       fragment Edge on LineageEdge { source { name } target { ... on Column { name } ... on Table { key __typename } }
                                      places { text } }""",
    """{ search(text: "users") { edges { node { node {
         ... on Table { name columns { edges { node { name } } } } } } } } }""",
)


@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_those_of_resolvers(service: Service, query: str) -> None:
    read = service.data(query)
    with patch.object(ReadingExecutor, "_reader", lambda *_: None):
        resolved = service.data(query)
    assert read == resolved
    assert str(read) == str(resolved), "in the order of the query"


@dataclass
class _Wrong:
    kind: Any = EdgeKind.CONTRIBUTES
    count: Any = 1
    names: Any = ("a",)
    inner: Any = None


@strawberry.type
class _Inner:
    name: str


@strawberry.type
class _Outer:
    kind: EdgeKind
    count: int
    names: list[str]
    inner: _Inner | None


def _executed(
    value: object, inner: str = "name __typename t: name @skip(if: $x)", **variables: Any
) -> tuple[Any, list[GraphQLError]]:
    @strawberry.type
    class Query:
        @strawberry.field
        def outer(self) -> _Outer:
            return value  # type: ignore[return-value]

    schema = strawberry.Schema(Query, execution_context_class=ReadingExecutor)
    query = f"query ($x: Boolean = true) {{ outer {{ kind count names inner {{ {inner} }} }} }}"
    answer = asyncio.run(schema.execute(query, variable_values=variables))
    return answer.data, list(answer.errors or ())


def test_what_is_right() -> None:
    data, errors = _executed(_Wrong(inner=_Inner(name="x")))
    assert not errors
    assert data["outer"] == {
        "kind": "CONTRIBUTES",
        "count": 1,
        "names": ["a"],
        "inner": {"name": "x", "__typename": "Inner"},
    }
    assert _executed(_Wrong())[0]["outer"]["inner"] is None


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"kind": None}, ["outer", "kind"]),
        ({"kind": "nonsense"}, ["outer", "kind"]),
        ({"count": 1 << 40}, ["outer", "count"]),
        ({"names": ["a", None]}, ["outer", "names", 1]),
        ({"names": 3}, ["outer", "names"]),
        ({"inner": _Inner(name=None)}, ["outer", "inner", "name"]),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_told_with_its_place(wrong: dict[str, Any], path: list[str | int]) -> None:
    _, errors = _executed(_Wrong(**wrong))
    assert [error.path for error in errors] == [path]


def test_what_cannot_be_selected_is_null_where_it_stands() -> None:
    value = _Wrong(inner=_Inner(name="x"))
    data, errors = _executed(value, "name @include(if: $x)")
    assert (data["outer"]["inner"], errors) == ({"name": "x"}, [])
    data, [error] = _executed(value, "name @include(if: $x)", x=None)
    assert (data["outer"]["inner"], error.path) == (None, ["outer", "inner"])
    assert _executed(value, "__typename name @include(if: $x)", x=False)[0]["outer"]["inner"] == {"__typename": "Inner"}


def test_each_event_is_read_anew(service: Service) -> None:
    sizes = []

    class Watched(ReadingExecutor):
        def build_per_event_executor(self, payload: Any) -> Any:
            sizes.append(len(self._readers))
            return super().build_per_event_executor(payload)

    @strawberry.type
    class Query:
        here: int = 1

    @strawberry.type
    class Subscription:
        @strawberry.subscription
        async def inner(self) -> AsyncGenerator[_Inner, None]:
            for number in range(20):
                yield _Inner(name=str(number))

    async def watch() -> list[Any]:
        schema = strawberry.Schema(Query, subscription=Subscription, execution_context_class=Watched)
        told = await schema.subscribe("subscription { inner { name } }")
        return [one.data async for one in told]

    assert asyncio.run(watch()) == [{"inner": {"name": str(number)}} for number in range(20)]
    assert len(sizes) == 20
    assert max(sizes) <= 1


def test_a_middleware_is_asked() -> None:
    class Shouting(strawberry.extensions.SchemaExtension):
        def resolve(self, _next: Any, root: Any, info: Any, *args: str, **options: Any) -> Any:
            told = _next(root, info, *args, **options)
            return told.upper() if isinstance(told, str) else told

    @strawberry.type
    class Query:
        @strawberry.field
        def inner(self) -> _Inner:
            return _Inner(name="x")

    schema = strawberry.Schema(Query, extensions=[Shouting], execution_context_class=ReadingExecutor)
    assert schema.execute_sync("{ inner { name } }").data == {"inner": {"name": "X"}}
