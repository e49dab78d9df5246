"""What nests within the budget is resolved, in the main thread and in others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from lineage import extract
from lineage.sql.budget import Budget

SHAPES: dict[str, Callable[[int], str]] = {
    "queries in FROM": lambda n: f"select a from {'(select a from ' * n}t{')' * n}",
    "scalar queries": lambda n: f"select {'(select ' * n}a{')' * n} from t",
    "brackets": lambda n: f"select {'(' * n}a{')' * n} as x from t",
    "CASE": lambda n: f"select {'case when b then ' * n}a{' end' * n} as x from t",
    "IN": lambda n: f"select a from t where a in {'(select a from t where a in ' * n}(1){')' * n}",
}


@pytest.fixture(autouse=True)
def default_recursion_limit() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(max(before, sys.getrecursionlimit()))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("levels", "budget"), [(195, Budget()), (980, Budget(nesting=1_000))])
def test_what_nests_within_the_budget_is_resolved(shape: str, levels: int, budget: Budget) -> None:
    with ThreadPoolExecutor(1) as threads:
        for run in (extract, lambda *given, **options: threads.submit(extract, *given, **options).result()):
            [found] = run(SHAPES[shape](levels), "postgres", budget=budget)
            assert (found.completeness, found.diagnostics) == ("full", [])
            assert "a" in {edge.source.column for edge in found.edges}


def test_what_nests_deeper_says_so() -> None:
    [found] = extract(SHAPES["CASE"](201), "postgres")
    assert (found.completeness, [one.code for one in found.diagnostics]) == ("tables", ["NESTING_TOO_DEEP"])
