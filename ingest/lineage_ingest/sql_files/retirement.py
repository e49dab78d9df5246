"""Stored files of a project that no longer exist, and files stored under another environment or project."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path, PurePath

from lineage.frozen import frozen
from lineage.model.batch import JobKind, target_of_file_job
from lineage.model.files import FileKey, beginning
from lineage.store.protocol import GraphStore
from lineage.store.values import JobHead, JobSelection
from lineage_ingest.sql_files.files.projects import Project
from lineage_ingest.sql_files.files.sources import Covered, Sources

__all__ = ["GoneFiles", "GoneFilesError", "find_gone_files", "notices"]

_OF_FILES = (JobKind.SQL_FILE, JobKind.POLICY)


class GoneFilesError(ValueError):
    """Most files that the store has of a folder no longer exist. This may be a mistake and was not confirmed."""

    def __init__(self, gone: GoneFiles) -> None:
        super().__init__(f"{len(gone.files):,} of {gone.known:,} known files are gone")
        self.gone = gone


@frozen
class GoneFiles:
    """Files that the store has of the ingested folders and that no longer exist; `known` is the number it has.

    `replaced` are the same files, as they were ingested in another dialect. `moved` are files elsewhere in the projects
    that no longer exist and whose targets other files define now; `jobs` are the jobs of both. `mended` are folders
    that could not be read earlier and can be read now. `lost` is the number of `files` with a target that no other file
    defines now: a renamed file is not lost. `has_others`: the store has files of the projects in other folders.
    """

    files: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    known: int = 0
    moved: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    lost: int = 0
    has_others: bool = False
    replaced: tuple[str, ...] = ()

    @property
    def is_any(self) -> bool:
        """Whether anything of the store is to be retired."""
        return bool(self.files or self.jobs or self.moved or self.mended or self.replaced)

    @property
    def are_most(self) -> bool:
        """Whether more than half of the known files are lost."""
        return 2 * self.lost > self.known


def find_gone_files(store: GraphStore, sources: Sources, targets: Collection[str], at: datetime) -> GoneFiles:
    """Return the files that the store has of the scanned folders at a time, and that no longer exist.

    `targets` are the datasets that the existing files define.
    """
    files: dict[str, None] = {}
    moved: dict[str, None] = {}
    mended: dict[str, None] = {}
    jobs: dict[str, None] = {}
    known: set[str] = set()
    lost: set[str] = set()
    has_others = False
    covered = sources.covered_folders()
    there = sources.keys
    for project in dict.fromkeys(one.project for one in covered):
        folders = [one for one in covered if one.project == project]
        stated: list[tuple[str, str | None]] = [
            (str(head.file_key), head.key) for head in _heads(store, project, folders, at)
        ]
        stated += [(key, None) for key in store.diagnosed_files([beginning(project.name)])]
        for key, job in stated:
            file = FileKey.parse(key)
            if file.environment != sources.environment:
                continue
            inside = any(folder.holds(file.path) for folder in folders)
            path = project.file_at(file.path)
            if inside and job is None and path in sources.found.folders_read:
                mended[key] = None
                continue
            has_others = has_others or not (inside or key in there)
            if inside:
                known.add(key)
            if key in there or not _is_gone(path, sources):
                continue
            if inside:
                files[key] = None
                if job is not None and target_of_file_job(job) not in targets:
                    lost.add(key)
            elif job is not None and target_of_file_job(job) in targets:
                moved[key] = None
            else:
                continue
            if job is not None:
                jobs[job] = None
    replaced = tuple(_in_other_dialects(store, sources, at))
    return GoneFiles(
        tuple(files), tuple(jobs), len(known), tuple(moved), tuple(mended), len(lost), has_others, replaced
    )


def _in_other_dialects(store: GraphStore, sources: Sources, at: datetime) -> Iterator[str]:
    """Yield the keys under which these files are stored in another dialect: a file's text is of one dialect only."""
    own, now = {(file.key.project, file.key.path) for file in sources.files}, sources.environment
    begins = [beginning(project.name, path) for project, path in sources.readings()]
    heads = store.select_jobs(JobSelection(files=tuple(begins), kinds=_OF_FILES))
    stated = {str(head.file_key) for head in heads if head.first_seen <= at}
    for key in sorted(stated.union(store.diagnosed_files(begins))):
        file = FileKey.parse(key)
        before = file.environment
        if (file.project, file.path) in own and before.dialect != now.dialect and before.namespace == now.namespace:
            yield key


def notices(store: GraphStore, sources: Sources, replaced: Collection[str] = ()) -> Iterator[str]:
    """Yield notices about the same files stored in other environments, under another project, or without one."""
    before = Counter(str(FileKey.parse(key).environment) for key in replaced)
    for environment, count in sorted(before.items()):
        dialect = sources.environment.dialect
        yield f"{_count_text(count)} known as {environment} before: now {dialect}, which replaces it"
    there = {file.key.project for file in sources.files}
    counts: Counter[tuple[str, str, str]] = Counter()
    for project, path in sources.readings():
        heads = store.select_jobs(JobSelection(files=(beginning(project.name, path),)))
        for file in {FileKey.parse(str(head.file_key)) for head in heads}:
            if str(file) not in replaced and (file.project not in there or file.environment != sources.environment):
                counts[file.project, str(file.environment), "" if file.project else path.rstrip("/")] += 1
    for (name, environment, folder), count in sorted(counts.items()):
        option = f"--project {_quote(name)}" if name else f"--source {_quote(folder)}"
        how = environment if name in there else f"{name or 'files without a project'}, {environment}"
        yield (
            f"the store has {_count_text(count)} of {name or folder} as {how}, too; if that is no longer right: "
            f"lineage forget {option} --environment {_quote(environment)}"
        )


def _heads(store: GraphStore, project: Project, folders: Collection[Covered], at: datetime) -> list[JobHead]:
    """Return the file jobs of a project that were valid at a time; without one, those in and beside the folders."""
    begins = [beginning(project.name)]
    if not project.name:
        begins = [beginning("", f"{PurePath(one.path).parent.as_posix().rstrip('/')}/") for one in folders]
    wanted = JobSelection(files=tuple(dict.fromkeys(begins)), kinds=_OF_FILES, retired=True)
    # Include jobs retired at exactly this time, so that repeating an ingest gives the same run.
    return [
        head
        for head in store.select_jobs(wanted)
        if head.first_seen <= at and (head.retired_at is None or head.retired_at >= at)
    ]


def _is_gone(path: Path, sources: Sources) -> bool:
    try:
        return not os.path.lexists(path) and not sources.found.could_not_read(path)
    except OSError:
        return False


def _count_text(files: int) -> str:
    return f"{files:,} file" if files == 1 else f"{files:,} files"


def _quote(text: str) -> str:
    return text if text and all(letter.isalnum() or letter in "@%+=:,./-_" for letter in text) else f"'{text}'"
