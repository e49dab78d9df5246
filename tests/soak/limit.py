"""Raise the rate until answers are late or fail, and say what gives first."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from tests.soak.load import KINDS
from tests.soak.minutes import Minute

__all__ = ["Limit", "Step", "find_limit", "why"]

LATE_MS = 1_000.0
"""Of 95 % of the answers."""
FAILED = 0.01
"""Share of the requests."""
_GROWTH = 1.5
_HALVINGS = 2


@dataclass(frozen=True)
class Step:
    """A rate that was tried, and what it came to."""

    rate: float
    minute: Minute
    broken: str


@dataclass(frozen=True)
class Limit:
    """The highest rate that held, the lowest that did not, and all steps in order."""

    held: float
    broken: float
    steps: tuple[Step, ...]

    @property
    def first(self) -> Step:
        """The step at the lowest rate that did not hold."""
        return next(one for one in self.steps if one.rate == self.broken)


def find_limit(measure: Callable[[float], Minute], rate: float, requests: Callable[[float], int]) -> Limit:
    """Return the limit; `measure` sends requests at a rate, `requests` says how many that are."""
    steps: list[Step] = []

    def holds(tried: float) -> bool:
        minute = measure(tried)
        broken = why(minute, requests(tried))
        steps.append(Step(tried, minute, broken))
        return not broken

    low, high = 0.0, rate
    while holds(high):
        low, high = high, round(high * _GROWTH, 1)
    for _ in range(_HALVINGS):
        middle = round((low + high) / 2, 1)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return Limit(low, high, tuple(steps))


def why(minute: Minute, requests: int) -> str:
    """Return what gave way; empty if nothing did."""
    found = []
    if minute.errors > FAILED * requests:
        found.append(f"{minute.errors} of {requests} requests fail ({minute.error_kinds})")
    if minute.all_p95 > LATE_MS:
        slowest = max(KINDS, key=lambda kind: float(getattr(minute, f"{kind}_p95")))
        late = getattr(minute, f"{slowest}_p95")
        found.append(f"5 % of the answers take more than {minute.all_p95:,.0f} ms ({slowest}: {late:,.0f} ms)")
    if not found:
        return ""
    busy = f"the service uses {minute.processors:.2f} processors of one it can use"
    machine = f"the machine's load is {minute.machine_load} on {os.cpu_count()} processors"
    return f"{'; '.join(found)}; {busy}, {machine}"
