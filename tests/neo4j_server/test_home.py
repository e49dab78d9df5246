import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.home import ServerHome, ServerState, default_home, exclusive


@pytest.fixture
def home(tmp_path: Path) -> ServerHome:
    place = ServerHome.at(tmp_path / "home")
    place.prepare()
    return place


def test_only_its_owner_may_read_the_password(home: ServerHome) -> None:
    password = home.create_password()

    assert stat.S_IMODE(home.credentials.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700
    assert home.password() == password
    assert len(password) >= 32


def test_two_homes_have_two_passwords(tmp_path: Path) -> None:
    places = [ServerHome.at(tmp_path / name) for name in ("a", "b")]
    for place in places:
        place.prepare()
    assert len({place.create_password() for place in places}) == 2


def test_a_password_is_never_overwritten(home: ServerHome) -> None:
    home.create_password()
    with pytest.raises(FileExistsError):
        home.create_password()


@pytest.mark.parametrize("text", ["", "{}", "[]", "not json"])
def test_a_damaged_password_file_says_what_to_do(home: ServerHome, text: str) -> None:
    home.credentials.write_text(text)
    with pytest.raises(ServerSetupError, match="does not hold a password") as raised:
        home.password()
    assert "restore it" in (raised.value.hint or "")


def test_state_is_remembered(home: ServerHome) -> None:
    assert home.state() is None
    home.remember(ServerState(1, 2, 3))
    assert home.state() == ServerState(1, 2, 3)


@pytest.mark.parametrize("text", ["", "[]", json.dumps({"bolt_port": 1})])
def test_a_damaged_state_is_as_none(home: ServerHome, text: str) -> None:
    (home.folder / "server.json").write_text(text)
    assert home.state() is None


def test_a_home_that_cannot_be_made_says_where_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerSetupError, match=r"cannot write to .*file") as raised:
        ServerHome.at(tmp_path / "file" / "home").prepare()
    assert "LINEAGE_NEO4J_HOME" in (raised.value.hint or "")


def test_the_environment_names_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LINEAGE_NEO4J_HOME", str(tmp_path))
    assert default_home() == tmp_path
    monkeypatch.delenv("LINEAGE_NEO4J_HOME")
    assert default_home().name == "neo4j"


WAITING = """
import sys
from pathlib import Path
from lineage.neo4j_server.home import exclusive
with exclusive(Path(sys.argv[1]), lambda: print("waits", flush=True)):
    print("has it", flush=True)
"""


def test_who_waits_for_a_lock_is_told(tmp_path: Path) -> None:
    waits: list[str] = []
    command = [sys.executable, "-c", WAITING, str(tmp_path / "lock")]
    with exclusive(tmp_path / "lock", lambda: waits.append("first")):
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert other.stdout is not None
        assert other.stdout.readline() == "waits\n"
    assert other.communicate(timeout=10)[0] == "has it\n"
    assert waits == []
