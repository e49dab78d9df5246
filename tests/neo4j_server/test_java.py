from pathlib import Path

import pytest

from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.java import find_java, java_version
from tests.neo4j_server.programs import java_saying, write_program


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_version_is_read_from_what_java_prints(text: str, version: int | None) -> None:
    assert java_version(text) == version


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    wanted = java_saying(tmp_path / "home" / "bin", "21.0.1")
    java_saying(tmp_path / "path", "17.0.1")

    found = find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": f"{tmp_path / 'path'}"})

    assert (found.path, found.version) == (wanted, 21)


def test_an_old_java_home_gives_way_to_a_newer_java_on_path(tmp_path: Path) -> None:
    java_saying(tmp_path / "home" / "bin", "11.0.2")
    newer = java_saying(tmp_path / "path", "17.0.1")

    assert find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path")}).path == newer


def test_without_java_the_error_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ServerSetupError, match="needs Java 17 or newer; found none") as raised:
        find_java({"PATH": str(tmp_path)})
    assert "install OpenJDK 17 or newer" in (raised.value.hint or "")


def test_with_an_old_java_only_the_error_names_it(tmp_path: Path) -> None:
    old = java_saying(tmp_path, "11.0.2")

    with pytest.raises(ServerSetupError, match=f"found Java 11 at {old}"):
        find_java({"PATH": str(tmp_path)})


def test_a_launcher_without_java_behind_it_is_none(tmp_path: Path) -> None:
    write_program(tmp_path, "java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")

    with pytest.raises(ServerSetupError, match="found none"):
        find_java({"PATH": str(tmp_path)})
