"""Stores of earlier schema versions, filled with statements of that time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import ladybug
import neo4j

from lineage.store import GraphStore
from lineage.store.cypher.schema import Changes
from lineage.store.embedded import EmbeddedBackend
from lineage.store.embedded.deferred_writes import to_pieces
from lineage.store.neo4j.backend import Neo4jBackend
from tests.neo4j_fixture import Neo4jAddress

__all__ = ["Migrated", "fill_old_neo4j", "make_old_embedded"]

Migrated: TypeAlias = Callable[[int, Iterable[str]], GraphStore]
"""Returns a store of an earlier version, filled with statements of that time, and migrated."""


def make_old_embedded(path: Path, version: int, statements: Iterable[str], deferred: Changes | None = None) -> None:
    """Make a file of a version and run statements; its writer was stopped before it wrote the `deferred` changes."""
    EmbeddedBackend(path, target_version=version).close()
    with ladybug.Database(path) as database, ladybug.Connection(database) as connection:
        for statement in statements:
            connection.execute(statement.replace("datetime(", "timestamp("))
        for number, piece in enumerate(to_pieces(deferred or Changes())):
            values = {"number": number, "text": piece}
            connection.execute("CREATE (:DeferredWrite {number: $number, text: $text})", values)


def fill_old_neo4j(address: Neo4jAddress, version: int, statements: Iterable[str]) -> None:
    """Empty the server's graph, make it one of a version, and run statements."""
    login = (address.user, address.password)
    with neo4j.GraphDatabase.driver(address.uri, auth=login) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        Neo4jBackend(address.uri, login, target_version=version).close()
        for statement in statements:
            driver.execute_query(statement)
