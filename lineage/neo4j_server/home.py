"""The home folder of a local server: its data, its password, and its saved state."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from lineage.frozen import frozen
from lineage.neo4j_server.errors import ServerSetupError

__all__ = ["HOME_VARIABLE", "USER", "ServerHome", "ServerState", "default_home", "exclusive"]

HOME_VARIABLE = "LINEAGE_NEO4J_HOME"
USER = "neo4j"


def default_home() -> Path:
    """Return the folder in LINEAGE_NEO4J_HOME, else one in the user's data folder."""
    if named := os.environ.get(HOME_VARIABLE):
        return Path(named)
    return platformdirs.user_data_path("lineage-graph", appauthor=False) / "neo4j"


@contextmanager
def exclusive(path: Path, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock file at `path` for the block; the operating system releases it if the process dies.

    `on_wait` is called once if another process holds it.
    """
    lock = FileLock(path)
    try:
        held = lock.acquire(blocking=False)
    except Timeout:
        if on_wait:
            on_wait()
        held = lock.acquire()
    with held:
        yield


@frozen
class ServerState:
    """The chosen ports, and the process started last (None after a stop)."""

    bolt_port: int
    http_port: int
    pid: int | None = None


@frozen
class ServerHome:
    """The paths inside one server's home folder."""

    folder: Path

    @classmethod
    def at(cls, folder: Path | None = None) -> ServerHome:
        """Return the home at `folder`, else at the default path."""
        return cls((folder or default_home()).expanduser().resolve())

    @property
    def configuration(self) -> Path:
        """The folder of neo4j.conf."""
        return self.folder / "conf"

    @property
    def data(self) -> Path:
        """The databases and their transaction logs."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.folder / "logs" / "neo4j.log"

    @property
    def console(self) -> Path:
        """The output of its process."""
        return self.folder / "logs" / "console.log"

    @property
    def credentials(self) -> Path:
        """The file with the password, which only its owner may read."""
        return self.folder / "credentials.json"

    @property
    def start_lock(self) -> Path:
        """Held while a server is started or stopped."""
        return self.folder / "start.lock"

    @property
    def initialised(self) -> bool:
        """Whether a server ran here before; from then on its first password can no longer be set."""
        return (self.data / "databases" / "system").exists()

    def prepare(self) -> None:
        """Create the folders, closed to other users.

        Raises:
            ServerSetupError: the folder cannot be written.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in (self.configuration, self.console.parent, self.data):
                folder.mkdir(exist_ok=True)
        except OSError as error:
            raise ServerSetupError(
                f"cannot write to {self.folder}: {error.strerror}",
                f"name another folder by --home or {HOME_VARIABLE}",
            ) from error

    def password(self) -> str | None:
        """Return the password, or None when none was generated yet.

        Raises:
            ServerSetupError: the file exists but cannot be read.
        """
        try:
            text = self.credentials.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ServerSetupError(f"cannot read {self.credentials}: {error.strerror}") from error
        try:
            return str(json.loads(text)["password"])
        except (ValueError, KeyError, TypeError) as error:
            raise ServerSetupError(
                f"{self.credentials} does not hold a password",
                "restore it, or remove the folder to begin anew",
            ) from error

    def create_password(self) -> str:
        """Generate a password, save it in a file that only its owner may read, and return it."""
        password = secrets.token_hex(24)
        text = json.dumps({"user": USER, "password": password}, indent=2) + "\n"
        descriptor = os.open(self.credentials, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return password

    def state(self) -> ServerState | None:
        """Return the saved state, or None if no server was started (or the file is damaged)."""
        try:
            return ServerState(**json.loads(self._state_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def remember(self, state: ServerState) -> None:
        """Save the state atomically."""
        written = self._state_file.with_suffix(".new")
        written.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
        written.replace(self._state_file)

    @property
    def _state_file(self) -> Path:
        return self.folder / "server.json"
