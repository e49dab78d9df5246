"""The files of seeds: the one that dbt has read has the checksum that is in the manifest, whatever its name is now."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase

from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode

__all__ = ["header_of", "rows_of"]

_LARGEST = 1024 * 1024
"""Bytes. dbt has no checksum of the content of larger seeds."""


def rows_of(node: DbtNode, folder: Path | None) -> list[list[str]] | None:
    """Return the rows of the file that dbt has read, the header first; None if it is not in the project's folder.

    The folder may be of another revision, in which the file has other content, or another name.
    """
    if node.checksum.name != "sha256":
        return None
    for path in (*_own_files(node, folder), *_other_files(node, folder)):
        try:
            text = path.read_bytes().decode("utf-8")  # its line ends count in the checksum
        except (OSError, UnicodeDecodeError):
            continue
        if node.checksum.checksum in {hashlib.sha256(one.encode()).hexdigest() for one in (text, text.strip())}:
            try:
                listed = io.StringIO(text.removeprefix("\ufeff"))
                return list(csv.reader(listed, delimiter=node.config.delimiter or ","))
            except (csv.Error, TypeError):  # a delimiter must have one character
                return None
    return None


def header_of(node: DbtNode, folder: Path | None) -> list[str]:
    """Return the names of a seed's columns; none if its file cannot be read.

    If dbt has read another content than its file has now, they are those of now.
    """
    for row in rows_of(node, folder) or ():
        return _names_in(row)
    return next(_headers(node, folder), [])


def _names_in(row: Sequence[str]) -> list[str]:
    """Return the names that dbt gives to columns: a missing one is a letter, a repeated one has a number (agate).

    >>> _names_in(["id", " id", "", "id"])
    ['id', 'id_2', 'c', 'id_3']
    """
    names: dict[str, None] = {}
    for number, cell in enumerate(row):
        name = base = cell.strip() or ascii_lowercase[number % 26] * (number // 26 + 1)
        repeated = 1
        while name in names:
            repeated += 1
            name = f"{base}_{repeated}"
        names[name] = None
    return list(names)


def _headers(node: DbtNode, folder: Path | None) -> Iterator[list[str]]:
    for path in _own_files(node, folder):
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                row = next(csv.reader(file, delimiter=node.config.delimiter or ","), [])
        except (OSError, UnicodeDecodeError, csv.Error, TypeError):
            continue
        if row:
            yield _names_in(row)


def _roots(node: DbtNode, folder: Path | None) -> Iterator[Path]:
    yield from dict.fromkeys(filter(None, (folder, Path(node.root_path) if node.root_path else None)))


def _own_files(node: DbtNode, folder: Path | None) -> Iterator[Path]:
    return (root / node.original_file_path for root in _roots(node, folder))


def _other_files(node: DbtNode, folder: Path | None) -> Iterator[Path]:
    """Yield the other files in the project's folder of seeds that are as small as those with a checksum."""
    inner = Path(node.original_file_path).parts
    if len(inner) < 2 or ".." in inner:
        return
    for root in _roots(node, folder):
        for path in sorted((root / inner[0]).rglob("*.csv")):
            try:
                if path.stat().st_size <= _LARGEST:
                    yield path
            except OSError:
                continue
