"""Finds the files of a log from paths, folders and patterns, and the parts of a log that is split into files."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from pathlib import Path

from lineage_ingest.query_log.sources.source import Source

__all__ = ["NoLogFilesError", "find_log_files", "parts_of", "size_of"]

_OTHER = re.compile(r"^[._]|\.db(?:[-.]|$)")
_COMPACTED = ".compact"


class NoLogFilesError(ValueError):
    """A path that does not exist, or a folder or pattern without files."""


def find_log_files(paths: Iterable[str | Path], source: Source | None = None) -> list[Path]:
    """Return the files that paths, folders and patterns match, in order, without duplicates.

    A folder matches all files below it except hidden ones, markers such as `_SUCCESS`, and this program's stores and
    checkpoints. If the source splits a log into parts, the first part represents all of them, whichever part a path
    names.

    Raises:
        NoLogFilesError: a path matches no file.
    """
    found: dict[Path, Path] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            inside = [p for p in sorted(path.rglob("*")) if p.is_file() and not _is_other(p, path)]
        elif path.exists():
            inside = [path]
        else:
            inside = [p for p in map(Path, sorted(glob.glob(str(given), recursive=True))) if p.is_file()]
        if not inside:
            raise NoLogFilesError(f"no files: {given}")
        for file in inside:
            first = parts_of(file, source)[0]
            found.setdefault(first.resolve(), first)
    return list(found.values())


def _is_other(path: Path, folder: Path) -> bool:
    """Return whether a file below a folder is not a log, by its name or a folder between (`.git`, a checkpoint)."""
    status = path.name.startswith("appstatus_") and path.parent.name.startswith("eventlog_v2_")  # Spark's, and empty
    return status or any(map(_OTHER.search, path.relative_to(folder).parts))


def parts_of(path: Path, source: Source | None) -> list[Path]:
    """Return the parts, in order, of the log that a file belongs to; only the file if its log is not split.

    Spark compacts parts into one file with the same content, which replaces them.
    """
    if source is None or not source.reading.part:
        return [path]
    pattern = re.compile(source.reading.part)
    own = pattern.fullmatch(path.name.removesuffix(_COMPACTED))
    if own is None:
        return [path]
    parts: dict[int, Path] = {}
    compacted = -1
    for other in path.parent.iterdir():
        found = pattern.fullmatch(other.name.removesuffix(_COMPACTED))
        if found is not None and found["log"] == own["log"]:
            number = int(found["number"])
            if other.name.endswith(_COMPACTED):
                compacted = max(compacted, number)
                parts[number] = other
            else:
                parts.setdefault(number, other)
    return [parts[number] for number in sorted(parts) if number >= compacted]


def size_of(path: Path, source: Source) -> int:
    """Return the size in bytes of a log's file, including its other parts."""
    return sum(part.stat().st_size for part in parts_of(path, source))
