"""What workers do that resolve texts of a script, each with a script of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.text.name_lists import name_list
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.resolutions import TextResolution, TextSchemas
from lineage.sql.script.script import Script
from lineage.worker_pool import WorkerPool

__all__ = ["ScriptInput", "Task", "script_workers"]


@frozen
class ScriptInput:
    """What a script is made of: the same in every process."""

    texts: Mapping[str, str]
    options: ExtractionOptions
    catalog: Catalog | None


class Task(NamedTuple):
    """Texts to resolve, by index, in this order; and what is known of tables that they may read, by text."""

    indexes: tuple[int, ...]
    known: dict[int, TextSchemas]


def script_workers(given: ScriptInput, jobs: int) -> WorkerPool[Task, dict[int, TextResolution]]:
    """Return workers that resolve texts of a script; their results are by text."""
    names = tuple(given.texts)

    def describe(task: Task) -> str:
        return f"resolved {name_list([names[index] for index in task.indexes], 3)}"

    return WorkerPool(partial(_resolver, given), jobs, describe)


def _resolver(given: ScriptInput) -> Callable[[Task], dict[int, TextResolution]]:
    script = Script(given.texts, given.options, given.catalog, recording=True)

    def resolve(task: Task) -> dict[int, TextResolution]:
        for index, schemas in task.known.items():
            script.learn(index, schemas)
        return {index: script.record(index) for index in task.indexes}

    return resolve
