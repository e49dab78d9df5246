"""The query that the README gives for Neo4j Browser answers what `impact` answers."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from pathlib import Path

import neo4j

from lineage.sql.extraction import options_for
from lineage.store import GraphStore
from lineage.store.values import StoredColumn
from lineage.traversal import Target, impact
from lineage.traversal.options import TraversalOptions
from lineage_ingest.sql_files import ingest_sql_files
from tests.neo4j_fixture import Neo4jAddress
from tests.store.conftest import emptied

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "ingest" / "lineage_ingest" / "demo" / "mimic_iv"
NAMED = "labevents.valuenum"
NO_DATA = "02000"


def test_the_query_of_the_readme_is_impact(neo4j_uri: Neo4jAddress) -> None:
    [query] = re.findall(r"```cypher\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert f"'{NAMED}'" in query
    by_key = query.replace(f"{{name: '{NAMED}'}}", "{key: $key}")
    driver = neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password))
    with emptied(neo4j_uri)() as store, driver:
        files = sorted((SCRIPTS / "concepts").rglob("*.sql"))[:40]
        options = options_for("bigquery")
        ingest_sql_files(files, store, options, observed_at=datetime(2026, 1, 1, tzinfo=UTC))
        columns = store.columns([one.key for one in store.datasets()])
        chosen = random.Random(1).sample(columns, 40)
        answers = 0
        for column in [*chosen, *(one for one in columns if one.key.endswith("labevents#valuenum"))]:
            records, _, _ = driver.execute_query(by_key, key=column.key)
            found = {record["c"]["key"] for record in records} - {column.key}
            assert found == reached(store, column) - {column.key}, column.key
            answers += len(found)
        assert answers > 100
        records, _, _ = driver.execute_query(query)
        assert len(records) > 10
        captions = {record["c"]["name"] for record in records}
        assert all(caption.count(".") == 1 for caption in captions)
        shown = driver.execute_query("MATCH (t:Table) RETURN t.name AS name, t.full_name AS whole").records
        assert all(record["whole"].endswith(record["name"]) and "." not in record["name"] for record in shown)


def reached(store: GraphStore, column: StoredColumn) -> set[str]:
    target = Target(column.key, column.path, column.dataset, column.path)
    answer = impact(store, target, options=TraversalOptions(max_hops=100))
    assert not answer.is_lower_bound
    return {one.key for one in answer.columns}


def test_the_query_of_the_readme_names_nothing_unknown_in_an_empty_database(neo4j_uri: Neo4jAddress) -> None:
    [query] = re.findall(r"```cypher\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    driver = neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password))
    with emptied(neo4j_uri)(), driver:
        assert [one.gql_status for one in driver.execute_query(query).summary.gql_status_objects] == [NO_DATA]
