"""Limits on a statement's nesting, size, time and result. Beyond them it is traced at table level only."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import DiagnosticCode

__all__ = ["Budget", "BudgetError", "BudgetExceededError"]

_MAX_NESTING = 1_000
"""The parser recurses on the C stack, and crashes the process at a few thousand levels."""


class BudgetError(ValueError):
    """An invalid budget; the message states what was expected."""


class BudgetExceededError(Exception):
    """A statement exceeds its budget."""

    def __init__(self, code: DiagnosticCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@frozen
class Budget:
    """The limits of one statement. A statement that exceeds one gets a diagnostic and table-level lineage.

    >>> Budget(seconds=5).nesting
    200
    """

    nesting: int = 200
    """Maximum levels of brackets, CASEs, joins and operators. Hand-written SQL stays below 30, generated below 100."""
    characters: int = 4_000_000
    """Maximum length of a statement in characters. Its syntax tree takes about a hundred times as much memory."""
    seconds: float = 60.0
    """Maximum time to resolve a statement, checked at each query block. Parsing is bounded by the size instead."""
    edges: int = 2_000_000
    """Maximum number of edges of a statement."""

    def __post_init__(self) -> None:
        for name in ("nesting", "characters", "seconds", "edges"):
            if not getattr(self, name) > 0:
                raise BudgetError(f"{name} must be more than 0, not {getattr(self, name)}")
        if self.nesting > _MAX_NESTING:
            raise BudgetError(f"nesting can be at most {_MAX_NESTING:,}, not {self.nesting:,}: the parser is recursive")

    @classmethod
    def parse(cls, settings: Iterable[str]) -> Budget:
        """Return the default budget changed by settings such as `seconds=5`.

        >>> Budget.parse(["seconds=5", "edges=1000"]).edges
        1000

        Raises:
            BudgetError: a setting is not `name=number`, or its name is unknown.
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
        """Return the deadline of a statement that begins now, on the clock of `time.monotonic`."""
        return time.monotonic() + self.seconds

    def out_of_time(self) -> BudgetExceededError:
        """Return the error for a statement that exceeds its time."""
        return BudgetExceededError(DiagnosticCode.TIME_EXCEEDED, f"the statement took more than {self.seconds:g} s")

    def check_edges(self, count: int) -> None:
        """Check the number of edges of a result.

        Raises:
            BudgetExceededError: there are more edges than allowed.
        """
        if count > self.edges:
            message = f"the statement has {count:,} edges; the limit is {self.edges:,}"
            raise BudgetExceededError(DiagnosticCode.RESULT_TOO_LARGE, message)
