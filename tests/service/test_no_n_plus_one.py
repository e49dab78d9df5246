"""How often the store is asked does not grow with the rows of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from lineage.store import GraphStore
from lineage.store.neo4j.transaction import Neo4jTransaction
from lineage.store.sqlite.transaction import SqliteTransaction
from lineage_graphql.settings import Limits, Settings
from tests.service.running import Service, running
from tests.store.batch_builders import batch, job, table

QUERIES = {
    "neighbours": "{ tables { nodes { columns { nodes { upstreamCount downstreamCount } } } } }",
    "broken": "{ tables { nodes { brokenReads { name } } } }",
    "flows": """{ tableSubgraph(tables: ["start"]) { flows { nodes { source { name } target { name } } } } }""",
    "kinds": """{ impact(column: "start.x", filter: {tableKinds: [TABLE]}) { totalCount brokenReads { name } } }""",
    "impact": """{ impact(column: "start.x") { totalCount namesakes { key } tables { table { kind } } edges { node {
        column { name usage { reads }
                 table { name formerHolders { key } namesakes { key } jobs { edges { node { key } } } } }
        table { name columns { edges { node { name usage { reads } } } } }
        path { steps { source { name } target { ... on Column { name } }
                       job { key sql reads { name } } spans { text } } } } } } }""",
    "jobs": """{ jobs { edges { node { key reads { name usage { reads } } writes { name } topUsers { user }
        diagnostics { message job { key } }
        edges { edges { node { source { name } target { __typename } job { key } } } } } } } }""",
    "search": """{ search(text: "out") { edges { node { node {
        ... on Column { name table { name } }
        ... on Table { name columns { edges { node { name } } } } } } } } }""",
    "rootCause": """{ rootCause(column: "end.x") { edges { node {
        column { name } path { steps { job { key } } } } } } }""",
}


@contextmanager
def counted() -> Iterator[list[str]]:
    """Yield a list that the Cypher statements are put into which either store runs."""
    statements: list[str] = []

    def counting(read: Any) -> Any:
        def wrapped(self: Any, statement: str, rows: Sequence[Any]) -> Any:
            if rows:
                statements.append(statement)
            return read(self, statement, rows)

        return wrapped

    with (
        patch.object(SqliteTransaction, "read", counting(SqliteTransaction.read)),
        patch.object(Neo4jTransaction, "read", counting(Neo4jTransaction.read)),
    ):
        yield statements


def fan(width: int) -> list[Any]:
    """Return jobs that lead from one column to so many, and from these to one."""
    out = [job(f"out{n}", f"start.x -> out{n}.x", at=1) for n in range(width)]
    back = [job(f"back{n}", f"out{n}.x -> end.x", at=1) for n in range(width)]
    return [table("start", "x"), *out, *back]


@pytest.fixture
def wide(store: GraphStore) -> Iterator[Service]:
    store.apply(batch(*fan(3), run="narrow"))
    with running(store, Settings(limits=Limits(cost=1_000_000))) as service:
        yield service


@pytest.mark.parametrize("name", QUERIES)
def test_statements_do_not_grow_with_the_answer(wide: Service, store: GraphStore, name: str) -> None:
    with counted() as few:
        wide.data(QUERIES[name])
    store.apply(batch(*fan(30), run="wide"))
    with counted() as many:
        wide.data(QUERIES[name])
    assert len(many) == len(few)
    assert len(many) <= 40
