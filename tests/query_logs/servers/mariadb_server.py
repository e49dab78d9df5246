"""A real MariaDB for tests: of this machine (`make test` installs it), in a temporary folder, reached by a socket."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.query_logs.servers.unprivileged import run_as

__all__ = ["MariadbServer", "MariadbSession", "running_mariadb"]

_START = 30


class MariadbServer:
    """A server's folder, and what can be done with it."""

    def __init__(self, home: Path, process: subprocess.Popen[bytes]) -> None:
        self.home = home
        self._process = process

    def session(self, database: str = "") -> MariadbSession:
        """Begin a session."""
        return MariadbSession(self.home / "socket", database)

    def stop(self) -> None:
        """Stop the server: its logs are whole then."""
        self._process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self._process.kill()


class MariadbSession:
    """A session of the client, which waits for the end of each statement."""

    def __init__(self, socket: Path, database: str) -> None:
        self._sent = 0
        command = ["mariadb", "--no-defaults", f"--socket={socket}", "-u", "root", "-n", "-N", "-B", "--force", "-A"]
        self._process = subprocess.Popen(
            [*command, database] if database else command,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
        )  # fmt: skip
        self.run("SELECT 1")

    def run(self, text: str) -> str:
        """Send a statement; return what came back."""
        assert self._process.stdin is not None
        self._sent += 1
        mark = f"sent {self._sent}"
        end = f"\n{text[-2:]}\nDELIMITER ;" if text.endswith("//") else ";"
        begin = "DELIMITER //\n" if text.endswith("//") else ""
        self._process.stdin.write(f"{begin}{text.removesuffix('//')}{end}\nSELECT '{mark}';\n")
        self._process.stdin.flush()
        said = ""
        for line in self._process.stdout or ():
            if line.strip() == mark:
                break
            said += line
        return said

    def close(self) -> None:
        """End the session."""
        self._process.communicate()

    def __enter__(self) -> MariadbSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def running_mariadb(**settings: str) -> Iterator[MariadbServer]:
    """Run a server until the end of the block."""
    server = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert server is not None, (
        "the tests need MariaDB (mariadb-server-core, mariadb-client-core): make test installs it"
    )
    home = Path(tempfile.mkdtemp(prefix="lineage-mariadb-"))
    user = run_as(home)
    own = (f"--datadir={home / 'data'}", f"--tmpdir={home}")
    install = (
        "mariadb-install-db",
        "--no-defaults",
        *own,
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
    )
    subprocess.run(install, check=True, capture_output=True, cwd=home, **user)
    common = (*own, "--skip-networking", "--skip-name-resolve", "--innodb-buffer-pool-size=16M")
    logs = {"general_log_file": str(home / "general.log"), "slow_query_log_file": str(home / "slow.log")}
    given = {"socket": str(home / "socket"), "pid-file": str(home / "pid"), **logs, **settings}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
    with (home / "console").open("w") as console:
        process = subprocess.Popen(
            (server, "--no-defaults", *common, *options), stdout=console, stderr=console, cwd=home, **user
        )
    running = MariadbServer(home, process)
    try:
        until = time.monotonic() + _START
        while not (home / "socket").exists():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError((home / "console").read_text())
            time.sleep(0.05)
        yield running
    finally:
        running.stop()
        shutil.rmtree(home, ignore_errors=True)
