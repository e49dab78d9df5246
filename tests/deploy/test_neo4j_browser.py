"""The saved queries for Neo4j Browser answer their questions; the style names labels and properties that exist."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import neo4j

from lineage.catalog import Catalog
from lineage.sql.extraction import options_for
from lineage.store.graph.schema import LABELS, RELATIONSHIPS
from lineage.store.values import StoredTag
from lineage_ingest.sql_files import ingest_sql_files
from tests.neo4j_fixture import Neo4jAddress
from tests.store.conftest import emptied
from tests.store.log_rows import ingest_rows

BROWSER = Path(__file__).parents[2] / "deploy" / "neo4j"
DDL = "create table main.customers (id int, email text, country text)"
SQL = """
create view main.people as select id, lower(email) as email, md5(email) as hash from customers where country = 'DE';
create view main.mailing as select email from people;
create view main.odd as select nowhere from customers;
"""
NOW = datetime(2026, 1, 1, tzinfo=UTC)
GIVEN = {"column": "customers.email", "table": "people", "tag": "email"}
EXPECTED: dict[str, set[Any]] = {
    "What depends on this column?": {"people.email", "people.hash", "mailing.email"},
    "Where does this column come from?": {"customers.email", "people.email"},
    "Where do its values arrive unmasked?": {"people.email", "mailing.email"},
    "Where do tagged values go?": {"people.email", "people.hash", "mailing.email", "customers.email"},
    "Which tables read this table?": {"mailing"},
    "What decides about the rows of this table?": {"people"},
    "Who reads this table?": {("ann", 2, neo4j.time.Date(2026, 1, 2))},
    "Which columns have a class of personal data?": {("email", "customers.email")},
}


def test_each_query_answers(neo4j_uri: Neo4jAddress, tmp_path: Path) -> None:
    (tmp_path / "models.sql").write_text(SQL)
    text = (BROWSER / "queries.cypher").read_text(encoding="utf-8")
    queries = dict(re.findall(r"^// name: (.*)\n([^/]*)", text, re.MULTILINE))
    assert len(queries) == 10
    with emptied(neo4j_uri)() as store:
        options = options_for("duckdb", default_schema="main")
        catalog = Catalog.from_ddl(DDL, "duckdb")
        ingest_sql_files([tmp_path / "models.sql"], store, options, catalog, observed_at=NOW)
        ingest_rows(store, tmp_path / "log.json", 1, ["1: select email from main.people"] * 2)
        [column] = [one.key for one in store.columns(store.dataset_keys()) if one.key.endswith("customers#email")]
        store.change_tags([StoredTag(column, "email", "manual", NOW)])
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password)) as driver:
        found = {}
        for name, query in queries.items():
            given = GIVEN | ({"column": "mailing.email"} if "come from" in name else {})
            answer = driver.execute_query(query, given)
            found[name] = {_value(one, first="come from" in name) for one in answer.records}
            assert not [one.gql_status for one in answer.summary.gql_status_objects if one.is_notification], name
    for name, expected in EXPECTED.items():
        assert found[name] == expected, name
    [(_, operation, sql)] = found["Which jobs write this table, and with which SQL?"]
    assert operation == "CREATE_VIEW"
    assert "md5(email)" in sql
    assert "DE" not in sql
    assert "UNKNOWN_COLUMN" in {code for code, *_ in found["Which SQL was not understood?"]}


def _value(record: neo4j.Record, *, first: bool) -> Any:
    """Return the last (or the first) node of a path, else the row."""
    if "path" in record.keys():  # noqa: SIM118  a record is no dict
        return record["path"].nodes[0 if first else -1]["name"]
    return tuple(value[0] if isinstance(value, list) else value for value in record.values())


def test_the_style_names_what_exists() -> None:
    style = (BROWSER / "style.grass").read_text(encoding="utf-8")
    rules = re.findall(r"^(node|relationship)(?:\.(\w+))? \{.*caption: \"(?:\{(\w+)\}|<type>)\"", style, re.MULTILINE)
    assert len(rules) == len(style.splitlines())
    for kind, name, caption in rules:
        if not name:
            continue
        properties = LABELS[name] if kind == "node" else RELATIONSHIPS[name].properties
        assert not caption or caption in properties, name
