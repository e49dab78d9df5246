"""The Neo4j that tests are given answers."""

from __future__ import annotations

import neo4j

from tests.neo4j_fixture import Neo4jAddress


def test_the_fixture_answers(neo4j_uri: Neo4jAddress) -> None:
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password)) as driver:
        assert driver.execute_query("RETURN 1 AS one").records[0]["one"] == 1
