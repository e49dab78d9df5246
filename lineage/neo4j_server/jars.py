"""Neo4j's jars: downloaded once, and cached in the user's cache folder."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path

import platformdirs

from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.home import exclusive
from lineage.neo4j_server.java import Java
from lineage.neo4j_server.release import ARTIFACTS, VERSION
from lineage.neo4j_server.resolvers import JarResolver, find_resolver

__all__ = ["Report", "default_cache", "ensure_jars"]

Report = Callable[[str], None]
"""Called with a one-line progress message; each message replaces the previous one."""

_MEGABYTES = 130
_REPORT_EVERY = 25


def default_cache() -> Path:
    """Return this program's folder in the user's cache."""
    return platformdirs.user_cache_path("lineage-graph", appauthor=False)


def ensure_jars(java: Java, report: Report, cache: Path | None = None) -> Path:
    """Return the folder with Neo4j's jars, downloading them if they are missing.

    The folder appears atomically. If two processes need it, one downloads and the other waits.

    Raises:
        ServerSetupError: no program can download them, the disk is full, or the download failed.
    """
    # The name contains every pinned version, so a new version gets a new folder.
    name = "-".join(("neo4j", *dict.fromkeys(artifact.version for artifact in ARTIFACTS)))
    folder = (cache or default_cache()) / name
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.parent / f"{name}.lock"
        with exclusive(lock, lambda: report("waiting for another process that is fetching Neo4j")):
            if not folder.is_dir():
                _fetch_into(folder, java, report)
    except OSError as error:
        raise ServerSetupError(
            f"cannot keep Neo4j's jars in {folder.parent}: {error.strerror or error}",
            f"make the folder writable, with {_MEGABYTES} MB of room",
        ) from error
    return folder


def _fetch_into(folder: Path, java: Java, report: Report) -> None:
    work = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        target = work / "jars"
        resolver = find_resolver(java, work, target)
        report(f"fetching Neo4j {VERSION} (about {_MEGABYTES} MB, once) with {resolver.name}")
        _run(resolver, report)
        missing = [artifact.jar for artifact in ARTIFACTS if not (target / artifact.jar).is_file()]
        if missing:
            raise ServerSetupError(f"{resolver.name} did not fetch {', '.join(missing)}", "try again")
        target.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(resolver: JarResolver, report: Report) -> None:
    """Download the jars; if that fails, copy them from the local repository.

    Raises:
        ServerSetupError: neither worked.
    """
    resolver.project.write_text(resolver.text, encoding="utf-8")
    try:
        _run_command(resolver, resolver.command, report)
    except ServerSetupError as error:
        if resolver.offline is None:
            raise
        try:
            _run_command(resolver, resolver.offline, report)
        except ServerSetupError:
            raise error from None


def _run_command(resolver: JarResolver, command: tuple[str, ...], report: Report) -> None:
    errors: deque[str] = deque(maxlen=30)
    jars = 0
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            if all(mark in line for mark in resolver.fetched):
                jars += 1
                if jars % _REPORT_EVERY == 0:
                    report(f"fetching Neo4j {VERSION} with {resolver.name}: {jars} jars")
            elif resolver.error in line:
                errors.append(line.replace(resolver.error, "").strip())
    if process.returncode != 0:
        reason = next(filter(None, errors), f"it ended with {process.returncode} and did not say why")
        raise ServerSetupError(
            f"{resolver.name} could not fetch Neo4j {VERSION}: {reason}",
            f"check that {resolver.name} reaches Maven Central from this machine, then try again",
        )
