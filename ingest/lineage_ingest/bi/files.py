"""Reads files of an export, whatever is in them: size, number of members and compression are limited before reading."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity

__all__ = [
    "MAX_ARCHIVE",
    "MAX_FILE",
    "REST_OF_ROW",
    "ExportFile",
    "UnreadableExportError",
    "check_archive",
    "csv_header",
    "csv_rows",
    "json_of",
    "read_bytes",
    "read_member",
    "read_files",
    "text_of",
    "yaml_of",
]

MAX_FILE = 256 * 1024 * 1024
"""Bytes of one file, or of one member of an archive, unpacked."""
MAX_ARCHIVE = 1024 * 1024 * 1024
"""Bytes of all members of an archive, unpacked."""
MAX_MEMBERS = 50_000
MAX_RATIO = 200
"""Unpacked bytes for one packed byte. Deflate reaches 1,032 on zeros, and YAML, XML and JSON rarely 50."""
REST_OF_ROW = "(rest)"
"""The key of what a row of a CSV file has after the columns of the header."""
SMALL = 1024 * 1024
"""Bytes of a member whose ratio does not matter."""
MAX_YAML = 16 * 1024 * 1024
"""Bytes of a YAML document: reading one takes some hundred times its size in memory."""
MAX_VALUES = 5_000_000
"""Values of a YAML document, each alias counted with what it stands for."""


class UnreadableExportError(Exception):
    """A file, or a member of an archive, cannot be read; `diagnostic` says why."""

    def __init__(self, message: str, hint: str | None = None, code: DiagnosticCode = DiagnosticCode.UNREADABLE_FILE):
        super().__init__(message)
        self.diagnostic = Diagnostic(code, Severity.ERROR, message, hint=hint)


_ARCHIVES = frozenset((".zip", ".twbx", ".tdsx"))
_OPENED_BY_READERS = frozenset((".pbix",))


@frozen
class ExportFile:
    """A file, or a member of an archive: its name for messages, its path in the export, its content.

    `problem` says why there is no content.
    """

    name: str
    path: str
    content: bytes = b""
    problem: Diagnostic | None = None
    file: Path | None = None
    """The file, if a reader opens it by itself: then there is no content here."""

    @property
    def suffix(self) -> str:
        """The suffix of its name, in lower case."""
        return PurePosixPath(self.path).suffix.lower()


def read_files(paths: tuple[Path, ...], suffixes: frozenset[str]) -> Iterator[ExportFile]:
    """Yield the files with these suffixes: those given, those in folders, and those in zip archives.

    A file that is given by name is read whatever its suffix; one that is given twice is read once.
    """
    read: set[Path] = set()
    for path in paths:
        if path.is_dir():
            listed = sorted(
                one
                for one in path.rglob("*")
                if one.is_file() and not any(part.startswith(".") for part in one.relative_to(path).parts)
            )
            for file in listed:
                if file.suffix.lower() in suffixes | _ARCHIVES and file.resolve() not in read:
                    read.add(file.resolve())
                    yield from _read_path(file, file.relative_to(path).as_posix(), suffixes)
        elif path.resolve() not in read:
            read.add(path.resolve())
            yield from _read_path(path, path.name, suffixes)


def _read_path(path: Path, name: str, suffixes: frozenset[str]) -> Iterator[ExportFile]:
    try:
        if path.suffix.lower() in _ARCHIVES:
            yield from _read_archive(path, suffixes)
        elif path.suffix.lower() in _OPENED_BY_READERS:
            yield ExportFile(str(path), name, file=path)
        else:
            yield ExportFile(str(path), name, read_bytes(path))
    except UnreadableExportError as error:
        yield ExportFile(str(path), name, problem=error.diagnostic)
    except OSError as error:
        problem = Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.ERROR, error.strerror or type(error).__name__)
        yield ExportFile(str(path), name, problem=problem)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        UnreadableExportError: it is too large.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    if size > MAX_FILE:
        raise UnreadableExportError(f"the file has {size:,} bytes, more than the limit of {MAX_FILE:,}")
    return path.read_bytes()


def _read_archive(path: Path, suffixes: frozenset[str]) -> Iterator[ExportFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            wanted = [
                member
                for member in archive.infolist()
                if not member.is_dir() and PurePosixPath(member.filename).suffix.lower() in suffixes
            ]
            check_archive(archive, wanted)
            for member in wanted:
                shown = f"{path}!{member.filename}"
                try:
                    yield ExportFile(shown, member.filename, read_member(archive, member))
                except UnreadableExportError as error:
                    yield ExportFile(shown, member.filename, problem=error.diagnostic)
    except zipfile.BadZipFile:
        raise UnreadableExportError(
            "the archive is damaged or not complete: it has no readable table of contents",
            "download the export again",
            DiagnosticCode.ARTIFACT_DAMAGED,
        ) from None


def check_archive(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], limit: int = MAX_ARCHIVE) -> None:
    """Check the declared sizes of the members that are to be read, before any is unpacked.

    Raises:
        UnreadableExportError: the archive has too many members, or these are too large.
    """
    count = len(archive.infolist())
    if count > MAX_MEMBERS:
        raise UnreadableExportError(f"the archive has {count:,} members, more than the limit of {MAX_MEMBERS:,}")
    whole = sum(member.file_size for member in members)
    if whole > limit:
        raise UnreadableExportError(f"the archive has {whole:,} bytes unpacked, more than the limit of {limit:,}")
    for member in members:
        if member.file_size > SMALL and member.file_size > MAX_RATIO * max(member.compress_size, 1):
            raise UnreadableExportError(
                f"{member.filename!r} unpacks to {member.file_size // max(member.compress_size, 1):,} times its size, "
                f"more than the limit of {MAX_RATIO}: this looks like a zip bomb, and nothing of it was unpacked"
            )


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int = MAX_FILE) -> bytes:
    """Return the content of a member; never more than its declared size is unpacked.

    Raises:
        UnreadableExportError: it is damaged, encrypted, or too large.
    """
    if member.file_size > limit:
        raise UnreadableExportError(f"the member has {member.file_size:,} bytes, more than the limit of {limit:,}")
    try:
        with archive.open(member) as opened:
            content = opened.read(limit + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        message = "the member of the archive is damaged or encrypted"
        raise UnreadableExportError(message, code=DiagnosticCode.ARTIFACT_DAMAGED) from error
    if len(content) > limit:
        raise UnreadableExportError(f"the member has more than {limit:,} bytes")
    return content


def text_of(file: ExportFile) -> str:
    """Return the file as text.

    Raises:
        UnreadableExportError: it is not UTF-8 (or UTF-16 with its mark).
    """
    content = file.content
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"byte {error.start:,} is not {encoding.removesuffix('-sig').upper()}"
        raise UnreadableExportError(message, code=DiagnosticCode.INVALID_ENCODING) from None


def json_of(file: ExportFile) -> Any:
    """Return the file's JSON.

    Raises:
        UnreadableExportError: it is not valid, or nests too deeply.
    """
    try:
        return json.loads(text_of(file))
    except json.JSONDecodeError as error:
        message = f"line {error.lineno}, column {error.colno}: not valid JSON ({error.msg})"
        raise UnreadableExportError(message, "export it again", DiagnosticCode.ARTIFACT_DAMAGED) from None
    except RecursionError:
        raise UnreadableExportError("the JSON nests too deeply", code=DiagnosticCode.NESTING_TOO_DEEP) from None


def yaml_of(file: ExportFile) -> Any:
    """Return the file's YAML: plain values only, no objects.

    Raises:
        UnreadableExportError: it is not valid, is too large, or its aliases expand to too many values.
    """
    import yaml  # type: ignore[import-untyped]  # noqa: PLC0415  an extra

    from lineage_ingest.bi.yaml_scalars import core_schema_loader  # noqa: PLC0415  needs the extra

    text = text_of(file)
    if len(text) > MAX_YAML:
        raise UnreadableExportError(f"the YAML has {len(text):,} characters, more than the limit of {MAX_YAML:,}")
    try:
        value = yaml.load(text, core_schema_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        message = f"{where}not valid YAML"
        raise UnreadableExportError(message, "export it again", DiagnosticCode.ARTIFACT_DAMAGED) from None
    except RecursionError:
        raise UnreadableExportError("the YAML nests too deeply", code=DiagnosticCode.NESTING_TOO_DEEP) from None
    except ValueError as error:  # a date that does not exist
        message = f"a value of the YAML is not valid ({type(error).__name__})"
        raise UnreadableExportError(message, code=DiagnosticCode.ARTIFACT_DAMAGED) from None
    if _expanded_size(value) > MAX_VALUES:
        raise UnreadableExportError("the YAML's aliases expand to millions of values: nothing of it is read")
    return value


def _expanded_size(value: Any) -> float:
    """Return the number of values in a document in which aliases share values; infinite if one contains itself."""
    sizes: dict[int, float] = {}
    stack: list[tuple[Any, bool]] = [(value, False)]
    while stack:
        node, is_left = stack.pop()
        if not isinstance(node, dict | list):
            continue
        parts = list(node.values()) if isinstance(node, dict) else node
        if is_left:
            sizes[id(node)] = 1 + sum(
                sizes.get(id(part), math.inf) if isinstance(part, dict | list) else 1 for part in parts
            )
        elif id(node) not in sizes:
            sizes[id(node)] = math.inf  # until it is left: an alias of itself
            stack.append((node, True))
            stack.extend((part, False) for part in parts)
    return sizes.get(id(value), 1)


def csv_header(file: ExportFile) -> list[str]:
    """Return the header of a CSV file; nothing of an empty one.

    Raises:
        UnreadableExportError: it is not UTF-8.
    """
    return next(csv.reader(io.StringIO(text_of(file), newline="")), [])


def csv_rows(file: ExportFile) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file with a header, each with its line; values behind the last column are the rest.

    Raises:
        UnreadableExportError: it is not UTF-8, or a value is too large.
    """
    reader = csv.DictReader(io.StringIO(text_of(file), newline=""), restkey=REST_OF_ROW)
    try:
        for row in reader:
            values = {key: ",".join(value) if isinstance(value, list) else value or "" for key, value in row.items()}
            yield reader.line_num, values
    except csv.Error as error:
        raise UnreadableExportError(f"line {reader.line_num}: {error}", code=DiagnosticCode.ARTIFACT_DAMAGED) from None
