"""Opening a store: again, read only, by an older or newer program, and when it cannot be."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

import ladybug
import neo4j
import pytest

from lineage.model.batch import UsageRecord
from lineage.model.edge_effects import masked_subtypes_of
from lineage.model.transformations import Subtype
from lineage.model.usage import UserCounts
from lineage.store import (
    GraphStore,
    StoreAccessError,
    StoreLockedError,
    StoreSchemaError,
    StoreUnreachableError,
    StoreWriteError,
    open_store,
)
from lineage.store.cypher.rekeying import REKEYED
from lineage.store.cypher.schema import SCHEMA_VERSION, Changes, Node, Relationship
from lineage.store.cypher.store import CypherStore
from lineage.store.embedded import EmbeddedBackend
from lineage.store.embedded.deferred_writes import RENAMED, to_pieces
from lineage.store.neo4j.backend import Neo4jBackend
from lineage.store.planning.chunks import LOCK_STRIPES
from lineage.store.values import Direction, StoredUsage
from tests.neo4j_fixture import Neo4jAddress
from tests.store.batch_builders import batch, day, history, key, live, query, view
from tests.store.conftest import Opener
from tests.store.old_stores import Migrated, make_old_embedded


def test_what_was_applied_is_there_when_opened_again(open_again: Opener) -> None:
    with open_again() as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
        graph = store.dump()
    with open_again() as store:
        assert store.dump() == graph
        assert store.schema_version == SCHEMA_VERSION
    store.close()


def test_a_store_names_itself_by_its_address(store: GraphStore) -> None:
    assert store.address.endswith(".lbug") or store.address.startswith("bolt://")


def test_without_an_address_the_variable_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINEAGE_STORE", raising=False)
    with open_store() as store:
        assert store.address == "lineage.lbug"
    monkeypatch.setenv("LINEAGE_STORE", str(tmp_path / "named.lbug"))
    with open_store() as store:
        assert store.address == str(tmp_path / "named.lbug")


def test_read_only_reads_and_does_not_write(tmp_path: Path) -> None:
    path = tmp_path / "store.lbug"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
    with open_store(path, read_only=True) as reader, open_store(path, read_only=True) as second:
        assert live(reader) == live(second) == ["a.x -> v.x"]
        with pytest.raises(StoreWriteError, match="read-only"):
            reader.apply(batch(view("w", "a.x -> w.x", at=1)))


def test_read_only_needs_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachableError, match="there is no store at") as caught:
        open_store(tmp_path / "none.lbug", read_only=True)
    assert caught.value.hint is not None
    assert "ingest" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("text.lbug", b"not a database\n" * 500, "is not a store"),
        ("folder", None, "is a folder, not a store"),
        ("missing/store.lbug", None, "there is no folder"),
    ],
)
def test_what_is_not_a_store(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    (tmp_path / "folder").mkdir()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(StoreUnreachableError, match=message):
        open_store(tmp_path / name)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.lbug"
    with ladybug.Database(path) as database, ladybug.Connection(database) as connection:
        connection.execute("CREATE NODE TABLE Person(name STRING PRIMARY KEY)")
    with pytest.raises(StoreUnreachableError, match="another program"):
        open_store(path)


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
    folder, path = tmp_path / "closed", tmp_path / "closed" / "store.lbug"
    folder.mkdir()
    with open_store(path):
        pass
    path.chmod(0o444)
    folder.chmod(0o555)
    with as_nobody():
        with pytest.raises(StoreAccessError, match="no permission to write"):
            open_store(path)
        with pytest.raises(StoreAccessError, match="no permission to make"):
            open_store(folder / "new.lbug")
        with open_store(path, read_only=True) as store:
            assert store.datasets() == []


def test_a_second_writer_is_told_who_has_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.lbug"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
        code = f"from lineage.store import open_store; open_store({str(path)!r})"
        second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "StoreLockedError" in second.stderr
    assert f"process {os.getpid()}" in second.stderr
    assert StoreLockedError.__mro__[1] is StoreUnreachableError


def test_a_failure_while_writing_stores_nothing(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=1)))
    before = store.dump()
    broken = batch(view("w", "a.x -> w.x", at=2))
    with monkeypatch.context() as patched:
        patched.setattr("lineage.store.cypher.store.count_changes", fail)
        with pytest.raises(KeyboardInterrupt):
            store.apply(broken)
    assert store.dump() == before
    store.apply(broken)
    assert live(store) == ["a.x -> v.x", "a.x -> w.x"]


def fail(_: object) -> None:
    raise KeyboardInterrupt


def test_version_1_of_the_embedded_store_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "old.lbug"
    old = EmbeddedBackend(path, target_version=1)
    assert old.schema_version == 1
    old.close()
    with ladybug.Database(path) as database, ladybug.Connection(database) as connection:
        for statement in OLD_GRAPH:
            connection.execute(statement.replace("datetime(", "timestamp("))
    with open_store(path, read_only=True) as store:
        check_migrated(store)


def test_version_2_is_migrated(migrated: Migrated) -> None:
    check_counts_migrated(migrated(2, OLD_COUNTS))


def test_version_1_of_the_neo4j_store_is_migrated(neo4j_uri: Neo4jAddress) -> None:
    login = (neo4j_uri.user, neo4j_uri.password)
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=login) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        for name in ("table_search", "table_search_text", "column_search_text"):
            driver.execute_query(f"DROP INDEX {name} IF EXISTS")
        Neo4jBackend(neo4j_uri.uri, login, target_version=1).close()
        for statement in OLD_GRAPH:
            driver.execute_query(statement)
        with open_store(neo4j_uri.uri, user=login[0], password=login[1], read_only=True) as store:
            check_migrated(store)
        indexes = driver.execute_query("SHOW INDEXES YIELD name RETURN collect(name) AS names").records[0]["names"]
    assert {"table_search", "table_search_text", "column_search_text", "table_key", "column_key"} <= set(indexes)


OLD_GRAPH = (
    """CREATE (:`Table` {key: 'pg/Shop.Orders', namespace: 'pg', name: 'Shop.Orders', kind: 'table',
       schema_known: true, aliases: [], first_seen: datetime('2024-01-01T00:00:00Z'),
       last_seen: datetime('2024-01-01T00:00:00Z')})""",
    """CREATE (:`Column` {key: 'pg/Shop.Orders#Id', dataset: 'pg/Shop.Orders', path: 'Id', name: 'Id',
       inferred: false})""",
    """MATCH (t:`Table` {key: 'pg/Shop.Orders'}), (c:`Column` {key: 'pg/Shop.Orders#Id'})
       CREATE (t)-[:HAS_COLUMN]->(c)""",
)


OLD_COUNTS = (
    """CREATE (:Run {key: 'run:old', kind: 'log', source: 'tests', at: datetime('2024-01-01T00:00:00Z'),
       last_seen: datetime('2024-01-01T00:00:00Z'), counts: '{}', complete_sources: []})""",
    """CREATE (:Job {key: 'query:q', kind: 'query', completeness: 'full',
       first_seen: datetime('2024-01-01T00:00:00Z'), last_seen: datetime('2024-01-01T00:00:00Z')})""",
    OLD_GRAPH[0].replace("Shop.Orders", "a"),
    """CREATE (:Usage {key: 'usage:run:old|2024-01-01|pg/a', run: 'run:old', day: date('2024-01-01'),
       reads: 5, writes: 1})""",
    "MATCH (r:Run), (j:Job) CREATE (r)-[:OBSERVED {observations: 5}]->(j)",
    "MATCH (u:Usage), (t:`Table`) CREATE (u)-[:OF]->(t)",
)


def check_counts_migrated(store: GraphStore) -> None:
    monday = date(2024, 1, 1)
    assert store.schema_version == SCHEMA_VERSION
    assert store.usage(key("a")) == [StoredUsage(key("a"), monday, 5, 1)]
    [job] = store.jobs(users=True)
    assert (job.observations, job.duration_us, job.users) == (5, 0, UserCounts())
    for run in ("new", "old", "old"):
        record = replace(query("q", at=1).job, observations=2, users=(("ana", 2),), duration_us=30)
        used = UsageRecord(key("a"), monday, 2, 0, (("ana", 2),), day(1.5))
        store.apply(replace(batch(run=run), jobs=(record,), usage=(used,)))
    assert store.usage(key("a")) == [StoredUsage(key("a"), monday, 4, 0, UserCounts((("ana", 4),)), day(1.5))]
    [job] = store.jobs(users=True)
    assert (job.observations, job.duration_us, job.users) == (4, 60, UserCounts((("ana", 4),)))


def check_migrated(store: GraphStore) -> None:
    assert store.schema_version == SCHEMA_VERSION
    assert [one.key for one in store.find_datasets("orders")] == ["pg/Shop.Orders"]
    assert [hit.key for hit in store.search("id")] == ["pg/Shop.Orders#Id"]
    assert [one.path for one in store.columns(["pg/Shop.Orders"])] == ["Id"]
    shown = {label: (node["name"], node.get("full_name")) for label, _, node in store.dump().nodes if "name" in node}
    assert shown == {"Table": ("Orders", "Shop.Orders"), "Column": ("Orders.Id", None)}


def test_a_newer_embedded_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.lbug"
    with open_store(path):
        pass
    with ladybug.Database(path) as database, ladybug.Connection(database) as connection:
        connection.execute("MATCH (m:Meta) SET m.version = 99")
    with pytest.raises(StoreSchemaError, match="version 99; this program supports"):
        open_store(path)


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


def store_with_deferred_writes(path: Path, version: int) -> None:
    """Make a store whose writer was killed before it had written its deferred changes of buffered texts."""
    EmbeddedBackend(path, target_version=version).close()
    deferred = Changes(
        deleted_nodes=(Node("Held", "gone~0", {}),),
        updated_nodes=(Node("Held", "run", {"parts": ["run~a~0"], "held_at": day(2)}, changed=("parts", "held_at")),),
    )
    with ladybug.Database(path) as database, ladybug.Connection(database) as connection:
        for key in ("run", "gone~0", "run~a~0"):
            connection.execute(
                "CREATE (:Held {key: $key, owner: 'run', text: 'text', parts: ['old'], finished: false})", {"key": key}
            )
        for number, piece in enumerate(to_pieces(deferred)):
            connection.execute("CREATE (:Pending {number: $number, text: $text})", {"number": number, "text": piece})


def test_a_version_before_the_keys_changed_writes_its_own_deferred_texts(tmp_path: Path) -> None:
    path = tmp_path / "old.lbug"
    store_with_deferred_writes(path, REKEYED - 1)
    for _ in range(2):
        with pytest.raises(StoreSchemaError, match="was stopped before it had written all changes"):
            open_store(path)


@pytest.mark.parametrize("version", [REKEYED, RENAMED - 1])
def test_deferred_writes_of_an_older_version_have_its_labels(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.lbug"
    store_with_deferred_writes(path, version)
    with open_store(path) as store:
        assert [text.key for text in store.buffered_texts(["run"])] == ["run~a"]
    with ladybug.Database(path, read_only=True) as database, ladybug.Connection(database) as connection:
        rows = connection.execute(
            "MATCH (n:BufferedText) RETURN n.key, n.parts, n.buffered_at ORDER BY n.key"
        ).get_all()
        assert [row[0] for row in rows] == ["run", "run~a~0"]
        assert rows[0][1] == ["run~a~0"]
        assert rows[0][2].date() == day(2).date()
        assert connection.execute("MATCH (n:DeferredWrite) RETURN count(*)").get_all() == [[0]]


OLD_EDGES = (
    OLD_COUNTS[1],
    *(OLD_GRAPH[0].replace("Shop.Orders", table) for table in "av"),
    *(OLD_GRAPH[1].replace("Shop.Orders", table).replace("Id", "x") for table in "av"),
    *(OLD_GRAPH[2].replace("Shop.Orders", table).replace("Id", "x") for table in "av"),
    """MATCH (a:`Column` {key: 'pg/a#x'}), (v:`Column` {key: 'pg/v#x'}) CREATE (a)-[:CONTRIBUTES {job: 'query:q',
       subtypes: ['IDENTITY', 'AGGREGATION'], masking: true, limited: false, ambiguous: false, spans: ['7-12'],
       first_seen: datetime('2024-01-01T00:00:00Z'), last_seen: datetime('2024-01-01T00:00:00Z')}]->(v)""",
    """MATCH (j:Job), (v:`Table` {key: 'pg/v'}) CREATE (j)-[:WRITES {first_seen: datetime('2024-01-01T00:00:00Z'),
       last_seen: datetime('2024-01-01T00:00:00Z'), observations: []}]->(v)""",
)


def check_masked_as_a_whole(store: GraphStore) -> None:
    """An edge of version 19 has one flag for all its subtypes; the same statement again does not change it."""
    [hop] = store.expand([key("a.x")], Direction.DOWNSTREAM)
    assert masked_subtypes_of(hop.edge) == (Subtype.IDENTITY, Subtype.AGGREGATION)
    store.apply(batch(query("q", "a.x -> v.x IDENTITY AGGREGATION MASKING", at=1)))
    assert history(store) == ["a.x -> v.x masked 1.."]
    store.apply(batch(query("q", "a.x -> v.x IDENTITY AGGREGATION:MASKING", at=2)))
    assert history(store) == ["a.x -> v.x AGGREGATION masked 1.."]


def test_edges_of_version_19_are_masked_as_a_whole(migrated: Migrated) -> None:
    check_masked_as_a_whole(migrated(19, OLD_EDGES))


def test_deferred_updates_of_edges_of_version_19_are_written(tmp_path: Path) -> None:
    path = tmp_path / "old.lbug"
    facts = {"job": "query:q", "subtypes": ["IDENTITY"], "masking": False, "limited": False, "ambiguous": False,
             "spans": [], "first_seen": day(1), "last_seen": day(9)}  # fmt: skip
    update = Relationship("CONTRIBUTES", "Column", "pg/a#x", "Column", "pg/v#x", facts)
    make_old_embedded(path, 19, OLD_EDGES, Changes(updated_relationships=(update,)))
    with open_store(path) as store:
        [hop] = store.expand([key("a.x")], Direction.DOWNSTREAM)
        assert (hop.edge.last_seen, hop.edge.subtypes, hop.edge.masking) == (day(9), (Subtype.IDENTITY,), False)


def test_a_neo4j_store_of_version_18_keeps_its_buffered_texts_and_locks(neo4j_uri: Neo4jAddress) -> None:
    login = (neo4j_uri.user, neo4j_uri.password)
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=login) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        for name in ("buffered_text_key", "buffered_text_buffered_at"):
            driver.execute_query(f"DROP {'CONSTRAINT' if name.endswith('key') else 'INDEX'} {name} IF EXISTS")
        Neo4jBackend(neo4j_uri.uri, login, target_version=RENAMED - 1).close()
        driver.execute_query(
            "CREATE (:Held {key: 'run', owner: 'run', parts: ['run~a~0']}), (:Held {key: 'run~a~0', owner: 'run',"
            " text: 'text', finished: false, held_at: datetime('2026-01-02T00:00:00Z')})"
        )
        with open_store(neo4j_uri.uri, user=login[0], password=login[1]) as store:
            [text] = store.buffered_texts(["run"])
            assert (text.key, text.text) == ("run~a", "text")
        left = driver.execute_query("MATCH (n) WHERE n:Held OR n.held_at IS NOT NULL RETURN count(*) AS n").records
        assert left[0]["n"] == 0
        stripes = driver.execute_query("MATCH (m:Meta) WHERE m.key STARTS WITH 'l' RETURN m.key AS key").records
        assert {one["key"] for one in stripes} == {f"lock stripe {number}" for number in range(LOCK_STRIPES)}


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
