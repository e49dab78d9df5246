"""How much a statement may ask for before it is traced at table level only: its nesting, size, time and result."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from lineage.model.diagnostics import DiagnosticCode

__all__ = ["Budget", "BudgetError", "BudgetExceededError"]

_MAX_NESTING = 1_000
"""The parser recurses on the C stack, and takes the process with it at some thousand levels."""


class BudgetError(ValueError):
    """A budget that is no budget; the message says what was expected."""


class BudgetExceededError(Exception):
    """A statement asks for more than its budget."""

    def __init__(self, code: DiagnosticCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one statement. A statement beyond one of them has a diagnostic and its lineage between tables.

    >>> Budget(seconds=5).nesting
    200
    """

    nesting: int = 200
    """Levels of brackets, CASEs, joins and operators. Hand-written SQL stays below 30, generated below 100."""
    characters: int = 4_000_000
    """Of a statement's text: its syntax tree takes some hundred times as much memory."""
    seconds: float = 60.0
    """For resolving it, looked at for each query block. Parsing is not interrupted; its time is bounded by the size."""
    edges: int = 2_000_000
    """Of the result."""

    def __post_init__(self) -> None:
        for name in ("nesting", "characters", "seconds", "edges"):
            if not getattr(self, name) > 0:
                raise BudgetError(f"{name} must be more than 0, not {getattr(self, name)}")
        if self.nesting > _MAX_NESTING:
            raise BudgetError(f"nesting can be at most {_MAX_NESTING:,}, not {self.nesting:,}: the parser recurses")

    @classmethod
    def parse(cls, settings: Iterable[str]) -> Budget:
        """Return the default budget with settings such as `seconds=5` in place.

        >>> Budget.parse(["seconds=5", "edges=1000"]).edges
        1000

        Raises:
            BudgetError: a setting is not `name=number`, or has no such name.
        """
        names = [field.name for field in fields(cls)]
        budget = cls()
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or name not in names:
                raise BudgetError(f"expected one of {', '.join(names)} and a number, as in seconds=5, not {setting!r}")
            try:
                number: Any = float(value) if name == "seconds" else int(value)
            except ValueError as error:
                raise BudgetError(f"{name}={value}: not a number") from error
            budget = replace(budget, **{name: number})
        return budget

    def deadline(self) -> float:
        """Return when a statement's time is over that begins now, on the clock of `time.monotonic`."""
        return time.monotonic() + self.seconds

    def out_of_time(self) -> BudgetExceededError:
        """Return the error of a statement whose time is over."""
        return BudgetExceededError(DiagnosticCode.TIME_EXCEEDED, f"the statement took more than {self.seconds:g} s")

    def check_edges(self, count: int) -> None:
        """Raise where a result has too many edges.

        Raises:
            BudgetExceededError: it has.
        """
        if count > self.edges:
            message = f"the statement states {count:,} edges, more than {self.edges:,}"
            raise BudgetExceededError(DiagnosticCode.RESULT_TOO_LARGE, message)
