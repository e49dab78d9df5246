"""Stores of earlier versions open with the same graph, and are copied before a migration; reading changes nothing."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest

from lineage.store import StoreError, StoreSchemaError, open_store
from lineage.store.graph.schema import SCHEMA_VERSION
from lineage.store.moving import export_store, import_store
from lineage.store.sqlite import maintenance
from lineage.store.sqlite.statements import migrations
from tests.neo4j_fixture import Neo4jAddress
from tests.store.conftest import emptied
from tests.store.kept_version import FOLDER

KEPT = sorted(one.name.removesuffix(".db.gz") for one in FOLDER.glob("*.db.gz"))
LINEAGE = str(Path(sys.executable).with_name("lineage"))
_NEXT = SCHEMA_VERSION + 1


def kept(version: str, folder: Path) -> Path:
    """Unpack a store that a version wrote."""
    path = folder / "store.db"
    path.write_bytes(gzip.decompress((FOLDER / f"{version}.db.gz").read_bytes()))
    return path


def lines_of(exported: Path) -> list[str]:
    """Return what an export says of the graph: all but its first line, which has the version."""
    return sorted(gzip.decompress(exported.read_bytes()).decode().splitlines()[1:])


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have a program with one more migration."""
    steps = {**migrations(), _NEXT: "ALTER TABLE run ADD COLUMN later TEXT"}
    monkeypatch.setattr("lineage.store.sqlite.files.migrations", lambda: steps)
    for module in ("backend", "maintenance"):
        monkeypatch.setattr(f"lineage.store.sqlite.{module}.SCHEMA_VERSION", _NEXT)
    return iter(())


@pytest.mark.parametrize("version", KEPT)
def test_a_store_of_an_earlier_version_has_the_same_graph(version: str, tmp_path: Path) -> None:
    path, whole = kept(version, tmp_path), lines_of(FOLDER / f"{version}.jsonl.gz")
    with open_store(path) as store:
        assert store.schema_version == SCHEMA_VERSION
    assert maintenance.find_damage(path) == []
    export_store(str(path), tmp_path / "after.jsonl.gz", lambda *_: None)
    assert lines_of(tmp_path / "after.jsonl.gz") == whole
    assert len(whole) > 150


@pytest.mark.parametrize("version", KEPT)
def test_an_export_of_an_earlier_version_can_be_imported(version: str, tmp_path: Path) -> None:
    exported = FOLDER / f"{version}.jsonl.gz"
    import_store(exported, str(tmp_path / "store.db"), lambda *_: None)
    export_store(str(tmp_path / "store.db"), tmp_path / "after.jsonl.gz", lambda *_: None)
    assert lines_of(tmp_path / "after.jsonl.gz") == lines_of(exported)


def test_reading_migrates_nothing_and_says_what_to_do(tmp_path: Path, later: None) -> None:
    path = kept("0.1.0", tmp_path)
    before = path.read_bytes()
    with pytest.raises(StoreSchemaError, match=f"version {SCHEMA_VERSION}, and this program reads {_NEXT}") as caught:
        open_store(path, read_only=True)
    assert "lineage store upgrade" in (caught.value.hint or "")
    assert maintenance.find_damage(path) == []
    maintenance.copy_store(path, tmp_path / "copy.db", lambda *_: None)
    assert (path.read_bytes(), [one.name for one in tmp_path.iterdir() if "version" in one.name]) == (before, [])


def test_a_store_is_copied_before_it_is_migrated(
    tmp_path: Path, later: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = kept("0.1.0", tmp_path)
    (tmp_path / "store.db.version1").write_text("of another store")
    with open_store(path) as store:
        assert store.schema_version == _NEXT
        migrated = store.dump()
    assert "is copied to" in caplog.text
    assert (tmp_path / "store.db.version1").read_text() == "of another store"
    assert [one for one in tmp_path.iterdir() if one.name.startswith(".")] == []
    monkeypatch.undo()  # the earlier version opens the copy, and refuses the other one
    with open_store(tmp_path / "store.db.version1-2", read_only=True) as store:
        assert store.dump() == migrated
    with pytest.raises(StoreSchemaError, match=f"version {_NEXT}; this program supports"):
        open_store(path)


def test_without_a_copy_nothing_is_migrated(tmp_path: Path, later: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = kept("0.1.0", tmp_path)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise StoreError("no room")

    with monkeypatch.context() as patch:
        patch.setattr("lineage.store.sqlite.upgrade._copy", fail)
        with pytest.raises(StoreError, match="no room"):
            open_store(path)
    assert path.read_bytes() == before
    with open_store(path) as store:
        assert store.schema_version == _NEXT


def test_the_command_upgrades(tmp_path: Path) -> None:
    path = kept("0.1.0", tmp_path)
    ended = subprocess.run([LINEAGE, "store", "upgrade", "-s", path], capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert f"has schema version {SCHEMA_VERSION}" in " ".join((ended.stdout + ended.stderr).split())
    ended = subprocess.run(
        [LINEAGE, "store", "upgrade", "-s", tmp_path / "none.db"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert not (tmp_path / "none.db").exists()


def test_reading_does_not_migrate_neo4j(neo4j_uri: Neo4jAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    login = {"user": neo4j_uri.user, "password": neo4j_uri.password}
    emptied(neo4j_uri)().close()
    monkeypatch.setattr("lineage.store.neo4j.backend.Neo4jBackend.__init__.__kwdefaults__", {
        "read_only": False, "target_version": _NEXT,
    })  # fmt: skip
    with pytest.raises(StoreSchemaError, match=f"version {SCHEMA_VERSION}, and this program reads {_NEXT}"):
        open_store(neo4j_uri.uri, read_only=True, **login)
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password)) as driver:
        [record] = driver.execute_query("MATCH (m:Meta) WHERE m.key = 'schema' RETURN m.version AS version").records
    assert record["version"] == SCHEMA_VERSION
