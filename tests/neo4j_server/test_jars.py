import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lineage.neo4j_server import resolvers
from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.jars import ensure_jars
from lineage.neo4j_server.java import Java
from lineage.neo4j_server.release import ARTIFACTS
from lineage.neo4j_server.resolvers import find_resolver
from tests.neo4j_server.programs import write_program

JAVA = Java(Path("/usr/bin/java"), 17)
# Maven's part in this: to put jars into the folder that it is told.
COPIES = """
for argument; do case "$argument" in -DoutputDirectory=*) target="${argument#*=}";; esac; done
mkdir -p "$target"
echo run >> "$(dirname "$0")/runs"
"""
COPIES_ALL = COPIES + "\n".join(f'touch "$target/{artifact.jar}"' for artifact in ARTIFACTS)


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    return tmp_path / "bin"


def test_jars_are_fetched_once(maven: Path, tmp_path: Path) -> None:
    write_program(maven, "mvn", COPIES_ALL)
    said: list[str] = []

    first = ensure_jars(JAVA, said.append, tmp_path / "cache")
    second = ensure_jars(JAVA, said.append, tmp_path / "cache")

    assert first == second
    assert {jar.name for jar in first.iterdir()} == {artifact.jar for artifact in ARTIFACTS}
    assert (maven / "runs").read_text() == "run\n"
    assert said == ["fetching Neo4j 5.26.18 (about 130 MB, once) with Maven"]


def test_progress_is_told_in_steps(maven: Path, tmp_path: Path) -> None:
    downloads = "\n".join(f"echo 'Downloaded from central: {n}.jar'" for n in range(60))
    write_program(maven, "mvn", COPIES_ALL + "\n" + downloads)
    said: list[str] = []

    ensure_jars(JAVA, said.append, tmp_path / "cache")

    assert [line.rpartition(": ")[2] for line in said[1:]] == ["25 jars", "50 jars"]


def test_a_fetch_that_fails_says_why_and_leaves_nothing(maven: Path, tmp_path: Path) -> None:
    write_program(maven, "mvn", COPIES + "echo '[ERROR] Could not transfer artifact'; exit 1")
    cache = tmp_path / "cache"

    with pytest.raises(ServerSetupError, match=r"could not fetch Neo4j 5\.26\.18: Could not transfer artifact"):
        ensure_jars(JAVA, lambda _: None, cache)

    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_a_fetch_that_lacks_a_jar_is_not_kept(maven: Path, tmp_path: Path) -> None:
    write_program(maven, "mvn", COPIES)

    with pytest.raises(ServerSetupError, match=r"Maven did not fetch neo4j-5\.26\.18\.jar"):
        ensure_jars(JAVA, lambda _: None, tmp_path / "cache")
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]


def test_a_cache_that_cannot_be_written_is_an_error(maven: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")

    with pytest.raises(ServerSetupError, match=r"cannot keep Neo4j's jars in .*cache"):
        ensure_jars(JAVA, lambda _: None, tmp_path / "cache")


def test_without_maven_and_pyspark_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolvers, "find_ivy", lambda: None)
    with pytest.raises(ServerSetupError, match="neither is here") as raised:
        find_resolver(JAVA, tmp_path, tmp_path, {"PATH": str(tmp_path)})
    assert "install Maven" in (raised.value.hint or "")
    assert "\n" not in f"{raised.value}{raised.value.hint}"


def test_without_maven_the_newest_ivy_of_pyspark_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "pyspark"
    (package / "jars").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    for version in ("2.5.1", "2.5.3"):
        (package / "jars" / f"ivy-{version}.jar").write_bytes(b"")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)  # where an earlier test imported the real one

    resolver = find_resolver(JAVA, tmp_path, tmp_path / "jars", {"PATH": ""})

    assert resolver.name == "Ivy"
    assert str(package / "jars" / "ivy-2.5.3.jar") in resolver.command


def test_both_programs_are_asked_for_the_pinned_artifacts(tmp_path: Path) -> None:
    maven = resolvers.maven_resolver(Path("mvn"), tmp_path, tmp_path)
    ivy = resolvers.ivy_resolver(JAVA, Path("ivy.jar"), tmp_path, tmp_path)

    space = "{http://maven.apache.org/POM/4.0.0}"
    of_maven = [
        tuple(dependency.findtext(f"{space}{part}") for part in ("groupId", "artifactId", "version"))
        for dependency in ET.fromstring(maven.text).iter(f"{space}dependency")
    ]
    of_ivy = [
        (dependency.get("org"), dependency.get("name"), dependency.get("rev"))
        for dependency in ET.fromstring(ivy.text).iter("dependency")
    ]
    assert of_maven == of_ivy == [(a.group, a.name, a.version) for a in ARTIFACTS]


def test_what_is_fetched_leaves_the_users_repositories_alone(tmp_path: Path) -> None:
    maven = resolvers.maven_resolver(Path("mvn"), tmp_path, tmp_path / "jars")
    assert f"-Dmaven.repo.local={tmp_path / 'repository'}" in maven.command
    assert maven.offline is not None
    assert "--offline" in maven.offline
    ivy = resolvers.ivy_resolver(JAVA, Path("ivy.jar"), tmp_path, tmp_path / "jars")
    assert ivy.command[ivy.command.index("-cache") + 1] == str(tmp_path / "cache")


def test_without_a_network_the_users_repository_is_read(maven: Path, tmp_path: Path) -> None:
    touched = " ".join(f"$folder/{artifact.jar}" for artifact in ARTIFACTS)
    write_program(
        maven,
        "mvn",
        'for one; do case "$one" in -DoutputDirectory=*) folder=${one#*=};; --offline) offline=1;; esac; done\n'
        f'[ "$offline" ] || {{ echo "[ERROR] no network"; exit 1; }}\nmkdir -p $folder; touch {touched}',
    )
    folder = ensure_jars(JAVA, lambda _: None, tmp_path / "cache")
    assert all((folder / artifact.jar).is_file() for artifact in ARTIFACTS)
