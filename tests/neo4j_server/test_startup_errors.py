import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lineage.cli.commands.neo4j import app
from lineage.neo4j_server import ServerSettings, ServerSetupError, ServerStartError
from lineage.neo4j_server.home import ServerHome, ServerState
from lineage.neo4j_server.managed import managed_server
from lineage.neo4j_server.ports import free_port
from lineage.neo4j_server.release import ARTIFACTS
from lineage.neo4j_server.startup import start_server
from tests.neo4j_server.programs import java_saying, write_program

# A Java that answers its version and takes a password, and whose server does as the test says.
JAVA = """
case "$*" in
  -version) echo 'openjdk version "17.0.1"' >&2;;
  *set-initial-password*) exit 0;;
  *) {server};;
esac
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache" / "neo4j-5.26.18-5.24.0"
    folder.mkdir(parents=True)
    for artifact in ARTIFACTS:
        (folder / artifact.jar).touch()
    return folder.parent


def _start(tmp_path: Path, cache: Path, timeout: float) -> None:
    settings = ServerSettings(bolt_port=free_port(), http_port=free_port())
    start_server(settings, tmp_path / "home", timeout=timeout, cache=cache)


def test_a_server_that_ends_is_reported_with_the_end_of_its_log(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(tmp_path / "jdk" / "bin", "java", JAVA.format(server="echo 'no memory left'; exit 1"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))

    with pytest.raises(ServerStartError, match=r"ended while it was starting; the end of .*\n  no memory left"):
        _start(tmp_path, cache, timeout=20)


def test_a_server_that_does_not_answer_is_ended(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = "echo 'thinking'; while :; do sleep 0.05; done"
    write_program(tmp_path / "jdk" / "bin", "java", JAVA.format(server=server))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))

    with pytest.raises(ServerStartError, match=r"did not answer within 1 s; the end of .*\n  thinking") as raised:
        _start(tmp_path, cache, timeout=1)

    assert "--timeout" in (raised.value.hint or "")
    assert managed_server(tmp_path / "home") is None


def test_data_without_its_password_file_is_not_started(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java_saying(tmp_path / "jdk" / "bin", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    (tmp_path / "home" / "data" / "databases" / "system").mkdir(parents=True)

    with pytest.raises(ServerSetupError, match=r"credentials\.json is gone"):
        _start(tmp_path, cache, timeout=1)


def test_a_process_of_another_program_is_not_taken_for_the_server(tmp_path: Path) -> None:
    home = ServerHome.at(tmp_path)
    home.prepare()
    home.create_password()
    home.remember(ServerState(7687, 7474, pid=1))

    assert managed_server(tmp_path) is None


def test_status_of_no_server_exits_with_3(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["status", "--home", str(tmp_path), "--format", "json"])

    assert answer.exit_code == 3
    assert json.loads(answer.stdout) == {"running": False, "home": str(tmp_path)}


def test_stopping_what_does_not_run_is_no_error(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["stop", "--home", str(tmp_path / "none")])

    assert answer.exit_code == 0
    assert "is not running" in answer.stdout


def test_start_without_java_is_one_line_and_exits_with_2(tmp_path: Path) -> None:
    environment = {"JAVA_HOME": "", "PATH": str(tmp_path)}
    answer = CliRunner().invoke(app, ["start", "--home", str(tmp_path / "home")], env=environment)

    assert answer.exit_code == 2
    assert answer.stderr.startswith("error: Neo4j needs Java 17 or newer; found none; install OpenJDK")
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""


def test_start_with_a_wrong_size_exits_with_2(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["start", "--home", str(tmp_path), "--heap", "lots"])

    assert answer.exit_code == 2
    assert "error: heap of 'lots' is not a size; write it as 512m or 2g\n" in answer.stderr
