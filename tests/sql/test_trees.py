"""Syntax trees are freed when their statement is resolved, without the collector of cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
import sqlglot
from sqlglot import exp

from lineage import extract
from lineage.sql.parse.trees import take_apart, take_apart_in_python
from lineage.sql.resolve.resolver import Resolver
from tests.sql.case_files import read_cases

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


def test_no_resolver_waits_for_the_collector() -> None:
    """It holds the tokens and, by its scopes, the tree."""
    for case in read_cases():
        extract(case.sql, case.dialect)
    assert not [found for found in gc.get_objects() if isinstance(found, Resolver)]


@pytest.mark.parametrize("way", [take_apart, take_apart_in_python], ids=["as installed", "python"])
def test_what_is_below_a_tree_is_freed(way: Callable[[exp.Expr], None]) -> None:
    before = _nodes()
    trees = [tree for tree in sqlglot.parse(TEXT, dialect="postgres") if tree is not None]
    assert _nodes() > before + len(trees)
    for tree in trees:
        way(tree)
        assert not tree.args
    del tree
    assert _nodes() == before + len(trees)


def test_what_has_much_below_it_is_freed_too() -> None:
    """Names with names below them, types with parameters, members of enumerations, stars with lists."""
    text = (
        "SELECT t.* EXCEPT (a), CAST(a AS DECIMAL(10, 2)), CAST(b AS STRUCT<c INT64>) FROM UNNEST(d) AS t WITH OFFSET"
    )
    tree = sqlglot.parse_one(text, dialect="bigquery")
    take_apart(tree)
    assert not tree.args
    extract(text, "bigquery")


def _nodes() -> int:
    return sum(isinstance(found, exp.Expr) for found in gc.get_objects())
