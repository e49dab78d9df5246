"""Read and decode SQL files. An unreadable file is reported and skipped."""

from __future__ import annotations

from pathlib import Path

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.files import FileKey
from lineage.model.text.decoding import decode_sql

__all__ = ["SqlFile", "read_sql_file"]


@frozen
class SqlFile:
    """A file: its key, display name (`source`), text, the diagnostics of reading it, and whether it could be read.

    `name` is unique in the ingest: the display name, with the project if two files have the same one.
    """

    key: FileKey
    source: str
    name: str
    text: str
    problems: tuple[Diagnostic, ...] = ()
    readable: bool = True


def read_sql_file(path: Path, key: FileKey, source: str, name: str) -> SqlFile:
    """Return a file's text. Invalid bytes are replaced and reported; a binary file is not read."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        problem = Diagnostic(
            DiagnosticCode.UNREADABLE_FILE,
            Severity.ERROR,
            f"{source} cannot be read: {error.strerror or type(error).__name__}",
        )
        return SqlFile(key, source, name, "", (problem,), readable=False)
    text, diagnostic = decode_sql(raw, source)
    if text is None:
        return SqlFile(key, source, name, "", (diagnostic,) if diagnostic else (), readable=False)
    if diagnostic is not None:
        return SqlFile(key, source, name, text, (diagnostic,))
    if not text.strip():
        problem = Diagnostic(DiagnosticCode.EMPTY_INPUT, Severity.WARNING, f"{source} is empty")
        return SqlFile(key, source, name, text, (problem,))
    return SqlFile(key, source, name, text)
