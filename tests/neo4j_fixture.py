"""A real Neo4j for the tests: the first that is there of a named one, a Docker engine's, a local one."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest
from testcontainers.community.neo4j import Neo4jContainer

from lineage.neo4j_server import ServerError, ServerSettings, start_server, startup
from lineage.neo4j_server.home import exclusive
from lineage.neo4j_server.ports import free_port
from lineage.neo4j_server.release import VERSION
from lineage.neo4j_server.settings import render_configuration
from tests.java_options import SHORT_LIVED

URI_VARIABLE = "LINEAGE_TEST_NEO4J_URI"
GROUP = "neo4j"
IMAGE = f"neo4j:{VERSION}-community"
REPLANNING = "dbms.cypher.min_replan_interval"
REPLANNED_AFTER = "1d"
LOCKS = Path("/tmp")
"""The folder of locks, which all processes of a machine share, whatever TMPDIR says."""


class Neo4jAddress(NamedTuple):
    """Where a Neo4j answers, and who may log in. The tests empty its database."""

    uri: str
    user: str
    password: str


@pytest.fixture(scope="session")
def neo4j_uri() -> Iterator[Neo4jAddress]:
    """A running Neo4j for the whole session; without one the tests that need it fail."""
    with ExitStack() as stack:
        missing = None
        try:
            address = first_there_is(stack)
        except ServerError as error:
            missing = f"no Neo4j for the tests: {error}; {error.hint}"
        if missing:
            pytest.fail(missing, pytrace=False)
        yield address


def first_there_is(stack: ExitStack) -> Neo4jAddress:
    """Return a Neo4j that answers, ended with `stack` if it was started here.

    Raises:
        ServerError: none is named, none is in a container, and this machine cannot run one.
    """
    if uri := os.environ.get(URI_VARIABLE):
        # Two processes of tests that empty one database would empty it under each other.
        name = hashlib.sha256(uri.encode()).hexdigest()[:12]
        stack.enter_context(exclusive(LOCKS / f"lineage-tests-{name}.lock"))
        user = os.environ.get(f"{URI_VARIABLE[:-4]}_USER", "neo4j")
        return Neo4jAddress(uri, user, os.environ.get(f"{URI_VARIABLE[:-4]}_PASSWORD", ""))
    if container_ready():
        variable = f"NEO4J_{REPLANNING.replace('_', '__').replace('.', '_')}"
        container = Neo4jContainer(IMAGE, password="lineage-tests").with_env(variable, REPLANNED_AFTER)
        stack.enter_context(container)
        return Neo4jAddress(container.get_connection_url(), container.username, container.password)
    return stack.enter_context(local_neo4j())


def container_ready() -> bool:
    """Return whether a Docker engine answers, at once, and has the image or may fetch it."""
    return _docker("version", timeout=5) and (
        _docker("image", "inspect", IMAGE, timeout=5) or _docker("pull", "--quiet", IMAGE, timeout=600)
    )


def _docker(*arguments: str, timeout: float) -> bool:
    try:
        answer = subprocess.run(["docker", *arguments], capture_output=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


@contextmanager
def local_neo4j() -> Iterator[Neo4jAddress]:
    """Start a Neo4j in a folder of its own; it is gone after the block, and after a crash of this process."""
    home = Path(tempfile.mkdtemp(prefix="lineage-neo4j-"))
    with _removed_with_us(home):
        with short_lived_java(), _settled_plans():
            server = start_server(ServerSettings(bolt_port=free_port(), http_port=free_port()), home)
        yield Neo4jAddress(server.bolt_uri, server.user, server.password)


@contextmanager
def short_lived_java() -> Iterator[None]:
    """Let each Java that is started meanwhile compile less: most of a server's first half minute is its compiler's."""
    with patch.dict(os.environ, JDK_JAVA_OPTIONS=" ".join(SHORT_LIVED)):
        yield


@contextmanager
def _settled_plans() -> Iterator[None]:
    """Let each server that is started meanwhile keep its plans of queries: tests fill and empty one database all along,
    and planning every query anew for what is in it takes a third of the processor time of all tests with Neo4j.
    """

    def with_setting(settings: ServerSettings, bolt_port: int, http_port: int) -> str:
        return f"{render_configuration(settings, bolt_port, http_port)}{REPLANNING}={REPLANNED_AFTER}\n"

    with patch.object(startup, "render_configuration", with_setting):
        yield


@contextmanager
def _removed_with_us(home: Path) -> Iterator[None]:
    # The watcher reads a pipe that only we hold: it ends when we let go of it or die.
    place = shlex.quote(str(home))
    pid = f'"$(sed -n \'s/.*"pid": \\([0-9]*\\).*/\\1/p\' {place}/server.json)"'
    script = f"cat >/dev/null; kill -KILL {pid}; sleep 0.5; rm -rf {place}"
    with subprocess.Popen(
        ["/bin/sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):
        yield
