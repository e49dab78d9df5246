"""Syntax trees are freed when their statement is resolved, without the collector of cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from sqlglot import exp

from lineage import extract

TEXT = """
    WITH recent AS (SELECT id, CASE WHEN paid THEN amount END AS amount FROM orders WHERE day > '2024-01-01')
    SELECT u.name, SUM(r.amount) OVER (PARTITION BY u.id) FROM recent AS r, users AS u WHERE r.id IN (1, u.id);
    CREATE TABLE copy AS SELECT a AS b FROM t UNION ALL SELECT MAX(b) FROM s GROUP BY c;
    UPDATE t SET a = (SELECT MAX(b) FROM s), c = 1;
"""
"""The parser tries nothing in vain here: what it makes and drops is its own."""


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_no_node_waits_for_the_collector() -> None:
    before = _nodes()
    extract(TEXT, "postgres")
    assert _nodes() == before


def _nodes() -> int:
    return sum(isinstance(found, exp.Expr) for found in gc.get_objects())
