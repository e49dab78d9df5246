"""One hop with its edges, the estate in short, and the roles of a caller: what the explorer asks beyond the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.sql.extraction import options_for
from lineage.store import GraphStore
from lineage_ingest.sql_files import ingest_sql_files
from tests.service.running import Service, running
from tests.store.batch_builders import batch, day, job, key, table

_ADJACENT = """query ($of: [String!]!, $direction: Direction!, $kinds: [EdgeKind!], $asOf: DateTime, $most: Int = 500,
  $within: [String!]) {
  adjacent(of: $of, direction: $direction, kinds: $kinds, asOf: $asOf, maxEdges: $most, within: $within) {
    totalEdges totalNodes totalTables counts { key nodes } jobs { key }
    edges { sourceKey targetKey kind } nodes { ... on Column { key } ... on Table { key } } } }"""


def _pairs(found: dict[str, object]) -> set[tuple[str, str]]:
    edges = found["edges"]
    assert isinstance(edges, list)
    return {(edge["sourceKey"], edge["targetKey"]) for edge in edges}


def test_a_hop_has_edges_both_ends_and_counts(service: Service) -> None:
    found = service.data(_ADJACENT, of=["staged.mail", "users.id"], direction="DOWNSTREAM")["adjacent"]
    expected = {(key("staged.mail"), key(f"contacts.{name}")) for name in ("address", "hashed", "n")}
    assert _pairs(found) == expected | {(key("users.id"), key("staged.id"))}
    assert {one["key"] for one in found["nodes"]} == {end for pair in _pairs(found) for end in pair}
    counts = [{"key": key("staged.mail"), "nodes": 3}, {"key": key("users.id"), "nodes": 1}]
    assert sorted(found["counts"], key=lambda one: str(one["key"])) == counts
    assert (found["totalEdges"], found["totalNodes"], found["totalTables"]) == (4, 4, 2)
    assert len(found["jobs"]) == 2


def test_a_table_stands_for_its_columns_and_rows(service: Service) -> None:
    found = service.data(_ADJACENT, of=["staged"], direction="UPSTREAM")["adjacent"]
    assert (key("users.country"), key("staged")) in _pairs(found)
    assert (key("users.email"), key("staged.mail")) in _pairs(found)
    [count] = found["counts"]
    assert count == {"key": key("staged"), "nodes": found["totalNodes"]}


def test_edges_within_what_is_shown_and_counts_of_all(service: Service) -> None:
    shown = [key("staged.mail"), key("contacts.n")]
    found = service.data(_ADJACENT, of=["staged.mail"], direction="DOWNSTREAM", within=shown)["adjacent"]
    assert _pairs(found) == {(key("staged.mail"), key("contacts.n"))}
    assert (found["totalEdges"], found["totalNodes"], found["counts"][0]["nodes"]) == (1, 3, 3)
    assert service.data(_ADJACENT, of=["users"], direction="DOWNSTREAM", within=[])["adjacent"]["edges"] == []


_OF_ALL = """query ($of: [String!]!, $direction: Direction!, $asOf: DateTime, $within: [String!]) {
  adjacent(of: $of, direction: $direction, asOf: $asOf, maxEdges: 5000, within: $within) {
    totalEdges totalNodes totalTables counts { key nodes }
    edges { sourceKey targetKey kind jobKey subtypes validFrom } } }"""


@pytest.mark.parametrize("direction", ["DOWNSTREAM", "UPSTREAM"])
@pytest.mark.parametrize("at", [None, day(2).isoformat()])
def test_what_is_within_everything_is_everything(store: GraphStore, direction: str, at: str | None) -> None:
    """Edges to oneself, and those of a column's fields, are among it."""
    lines = ("a.x -> a.x", "a.x -> v.p", "a.p.q -> v.p", "a.p -> v.whole", "a.x ~> v", "v.p ~> v.whole")
    tables = (table("a", "x", "p", "p.q"), table("v", "p", "p.f", "whole"))
    store.apply(batch(*tables, job("first.sql", *lines[:4], at=1), run="first"))
    store.apply(batch(*tables, job("second.sql", *lines, at=3), run="second"))
    nodes = [key(one) for one in ("a", "a.x", "a.p", "a.p.q", "v", "v.p", "v.p.f", "v.whole")]
    with running(store) as service:
        asked: dict[str, Any] = {"of": nodes, "direction": direction, "asOf": at}
        whole = service.data(_OF_ALL, **asked)["adjacent"]
        assert len(whole["edges"]) >= (4 if at else 8)
        assert service.data(_OF_ALL, **asked, within=nodes)["adjacent"] == whole


def test_kinds_times_and_limits_hold(service: Service) -> None:
    found = service.data(_ADJACENT, of=["users"], direction="DOWNSTREAM", kinds=["CONTRIBUTES"])["adjacent"]
    assert {edge["kind"] for edge in found["edges"]} == {"CONTRIBUTES"}
    early = service.data(_ADJACENT, of=["users"], direction="DOWNSTREAM", asOf=day(2).isoformat())["adjacent"]
    assert _pairs(early) == {(key("users.id"), key("staged.id"))}
    cut = service.data(_ADJACENT, of=["staged.mail"], direction="DOWNSTREAM", most=2)["adjacent"]
    assert (len(cut["edges"]), cut["totalEdges"], cut["counts"][0]["nodes"]) == (2, 3, 3)
    assert service.refusal(_ADJACENT, of=["users"], direction="DOWNSTREAM", most=0)["code"] == "BAD_ARGUMENT"
    assert service.refusal(_ADJACENT, of=[], direction="DOWNSTREAM")["code"] == "BAD_ARGUMENT"
    assert service.refusal(_ADJACENT, of=["usres"], direction="DOWNSTREAM")["code"] == "NOT_FOUND"
    too_many = service.refusal(_ADJACENT, of=["users"] * 501, direction="DOWNSTREAM")
    assert too_many["code"] == "LIMIT_EXCEEDED"


_ESTATE = """CREATE TABLE raw.a (x int); CREATE TABLE raw.b (x int); CREATE TABLE raw.gone (x int); DROP TABLE raw.gone;
CREATE VIEW mart.m AS SELECT a.x FROM raw.a JOIN raw.b ON a.x = b.x; CREATE VIEW mart.n AS SELECT x FROM mart.m;"""


def test_the_estate_counts_live_tables_by_schema_and_flows_between_them(store: GraphStore, tmp_path: Path) -> None:
    (tmp_path / "estate.sql").write_text(_ESTATE, encoding="utf-8")
    ingest_sql_files([tmp_path / "estate.sql"], store, options_for("postgres"))
    with running(store) as service:
        estate = service.data(
            """{ estate { tables flowsCounted groups { namespace schema tables exposures }
                 flows { sourceSchema targetSchema flows } } }"""
        )["estate"]
    assert estate["tables"] == 4
    assert [(one["schema"], one["tables"]) for one in estate["groups"]] == [("mart", 2), ("raw", 2)]
    assert estate["flows"] == [{"sourceSchema": "raw", "targetSchema": "mart", "flows": 2}]


def test_a_caller_learns_their_roles_and_the_dialects(service: Service) -> None:
    found = service.data("{ service { roles dialects } }")["service"]
    assert found["roles"] == ["admin", "ingester", "reader", "steward"]
    assert {"postgres", "snowflake", "bigquery"} <= set(found["dialects"])
