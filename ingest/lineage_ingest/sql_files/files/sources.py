"""The input of an ingest: files with their keys and texts, and their folders and projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.files import Environment, FileKey, beginning
from lineage.store.protocol import GraphStore
from lineage.store.values import JobSelection
from lineage_ingest.sql_files.files.discovery import FoundFiles, find_sql_files
from lineage_ingest.sql_files.files.file_reader import SqlFile, read_sql_file
from lineage_ingest.sql_files.files.projects import Project, ProjectFinder

__all__ = ["Covered", "Sources", "read_sources"]


@frozen
class Covered:
    """A folder of a project that was scanned completely, by its path in the project (empty: the whole project)."""

    project: Project
    path: str

    def holds(self, path: str) -> bool:
        """Return whether a file of the project is in the folder."""
        return not self.path or path.startswith(f"{self.path}/")


@frozen
class Sources:
    """The files of an ingest. Unreadable ones are included, without text."""

    found: FoundFiles
    files: tuple[SqlFile, ...]
    environment: Environment
    finder: ProjectFinder
    given: Project | None = None

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the files."""
        return frozenset(str(file.key) for file in self.files)

    def project_of(self, folder: Path) -> Project:
        """Return the project of the files in a folder."""
        return self.given or self.finder.of(folder)

    def projects(self) -> Counter[Project]:
        """Return the projects of the files, with the number of files of each."""
        return Counter(self.project_of(path.parent) for path in self.found.files)

    def covered_folders(self) -> list[Covered]:
        """Return the scanned folders, for each project that has files in them or contains them."""
        covered: dict[Covered, None] = {}
        for folder in self.found.folders:
            for project in dict.fromkeys((self.project_of(folder), *self.projects())):
                if project.holds(folder):
                    covered[Covered(project, _path_or_root(project.path_of(folder)))] = None
                elif project.root is not None and folder in project.root.parents:
                    covered[Covered(project, "")] = None
        return list(covered)

    def readings(self) -> list[tuple[Project, str]]:
        """Return the projects under which the files may be stored, with the given paths for all but their own."""
        readings: dict[tuple[Project, str], None] = {(one, ""): None for one in self.projects() if one.name}
        for named in self.found.named:
            is_folder = named in self.found.folders
            for project in self.finder.all_of(named if is_folder else named.parent):
                path = _path_or_root(project.path_of(named))
                if (project, "") not in readings:
                    readings[project, f"{path}/" if is_folder and path else path] = None
        return list(readings)


def read_sources(
    paths: Iterable[Path], store: GraphStore, environment: Environment, project: str | None, root: Path | None
) -> Sources:
    """Read the files under these paths.

    Raises:
        NoSqlFilesError: a path does not exist.
        ProjectError: the root of the project is ambiguous.
    """
    sql_files = find_sql_files(paths)
    finder = ProjectFinder()
    given = None
    if project is not None:
        known = () if root is not None else _known_paths(store, project)
        folders = {path.parent for path in sql_files.files} | set(sql_files.folders)
        given = finder.given(project, root, folders, sql_files.named, known)
    without_text = Sources(sql_files, (), environment, finder, given)
    return Sources(sql_files, tuple(_read(without_text)), environment, finder, given)


def _read(sources: Sources) -> Iterator[SqlFile]:
    keyed: list[tuple[Path, FileKey, str]] = []
    sql_files = sources.found
    for path, name in (sql_files.files | {path: name for path, (name, _) in sql_files.unreadable.items()}).items():
        project = sources.project_of(path.parent)
        key = FileKey(project.name, project.path_of(path), sources.environment)
        keyed.append((path, key, key.path if project.name else name))
    counts = Counter(source for _, _, source in keyed)
    for path, key, source in keyed:
        name = source if counts[source] == 1 else f"{key.project}:{key.path}"
        if path in sql_files.unreadable:
            message = f"{source} cannot be read: {sql_files.unreadable[path][1]}"
            problem = Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.ERROR, message)
            yield SqlFile(key, source, name, "", (problem,), readable=False)
        else:
            yield read_sql_file(path, key, source, name)


def _known_paths(store: GraphStore, project: str) -> set[str]:
    """Return the paths of the files that the store has of a project."""
    heads = store.select_jobs(JobSelection(files=(beginning(project),)))
    return {FileKey.parse(str(head.file_key)).path for head in heads}


def _path_or_root(path: str) -> str:
    """Return a path in a project; that of the root is empty."""
    return "" if path == "." else path
