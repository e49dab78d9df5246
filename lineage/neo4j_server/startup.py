"""Start the local server of one home folder."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

from lineage.neo4j_server import process
from lineage.neo4j_server.errors import ServerSetupError, ServerStartError
from lineage.neo4j_server.home import ServerHome, ServerState, exclusive
from lineage.neo4j_server.jars import Report, ensure_jars
from lineage.neo4j_server.java import Java, find_java
from lineage.neo4j_server.managed import ManagedServer, managed_server, process_marks
from lineage.neo4j_server.ports import choose_port
from lineage.neo4j_server.probe import ServerReply
from lineage.neo4j_server.release import ADMIN_CLASS, JVM_OPTIONS
from lineage.neo4j_server.settings import ServerSettings, render_configuration

__all__ = ["start_server"]

_BOLT_PORT, _HTTP_PORT = 7687, 7474
_POLL_SECONDS = 0.2
_LOG_LINES = 6


def start_server(
    settings: ServerSettings | None = None,
    home: Path | None = None,
    *,
    timeout: float = 120.0,
    cache: Path | None = None,
    report: Report = lambda _: None,
) -> ManagedServer:
    """Start the local server, unless it is running, and return it once it answers queries.

    `timeout` is in seconds and excludes the download of the jars (into `cache`); `report` receives progress messages.

    Raises:
        ServerSetupError: Java, Maven or a requested port is not available, or the home folder cannot be used.
        ServerStartError: the server exited, or did not answer in time (one started by this call is then stopped).
    """
    place = ServerHome.at(home)
    place.prepare()
    with exclusive(place.start_lock, lambda: report("waiting for another process that is starting Neo4j")):
        running = managed_server(place.folder)
        if running:
            _wait_until_it_answers(running, timeout)
            return running
        java = find_java()
        jars = ensure_jars(java, report, cache)
        report("starting Neo4j")
        return _start(place, settings or ServerSettings(), java, jars, timeout)


def _start(place: ServerHome, settings: ServerSettings, java: Java, jars: Path, timeout: float) -> ManagedServer:
    before = place.state()
    bolt = choose_port("Bolt", settings.bolt_port, before.bolt_port if before else None, _BOLT_PORT)
    http = choose_port("HTTP", settings.http_port, before.http_port if before else None, _HTTP_PORT)
    (place.configuration / "neo4j.conf").write_text(render_configuration(settings, bolt, http), encoding="utf-8")
    password = _ensure_password(place, java, jars)
    place.log.unlink(missing_ok=True)
    command = (
        *_java_command(java, jars, f"-Xms{settings.heap}", f"-Xmx{settings.heap}", *JVM_OPTIONS),
        *(*process_marks(place), f"--config-dir={place.configuration}"),
    )
    with contextlib.ExitStack() as undo:
        pid = process.spawn(command, place.console)
        undo.callback(process.terminate, pid, process_marks(place), 5.0)
        state = ServerState(bolt, http, pid)
        place.remember(state)
        server = ManagedServer.described(place, state, pid, password)
        _wait_until_it_answers(server, timeout)
        undo.pop_all()
    return server


def _java_command(java: Java, jars: Path, *options: str) -> tuple[str, ...]:
    return (str(java.path), *options, "-cp", f"{jars}{os.sep}*")


def _ensure_password(place: ServerHome, java: Java, jars: Path) -> str:
    password = place.password()
    if place.initialised:
        if password is None:
            raise ServerSetupError(
                f"{place.credentials} is gone, and with it the password of the data beside it",
                f"restore it, or remove {place.folder} to begin with an empty database",
            )
        return password
    password = password or place.create_password()
    # In a file, because other users can see command lines.
    with tempfile.NamedTemporaryFile("w", dir=place.folder, prefix="password.", encoding="utf-8") as file:
        file.write(password)
        file.flush()
        answer = subprocess.run(
            [*_java_command(java, jars), ADMIN_CLASS, "dbms", "set-initial-password", f"@{file.name}"],
            env={**os.environ, "NEO4J_HOME": str(place.folder), "NEO4J_CONF": str(place.configuration)},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    if answer.returncode != 0:
        lines = (answer.stderr or answer.stdout).strip().splitlines()
        raise ServerStartError(f"Neo4j did not take its initial password: {lines[-1] if lines else 'no reason given'}")
    return password


def _wait_until_it_answers(server: ManagedServer, timeout: float) -> None:
    place = ServerHome(server.home)
    deadline = time.monotonic() + timeout
    while (answer := server.ask()) is not ServerReply.READY:
        if answer is ServerReply.REFUSED:
            raise ServerStartError(
                f"Neo4j refuses the password in {place.credentials}",
                "if it was changed, write the new one there",
            )
        if time.monotonic() > deadline:
            raise ServerStartError(
                f"Neo4j did not answer within {timeout:g} s; {_log_tail(place)}",
                "give it longer by --timeout, or more memory by --heap",
            )
        # Ask before checking the process: until the shell has started Java, its command line has no marks.
        time.sleep(_POLL_SECONDS)
        if not server.running:
            raise ServerStartError(f"Neo4j ended while it was starting; {_log_tail(place)}")


def _log_tail(place: ServerHome) -> str:
    for path in (place.log, place.console):
        with contextlib.suppress(OSError):
            if lines := path.read_text(encoding="utf-8", errors="replace").strip().splitlines():
                return f"the end of {path}:\n" + "\n".join(f"  {line}" for line in lines[-_LOG_LINES:])
    return f"nothing was written to {place.log}"
