"""The server's process: start it detached from this process, recognize it, and stop it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from lineage.neo4j_server.errors import ServerStartError

__all__ = ["is_running", "resident_bytes", "spawn", "terminate"]

_PROC = Path("/proc")
_POLL_SECONDS = 0.1
# The shell exits, so init adopts the server: it outlives this process and init reaps it.
_DETACH = '"$@" >"$LINEAGE_CONSOLE" 2>&1 </dev/null & echo $!'


def spawn(command: Sequence[str | Path], console: Path) -> int:
    """Start a process that outlives this one, with its output in the file `console`; return its PID."""
    started = subprocess.run(
        ["/bin/sh", "-c", _DETACH, "sh", *command],
        env={**os.environ, "LINEAGE_CONSOLE": str(console)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        check=True,
    )
    return int(started.stdout)


def is_running(pid: int, marks: Sequence[str]) -> bool:
    """Return whether the process runs and its command line has all the marks as arguments.

    A PID alone is not enough: the system may have reused it.
    """
    command = f"{_command_line(pid)} "
    return all(f"{mark} " in command for mark in marks)


def resident_bytes(pid: int) -> int | None:
    """Return the resident memory of the process, or None if it is unknown."""
    if (_PROC / "self").exists():
        try:
            pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
        except (OSError, IndexError):
            return None
        return pages * os.sysconf("SC_PAGE_SIZE")
    kilobytes = _ps(pid, "rss=")
    return int(kilobytes) * 1024 if kilobytes.isdigit() else None


def terminate(pid: int, marks: Sequence[str], timeout: float) -> None:
    """Stop the process, and kill it after `timeout` seconds; a process without the marks is left alone.

    Raises:
        ServerStartError: it is still running after that.
    """
    for request, patience in ((signal.SIGTERM, timeout), (signal.SIGKILL, 10.0)):
        if not is_running(pid, marks):
            return
        try:
            os.kill(pid, request)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not is_running(pid, marks):
                return
            time.sleep(_POLL_SECONDS)
    raise ServerStartError(f"the server's process {pid} does not end", f"look at it with `ps -p {pid}`")


def _command_line(pid: int) -> str:
    if (_PROC / "self").exists():
        try:
            # Empty for a zombie process.
            return (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").rstrip()
        except OSError:
            return ""
    return _ps(pid, "command=")


def _ps(pid: int, column: str) -> str:
    answer = subprocess.run(["ps", "-ww", "-o", column, "-p", str(pid)], capture_output=True, text=True, check=False)
    return answer.stdout.strip()
