"""Who writes to a store file, by the kernel's list of locks; and whether its file system has locks at all."""

from __future__ import annotations

import os
import re
from pathlib import Path

from lineage.store.errors import StoreAccessError

__all__ = ["refuse_network_file_system", "shows_writers", "writer_of"]

_WRITER = 120
"""The byte of the `-shm` file that a writer locks (https://www.sqlite.org/walformat.html, section 2.3.3)."""
_LOCK = re.compile(r"\d+: POSIX +ADVISORY +WRITE (\d+) (\w+):(\w+):(\d+) (\d+) (\d+)")
_WORD = re.compile(r"[a-z][a-z-]*")
_OVER_A_NETWORK = frozenset({
    "afs", "beegfs", "ceph", "cifs", "coda", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "orangefs", "smb2",
    "smb3", "smbfs", "fuse.blobfuse", "fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs", "fuse.goofys", "fuse.juicefs",
    "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
})  # fmt: skip
_MOUNTS = Path("/proc/self/mountinfo")
_LOCKS = Path("/proc/locks")


def shows_writers() -> bool:
    """Return whether `writer_of` knows all writers."""
    return _LOCKS.exists()


def writer_of(path: Path) -> str | None:
    """Return the process that writes to a store, such as `process 4711 (lineage ingest)`; None if it is not known.

    Only Linux lists locks. The file beside the store is not opened: closing it would take this process's locks away.
    """
    try:
        file = os.stat(f"{path}-shm")
        listed = _LOCKS.read_text(encoding="utf-8")
    except OSError:
        return None
    device = os.major(file.st_dev), os.minor(file.st_dev)
    for process, major, minor, node, first, last in _LOCK.findall(listed):
        same = (int(major, 16), int(minor, 16), int(node)) == (*device, file.st_ino)
        if same and int(first) <= _WRITER <= int(last):
            is_own = int(process) == os.getpid()
            return "another thread of this process" if is_own else f"process {process}{_name_of(process)}"
    return None


def _name_of(process: str) -> str:
    """Return the words of its command line that say what it does: no paths, and nothing that may be secret."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
    except OSError:
        return ""
    for place, word in enumerate(words):
        if Path(word).name == "lineage":
            rest = words[place + 1 : place + 3]
            return f" ({' '.join(['lineage', *(word for word in rest if _WORD.fullmatch(word))])})"
    return f" ({Path(words[0]).name})" if words[0] else ""


def refuse_network_file_system(path: Path) -> None:
    """Refuse a place where the processes of several machines would share a store that only one can lock.

    Raises:
        StoreAccessError: the file system is a network's.
    """
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
        folder = path.parent.resolve()
    except OSError:
        return
    kind = _file_system_of(folder, mounts)
    if kind in _OVER_A_NETWORK:
        raise StoreAccessError(
            f"{path} is on a network file system ({kind}), which does not keep SQLite's locks and shared memory",
            "put the file on a local disk, and use `lineage serve` or Neo4j for other machines",
        )


def _file_system_of(folder: Path, mounts: str) -> str | None:
    """Return the type of the file system that a folder is on: that of the last mount of its nearest parent.

    >>> _file_system_of(Path("/data/x"), "1 0 0:1 / / rw - ext4 /dev/a rw\\n2 1 0:2 / /data rw - nfs4 server:/ rw")
    'nfs4'
    """
    nearest, kind = -1, None
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), fields[4]))
        if folder.is_relative_to(point) and len(point.parts) >= nearest:
            nearest, kind = len(point.parts), after.split(" ")[0]
    return kind
