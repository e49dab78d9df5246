"""Random histories: sessions of a query log, or projects of SQL files and what is done to them day by day."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import replace

from tests.soundness.grammar import DUCKDB, Grammar
from tests.soundness.warehouse.events import SILENT
from tests.soundness.warehouse.generator import STRUCTURAL, StatementMaker, made_as, make_runs
from tests.soundness.warehouse.laboratory import Laboratory
from tests.soundness.warehouse.queries import Queries
from tests.soundness.warehouse.tree import CreateAs, CreateTable, File, Part, Run, State, Warehouse
from tests.soundness.warehouse.world import InvalidError, World

__all__ = ["CHANGES", "ingested_then", "random_warehouse"]

CHANGES = ("edit", "append", "delete_statement", "delete_file", "move_file", "new_file", "second_project", "one_file")
"""What may be done to files; `one_file` is that only the changed file is ingested."""


def random_warehouse(
    seed: str, laboratory: Laboratory, without: Collection[str] = (), way: str = "", grammar: Grammar = DUCKDB
) -> Warehouse:
    """Return the warehouse that a seed stands for; the laboratory runs it as it is made."""
    rng = random.Random(seed)
    chosen = way or rng.choice(("files", "files", "log", "log", "events"))
    left_out = frozenset(without) | (SILENT if chosen == "events" else frozenset())
    history = _History(rng, laboratory, left_out, grammar)
    known = "catalog" if "catalog" not in without and rng.random() < 0.2 else "input"
    if known == "catalog":
        history.maker.fixed_bases = True
    laboratory.begin()
    history.bases(rng.randint(2, 3))
    if chosen == "files":
        return Warehouse("files", "catalog" if known == "catalog" else "input", states=history.states())
    if chosen == "events":
        facets_too = "column_facet" not in without and rng.random() < 0.5
        return Warehouse("events", "input", parts=history.parts(), facets_too=facets_too)
    return Warehouse("log", "catalog" if known == "catalog" else "input", parts=history.parts())


def ingested_then(before: Sequence[File], files: Sequence[File], *, alone: bool) -> tuple[str, ...]:
    """Return what is to be ingested when files have changed: their projects, or the one file that has, if it can be."""
    old = {(file.project, file.path): file for file in before}
    changed = [file for file in files if old.get((file.project, file.path)) != file]
    gone = old.keys() - {(file.project, file.path) for file in files}
    # What is renamed or dropped elsewhere shapes what a file says.
    plain = not any(run.kind in STRUCTURAL for file in files for run in file.runs)
    if alone and len(changed) == 1 and not gone and plain:
        return (f"{changed[0].project}/{changed[0].path}",)
    projects = {file.project for file in changed} | {project for project, _ in gone}
    return tuple(sorted(projects)) or tuple(sorted({file.project for file in files}))


class _History:
    """Makes a history, statement by statement, in a world and on DuckDB."""

    def __init__(self, rng: random.Random, laboratory: Laboratory, without: frozenset[str], grammar: Grammar) -> None:
        self._rng = rng
        self._laboratory = laboratory
        self._without = without
        self.maker = StatementMaker(rng, Queries(rng, grammar), without)
        self._world = World()
        self._first: list[Run] = []

    def bases(self, count: int) -> None:
        """Begin with some base tables."""
        while len(self._first) < count:
            self._first += self._made("create", 1)

    def _made(self, kind: str, session: int) -> list[Run]:
        return made_as(self.maker, kind, self._world, session, self._laboratory.attempt)

    def _runs(self, session: int, wanted: int) -> list[Run]:
        return list(make_runs(self.maker, self._world, session, wanted, self._laboratory.attempt))

    # Logs

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of a log, each of sessions that run at the same time."""
        rng = self._rng
        count = 1 if "parts" in self._without else rng.choice((1, 1, 1, 2))
        parts: list[Part] = []
        for number in range(count):
            runs = self._first if not number else []
            sessions = [1000 * number + 1 + i for i in range(rng.choice((1, 1, 2, 3)))]
            for _ in range(rng.randint(7, 16) if not number else rng.randint(3, 7)):
                session = rng.choice(sessions)
                for _ in range(6):
                    made = self._made(rng.choice(self.maker.kinds()), session)
                    if made:
                        runs += made
                        break
            parts.append(Part(tuple(replace(run, session=run.session - 1000 * number) for run in runs)))
        return tuple(parts)

    # Files

    def states(self) -> tuple[State, ...]:
        """Return the states of projects, from one day to the next."""
        rng = self._rng
        files = [File("p1", "010_t.sql", tuple(self._first))]
        for number in range(2, 2 + rng.choice((0, 1, 1, 2, 3))):
            path = f"0{number}0_{rng.choice(('t', 'u', 'm'))}.sql"
            files += [self._file("p1", path, number, 5)]
        if len(files) == 1:
            files[0] = replace(files[0], runs=(*files[0].runs, *self._runs(1, rng.randint(6, 12))))
        states = [State(tuple(files), ("p1",), "new")]
        for _ in range(rng.choice((0, 1, 1, 2))):
            changed = self._changed(states[-1])
            if changed is not None and changed.files != states[-1].files:
                states.append(changed)
        return tuple(states)

    def _file(self, project: str, path: str, session: int, most: int) -> File:
        return File(project, path, tuple(self._runs(session, self._rng.randint(2, most))))

    def _changed(self, state: State) -> State | None:
        allowed = [change for change in CHANGES if change not in self._without and change != "one_file"]
        change = self._rng.choice(allowed) if allowed else "append"
        files = list(state.files)
        rng = self._rng
        match change:
            case "edit":
                made = self._edited(files)
            case "append":
                made = self._appended(files)
            case "delete_statement":
                position = rng.randrange(len(files))
                runs = list(files[position].runs)
                choices = [i for i, run in enumerate(runs) if not isinstance(run.step, CreateTable)]
                if not choices:
                    return None
                runs.pop(rng.choice(choices))
                files[position] = replace(files[position], runs=tuple(runs))
                made = self._replayed(files)
            case "delete_file":
                others = [i for i, file in enumerate(files) if i and file.project == files[-1].project]
                if not others:
                    return None
                files.pop(rng.choice(others))
                made = self._replayed(files)
            case "move_file":
                position = rng.randrange(len(files))
                moved = files[position].path.replace(".sql", "_moved.sql")
                files[position] = replace(files[position], path=moved)
                made = self._replayed(files)
            case "new_file":
                made = self._added(files, files[-1].project, f"{len(files) + 5:02}0_n.sql")
            case _:
                if len({file.project for file in files}) > 1:
                    return None
                made = self._added(files, "p2", rng.choice([file.path for file in files]))
        if made is None:
            return None
        alone = "one_file" not in self._without and rng.random() < 0.5
        return State(tuple(made), ingested_then(state.files, made, alone=alone), change)

    def _edited(self, files: list[File]) -> list[File] | None:
        """Define a table or view anew where it is defined; what does not fit any more is left out."""
        places = [
            (position, number)
            for position, file in enumerate(files)
            for number, run in enumerate(file.runs)
            if isinstance(run.step, CreateAs) and run.kind in ("view", "table", "temp")
        ]
        if not places:
            return None
        position, number = self._rng.choice(places)
        before = [*files[:position], replace(files[position], runs=files[position].runs[:number])]
        if self._replayed(before) != before:
            return None
        old = files[position].runs[number]
        assert isinstance(old.step, CreateAs)
        step = self.maker.definition(self._world, position + 1, old.step)
        if step is None:
            return None
        runs = list(files[position].runs)
        runs[number] = replace(old, step=step)
        files[position] = replace(files[position], runs=tuple(runs))
        return self._replayed(files)

    def _appended(self, files: list[File]) -> list[File] | None:
        if self._replayed(files) != files:
            return None
        last = files[-1]
        with_more = (*last.runs, *self._runs_of(last.project, len(files), self._rng.randint(1, 3)))
        return [*files[:-1], replace(last, runs=with_more)]

    def _added(self, files: list[File], project: str, path: str) -> list[File] | None:
        if self._replayed(files) != files:
            return None
        runs = self._runs_of(project, len(files) + 1, self._rng.randint(2, 4))
        return [*files, File(project, path, tuple(runs))] if runs else None

    def _runs_of(self, project: str, session: int, wanted: int) -> list[Run]:
        """Return statements; the second project does not change the shape of the first one's tables."""
        self.maker.without = self._without | (STRUCTURAL if project != "p1" else set())
        try:
            return self._runs(session, wanted)
        finally:
            self.maker.without = self._without

    def _replayed(self, files: list[File]) -> list[File]:
        """Build all anew; return the files without the statements that do not fit any more."""
        self._world = World()
        self._laboratory.begin()
        files.sort(key=lambda file: (file.project, file.path))
        found = []
        for session, file in enumerate(files, 1):
            kept = []
            for run in file.runs:
                here = replace(run, session=session)
                after = self._world.copy()
                try:
                    after.apply(session, here.step)
                except (InvalidError, RecursionError):
                    continue
                if self._laboratory.attempt(here):
                    self._world.take(after)
                    kept.append(run)
            found.append(replace(file, runs=tuple(kept)))
        return found
