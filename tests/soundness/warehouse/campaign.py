"""Many random warehouses, checked one after the other; what fails is shrunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter

from tests.soundness.experiment import RejectedError
from tests.soundness.warehouse.check import Checker, Finding, Settings
from tests.soundness.warehouse.histories import random_warehouse
from tests.soundness.warehouse.render import script_of
from tests.soundness.warehouse.shrink import shrink
from tests.soundness.warehouse.tree import Warehouse
from tests.soundness.warehouse.world import InvalidError

__all__ = ["Campaign", "Failure", "Plan"]

_MALFORMED = (InvalidError, RejectedError, KeyError, ValueError, AssertionError, IndexError, RecursionError, TypeError)
"""What a warehouse raises that a step of shrinking broke."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which warehouses, and what is tried with them."""

    seed: int
    way: str = ""
    without: frozenset[str] = frozenset()
    settings: Settings = field(default_factory=Settings)
    shrink_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A warehouse that failed, and the smallest found that fails in the same way, as a script."""

    number: int
    plan: Plan
    finding: Finding
    script: str

    def __str__(self) -> str:
        details = "\n".join(f"#   {detail}" for detail in self.finding.details[:20])
        where = f" after {self.finding.after}" if self.finding.after else ""
        title = f"# warehouse {self.number} of seed {self.plan.seed}: {self.finding.kind}{where}"
        return f"{title}\n{details}\n{self.script}"


@dataclass(slots=True)
class Campaign:
    """Checks the warehouses of a plan."""

    plan: Plan
    warehouses: int = 0
    statements: Counter[str] = field(default_factory=Counter)
    experiments: int = 0
    asked: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    def run(self, numbers: Iterable[int]) -> None:
        """Check the warehouses of these numbers."""
        began = perf_counter()
        checker = Checker(str(self.plan.seed), self.plan.settings)
        for number in numbers:
            warehouse = random_warehouse(
                f"{self.plan.seed}/{number}", checker.laboratory, self.plan.without, self.plan.way
            )
            self.warehouses += 1
            self.statements.update(run.kind for part in warehouse.parts for run in part.runs)
            if warehouse.states:
                self.statements.update(run.kind for file in warehouse.states[-1].files for run in file.runs)
                self.statements.update(state.change for state in warehouse.states[1:])
            try:
                finding = checker.finding(warehouse)
            except _MALFORMED as error:
                self.rejected[f"{type(error).__name__}: {error}"[:90]] += 1
                continue
            if finding is not None:
                self.failures.append(self._shrunk(number, warehouse, finding, checker))
        self.experiments += checker.experiments
        self.asked += checker.asked
        checker.close()
        self.seconds += perf_counter() - began

    def add(self, part: Campaign) -> None:
        """Count what another campaign found as well."""
        self.warehouses += part.warehouses
        self.statements.update(part.statements)
        self.experiments += part.experiments
        self.asked += part.asked
        self.rejected.update(part.rejected)
        self.failures.extend(part.failures)

    def _shrunk(self, number: int, warehouse: Warehouse, finding: Finding, checker: Checker) -> Failure:
        whole = checker.settings
        again = finding.kind == "again" or "again" in finding.after
        quick = replace(whole, experiments=finding.kind == "model", again=again)

        def fails(smaller: Warehouse) -> bool:
            try:
                found = checker.finding(smaller)
            except _MALFORMED:
                return False
            return found is not None and found.sign == finding.sign

        if self.plan.shrink_seconds:
            checker.settings = quick
            warehouse = shrink(warehouse, fails, self.plan.shrink_seconds)
            checker.settings = whole
        with suppress(*_MALFORMED):
            finding = checker.finding(warehouse) or finding
        return Failure(number, self.plan, finding, script_of(warehouse))
