"""docs/accuracy.md: this project's rows are what it answers now, and the page is part of the site."""

from __future__ import annotations

import math
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.benchmarks.accuracy import ask
from tests.benchmarks.accuracy.corpora import Corpus, corpora
from tests.benchmarks.accuracy.page import PAGE, row
from tests.benchmarks.accuracy.scoring import Score, score, upper_bound
from tests.benchmarks.accuracy.tools import OURS, TOOLS


@cache
def subjects() -> dict[str, Corpus]:
    return {corpus.name: corpus for corpus in corpora()}


NAMES = ("mimic_iv_postgres", "mimic_iv_duckdb", "mimic_iv_bigquery", "tpch", "tpcds", "hive")


def own(name: str) -> Score:
    return ask(OURS, Path(sys.executable), subjects()[name]).score


@pytest.mark.parametrize("name", NAMES)
def test_our_rows_are_current(name: str) -> None:
    section = PAGE.read_text(encoding="utf-8").partition(f"## {subjects()[name].title}\n")[2].partition("\n## ")[0]
    assert row(OURS.name, own(name)) in section.splitlines()


def test_every_corpus_and_tool_is_on_the_page() -> None:
    assert tuple(subjects()) == NAMES
    text = PAGE.read_text(encoding="utf-8")
    assert [tool.name for tool in TOOLS if f"| {tool.name} |" not in text] == []
    nav = tomllib.loads((PAGE.parent / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    assert "accuracy.md" in str(nav)


def test_a_wrong_answer_counts_where_it_is_wrong() -> None:
    corpus = subjects()["tpch"]
    answers = {
        one.name: {"columns": {name: sorted(sources) for name, sources in one.must.items()}, "full": True}
        for one in corpus.statements
    }
    right = score(corpus, answers)
    assert (right.exact, right.wrong_though_full, right.claimed) == (21, 0, 21)
    assert (right.exact_columns, right.covered) == (right.columns, right.sourced)
    first, second, third, *_ = corpus.statements
    column, sources = next((name, sources) for name, sources in first.must.items() if sources)
    columns = {name: sorted(given) for name, given in first.must.items()}
    answers[first.name] = {"columns": {**columns, column: [*sources, "lineitem.l_comment"]}, "full": True}
    answers[second.name] = {"columns": {}, "full": False}
    answers[third.name] = {"error": "no"}
    wrong = score(corpus, answers)
    assert (wrong.exact, wrong.wrong_though_full, wrong.claimed, wrong.errors) == (18, 1, 19, 1)
    assert wrong.covered < right.covered
    assert wrong.exact_columns < right.exact_columns - 1


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    for wrong, answers in ((0, 65), (0, 856), (2, 20), (11, 854), (61, 843)):
        bound = upper_bound(wrong, answers)
        at_most = sum(math.comb(answers, n) * bound**n * (1 - bound) ** (answers - n) for n in range(wrong + 1))
        assert at_most == pytest.approx(0.05, rel=1e-6)
    assert upper_bound(0, 300) == pytest.approx(3 / 300, rel=0.01)
    assert upper_bound(3, 3) == 1.0
