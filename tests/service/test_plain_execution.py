"""Plain fields are answered as the GraphQL library answers them: each document has the same answer with and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLInt

from lineage.store import open_store
from lineage_graphql.schema import plain_execution
from lineage_graphql.schema.plain_execution import PlainExecution
from tests.service.graph import fill
from tests.service.running import running

DOCUMENTS = [
    '{ impact(column: "users.email") { totalCount nodes { hops influence how masked } countsByHop { hops } } }',
    '{ impact(column: "users.email") { nodes { a: key b: key __typename ...F } } } fragment F on ReachedColumn { key }',
    '{ impact(column: "users.email", maxHops: 1) { nodes { key } start { ... on Table { key } } } }',
    '{ impact(table: "users") { start { __typename ... on Table { name columns { nodes { key } } } } } }',
    '{ impact(column: "users.email") { nodes { key @skip(if: true) hops } pageInfo { hasNextPage endCursor } } }',
    '{ impact(column: "users.email") { nodes { path { steps { __typename } } } } }',
    '{ table(name: "users") { key aliases droppedAt tags columns { nodes { name dataType ordinal inferred } } } }',
    '{ rootCause(column: "staged.mail") { nodes { key hops } start { __typename ... on Column { key } } } }',
    "{ runs { nodes { key kind at seconds } } jobs(first: 3) { nodes { key completeness firstSeen retiredAt } } }",
    '{ search(text: "mail") { nodes { score node { __typename ... on Node { id } ... on Column { key } } } } }',
    "{ diagnostics { nodes { code severity message span { line column } } } service { version } }",
    '{ columns: search(text: "no such", types: [COLUMN]) { totalCount } }',
    '{ adjacent(of: ["users"], direction: DOWNSTREAM) { nodes { ... on Column { key facts { tags } table { key facts '
    "{ owner } } } ... on Table { key facts { source } } } edges { kind } jobs { key observations reads { key } } } }",
    '{ subgraph(columns: ["users.email"]) { nodes { __typename ... on Column { table { name } } } } }',
    '{ paths(from: "users.email", to: "staged.mail") { __typename } }',
]


def test_the_answer_is_the_librarys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path / "store.db") as store:
        fill(store)
        with running(store) as service:
            ours = [_without_ids(service.ask(one)) for one in DOCUMENTS]
            monkeypatch.setattr(PlainExecution, "_maker_of", lambda *_: None)
            for document, answer in zip(DOCUMENTS, ours, strict=True):
                assert _without_ids(service.ask(document)) == answer, document
    assert [document for document, answer in zip(DOCUMENTS, ours, strict=True) if "errors" in answer] == []


def test_a_number_beyond_32_bits_is_left_to_the_library() -> None:
    make = plain_execution._leaf(GraphQLInt)
    assert make(2**31 - 1) == 2**31 - 1
    for value in (2**31, True, "1", None):
        with pytest.raises(plain_execution._NotPlainError):
            make(value)


def _without_ids(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer without the numbers of its requests."""
    for error in answer.get("errors", ()):
        error.get("extensions", {}).pop("request_id", None)
    return answer
