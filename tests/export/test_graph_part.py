"""Which part of the graph a page or a diagram shows."""

from __future__ import annotations

import pytest

from lineage.export.graph_part import TooManyTablesError, read_part
from lineage.export.picture.diagrams import dot, mermaid
from lineage.store import GraphStore
from lineage.traversal import resolve
from tests.service.graph import fill
from tests.store.batch_builders import batch, job, key
from tests.store.conftest import both_stores, open_again, pytest_generate_tests, store

__all__ = ["both_stores", "open_again", "pytest_generate_tests", "store"]


def test_the_whole_graph_or_what_a_focus_reaches(store: GraphStore) -> None:
    fill(store)
    whole = read_part(store)
    assert {one.key for one in whole.datasets} == {key(name) for name in ("users", "staged", "contacts", "copied")}
    assert len(whole.edges) == 6
    part = read_part(store, [resolve(store, "contacts.hashed")])
    assert {one.key for one in part.datasets} == {key(name) for name in ("users", "staged", "contacts", "copied")}
    pairs = {(edge.source, edge.target) for edge in part.edges}
    assert (key("staged.mail"), key("contacts.hashed")) in pairs
    assert (key("staged.mail"), key("contacts.address")) not in pairs
    near = read_part(store, [resolve(store, "contacts.hashed")], max_hops=1)
    assert {one.key for one in near.datasets} == {key("staged"), key("contacts"), key("copied")}


def test_a_part_that_is_too_large_says_what_makes_it_smaller(store: GraphStore) -> None:
    fill(store)
    with pytest.raises(TooManyTablesError, match=r"4 tables, and 3 are the limit: .* --focus"):
        read_part(store, most=3)
    with pytest.raises(TooManyTablesError, match="--hops"):
        read_part(store, [resolve(store, "users")], most=2)


def test_diagrams_quote_names_and_dash_references(store: GraphStore) -> None:
    store.apply(batch(job("a.sql", 'a"<b>.x -> c.x', "d.x ~> c", at=1)))
    part = read_part(store)
    assert mermaid(part).splitlines() == [
        "flowchart LR",
        '  t0["a#quot;#lt;b#gt;"]',
        '  t1["c"]',
        '  t2["d"]',
        "  t0 -->|1| t1",
        "  t2 -.->|1| t1",
    ]
    assert f'"{key("d")}" -> "{key("c")}" [label="1", style=dashed];' in dot(part)
    assert '[label="a\\"<b>"];' in dot(part)
