"""Random queries with equal canonical forms return the same; `python -m tests.diff.random_pairs N` compares more."""

from __future__ import annotations

from tests.diff.random_pairs import run_pairs


def test_equal_forms_return_the_same() -> None:
    found = run_pairs(150, seed=1)
    assert found.failures == []
    assert found.equal > 3
    assert found.partly > 8
    assert found.differing_results > 30
