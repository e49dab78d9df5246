"""Makes a failing warehouse small, while it fails in the same way: statements, tables, then parts of statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic
from typing import Any, TypeVar

from tests.soundness.shrink import smaller
from tests.soundness.tree import Constant
from tests.soundness.warehouse.histories import ingested_then
from tests.soundness.warehouse.queries import walk
from tests.soundness.warehouse.tree import (
    CreateAs,
    CreateTable,
    Delete,
    Insert,
    Merge,
    Run,
    State,
    Step,
    Update,
    Warehouse,
)

__all__ = ["shrink"]

Fails = Callable[[Warehouse], bool]
Any_ = TypeVar("Any_")


def shrink(warehouse: Warehouse, fails: Fails, seconds: float = 120.0) -> Warehouse:
    """Return a smaller warehouse for which `fails` still holds; what is reached when the time is over."""
    until = monotonic() + seconds
    for steps in (_fewer_ingests, _fewer_runs, _fewer_sessions, _smaller_runs, _fewer_runs, _fewer_sessions):
        found = True
        while found and monotonic() < until:
            found = False
            for tried in steps(warehouse):
                if monotonic() > until:
                    break
                candidate = _ingesting(tried)
                if candidate is not None and fails(candidate):
                    warehouse, found = candidate, True
                    break
    return warehouse


def _ingesting(warehouse: Warehouse) -> Warehouse | None:
    """Return a warehouse of files with all ingested that changes from day to day; None if a project has no file."""
    states: list[State] = []
    for state in warehouse.states:
        before = states[-1].files if states else ()
        if {file.project for file in before} - {file.project for file in state.files} or not state.files:
            return None
        alone = bool(states) and "/" in state.ingested[0]
        states.append(replace(state, ingested=ingested_then(before, state.files, alone=alone)))
    return replace(warehouse, states=tuple(states))


def _fewer_ingests(warehouse: Warehouse) -> Iterator[Warehouse]:
    parts, states = warehouse.parts, warehouse.states
    if len(parts) > 1:
        yield replace(warehouse, parts=parts[:-1])
        merged: list[Run] = []
        for number, part in enumerate(parts):
            merged += [replace(run, session=1000 * number + run.session) for run in part.runs]
        yield replace(warehouse, parts=(replace(parts[0], runs=tuple(merged)),))
    if len(states) > 1:
        yield replace(warehouse, states=states[:-1])
        yield replace(warehouse, states=states[1:])
        for position in range(1, len(states) - 1):
            yield replace(warehouse, states=(*states[:position], *states[position + 1 :]))
    for position, state in enumerate(states):
        for number in range(len(state.files)):
            yield _with_state(warehouse, position, state, number, None)
    if warehouse.known != "input":
        yield replace(warehouse, known="input")


def _with_state(
    warehouse: Warehouse, position: int, state: State, number: int, runs: tuple[Run, ...] | None
) -> Warehouse:
    """Return a warehouse in which a file has other runs, or is not there, on each day on which it was as it was."""
    file = state.files[number]
    states = []
    for other, each in enumerate(warehouse.states):
        files = list(each.files)
        if other >= position and file in files:
            place = files.index(file)
            files[place : place + 1] = [] if runs is None else [replace(file, runs=runs)]
        states.append(replace(each, files=tuple(files)))
    return replace(warehouse, states=tuple(states))


def _run_lists(warehouse: Warehouse) -> Iterator[tuple[tuple[Run, ...], Callable[[tuple[Run, ...]], Warehouse]]]:
    """Yield each list of statements, with what puts another in its place."""
    for position, part in enumerate(warehouse.parts):

        def put(runs: tuple[Run, ...], position: int = position) -> Warehouse:
            parts = list(warehouse.parts)
            parts[position] = replace(parts[position], runs=runs)
            return replace(warehouse, parts=tuple(parts))

        yield part.runs, put
    for position, state in enumerate(warehouse.states):
        for number, file in enumerate(state.files):
            if position and file in warehouse.states[position - 1].files:
                continue

            def put_file(runs: tuple[Run, ...], p: int = position, s: State = state, n: int = number) -> Warehouse:
                return _with_state(warehouse, p, s, n, runs)

            yield file.runs, put_file


def _fewer_runs(warehouse: Warehouse) -> Iterator[Warehouse]:
    for runs, put in _run_lists(warehouse):
        size = len(runs) // 2
        while size:
            for start in range(len(runs) - size, -1, -size):
                yield put((*runs[:start], *runs[start + size :]))
            size //= 2


def _fewer_sessions(warehouse: Warehouse) -> Iterator[Warehouse]:
    for runs, put in _run_lists(warehouse):
        sessions = sorted({run.session for run in runs})
        for session in sessions[1:]:
            yield put(tuple(replace(run, session=sessions[0]) if run.session == session else run for run in runs))


def _smaller_runs(warehouse: Warehouse) -> Iterator[Warehouse]:
    for runs, put in _run_lists(warehouse):
        for position, run in enumerate(runs):
            for step in _smaller_step(run.step):
                yield put((*runs[:position], replace(run, step=step), *runs[position + 1 :]))


def _smaller_step(step: Step) -> Iterator[Step]:
    match step:
        case CreateTable(columns=columns):
            if len(columns) > 1:
                yield from (replace(step, columns=rest) for rest in _without_one(columns))
            return
        case CreateAs(columns=(_, *_)):
            yield replace(step, columns=())
        case Insert(query=query, columns=columns) if len(columns) > 1:
            for position, rest in enumerate(_without_one(columns)):
                narrow = _narrowed(query, position)
                if narrow is not None:
                    yield replace(step, columns=rest, query=narrow)
        case Update(sets=sets):
            if step.source is not None or step.where is not None:
                yield replace(step, source=None, where=None)
                yield replace(step, where=None)
            if len(sets) > 1:
                yield from (replace(step, sets=rest) for rest in _without_one(sets))
        case Delete() if step.where is not None:
            yield replace(step, where=Constant("true", "bool"))
        case Merge(branches=branches):
            if len(branches) > 1:
                yield from (replace(step, branches=rest) for rest in _without_one(branches))
            for position, branch in enumerate(branches):
                if branch.condition is not None:
                    without = replace(branch, condition=None)
                    yield replace(step, branches=(*branches[:position], without, *branches[position + 1 :]))
                if len(branch.sets) > 1:
                    for rest in _without_one(branch.sets):
                        fewer = replace(branch, sets=rest)
                        yield replace(step, branches=(*branches[:position], fewer, *branches[position + 1 :]))
    for candidate in smaller(step):
        yield _with_reads(candidate)


def _with_reads(step: Any_) -> Any_:
    """Return a step that names only tables which it still reads."""
    reads: Any = getattr(step, "reads", None)
    if not reads:
        return step
    used = {node.cte for node in walk(replace(step, reads=())) if hasattr(node, "cte")}  # type: ignore[type-var]
    return replace(step, reads=tuple(read for read in reads if read.uid in used))  # type: ignore[type-var]


def _narrowed(query: Any, position: int) -> Any:
    items = getattr(query, "items", None)
    if items is None or len(items) < 2:
        return None
    return replace(query, items=(*items[:position], *items[position + 1 :]))


def _without_one(elements: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for position in range(len(elements)):
        yield (*elements[:position], *elements[position + 1 :])
