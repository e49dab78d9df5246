"""Finding and decoding SQL files. What cannot be read is reported and costs that file only."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span

__all__ = ["SUFFIXES", "NoSqlFilesError", "SqlFile", "find_sql_files", "read_sql_file"]

SUFFIXES = frozenset((".sql", ".ddl", ".hql", ".bq"))
"""Endings of the files that are taken from a folder; a file that is named itself may end as it likes."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class NoSqlFilesError(ValueError):
    """A path that does not exist, or a folder without SQL files."""


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A file's name (as jobs are named after it), its text, and what was found on reading it."""

    name: str
    text: str
    problems: tuple[Diagnostic, ...] = ()


def find_sql_files(paths: Iterable[Path]) -> dict[str, Path]:
    """Return the SQL files of files and folders, by name, in order.

    A file in a folder is named by its path from the folder on, the folder's own name first, so that the name does
    not depend on where the command was typed.

    Raises:
        NoSqlFilesError: a path does not exist, or a folder holds no SQL file.
    """
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
            if not inside:
                raise NoSqlFilesError(f"no SQL files ({', '.join(sorted(SUFFIXES))}) under {path}")
            base = path.resolve().name
            found.update((f"{base}/{p.relative_to(path).as_posix()}", p) for p in inside)
        elif path.exists():
            found[path.name] = path
        else:
            raise NoSqlFilesError(f"no such file or folder: {path}")
    return found


def read_sql_file(name: str, path: Path) -> SqlFile:
    """Return a file's text. Bytes that are not UTF-8 are replaced and reported, with the place of the first."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        problem = Diagnostic(
            DiagnosticCode.UNREADABLE_FILE,
            Severity.ERROR,
            f"{name} cannot be read: {error.strerror or type(error).__name__}",
        )
        return SqlFile(name, "", (problem,))
    encoding = next((encoding for bom, encoding in _BOMS if raw.startswith(bom)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        text = raw.decode(encoding, errors="replace")
        start = len(raw[: error.start].decode(encoding, errors="replace"))
        problem = Diagnostic(
            DiagnosticCode.INVALID_ENCODING,
            Severity.ERROR,
            f"{name} is not valid {encoding.upper()}: byte 0x{raw[error.start]:02x} at offset {error.start}",
            Span.locate(text, start, start + 1),
            "save the file as UTF-8; the rest of it was read",
        )
        return SqlFile(name, text, (problem,))
    if not text.strip():
        problem = Diagnostic(DiagnosticCode.EMPTY_INPUT, Severity.WARNING, f"{name} is empty")
        return SqlFile(name, text, (problem,))
    return SqlFile(name, text)
