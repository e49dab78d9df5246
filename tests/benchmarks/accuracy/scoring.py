"""Compare a tool's answers with the truth, and count."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks.accuracy.corpora import ALL, Corpus, Statement

__all__ = ["Score", "score", "upper_bound"]


@dataclass(slots=True)
class Score:
    """What a tool answered on a corpus. Counts are of statements, or of the output columns that the truth lists.

    `covered` columns have at least one reported source where the truth has one (of those that have one: `sourced`).
    `claimed` statements are those that the tool calls complete, `wrong_though_full` those of them that are not exact.
    """

    statements: int = 0
    exact: int = 0
    columns: int = 0
    exact_columns: int = 0
    sourced: int = 0
    covered: int = 0
    claimed: int = 0
    wrong_though_full: int = 0
    errors: int = 0
    first_wrong: dict[str, str] = field(default_factory=dict)
    first_errors: dict[str, str] = field(default_factory=dict)

    @property
    def bound(self) -> float:
        """The 95 % upper bound of the chance that an answer called complete is wrong."""
        return upper_bound(self.wrong_though_full, self.claimed)


def upper_bound(wrong: int, answers: int, confidence: float = 0.95) -> float:
    """Return the one-sided upper bound of Clopper and Pearson for a share: the largest that `wrong` still allows.

    With nothing wrong it is about 3 / answers.

    >>> round(upper_bound(0, 300), 4), round(upper_bound(5, 100), 3), upper_bound(0, 0)
    (0.0099, 0.103, 1.0)
    """
    if wrong >= answers:
        return 1.0
    low, high = wrong / answers, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(wrong, answers, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(count: int, answers: int, share: float) -> float:
    """Return the probability of at most `count` of so many answers, each with this chance."""
    log, log_not = math.log(share) if share else -math.inf, math.log1p(-share) if share < 1 else -math.inf
    total = 0.0
    for number in range(count + 1):
        ways = math.lgamma(answers + 1) - math.lgamma(number + 1) - math.lgamma(answers - number + 1)
        total += math.exp(ways + (number * log if number else 0.0) + (answers - number) * log_not)
    return total


def score(corpus: Corpus, answers: Mapping[str, Mapping[str, Any]], no_answer: str = "no answer") -> Score:
    """Return the counts; `answers` are the worker's, by the statement's name."""
    found = Score(statements=len(corpus.statements))
    for statement in corpus.statements:
        answer = answers.get(statement.name, {"error": no_answer})
        found.columns += len(statement.must)
        sourced = [column for column, sources in statement.must.items() if sources]
        found.sourced += len(sourced)
        if "error" in answer:
            found.errors += 1
            if len(found.first_errors) < 3:
                found.first_errors[statement.name] = answer["error"]
            continue
        given = _Answer(answer, statement)
        problems = [given.problems_of(column) for column in statement.must]
        found.exact_columns += sum(not one for one in problems)
        found.covered += sum(bool(given.sources_of(column)) for column in sourced)
        wrong = next((one for one in problems if one), None) or given.invented()
        found.claimed += bool(answer["full"])
        found.wrong_though_full += bool(answer["full"] and wrong)
        found.exact += wrong is None
        if wrong and len(found.first_wrong) < 3:
            found.first_wrong[statement.name] = wrong
    return found


class _Answer:
    """A tool's answer for one statement; names compare without quotes and case, tables by their last part.

    A source `t.*`, which some report for COUNT(*), is passed over: only rows are counted there. A nested field counts
    as its column.
    """

    def __init__(self, answer: Mapping[str, Any], statement: Statement) -> None:
        self._statement = statement
        self._tables = {_plain(name).rpartition(".")[2] for name in statement.schema}
        self._values = self._named(answer["columns"])
        self._references = self._named(answer.get("references", {}))
        self._must = {_short(_plain(column)): self._sources(s) for column, s in statement.must.items()}
        self._may = {_short(_plain(column)): self._sources(s) for column, s in statement.may.items()}

    def _named(self, columns: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name, sources in columns.items():
            found.setdefault(_short(_plain(name)), set()).update(self._sources(sources))
        return found

    def _sources(self, sources: Iterable[str]) -> set[str]:
        return {self._column(_plain(one)) for one in sources if not one.endswith(".*")}

    def _column(self, source: str) -> str:
        parts = source.split(".")
        at = next((i for i in range(len(parts) - 2, -1, -1) if parts[i] in self._tables), max(len(parts) - 2, 0))
        return ".".join(parts[at : at + 2])

    def sources_of(self, column: str) -> set[str]:
        """Return what is reported of an output column; a tool may name it with or without its table."""
        column = _short(_plain(column))
        return (self._of(self._values, column) or set()) | (self._of(self._references, column) or set())

    @staticmethod
    def _of(named: Mapping[str, set[str]], column: str) -> set[str] | None:
        own = named.get(column)
        if own is None:
            own = named.get(column.rpartition(".")[2])
        if own is None and "." not in column:  # the truth names a query's columns, the tool those of a table
            own = next((sources for name, sources in named.items() if name.rpartition(".")[2] == column), None)
        return own

    def problems_of(self, column: str) -> str | None:
        """Return the first thing that is wrong with an output column."""
        column = _short(_plain(column))
        must, may = self._must[column], self._may[column]
        own, referenced = self._of(self._values, column), self._of(self._references, column)
        if own is None and referenced is None and must:
            return f"no column {column}"
        own = own or set()
        if missing := must - own - (referenced or set()):
            return f"{column}: {min(missing)} is missing"
        if extra := own - must - may:
            return f"{column}: {min(extra)} is too much"
        return None

    def invented(self) -> str | None:
        """Return an output column with sources that the statement does not write."""
        known = {*self._must, *(name.rpartition(".")[2] for name in self._must)}
        ignored = self._statement.ignored
        if ALL in ignored:
            return None
        for name, sources in self._values.items():
            last = name.rpartition(".")[2]
            bare = all("." not in one for one in self._must)
            if sources and name not in known and not (bare and last in known) and not {name, last} & ignored:
                return f"{name} is not a target"
        return None


def _plain(name: str) -> str:
    return re.sub(r'["`\[\]]', "", name).lower()


def _short(column: str) -> str:
    """Return the last two parts of a column's name: tables compare by their last part."""
    return ".".join(column.split(".")[-2:])
