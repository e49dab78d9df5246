"""Random histories of two projects of SQL files in one store: what is edited, ingested, logged and pruned in turn."""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from lineage.sql.budget import Budget
from lineage.store import GraphStore, open_store
from lineage.store.page_requests import JobFilter
from lineage_ingest import IngestSummary, LogOptions, SqlOptions, ingest_log, ingest_sql
from lineage_ingest.sql_files import ingest_sql_files
from lineage_ingest.sql_files.saved.saved_batch import BatchStateFiles
from tests.sql.random_folders import Folder, edited, random_folder, random_statement

__all__ = ["AGAIN", "Ingested", "Step", "Way", "random_history"]

AGAIN = "again"
"""The kind of a step that ingests what the step before it did, unchanged."""

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_PROJECTS = ("one", "two")
_CHANGING = frozenset(("drop", "drop view", "rename", "rename column"))
"""Kinds of statements with which all is stored each time: most histories have none."""


class Way(StrEnum):
    """How a store is ingested into: with what earlier ingests saved, or anew."""

    SAVED = "saved"
    ANEW = "anew"


@dataclass(frozen=True)
class Ingested:
    """What an ingest of files said of itself, and how much it spared."""

    figures: dict[str, Any]
    diagnostics: object
    spared: Counter[str] = field(default_factory=Counter)
    changes: bool = False
    """Whether files drop or rename tables or columns: to state that again says something new."""


class Step(ABC):
    """A step of a history. `kind` names it; it is run once for each store."""

    kind: str

    @abstractmethod
    def run(self, store: GraphStore | Path, way: Way) -> Ingested | None:
        """Run the step in one of the stores, which is given by its path, or stays open for the whole history."""


@dataclass(frozen=True)
class _IngestFiles(Step):
    kind: str
    folder: Folder
    root: Path
    paths: tuple[Path, ...]
    at: datetime

    def __str__(self) -> str:
        texts = "".join(f"\n    {name}: {text!r}" for name, text in self.folder.texts.items())
        names = ", ".join(path.name for path in self.paths)
        return (
            f"{self.kind}: {names} of {self.root.name} at {self.at:%d %H:%M} ({self.folder.dialect}; "
            f"{self.folder.last}; {self.folder.settings}; {self.folder.tables}; {self.folder.budget}){texts}"
        )

    def run(self, store: GraphStore | Path, way: Way) -> Ingested:
        summary = self._by_path(store, way) if isinstance(store, Path) else self._in_open_store(store, way)
        figures = summary.to_dict()
        del figures["seconds"]
        files = int(figures["files"])
        resolved, stored = (files if one is None else one for one in (summary.resolved, summary.stored))
        alone = len({job.file_key for job in summary.batch.jobs}) < len(summary.batch.complete_sources)
        spared = Counter(
            {"files": files, "files resolved": resolved, "files stored": stored, "edits alone": int(alone)}
        )
        return Ingested(
            figures, (summary.diagnostics, summary.notices, summary.gone), spared, bool(summary.batch.changes)
        )

    def _in_open_store(self, store: GraphStore, way: Way) -> IngestSummary:
        return ingest_sql_files(
            self.paths,
            store,
            self.folder.options(),
            self.folder.catalog(),
            observed_at=self.at,
            project=self.root.name,
            project_root=self.root,
            retire_most=True,
            cache=way is Way.SAVED,
            stated=BatchStateFiles(str(self.root.parent)) if way is Way.SAVED else None,
        )

    def _by_path(self, store: Path, way: Way) -> IngestSummary:
        folder = self.folder
        options = SqlOptions(
            dialect=folder.dialect,
            catalog=folder.catalog(),
            default_schema=folder.settings["default_schema"],
            budget=Budget(edges=folder.budget),
            observed_at=self.at,
            project=self.root.name,
            project_root=self.root,
            retire_most=True,
            cache=True,
            full=way is Way.ANEW,
        )
        return ingest_sql(self.paths, store=store, options=options)


@dataclass(frozen=True)
class _IngestText(Step):
    """A statement of another project, as of any time."""

    text: str
    dialect: str
    file: Path
    at: datetime
    kind: str = "other file"

    def __str__(self) -> str:
        return f"other file at {self.at:%d %H:%M}: {self.text}"

    def run(self, store: GraphStore | Path, way: Way) -> None:
        self.file.write_text(self.text, encoding="utf-8")
        options = SqlOptions(dialect=self.dialect, project="own", project_root=self.file.parent, observed_at=self.at)
        ingest_sql(self.file, store=store, options=options)


@dataclass(frozen=True)
class _IngestLog(Step):
    """Statements that ran at any time."""

    rows: tuple[tuple[datetime, str], ...]
    dialect: str
    file: Path
    kind: str = "log"

    def __str__(self) -> str:
        return "log" + "".join(f"\n    {at:%d %H:%M} {text}" for at, text in self.rows)

    def run(self, store: GraphStore | Path, way: Way) -> None:
        rows = ({"query_text": text, "started_at": at.isoformat()} for at, text in self.rows)
        self.file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        mapping = {name: name for name in ("query_text", "started_at")}
        options = LogOptions(dialect=self.dialect, mapping=mapping, observed_at=self.rows[-1][0])
        ingest_log(self.file, source="generic", store=store, options=options)


@dataclass(frozen=True)
class _Maintain(Step):
    """What a person does to the store: prunes it, retires jobs, describes a dataset."""

    what: str
    number: int
    at: datetime
    kind: str = "maintenance"

    def __str__(self) -> str:
        return f"{self.what} ({self.number}) at {self.at:%d %H:%M}"

    def run(self, store: GraphStore | Path, way: Way) -> None:
        with open_store(store) if isinstance(store, Path) else nullcontext(store) as opened:
            if self.what == "prune":
                opened.prune(self.at, at=self.at + timedelta(hours=1))
            elif self.what == "retire":
                jobs = sorted(opened.job_keys())
                opened.retire_jobs(jobs[self.number % max(len(jobs), 1) :][:1], self.at)
            else:
                keys = sorted(opened.dataset_keys())
                for key in keys[self.number % max(len(keys), 1) :][:1]:
                    opened.describe(key, description=f"number {self.number}")
                    assert opened.job_keys_of([key], JobFilter()) is not None


def random_history(seed: str, steps: int, folder: Path, *, again: bool = False, turns: bool = False) -> Iterator[Step]:
    """Yield the steps of a history; before each, the files in `folder` are as the step needs them.

    With `again`, each ingest of files that is the newest is repeated twice, a minute later each time. With `turns`,
    there are always two projects, which are mostly ingested in turn.
    """
    latest = _BEGIN
    for step in _History(random.Random(seed), folder, turns=turns).steps(steps):
        yield step
        if again and isinstance(step, _IngestFiles) and step.at >= latest:
            for minutes in (1, 2):
                latest = step.at + timedelta(minutes=minutes)
                yield replace(step, kind=AGAIN, at=latest)


class _History:
    def __init__(self, rng: random.Random, folder: Path, *, turns: bool) -> None:
        self.rng = rng
        self.folder = folder
        self.switches = 0.9 if turns else 0.3
        self.hour = 0
        self.files = 0
        first = random_folder(rng)
        if rng.random() < 0.75:
            kinds = first.kinds - _CHANGING or frozenset(("table", "insert"))
            first = random_folder(rng, first.dialect, kinds)
        second = random_folder(rng, first.dialect)
        if rng.random() < 0.7:  # the other project has no other kinds of statements, so that many files stay
            second = random_folder(rng, first.dialect, first.kinds)
        self.projects = dict(zip(_PROJECTS, (first, second), strict=True))
        if rng.random() < 0.3 and not turns:
            del self.projects["two"]
        self.name = rng.choice(sorted(self.projects))
        self.calm = rng.random() < 0.5
        """Whether little else happens than edits."""

    def steps(self, count: int) -> Iterator[Step]:
        """Yield so many steps, after the first ingest of each project."""
        for name in self.projects:
            yield self._ingest(name, "first")
        kinds = ("edit", "edits", "nothing", "part", "earlier", "same time", "text", "log", "maintenance")
        weights = (10, 3, 3, 1, 0.5, 0.5, 1, 1, 0.3) if self.calm else (6, 3, 2, 1, 0.7, 0.7, 2, 1.5, 0.7)
        for _ in range(count):
            kind = self.rng.choices(kinds, weights)[0]
            yield from self._step(kind)

    def _step(self, kind: str) -> Iterator[Step]:
        rng = self.rng
        if rng.random() < self.switches:  # mostly one project several times in a row
            self.name = rng.choice(sorted(self.projects))
        name = self.name
        if kind in ("edit", "edits", "part", "earlier", "same time"):
            often = {"edits": rng.randint(2, 4)}.get(kind, 1) if kind in ("edit", "edits") else rng.randint(0, 1)
            for _ in range(often):
                self.projects[name] = edited(self.projects[name], rng)
            yield self._ingest(name, kind)
        elif kind == "nothing":
            for each in rng.sample(sorted(self.projects), rng.randint(1, len(self.projects))):
                yield self._ingest(each, kind)
        elif kind == "text":
            folder = self.projects[name]
            yield _IngestText(self._statement(folder), folder.dialect, self._new_file("sql"), self._any_time())
        elif kind == "log":
            folder = self.projects[name]
            rows = sorted((self._any_time(), self._statement(folder)) for _ in range(rng.randint(1, 3)))
            yield _IngestLog(tuple(rows), folder.dialect, self._new_file("jsonl"))
        else:
            yield _Maintain(rng.choice(("prune", "retire", "describe")), rng.randrange(50), self._any_time())

    def _statement(self, folder: Folder) -> str:
        return random_statement(self.rng, folder)

    def _any_time(self) -> datetime:
        """Return a time within the history, most often the present one, seldom a later one."""
        ago = self.rng.choice((-1, -0.5, 0.5, 0.5, 1, 1.5, self.hour * self.rng.random()))
        return _BEGIN + timedelta(hours=max(self.hour - ago, 0))

    def _new_file(self, suffix: str) -> Path:
        self.files += 1
        folder = self.folder / "others"
        folder.mkdir(exist_ok=True)
        return folder / f"other{self.files}.{suffix}"

    def _ingest(self, name: str, kind: str) -> Step:
        rng, folder, root = self.rng, self.projects[name], self.folder / name
        _write(folder, root)
        paths: tuple[Path, ...] = (root,)
        if kind == "part":
            files = sorted(root.rglob("*.sql"))
            parts = [*files, *(one for one in root.iterdir() if one.is_dir() and any(one.iterdir()))]
            paths = tuple(rng.sample(parts, min(len(parts), rng.randint(1, 2))))
        hour = float(self.hour)
        if kind == "earlier":
            hour = rng.choice((hour - 0.5, hour * rng.random()))
        elif kind != "same time":
            self.hour += rng.choice((1, 1, 2))
            hour = self.hour
        return _IngestFiles(kind, folder, root, paths, _BEGIN + timedelta(hours=max(hour, 0)))


def _write(folder: Folder, root: Path) -> None:
    for old in root.rglob("*.sql"):
        old.unlink()
    for name, text in folder.texts.items():
        (root / name).parent.mkdir(exist_ok=True, parents=True)
        (root / name).write_text(text, encoding="utf-8")
