"""Find the SQL files under a command's paths, each once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lineage.model.files import SQL_SUFFIXES

__all__ = ["FoundFiles", "NoSqlFilesError", "find_sql_files"]


class NoSqlFilesError(ValueError):
    """A path that does not exist, or a folder without SQL files."""


@dataclass(slots=True)
class FoundFiles:
    """The files (resolved paths), each with its display name without a project, and the folders that were scanned."""

    files: dict[Path, str] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)
    """Folders that were scanned completely: a file that is not in `files` does not exist there."""
    named: list[Path] = field(default_factory=list)
    """Files and folders given by the user."""
    folders_read: set[Path] = field(default_factory=set)
    """Every folder whose entries were read."""
    unreadable: dict[Path, tuple[str, str]] = field(default_factory=dict)
    """Unreadable folders and broken links, each with its display name and the reason."""

    def could_not_read(self, path: Path) -> bool:
        """Return whether the path is in a folder that could not be read."""
        return any(folder == path or folder in path.parents for folder in self.unreadable)

    @property
    def empty_folders(self) -> list[Path]:
        """Given folders that could be read and contain no SQL file."""
        readable = (path for path in self.named if path in self.folders and path not in self.unreadable)
        return [path for path in readable if not any(path in file.parents for file in self.files)]


def find_sql_files(paths: Iterable[Path]) -> FoundFiles:
    """Return the SQL files of files and folders, in order. Links are resolved.

    Raises:
        NoSqlFilesError: a path does not exist.
    """
    sql_files = FoundFiles()
    for path in paths:
        real = _resolve(path)
        if real.is_dir():
            sql_files.named.append(real)
            _scan(sql_files, real, real.name)
        elif real.exists():
            sql_files.named.append(real)
            sql_files.files.setdefault(real, path.name)
        else:
            what = "a broken link" if path.is_symlink() else "no such file or folder"
            raise NoSqlFilesError(f"{what}: {path}")
    _disambiguate(sql_files)
    return sql_files


def _scan(sql_files: FoundFiles, folder: Path, name: str) -> None:
    """Add the files of a folder and its subfolders."""
    if folder in sql_files.folders:
        return
    sql_files.folders.append(folder)
    below = [(folder, name)]
    while below:
        current, shown = below.pop()
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError as error:
            sql_files.unreadable[current] = shown, error.strerror or type(error).__name__
            continue
        sql_files.folders_read.add(current)
        for entry in entries:
            path, display = current / entry.name, f"{shown}/{entry.name}"
            if _is_folder(entry):
                if entry.is_symlink():
                    _scan(sql_files, _resolve(path), display)
                elif entry.name != ".git":
                    below.append((path, display))
            elif path.suffix.lower() in SQL_SUFFIXES:
                real = _resolve(path) if entry.is_symlink() else path
                if real.is_file():
                    sql_files.files.setdefault(real, display)
                elif entry.is_symlink():
                    sql_files.unreadable[path] = display, "a broken link"
    _sort(sql_files, folder)


def _resolve(path: Path) -> Path:
    """Return where a path leads to; of links that lead to each other, one of them."""
    return Path(os.path.realpath(path))  # Path.resolve raises for these, in Python up to 3.12


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a cycle of links
        return False


def _sort(sql_files: FoundFiles, folder: Path) -> None:
    """Sort the files of a folder, after those that were found before."""
    of_folder = sorted(path for path in sql_files.files if folder in path.parents)
    sql_files.files = {path: name for path, name in sql_files.files.items() if folder not in path.parents} | {
        path: sql_files.files[path] for path in of_folder
    }


def _disambiguate(sql_files: FoundFiles) -> None:
    """Give files with the same display name their paths relative to the common folder."""
    counts = Counter(sql_files.files.values())
    same = [path for path, name in sql_files.files.items() if counts[name] > 1]
    if same:
        common = os.path.commonpath([path.parent for path in same])
        sql_files.files |= {path: Path(os.path.relpath(path, common)).as_posix() for path in same}
