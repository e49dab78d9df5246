from __future__ import annotations

import fcntl
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import neo4j_fixture
from tests.neo4j_server.programs import write_program


def test_a_server_that_is_named_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(neo4j_fixture, "LOCKS", tmp_path)
    monkeypatch.setenv("LINEAGE_TEST_NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("LINEAGE_TEST_NEO4J_PASSWORD", "secret")

    with ExitStack() as stack:
        address = neo4j_fixture.first_there_is(stack)

        (lock,) = tmp_path.iterdir()
        with lock.open() as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    assert address == ("bolt://127.0.0.1:1", "neo4j", "secret")


@pytest.mark.parametrize(
    ("docker", "ready"),
    [
        (None, False),
        ("exit 1", False),
        ("exit 0", True),
        ('case "$1" in version) exit 0;; *) exit 1;; esac', False),
        ('case "$*" in version|"pull --quiet neo4j:5.26.18-community") exit 0;; *) exit 1;; esac', True),
    ],
    ids=["no docker", "no engine", "image is there", "image not to be had", "image is fetched"],
)
def test_a_container_needs_an_engine_and_the_image(
    docker: str | None, ready: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if docker:
        write_program(tmp_path, "docker", docker)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert neo4j_fixture.container_ready() is ready


def test_tests_that_use_neo4j_stay_in_one_process(request: pytest.FixtureRequest) -> None:
    using = [item for item in request.session.items if "neo4j_uri" in getattr(item, "fixturenames", ())]
    for item in using:
        assert [mark.args for mark in item.iter_markers("xdist_group")] == [("neo4j",)]
