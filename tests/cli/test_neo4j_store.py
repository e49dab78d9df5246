"""The command line over Neo4j, and what it says when there is none or it refuses."""

from __future__ import annotations

from pathlib import Path

import neo4j
import pytest

from lineage.neo4j_server.ports import free_port
from tests.cli.running import lineage
from tests.neo4j_fixture import Neo4jAddress


@pytest.fixture
def sql_file(tmp_path: Path) -> Path:
    path = tmp_path / "v.sql"
    path.write_text("CREATE VIEW v AS SELECT a FROM t", encoding="utf-8")
    return path


def test_ingest_and_ask(neo4j_uri: Neo4jAddress, sql_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password)) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:Meta OR n.key STARTS WITH 'contents ' DETACH DELETE n")
    monkeypatch.setenv("LINEAGE_STORE", neo4j_uri.uri)
    monkeypatch.setenv("LINEAGE_NEO4J_USER", neo4j_uri.user)
    monkeypatch.setenv("LINEAGE_NEO4J_PASSWORD", neo4j_uri.password)
    done = lineage("ingest", "sql", sql_file, "-d", "postgres")
    assert done.code == 0, done.err
    assert neo4j_uri.uri in done.out
    assert "v.a" in lineage("impact", "t.a").out
    for command in (
        ("search", "v"),
        ("show", "v"),
        ("columns", "v"),
        ("jobs", "--table", "v"),
        ("diff", "--as-of", "2020-01-01"),
    ):
        done = lineage(*command)
        assert done.code == 0, (command, done)
        assert "a" in done.out, (command, done)
    assert lineage("diagnostics").code == 0


def test_no_server_ends_with_3(sql_file: Path) -> None:
    address = f"bolt://127.0.0.1:{free_port()}"
    done = lineage("ingest", "sql", sql_file, "-d", "postgres", "-s", address)
    assert done.code == 3
    assert address in done.err


def test_a_wrong_password_ends_with_3(neo4j_uri: Neo4jAddress, sql_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEAGE_NEO4J_USER", neo4j_uri.user)
    monkeypatch.setenv("LINEAGE_NEO4J_PASSWORD", "wrong")
    done = lineage("impact", "t.a", "-s", neo4j_uri.uri)
    assert done.code == 3
    assert "wrong" not in done.err.replace("wrong password", "")
    assert "password" in done.err
