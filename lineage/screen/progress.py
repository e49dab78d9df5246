"""Progress on the standard error stream: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lineage.screen.listing import console, note

__all__ = ["progress_bar"]

_EVERY = 5.0
"""Seconds between two lines."""


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function to call with a stage's name, the amount done, and the total (None if unknown).

    On a terminal, all stages are shown until the end, each with its elapsed time. Elsewhere (a pipe, a file), a line is
    printed at most every five seconds, so that a short ingest prints nothing.
    """
    terminal = console(stderr=True)
    if not terminal.is_terminal:
        yield _Lines().show
        return
    from rich.progress import (  # noqa: PLC0415  loading it takes as long as a short ingest
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=terminal, transient=True) as progress:
        stages: dict[str, TaskID] = {}
        running: list[str] = []

        def show(stage: str, done: int, total: int | None) -> None:
            if running and running[-1] != stage:
                progress.stop_task(stages[running.pop()])
            if stage not in stages:
                stages[stage] = progress.add_task(stage, total=total)
            if not running:
                running.append(stage)
                progress.start_task(stages[stage])
            progress.update(stages[stage], completed=done, total=total)

        yield show


class _Lines:
    """Prints the progress of a stage periodically."""

    def __init__(self) -> None:
        self._began = self._printed = time.monotonic()

    def show(self, stage: str, done: int, total: int | None) -> None:
        """Print the stage if the last line is old enough."""
        now = time.monotonic()
        if now - self._printed < _EVERY:
            return
        self._printed = now
        of = "" if total is None else f" of {total:,}"
        far = f" {done:,}{of}" if done or total else ""
        note(f"{stage}{far} ({now - self._began:.0f} s)")
