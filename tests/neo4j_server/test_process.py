import os
import time
from pathlib import Path

from lineage.neo4j_server.process import is_running, resident_bytes, spawn, terminate
from tests.neo4j_server.programs import write_program


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)


def test_a_process_is_known_by_its_arguments_and_ended(tmp_path: Path) -> None:
    program = write_program(tmp_path, "server", "echo up; touch ready; while :; do sleep 0.05; done")
    program.write_text(program.read_text().replace("ready", str(tmp_path / "ready")))
    marks = ("Server", "--home-dir=/a/home")
    pid = spawn([program, *marks], tmp_path / "console")
    _wait_for(tmp_path / "ready")

    assert is_running(pid, marks)
    assert not is_running(pid, ("Server", "--home-dir=/a/ho"))
    assert not is_running(pid, ("Server", "--home-dir=/a/home2"))
    assert (resident_bytes(pid) or 0) > 0
    assert (tmp_path / "console").read_text() == "up\n"

    terminate(pid, marks, timeout=10)
    assert not is_running(pid, marks)


def test_a_process_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    program = write_program(tmp_path, "server", f"trap '' TERM; touch {ready}; while :; do sleep 0.05; done")
    pid = spawn([program, "stubborn"], tmp_path / "console")
    _wait_for(ready)

    terminate(pid, ("stubborn",), timeout=0.2)

    assert not is_running(pid, ("stubborn",))


def test_a_process_that_is_not_ours_is_left_alone() -> None:
    terminate(os.getpid(), ("--home-dir=/nowhere",), timeout=0.1)
    assert is_running(os.getpid(), ())
