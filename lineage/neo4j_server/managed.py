"""The local server of one home folder: find it, report its status, and stop it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from lineage.frozen import frozen
from lineage.neo4j_server import process
from lineage.neo4j_server.home import USER, ServerHome, ServerState, exclusive
from lineage.neo4j_server.probe import ServerReply, answers_bolt, ask_over_http
from lineage.neo4j_server.release import SERVER_CLASS
from lineage.neo4j_server.settings import HOST

__all__ = ["ManagedServer", "ServerStatus", "managed_server", "process_marks", "server_status", "stop_server"]


@frozen
class ManagedServer:
    """A running local server: its addresses and login."""

    bolt_uri: str
    http_uri: str
    user: str
    password: str
    pid: int
    home: Path

    @classmethod
    def described(cls, place: ServerHome, state: ServerState, pid: int, password: str) -> ManagedServer:
        """Return the server with this saved state and password."""
        return cls(
            bolt_uri=f"bolt://{HOST}:{state.bolt_port}",
            http_uri=f"http://{HOST}:{state.http_port}",
            user=USER,
            password=password,
            pid=pid,
            home=place.folder,
        )

    @property
    def browser_uri(self) -> str:
        """The address of Neo4j Browser."""
        return f"{self.http_uri}/browser/"

    @property
    def running(self) -> bool:
        """Whether its process exists."""
        return process.is_running(self.pid, process_marks(ServerHome(self.home)))

    def ask(self) -> ServerReply:
        """Return the server's current response, over Bolt and HTTP."""
        bolt, http = (int(uri.rpartition(":")[2]) for uri in (self.bolt_uri, self.http_uri))
        return ask_over_http(http, self.user, self.password) if answers_bolt(bolt) else ServerReply.NONE


@frozen
class ServerStatus:
    """The status of a running server: whether it responds, and its memory and disk usage."""

    server: ManagedServer
    responding: bool
    memory_bytes: int | None
    store_bytes: int


def process_marks(place: ServerHome) -> tuple[str, str]:
    """Return the command line arguments that identify the process of this home's server, in order."""
    return SERVER_CLASS, f"--home-dir={place.folder}"


def managed_server(home: Path | None = None) -> ManagedServer | None:
    """Return the local server if its process is running, else None; whether it responds is not checked.

    Raises:
        ServerSetupError: its password file cannot be read.
    """
    place = ServerHome.at(home)
    state = place.state()
    if state is None or state.pid is None or not process.is_running(state.pid, process_marks(place)):
        return None
    password = place.password()
    return ManagedServer.described(place, state, state.pid, password) if password else None


def server_status(home: Path | None = None) -> ServerStatus | None:
    """Return the status of the local server, or None if it is not running."""
    server = managed_server(home)
    if server is None:
        return None
    data = ServerHome.at(home).data
    return ServerStatus(server, server.ask() is ServerReply.READY, process.resident_bytes(server.pid), _size(data))


def stop_server(home: Path | None = None, *, timeout: float = 60.0) -> bool:
    """Stop the local server, killing it after `timeout` seconds; return whether one was running.

    Raises:
        ServerStartError: its process does not exit.
    """
    place = ServerHome.at(home)
    if not place.folder.is_dir():
        return False
    with exclusive(place.start_lock):
        state = place.state()
        if state is None or state.pid is None:
            return False
        was_running = process.is_running(state.pid, process_marks(place))
        process.terminate(state.pid, process_marks(place), timeout)
        place.remember(ServerState(state.bolt_port, state.http_port))
        return was_running


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        # Neo4j may delete files during the scan.
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total
