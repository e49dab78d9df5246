"""Many random queries, checked one after the other; what fails is shrunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter

from tests.soundness.check import Finding, check_experiment, check_precision, extracted
from tests.soundness.experiment import Laboratory, RejectedError
from tests.soundness.generator import random_statement
from tests.soundness.laboratories import random_laboratory
from tests.soundness.shrink import as_case, shrink
from tests.soundness.tree import Statement

__all__ = ["QUERIES_PER_LABORATORY", "Campaign", "Failure"]

QUERIES_PER_LABORATORY = 250
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
    """Checks the queries of one seed; `ways` is how often each input column is changed."""

    seed: int
    ways: int | None = None
    queries: int = 0
    experiments: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0
    _laboratory: Laboratory | None = None
    _content: int = -1

    def run(self, numbers: Iterable[int]) -> None:
        """Check the queries of these numbers."""
        begun = perf_counter()
        for number in numbers:
            laboratory = self._laboratory_of(number)
            statement = random_statement(f"{self.seed}/{number}")
            self.queries += 1
            try:
                finding = self._finding(statement, laboratory, self.ways)
            except RejectedError as error:
                self.rejected[str(error)[:70]] += 1
                continue
            if finding is not None:
                self.failures.append(self._shrunk(number, statement, finding, laboratory))
        self.seconds += perf_counter() - begun

    def add(self, part: Campaign) -> None:
        """Count what another campaign found as well."""
        self.queries += part.queries
        self.experiments += part.experiments
        self.rejected.update(part.rejected)
        self.failures.extend(part.failures)

    def close(self) -> None:
        """Let the tables go."""
        if self._laboratory is not None:
            self._laboratory.close()
            self._laboratory = None

    def _laboratory_of(self, number: int) -> Laboratory:
        content = number // QUERIES_PER_LABORATORY
        if self._laboratory is None or content != self._content:
            self.close()
            self._laboratory, self._content = random_laboratory(f"{self.seed}/{content}"), content
        return self._laboratory

    def _finding(self, statement: Statement, laboratory: Laboratory, ways: int | None = None) -> Finding | None:
        """Return what is wrong with a statement that DuckDB runs.

        Raises:
            RejectedError: DuckDB does not run it.
        """
        lineage = extracted(statement)
        before = laboratory.runs
        shown = check_experiment(statement, lineage, laboratory, ways)
        self.experiments += laboratory.runs - before
        return check_precision(statement, lineage) or shown

    def _shrunk(self, number: int, statement: Statement, finding: Finding, laboratory: Laboratory) -> Failure:
        def fails(smaller: Statement) -> bool:
            try:
                found = self._finding(smaller, laboratory)
            except (RejectedError, *_MALFORMED):
                return False
            return found is not None and found.sign == finding.sign

        small = shrink(statement, fails)
        found = self._finding(small, laboratory) or finding
        return Failure(number, found, as_case(small, f"query {number} of seed {self.seed}: {found.details[0]}"))
