"""Projects of files and paths in them: the same on every machine, whatever path the user gives."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from enum import StrEnum
from pathlib import Path

from lineage.frozen import frozen
from lineage_ingest.sql_files.files.git_remote import origin_of

__all__ = ["FoundBy", "Project", "ProjectError", "ProjectFinder", "text_of"]

_GIT, _DBT = ".git", "dbt_project.yml"
_MAX_KNOWN = 200


class ProjectError(ValueError):
    """The project of the files, or its root folder, is ambiguous."""


class FoundBy(StrEnum):
    """How a project was found."""

    OPTION = "--project"
    ORIGIN = "origin in .git"
    FOLDER = "folder of .git or dbt_project.yml, which has no origin"
    PATH = "absolute path"


@frozen
class Project:
    """A set of SQL files that belong together. Files without a project have an empty name and no root."""

    name: str
    root: Path | None
    found_by: FoundBy

    @property
    def is_portable(self) -> bool:
        """Whether it has the same name on another machine."""
        return self.found_by in (FoundBy.OPTION, FoundBy.ORIGIN)

    def path_of(self, file: Path) -> str:
        """Return a file's or folder's path relative to the root, with `..` if it is outside."""
        return text_of(file) if self.root is None else text_of(Path(os.path.relpath(file, self.root)))

    def file_at(self, path: str) -> Path:
        """Return the absolute path of the file with that path in the project."""
        return Path(path) if self.root is None else Path(os.path.normpath(self.root / path))

    def holds(self, folder: Path) -> bool:
        """Return whether a folder is the root or is below it."""
        return self.root is None or folder == self.root or self.root in folder.parents


WITHOUT_PROJECT = Project("", None, FoundBy.PATH)


class ProjectFinder:
    """Finds the projects of files by the markers above them (`.git`, `dbt_project.yml`), unless one is given."""

    def __init__(self) -> None:
        self._markers: dict[Path, tuple[Path | None, Path | None]] = {}
        self._projects: dict[Path, tuple[Project, ...]] = {}

    def given(
        self, name: str, root: Path | None, folders: Iterable[Path], named: Iterable[Path], known: Collection[str]
    ) -> Project:
        """Return the project of that name. `folders` contain its files; `named` are the paths that the user gave.

        Its root is the given one, else the folder of `.git` (or `dbt_project.yml`) above the files, else the folder
        that contains most of its known files, else the common folder of the given paths.

        Raises:
            ProjectError: the files are in several repositories, or the root of the project is ambiguous.
        """
        if not name.strip():
            raise ProjectError("--project is empty")
        if root is not None:
            return Project(name, root.resolve(), FoundBy.OPTION)
        roots = {self._repository(folder) for folder in folders}
        if len(roots) > 1:
            listed = ", ".join(sorted(str(root) if root else "none" for root in roots))
            raise ProjectError(
                f"--project {name}: the files are of several repositories or dbt projects ({listed}); "
                "ingest them one by one, or give the project's root with --project-root FOLDER"
            )
        found = next(iter(roots), None) or _likely_root(name, sorted(set(named)), known)
        return Project(name, found, FoundBy.OPTION)

    def of(self, folder: Path) -> Project:
        """Return the project of the files in a folder."""
        return self.all_of(folder)[0]

    def all_of(self, folder: Path) -> tuple[Project, ...]:
        """Return the project of the files in a folder, then those that apply if its marker is removed."""
        projects = self._projects.get(folder)
        if projects is None:
            git, dbt = self._find_markers(folder)
            projects = self._projects[folder] = tuple(_projects(git, dbt))
        return projects

    def _repository(self, folder: Path) -> Path | None:
        git, dbt = self._find_markers(folder)
        return git or dbt

    def _find_markers(self, folder: Path) -> tuple[Path | None, Path | None]:
        """Return the nearest folders, this one or above, with `.git` and with `dbt_project.yml`."""
        chain: list[Path] = []
        git: Path | None = None
        dbt: Path | None = None
        for ancestor in (folder, *folder.parents):
            if ancestor in self._markers:
                git, dbt = self._markers[ancestor]
                break
            chain.append(ancestor)
        for ancestor in reversed(chain):
            git = ancestor if _exists(ancestor / _GIT) else git
            dbt = ancestor if _exists(ancestor / _DBT) else dbt
            self._markers[ancestor] = git, dbt
        return git, dbt


def _projects(git: Path | None, dbt: Path | None) -> Iterable[Project]:
    """Yield the projects that files below these folders may belong to, by precedence."""
    origin = origin_of(git) if git is not None else None
    if dbt is not None and git is not None and dbt != git and git in dbt.parents:
        if origin is not None:
            yield Project(f"{origin}//{text_of(dbt.relative_to(git))}", dbt, FoundBy.ORIGIN)
        yield Project(text_of(dbt), dbt, FoundBy.FOLDER)
    elif dbt is not None and dbt != git:
        yield Project(text_of(dbt), dbt, FoundBy.FOLDER)
    if git is not None:
        if origin is not None:
            yield Project(origin, git, FoundBy.ORIGIN)
        yield Project(text_of(git), git, FoundBy.FOLDER)
    yield WITHOUT_PROJECT


def _likely_root(name: str, named: list[Path], known: Collection[str]) -> Path:
    """Return the folder that contains most of the project's known files, else the common folder of the given paths.

    Raises:
        ProjectError: several folders contain equally many known files.
    """
    folders = [path if path.is_dir() else path.parent for path in named]
    common = Path(os.path.commonpath(folders))
    sampled = sorted(known)[:_MAX_KNOWN]
    counts = {folder: sum(_exists(folder / path) for path in sampled) for folder in (common, *common.parents)}
    most = max(counts.values())
    best = [folder for folder, count in counts.items() if count == most]
    if most == 0 or (common in best and any(path.is_dir() for path in named)):
        return common
    if len(best) > 1:
        raise ProjectError(
            f"--project {name} may begin at {' or '.join(map(str, best))}; choose one with --project-root FOLDER"
        )
    return best[0]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def text_of(path: Path) -> str:
    """Return a path as text for keys; invalid bytes are escaped."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")
