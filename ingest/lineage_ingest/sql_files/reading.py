"""Reading and decoding SQL files. What cannot be read is reported and costs that file only."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.files import FileKey

__all__ = ["SqlFile", "read_sql_file"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A file: its key, how people read it, its text, what was found on reading it, and whether it could be read.

    `name` tells it from the other files of its ingest: as people read it, with the project where two are called alike.
    """

    key: FileKey
    source: str
    name: str
    text: str
    problems: tuple[Diagnostic, ...] = ()
    readable: bool = True


def read_sql_file(path: Path, key: FileKey, source: str, name: str) -> SqlFile:
    """Return a file's text. Bytes that are not UTF-8 are replaced and reported, with the place of the first."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        problem = Diagnostic(
            DiagnosticCode.UNREADABLE_FILE,
            Severity.ERROR,
            f"{source} cannot be read: {error.strerror or type(error).__name__}",
        )
        return SqlFile(key, source, name, "", (problem,), readable=False)
    encoding = next((encoding for bom, encoding in _BOMS if raw.startswith(bom)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        text = raw.decode(encoding, errors="replace")
        start = len(raw[: error.start].decode(encoding, errors="replace"))
        problem = Diagnostic(
            DiagnosticCode.INVALID_ENCODING,
            Severity.ERROR,
            f"{source} is not valid {encoding.upper()}: byte 0x{raw[error.start]:02x} at offset {error.start}",
            Span.locate(text, start, start + 1),
            "save the file as UTF-8; the rest of it was read",
        )
        return SqlFile(key, source, name, text, (problem,))
    if not text.strip():
        problem = Diagnostic(DiagnosticCode.EMPTY_INPUT, Severity.WARNING, f"{source} is empty")
        return SqlFile(key, source, name, text, (problem,))
    return SqlFile(key, source, name, text)
