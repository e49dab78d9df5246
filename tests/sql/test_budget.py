"""A statement beyond its budget has a diagnostic and its lineage between tables, and costs the others nothing."""

from __future__ import annotations

import pytest

from lineage import Budget, extract
from lineage.sql.budget import BudgetError

GOOD = "INSERT INTO report SELECT a FROM orders;"


@pytest.mark.parametrize(
    ("budget", "statement", "code"),
    [
        (Budget(nesting=10), f"SELECT {'(' * 20}a{')' * 20} FROM deep", "NESTING_TOO_DEEP"),
        (Budget(characters=60), f"SELECT {', '.join(f'c{n}' for n in range(50))} FROM deep", "STATEMENT_TOO_LARGE"),
        (Budget(edges=9), f"SELECT {', '.join(f'c{n}' for n in range(10))} FROM deep", "RESULT_TOO_LARGE"),
        (Budget(seconds=1e-9), "SELECT a FROM (SELECT a FROM deep) AS q", "TIME_EXCEEDED"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isupper() else "",
)
def test_each_limit(budget: Budget, statement: str, code: str) -> None:
    [found] = extract(statement, "postgres", budget=budget)
    assert [str(d.code) for d in found.diagnostics] == [code]
    assert (found.completeness, found.sources, found.edges) == ("tables", ["deep"], [])


def test_the_rest_is_kept() -> None:
    good, deep = extract(f"{GOOD} SELECT {'(' * 20}a{')' * 20} FROM deep", "postgres", budget=Budget(nesting=10))
    assert [str(edge) for edge in good.edges] == ["orders.a -> report.a [IDENTITY]"]
    assert deep.completeness == "tables"


def test_a_result_at_the_limit_is_kept() -> None:
    [found] = extract("SELECT a, b FROM t", "postgres", budget=Budget(edges=2))
    assert found.completeness == "full"


@pytest.mark.parametrize(
    "setting", ["seconds", "seconds=", "hours=1", "edges=0", "edges=x", "nesting=5000", "edges=1.5"]
)
def test_a_wrong_setting_is_refused(setting: str) -> None:
    with pytest.raises(BudgetError):
        Budget.parse([setting])


def test_settings() -> None:
    assert Budget.parse(["seconds=2.5", "nesting=50"]) == Budget(seconds=2.5, nesting=50)
