"""Many random queries, checked one after the other; what fails is shrunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter

from tests.soundness.check import Finding, check_precision, extracted
from tests.soundness.experiment import RejectedError
from tests.soundness.generator import random_statement
from tests.soundness.grammar import GRAMMARS
from tests.soundness.referee import Referee, referee_for
from tests.soundness.shrink import as_case, shrink
from tests.soundness.tree import Statement

__all__ = ["QUERIES_PER_LABORATORY", "Campaign", "Failure"]

QUERIES_PER_LABORATORY = 250
_OF_ENGINES = ("unsound", "names", "plan", "reads")
"""The kinds of findings that an engine makes."""
_MALFORMED = (KeyError, ValueError, AssertionError, IndexError)
"""What reading a tree raises that a step of shrinking broke."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A query that failed, and the smallest found that fails in the same way, as a case."""

    number: int
    finding: Finding
    case: str

    def __str__(self) -> str:
        return f"# {self.finding.kind}: {'; '.join(self.finding.details)}\n{self.case}"


@dataclass(slots=True)
class Campaign:
    """Checks the queries of one seed in a dialect; `ways` is how often each input column is changed on DuckDB."""

    seed: int
    ways: int | None = None
    dialect: str = "duckdb"
    queries: int = 0
    experiments: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0
    _referee: Referee | None = None
    _content: int = -1

    def run(self, numbers: Iterable[int]) -> None:
        """Check the queries of these numbers."""
        begun = perf_counter()
        for number in numbers:
            referee = self._referee_of(number)
            statement = random_statement(f"{self.seed}/{number}", GRAMMARS[self.dialect])
            self.queries += 1
            try:
                finding = self._finding(statement, referee, self.ways)
            except RejectedError as error:
                self.rejected[str(error)[:70]] += 1
                continue
            if finding is not None:
                self.failures.append(self._shrunk(number, statement, finding, referee))
        self.seconds += perf_counter() - begun

    def add(self, part: Campaign) -> None:
        """Count what another campaign found as well."""
        self.queries += part.queries
        self.experiments += part.experiments
        self.rejected.update(part.rejected)
        self.failures.extend(part.failures)

    def close(self) -> None:
        """Let the tables go."""
        if self._referee is not None:
            self._referee.close()
            self._referee = None

    def _referee_of(self, number: int) -> Referee:
        content = number // QUERIES_PER_LABORATORY
        if self._referee is None or content != self._content:
            self.close()
            self._referee, self._content = referee_for(self.dialect, f"{self.seed}/{content}"), content
        return self._referee

    def _finding(self, statement: Statement, referee: Referee, ways: int | None = None) -> Finding | None:
        """Return what is wrong with a statement that the engine accepts.

        Raises:
            RejectedError: the engine does not accept it.
        """
        lineage = extracted(statement)
        before = referee.runs
        shown = referee.judge(statement, lineage, ways)
        self.experiments += referee.runs - before
        return check_precision(statement, lineage) or shown

    def _shrunk(self, number: int, statement: Statement, finding: Finding, referee: Referee) -> Failure:
        def fails(smaller: Statement) -> bool:
            try:
                if finding.kind not in _OF_ENGINES:  # a look at the tree is cheaper than a question
                    own = check_precision(smaller, extracted(smaller))
                    if own is None or own.sign != finding.sign:
                        return False
                found = self._finding(smaller, referee)
            except (RejectedError, *_MALFORMED):
                return False
            return found is not None and found.sign == finding.sign

        small = shrink(statement, fails)
        found = self._finding(small, referee) or finding
        return Failure(number, found, as_case(small, f"query {number} of seed {self.seed}: {found.details[0]}"))
