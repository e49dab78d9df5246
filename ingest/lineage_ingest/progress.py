"""A progress bar on the standard error stream, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from lineage.cli.listing import console

__all__ = ["progress_bar"]


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function that is told a stage's name, how much of it is done, and of how much (None: nobody knows).

    The stages stay on the screen until the end, each with its own seconds.
    """
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    terminal = console(stderr=True)
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        stages: dict[str, TaskID] = {}
        running: list[str] = []

        def told(stage: str, done: int, total: int | None) -> None:
            if running and running[-1] != stage:
                progress.stop_task(stages[running.pop()])
            if stage not in stages:
                stages[stage] = progress.add_task(stage, total=total)
            if not running:
                running.append(stage)
                progress.start_task(stages[stage])
            progress.update(stages[stage], completed=done, total=total)

        yield told
