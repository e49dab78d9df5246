"""SQLite's log of a store (`-wal`): does what SQLite reads of it end before what was committed?

SQLite ends its reading of a log at the first frame whose checksum is wrong, so a damaged frame makes what was committed
behind it disappear without an error. A log has a header of 32 bytes, then frames of 24 bytes and a page each; a frame
that ends a transaction says how many pages the database then has; all frames that count have the header's two salts
(https://www.sqlite.org/fileformat2.html#the_write_ahead_log). The file that processes share (`-shm`) has the number of
frames and the salts, too (https://www.sqlite.org/walformat.html, section 2.1): after a process was killed, it shows
whether the log was cut.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lineage.store.errors import StoreDamagedError
from lineage.store.sqlite.locks import shows_writers, writer_of

__all__ = ["Log", "holds_page", "is_cut", "log_of"]

Log = tuple[bytes, int]
"""The salts of a log, and the number of frames up to the last one that ends a transaction."""

_HEADER, _FRAME = struct.Struct(">4sIII8sII"), struct.Struct(">II8s8x")
_MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_HINT = "restore a backup, or do without what the log holds: `lineage store recover`; nothing was written over"
_PATIENCE = 1.0
"""Seconds for a writer to end, where nothing shows whether there is one."""


def log_of(path: Path, *, is_open: bool) -> Log | None:
    """Return what a store's log holds; None if there is no log, or nothing in it.

    Args:
        path: of the store.
        is_open: whether this process has the store open: closing the file that processes share would take its locks.

    Raises:
        StoreDamagedError: its header is damaged, so that SQLite would take it for empty.
    """
    try:
        with Path(f"{path}-wal").open("rb") as file:
            head = file.read(_HEADER.size)
            if not head:
                return None
            if len(head) < _HEADER.size or head[:4] not in _MAGIC or not _is_whole(head):
                raise StoreDamagedError(f"the header of {path}-wal is damaged, the log of what was stored last", _HINT)
            _, _, size, _, salts, _, _ = _HEADER.unpack(head)
            last, number, step = 0, 0, size or 65_536
            while len(frame := file.read(_FRAME.size)) == _FRAME.size:
                number += 1
                _, pages, own = _FRAME.unpack(frame)
                if own != salts:
                    break  # left over from before SQLite began the log anew
                last = number if pages else last
                file.seek(step, 1)
            if not is_open and not _has_length(path, salts, _HEADER.size, _FRAME.size + step):
                raise StoreDamagedError(f"{path}-wal was cut off, the log of what was stored last", _HINT)
            return salts, last
    except FileNotFoundError:
        return None


def holds_page(path: Path, wanted: int) -> bool:
    """Return whether a store's log has a page, which the next checkpoint writes into the store."""
    try:
        with Path(f"{path}-wal").open("rb") as file:
            head = file.read(_HEADER.size)
            if len(head) < _HEADER.size:
                return False
            _, _, size, _, salts, _, _ = _HEADER.unpack(head)
            while len(frame := file.read(_FRAME.size)) == _FRAME.size:
                page, _, own = _FRAME.unpack(frame)
                if (page, own) == (wanted, salts):
                    return True
                file.seek(size or 65_536, 1)
    except FileNotFoundError:
        pass
    return False


def is_cut(path: Path, before: Log, frames: Callable[[], int]) -> bool:
    """Return whether SQLite, whose `frames` are those that it reads, lacks some that were in the log before."""
    ends = time.monotonic() + (0 if shows_writers() else _PATIENCE)
    while frames() < before[1]:
        now = log_of(path, is_open=True)
        if now is None or now[0] != before[0]:
            return False  # another process has moved all of it into the database meanwhile
        # A writer tells others about a transaction when the disk has it, which may take seconds.
        if time.monotonic() > ends and writer_of(path) is None:
            return frames() < before[1]
        time.sleep(0.01)
    return False


def _has_length(path: Path, salts: bytes, head: int, frame: int) -> bool:
    """Return whether the log has all frames that the processes which had the store open knew of."""
    try:
        with Path(f"{path}-shm").open("rb") as file:
            known, again = file.read(48), file.read(48)
        length = os.stat(f"{path}-wal").st_size
    except OSError:
        return True
    if len(again) < 48 or known != again or known[32:40] != salts or not length:  # of another log, or moved meanwhile
        return True
    return length >= head + frame * int.from_bytes(known[16:20], sys.byteorder)


def _is_whole(head: bytes) -> bool:
    """Return whether the checksum of a header is right."""
    order = ">" if head[3] & 1 else "<"
    first = second = 0
    words = struct.unpack(f"{order}6I", head[:24])
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return (first, second) == struct.unpack(">II", head[24:])
