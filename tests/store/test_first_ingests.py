"""Several first ingests at once into a Neo4j that nothing was written to: each finds the schema that it needs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import neo4j

from lineage.store import open_store
from lineage.store.graph.schema import SCHEMA_VERSION
from lineage.store.planning.chunking.chunks import LOCK_STRIPES
from tests.neo4j_fixture import Neo4jAddress
from tests.store.batch_builders import batch, live, view

TRIES, AT_ONCE = 2, 3


def erase(driver: neo4j.Driver) -> None:
    """Leave nothing in the database, not even a schema."""
    driver.execute_query("MATCH (n) DETACH DELETE n")
    for kind in ("CONSTRAINT", "INDEX"):
        listed = driver.execute_query(f"SHOW {kind}ES YIELD name, type" if kind == "INDEX" else "SHOW CONSTRAINTS")
        for row in listed.records:
            if row["type"] != "LOOKUP":
                driver.execute_query(f"DROP {kind} {row['name']} IF EXISTS")


def test_three_first_ingests_at_once(neo4j_uri: Neo4jAddress) -> None:
    def ingest(number: int) -> None:
        with open_store(neo4j_uri.uri, user=neo4j_uri.user, password=neo4j_uri.password) as store:
            store.apply(batch(view(f"v{number}", f"a.x -> v{number}.x", at=1), run=str(number)))

    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password)) as driver:
        for _ in range(TRIES):
            erase(driver)
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(ingest, range(AT_ONCE)))
            rows = driver.execute_query("MATCH (m:Meta) RETURN m.key AS key, m.version AS version").records
            found = {row["key"]: row["version"] for row in rows}
            stripes = {f"lock stripe {number}" for number in range(LOCK_STRIPES)}
            assert found["schema"] == SCHEMA_VERSION
            assert {key for key in found if not key.startswith(("commits ", "contents "))} == {"schema", *stripes}
            with open_store(neo4j_uri.uri, user=neo4j_uri.user, password=neo4j_uri.password) as store:
                assert live(store) == [f"a.x -> v{number}.x" for number in range(AT_ONCE)]
