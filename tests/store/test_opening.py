"""Opening a store: again, read only, by an older or newer program, and when it cannot be."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import neo4j
import pytest

from lineage.store import (
    GraphStore,
    StoreAccessError,
    StoreDamagedError,
    StoreLockedError,
    StoreSchemaError,
    StoreUnreachableError,
    StoreWriteError,
    open_store,
)
from lineage.store.graph.schema import SCHEMA_VERSION
from lineage.store.graph.store import CypherStore
from lineage.store.planning.chunking.chunks import LOCK_STRIPES
from lineage.store.sqlite import SqliteBackend
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.maintenance import copy_store
from lineage.store.sqlite.statements import migrations
from tests.cli.running import lineage
from tests.neo4j_fixture import Neo4jAddress
from tests.store.batch_builders import batch, live, view
from tests.store.conftest import Opener


def test_what_was_applied_is_there_when_opened_again(open_again: Opener) -> None:
    with open_again() as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
        graph = store.dump()
    with open_again() as store:
        assert store.dump() == graph
        assert store.schema_version == SCHEMA_VERSION
    store.close()


def test_a_store_names_itself_by_its_address(store: GraphStore) -> None:
    assert store.address.endswith(".db") or store.address.startswith("bolt://")


def test_without_an_address_the_variable_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINEAGE_STORE", raising=False)
    with open_store() as store:
        assert store.address == "lineage.db"
    monkeypatch.setenv("LINEAGE_STORE", str(tmp_path / "named.db"))
    with open_store() as store:
        assert store.address == str(tmp_path / "named.db")


def test_read_only_reads_and_does_not_write(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
    with open_store(path, read_only=True) as reader, open_store(path, read_only=True) as second:
        assert live(reader) == live(second) == ["a.x -> v.x"]
        with pytest.raises(StoreWriteError, match="read-only"):
            reader.apply(batch(view("w", "a.x -> w.x", at=1)))


def test_read_only_needs_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachableError, match="there is no store at") as caught:
        open_store(tmp_path / "none.db", read_only=True)
    assert caught.value.hint is not None
    assert "ingest" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("text.db", b"not a database\n" * 500, "no lineage store"),
        ("empty.db", b"", "is empty"),
        ("before.lbug", b"LBUG1" + bytes(4000), "was written by a development version"),
        ("folder", None, "is a folder, not a store"),
        ("missing/store.db", None, "there is no folder"),
    ],
)
def test_what_is_not_a_store(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    (tmp_path / "folder").mkdir()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    for read_only in (False, True):
        with pytest.raises(StoreUnreachableError, match=message if not name.startswith("missing") else "there is no"):
            open_store(tmp_path / name, read_only=read_only)
    assert content is None or (tmp_path / name).read_bytes() == content


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE person (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreDamagedError, match="is no lineage store"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_newer_embedded_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path):
        pass
    with closing(SqliteConnection(path, read_only=False)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreSchemaError, match="version 99; this program supports"):
        open_store(path)


def test_a_store_of_an_earlier_version_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
    later = {**migrations(), SCHEMA_VERSION + 1: "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT"}
    monkeypatch.setattr("lineage.store.sqlite.files.migrations", lambda: later)
    monkeypatch.setattr("lineage.store.sqlite.backend.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with open_store(path) as store:
        assert store.schema_version == SCHEMA_VERSION + 1
        assert live(store) == ["a.x -> v.x"]
    with closing(SqliteConnection(path, read_only=True)) as connection:
        assert connection.value("SELECT count(*) FROM later") == 0


def test_the_log_of_a_store_that_was_removed_does_not_get_into_the_next_one(tmp_path: Path) -> None:
    path, log = tmp_path / "store.db", tmp_path / "store.db-wal"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
        left = log.read_bytes()
    path.unlink()
    log.write_bytes(left)
    with pytest.raises(StoreDamagedError, match="the log of a store that is not there"):
        open_store(path)
    with open_store(tmp_path / "other.db") as store, pytest.raises(StoreDamagedError, match="not there"):
        copy_store(Path(store.address), path, lambda _, __: None)
    assert (path.exists(), log.read_bytes()) == (False, left)
    log.write_bytes(b"")
    with open_store(path) as store:
        assert live(store) == []


def test_several_may_make_a_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    def make(number: int) -> None:
        with open_store(path) as store:
            store.apply(batch(view(f"v{number}", f"a.x -> v{number}.x", at=1)))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(make, range(8)))
    with open_store(path, read_only=True) as store:
        assert live(store) == [f"a.x -> v{number}.x" for number in range(8)]
    assert {one.name for one in tmp_path.iterdir()} <= {"store.db", "store.db-wal", "store.db-shm"}


def test_a_second_writer_waits_and_readers_do_not(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
    writing = threading.Event()
    go_on = threading.Event()

    def slowly(_: object) -> None:
        writing.set()
        go_on.wait(30)

    first = SqliteBackend(path)
    with ThreadPoolExecutor(1) as threads, CypherStore(first), open_store(path, read_only=True) as reader:
        waiting = threads.submit(first.writing, slowly)
        writing.wait(30)
        assert live(reader) == ["a.x -> v.x"]
        with CypherStore(SqliteBackend(path, lock_seconds=0.1)) as second:
            with pytest.raises(StoreLockedError, match="another thread of this process writes to"):
                second.apply(batch(view("w", "a.x -> w.x", at=2)))
            go_on.set()
            waiting.result()
            second.apply(batch(view("w", "a.x -> w.x", at=2)))
        assert live(reader) == ["a.x -> v.x", "a.x -> w.x"]


def test_who_waits_is_told_for_whom(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
    command = f"""
import time, pathlib
from lineage.store.sqlite import SqliteBackend
SqliteBackend(pathlib.Path({str(path)!r})).writing(lambda _: (print(flush=True), time.sleep(60)))
"""
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        found = lineage("prune", "--older-than", "2020-01-01", "--store", path, "--lock-timeout", "1.5")
        writer.kill()
    told = f"process {writer.pid} (python"
    assert found.code == 3
    assert f"waiting for {told}" in caplog.text
    assert f"error: {told}" in found.err
    assert "--lock-timeout" in found.err


def test_an_unknown_scheme_is_no_path() -> None:
    with pytest.raises(StoreUnreachableError, match="https://"):
        open_store("https://example.org")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Drop root's permission to write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_path_without_permission(tmp_path: Path) -> None:
    for parent in [tmp_path, *tmp_path.parents][:4]:  # up to the folder of all sessions
        parent.chmod(0o755)
    folder, path = tmp_path / "closed", tmp_path / "closed" / "store.db"
    folder.mkdir()
    with open_store(path):
        pass
    path.chmod(0o444)
    folder.chmod(0o555)
    with as_nobody():
        with pytest.raises(StoreAccessError, match="no permission to write"):
            open_store(path)
        with pytest.raises(StoreAccessError, match="no permission to make"):
            open_store(folder / "new.db")
        with open_store(path, read_only=True) as store:
            assert store.datasets() == []


def test_a_failure_while_writing_stores_nothing(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=1)))
    before = store.dump()
    broken = batch(view("w", "a.x -> w.x", at=2))
    with monkeypatch.context() as patched:
        patched.setattr("lineage.store.graph.store.count_changes", fail)
        with pytest.raises(KeyboardInterrupt):
            store.apply(broken)
    assert store.dump() == before
    store.apply(broken)
    assert live(store) == ["a.x -> v.x", "a.x -> w.x"]


def fail(_: object) -> None:
    raise KeyboardInterrupt


def test_a_newer_neo4j_store_is_refused(neo4j_uri: Neo4jAddress) -> None:
    login = (neo4j_uri.user, neo4j_uri.password)
    with open_store(neo4j_uri.uri, user=login[0], password=login[1]):
        pass
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=login) as driver:
        driver.execute_query("MATCH (m:Meta) SET m.version = 99")
        with pytest.raises(StoreSchemaError, match="version 99; this program supports"):
            open_store(neo4j_uri.uri, user=login[0], password=login[1])
        driver.execute_query(f"MATCH (m:Meta) SET m.version = {SCHEMA_VERSION}")


def test_no_server_at_the_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(StoreUnreachableError, match=f"Neo4j does not answer at {re.escape(uri)}") as caught:
            open_store(uri, user="neo4j", password="x")
    assert not isinstance(caught.value, StoreAccessError)


def test_a_wrong_password(neo4j_uri: Neo4jAddress) -> None:
    if not neo4j_uri.password:
        pytest.fail("the test server must ask for a password")
    address = neo4j_uri.uri.replace("://", "://neo4j:wrong@")
    with pytest.raises(StoreAccessError, match="rejects the user or password") as caught:
        open_store(address)
    assert "wrong" not in str(caught.value)


def test_user_and_password_in_the_address(neo4j_uri: Neo4jAddress) -> None:
    login = f"{neo4j_uri.user}:{neo4j_uri.password}"
    with open_store(neo4j_uri.uri.replace("://", f"://{login}@")) as store:
        assert store.address == neo4j_uri.uri


def test_user_and_password_in_variables(neo4j_uri: Neo4jAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEAGE_NEO4J_USER", neo4j_uri.user)
    monkeypatch.setenv("LINEAGE_NEO4J_PASSWORD", neo4j_uri.password)
    with open_store(neo4j_uri.uri) as store:
        assert store.schema_version == SCHEMA_VERSION


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(StoreUnreachableError, match="driver") as caught:
        open_store("bolt://user:secret@127.0.0.1:1")
    assert caught.value.hint == "pip install '.[neo4j]' in a checkout of lineage"
    assert "secret" not in str(caught.value)


def test_both_kinds_are_one_class(store: GraphStore) -> None:
    assert isinstance(store, CypherStore)


def test_a_writer_without_the_nodes_it_locks_writes_nothing(neo4j_uri: Neo4jAddress) -> None:
    """As after a migration by a later version, or after `MATCH (n) DETACH DELETE n` in Neo4j Browser."""
    login = (neo4j_uri.user, neo4j_uri.password)
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=login) as driver:
        with open_store(neo4j_uri.uri, user=login[0], password=login[1]) as store:
            driver.execute_query("MATCH (n) DETACH DELETE n")
            with pytest.raises(StoreSchemaError, match=f"lacks {LOCK_STRIPES} of the nodes that writers lock"):
                store.apply(batch(view("v", "a.x -> v.x", at=1)))
            assert driver.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == 0
        with open_store(neo4j_uri.uri, user=login[0], password=login[1]) as store:
            store.apply(batch(view("v", "a.x -> v.x", at=1)))
            assert live(store) == ["a.x -> v.x"]
