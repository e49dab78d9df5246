"""Names that cannot be traced are results themselves: each with its place and what it may have meant."""

from __future__ import annotations

import pytest

from lineage import Catalog, extract

CATALOG = Catalog.from_dict({"orders": ["id", "amount"], "items": ["id", "price"]}, "postgres")


@pytest.mark.parametrize(
    ("sql", "name", "code", "at", "candidates"),
    [
        ("SELECT amout FROM orders", "orders.amout", "UNKNOWN_COLUMN", "amout", ("amount",)),
        ("SELECT o.amout FROM orders o", "orders.amout", "UNKNOWN_COLUMN", "o.amout", ("amount",)),
        ("SELECT pric FROM orders, items", "pric", "UNKNOWN_COLUMN", "pric", ("price",)),
        ("SELECT order.id FROM orders".replace("order.", "orers."), "orers", "UNKNOWN_TABLE", "orers.id", ("orders",)),
        ("SELECT itms.* FROM items", "itms", "UNKNOWN_TABLE", "itms.*", ("items",)),
        ("SELECT id FROM orders, items", "id", "AMBIGUOUS_COLUMN", "id", ("orders.id", "items.id")),
        ("SELECT * FROM refunds", "*", "UNRESOLVED_STAR", "*", ("refunds",)),
        ("SELECT q.amount FROM (SELECT id FROM orders) q", "q.amount", "UNKNOWN_COLUMN", "q.amount", ()),
    ],
)
def test_unresolved_reference(sql: str, name: str, code: str, at: str, candidates: tuple[str, ...]) -> None:
    [statement] = extract(sql, "postgres", CATALOG)
    [found] = statement.unresolved
    assert (found.name, found.code, found.candidates) == (name, code, candidates)
    assert found.span is not None
    assert sql[found.span.start : found.span.end] == at
    assert found.to_dict()["candidates"] == list(candidates)
    assert [d.code for d in statement.diagnostics] == [code]


def test_what_is_resolved_leaves_nothing() -> None:
    [statement] = extract("SELECT o.amount FROM orders o JOIN items i USING (id)", "postgres", CATALOG)
    assert statement.unresolved == ()


def test_a_name_used_twice_is_kept_once_where_it_stands_first() -> None:
    [statement] = extract("SELECT amout, amout FROM orders", "postgres", CATALOG)
    assert [found.span.column for found in statement.unresolved if found.span] == [8]
