"""Files in the user's cache folder that spare a later run some work: a whole one, or none.

A file is readable by its owner only. It is replaced in one step, so that two runs at once and a kill leave a whole one,
and its first bytes tell whether it is damaged. What cannot be read or written is done without.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import platformdirs

__all__ = ["SavedFile", "digest_of", "saved_files_folder"]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_SECONDS_UNFINISHED = 3_600
"""After that time, a file that was not finished is what a killed run left."""


def saved_files_folder(kind: str) -> Path:
    """Return the folder for the files of one kind, in the user's cache folder."""
    return platformdirs.user_cache_path("lineage-graph", appauthor=False) / kind


def digest_of(*parts: object) -> str:
    """Return a digest of values by their representation.

    >>> digest_of("a", 1) == digest_of("a", 1), digest_of("a", 1) == digest_of("a", "1")
    (True, False)
    """
    return hashlib.sha256("\x1f".join(map(repr, parts)).encode(errors="surrogatepass")).hexdigest()[:24]


class SavedFile:
    """One file of a folder whose oldest files are deleted when there are too many, or they are too large."""

    def __init__(self, path: Path, basis: str, *, max_files: int = 50, max_bytes: int = 1_000_000_000) -> None:
        """Name the file. `basis` identifies whatever its content depends on: with another one, it is not read."""
        self._path = path
        self._basis = basis.encode()
        self._max_files = max_files
        self._max_bytes = max_bytes

    def read(self) -> bytes | None:
        """Return the content; None if there is none of this basis, it is damaged, or others could have written it."""
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & _OTHERS_WRITE):
                    return None
                head = file.readline().split()
                content = file.read()
        except (OSError, MemoryError):
            return None
        return content if head == [self._basis, _checksum(self._basis, content)] else None

    def write(self, content: bytes) -> bool:
        """Replace the file; return whether that was possible. If it was not, the file is deleted."""
        folder = self._path.parent
        if len(content) > self._max_bytes:
            self.forget()
            return False
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=folder, prefix=f"{self._path.name}.", suffix=".new")
            new = Path(name)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(b"%s %s\n" % (self._basis, _checksum(self._basis, content)))
                    file.write(content)
                new.replace(self._path)
            except BaseException:
                new.unlink(missing_ok=True)
                raise
        except OSError:
            self.forget()
            return False
        self._make_room()
        return True

    def touch(self) -> None:
        """Note that the file is still used."""
        with suppress(OSError):
            os.utime(self._path)

    def forget(self) -> None:
        """Delete the file, if there is one."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _make_room(self) -> None:
        """Delete the oldest files of the folder, and unfinished ones."""
        files: list[tuple[float, int, Path]] = []
        with suppress(OSError):
            for path in self._path.parent.iterdir():
                with suppress(OSError):
                    at = path.stat()
                    files.append((at.st_mtime, at.st_size, path))
        kept, size = 1, sum(length for _, length, path in files if path == self._path)
        for at_time, length, path in sorted(files, reverse=True):
            if path == self._path:
                continue
            if path.suffix == ".new":
                gone = at_time < time.time() - _SECONDS_UNFINISHED
            else:
                kept, size = kept + 1, size + length
                gone = kept > self._max_files or size > self._max_bytes
            if gone:
                with suppress(OSError):
                    path.unlink(missing_ok=True)


def _checksum(basis: bytes, content: bytes) -> bytes:
    found = hashlib.sha256(basis)
    found.update(content)
    return found.hexdigest().encode()
