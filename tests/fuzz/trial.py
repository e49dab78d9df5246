"""One input of a target, and the target: where inputs come from, and what is wrong with an answer."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.mutations import MARKER

__all__ = ["Attempt", "Input", "Target", "failure_of", "problems"]


@dataclass(frozen=True)
class Input:
    """What is read: bytes, and what they are read as (a dialect, a source, a tool) under which file name."""

    kind: str
    name: str
    data: bytes
    planted: bool = False
    """The marker stands in a literal: no message may have it."""


Attempt = Callable[[Input], str | None]


@dataclass(frozen=True)
class Target:
    """A reader of the product."""

    draw: Callable[[random.Random], Input]
    opened: Callable[[Path], AbstractContextManager[Attempt]]
    """Given a scratch folder, what reads an input and says what is wrong, or None."""
    refusals: tuple[type[Exception], ...] = field(default=())
    """The documented errors."""


def failure_of(target: Target, attempt: Attempt, tried: Input) -> str | None:
    """Return what is wrong with the answer to an input: one line, the same for the same bug."""
    try:
        return attempt(tried)
    except target.refusals as error:
        return f"the marker is in {type(error).__name__}" if tried.planted and MARKER in str(error) else None
    except Exception as error:  # noqa: BLE001  this is what is looked for
        frames = traceback.extract_tb(error.__traceback__)
        frame = next((one for one in reversed(frames) if "/tests/" not in one.filename), frames[-1])
        return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno} in {frame.name}"


def problems(diagnostics: Iterable[Any], planted: bool) -> str | None:
    """Return what is wrong with diagnostics, if anything is."""
    for one in diagnostics:
        if str(one.code) == "INTERNAL_ERROR":
            return f"INTERNAL_ERROR: {one.message}"
        if planted and MARKER in f"{one.message} {one.hint}":
            return f"the marker is in a message: {one.code}"
    return None


def always(attempt: Attempt) -> Callable[[Path], AbstractContextManager[Attempt]]:
    """Return what opens an attempt that needs nothing."""
    return lambda _folder: nullcontext(attempt)
