"""Questions about tables: what they come from, who uses them, and what lies around them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.model.statement import DatasetKind
from lineage.store import GraphStore
from tests.service.running import Service, running
from tests.store.batch_builders import batch, day, job, key, table, view

_AROUND = """query ($columns: [String!], $tables: [String!], $tag: String, $directions: [Direction!],
       $maxHops: Int! = 3, $maxNodes: Int! = 100, $maxEdges: Int! = 500, $asOf: DateTime) {
  subgraph(columns: $columns, tables: $tables, tag: $tag, directions: $directions, maxHops: $maxHops,
           maxNodes: $maxNodes, maxEdges: $maxEdges, asOf: $asOf) {
    truncated nodes { ... on Column { key } ... on Table { key } } edges { sourceKey targetKey kind jobKey } } }"""


def keys_of(rows: list[dict[str, Any]]) -> list[str]:
    return [row["key"] for row in rows]


def test_tables_up_and_down_by_hops(service: Service) -> None:
    query = """query ($maxHops: Int! = 20) { table(name: "contacts") {
      upstream(maxHops: $maxHops) { totalCount truncated nodes { key hops jobKeys table { name } } }
      downstream { nodes { key hops } } } }"""
    asked = service.data(query)["table"]
    assert asked["upstream"] == {
        "totalCount": 2,
        "truncated": None,
        "nodes": [
            {"key": key("staged"), "hops": 1, "jobKeys": ["contacts.sql"], "table": {"name": "staged"}},
            {"key": key("users"), "hops": 2, "jobKeys": ["staged.sql"], "table": {"name": "users"}},
        ],
    }
    assert asked["downstream"]["nodes"] == [{"key": key("copied"), "hops": 1}]
    near = service.data(query, maxHops=1)["table"]["upstream"]
    assert (keys_of(near["nodes"]), near["truncated"]) == ([key("staged")], "max_hops=1: more tables lie beyond")
    early = f'{{ table(name: "contacts") {{ upstream(asOf: "{day(2).isoformat()}") {{ totalCount }} }} }}'
    assert service.data(early)["table"]["upstream"]["totalCount"] == 0
    for hops, code in ((0, "BAD_ARGUMENT"), (-1, "BAD_ARGUMENT"), (51, "LIMIT_EXCEEDED")):
        assert service.refusal(query, maxHops=hops)["code"] == code


def test_a_ring_of_tables_ends(store: GraphStore) -> None:
    store.apply(batch(*(job(f"j{n}", f"t{n}.x -> t{(n + 1) % 3}.x", f"t{n}.x -> t{n}.y", at=1) for n in range(3))))
    with running(store) as service:
        query = '{ table(name: "t0") { upstream { truncated nodes { key hops } } downstream { nodes { key hops } } } }'
        found = service.data(query)["table"]
    assert found["downstream"]["nodes"] == [{"key": key("t1"), "hops": 1}, {"key": key("t2"), "hops": 2}]
    assert found["upstream"]["nodes"] == [{"key": key("t2"), "hops": 1}, {"key": key("t1"), "hops": 2}]
    assert found["upstream"]["truncated"] is None


def test_top_and_unused_tables(service: Service) -> None:
    top = """query ($from: Date, $to: Date, $by: UsageMeasure! = READS) { topTables(by: $by, from: $from, to: $to) {
      totalCount nodes { reads writes firstDay lastDay table { name } } } }"""
    [users] = service.data(top)["topTables"]["nodes"]
    assert users == {
        "reads": 4, "writes": 2, "firstDay": "2024-01-03", "lastDay": "2024-01-04", "table": {"name": "users"},
    }  # fmt: skip
    assert service.data(top, **{"from": "2024-01-05"})["topTables"]["totalCount"] == 0
    assert service.refusal(top, **{"from": "2024-01-05", "to": "2024-01-04"})["code"] == "BAD_ARGUMENT"
    unused = """query ($since: Date!) { unusedTables(since: $since) {
      totalCount usageFirstDay usageLastDay nodes { name } } }"""
    found = service.data(unused, since="2024-01-04")["unusedTables"]
    assert found == {
        "totalCount": 3,
        "usageFirstDay": "2024-01-03",
        "usageLastDay": "2024-01-04",
        "nodes": [{"name": "contacts"}, {"name": "copied"}, {"name": "staged"}],
    }
    assert service.refusal(unused, since="2024-01-05")["code"] == "NOT_FOUND"


def test_impact_of_several_and_of_a_tag(service: Service) -> None:
    query = """query ($columns: [String!], $tables: [String!], $column: String, $table: String, $tag: String) {
      impact(columns: $columns, tables: $tables, column: $column, table: $table, tag: $tag) {
        totalCount nodes { key } starts { ... on Column { key } ... on Table { key } }
        start { ... on Column { key } ... on Table { key } } possiblyAffected { key } } }"""

    def reached(**asked: Any) -> list[str]:
        return keys_of(service.data(query, **asked)["impact"]["nodes"])

    both = service.data(query, columns=["users.id", "staged.mail"])["impact"]
    assert set(keys_of(both["nodes"])) == {
        key(one) for one in ("contacts.address", "contacts.hashed", "contacts.n", "staged.id")
    }
    assert keys_of(both["starts"]) == [key("users.id"), key("staged.mail")]
    assert both["start"] == {"key": key("users.id")}
    assert both["possiblyAffected"] == [{"key": key("copied")}]
    assert reached(column="users.id", tables=["staged"]) == reached(tables=["staged"])
    assert set(reached(tables=["users", "staged"])) == {key(f"contacts.{one}") for one in ("address", "hashed", "n")}
    service.data('mutation { describe(of: "users.email", tags: ["pii"]) { __typename } }')
    assert reached(tag="pii") == reached(column="users.email")
    service.data('mutation { describe(of: "users", tags: ["pii"]) { __typename } }')
    assert reached(tag="pii") == reached(table="users")
    wrong: list[dict[str, Any]] = [
        {},
        {"columns": []},
        {"tables": []},
        {"tag": ""},
        {"column": "users.id", "table": "users"},
    ]
    for bad in wrong:
        assert service.refusal(query, **bad)["code"] == "BAD_ARGUMENT", bad
    assert service.refusal(query, tag="none")["code"] == "NOT_FOUND"
    assert service.refusal(query, columns=["users.id", "users.none"])["code"] == "NOT_FOUND"


def test_a_subgraph_is_closed_and_has_what_is_reached(service: Service) -> None:
    found = service.data(_AROUND, columns=["staged.mail"])["subgraph"]
    assert found["truncated"] is None
    assert keys_of(found["nodes"])[0] == key("staged.mail")
    assert {(one["sourceKey"], one["targetKey"]) for one in found["edges"]} == {
        (key("users.email"), key("staged.mail")),
        (key("users.country"), key("staged")),
        (key("staged.mail"), key("contacts.address")),
        (key("staged.mail"), key("contacts.hashed")),
        (key("staged.mail"), key("contacts.n")),
    }
    down = service.data(_AROUND, columns=["users.country"], directions=["DOWNSTREAM"], maxHops=1)["subgraph"]
    assert set(keys_of(down["nodes"])) == {key(one) for one in ("users.country", "staged", "staged.id", "staged.mail")}
    assert "max_hops=1" in down["truncated"]
    few = service.data(_AROUND, tables=["users"], maxNodes=3)["subgraph"]
    assert len(few["nodes"]) == 3
    assert few["truncated"]
    none = service.data(_AROUND, columns=["users.email"], maxEdges=1)["subgraph"]
    assert len(none["edges"]) == 1
    assert "maxEdges=1" in none["truncated"]
    wrong: list[dict[str, Any]] = [{"maxNodes": 0}, {"maxEdges": -1}, {"directions": []}, {"maxHops": 0}]
    for asked in wrong:
        assert service.refusal(_AROUND, tables=["users"], **asked)["code"] == "BAD_ARGUMENT", asked
    assert service.refusal(_AROUND, tables=["users"], maxNodes=1_001)["code"] == "LIMIT_EXCEEDED"


def test_a_subgraph_of_tables(service: Service) -> None:
    query = """query ($maxHops: Int! = 3, $maxNodes: Int! = 100) {
      tableSubgraph(tables: ["staged"], maxHops: $maxHops, maxNodes: $maxNodes) {
        truncated nodes { name } edges { sourceKey targetKey jobKeys } } }"""
    found = service.data(query)["tableSubgraph"]
    assert [one["name"] for one in found["nodes"]] == ["staged", "contacts", "users", "copied"]
    assert found["edges"] == [
        {"sourceKey": key("contacts"), "targetKey": key("copied"), "jobKeys": ["copy.py"]},
        {"sourceKey": key("staged"), "targetKey": key("contacts"), "jobKeys": ["contacts.sql"]},
        {"sourceKey": key("users"), "targetKey": key("staged"), "jobKeys": ["staged.sql"]},
    ]
    assert found["truncated"] is None
    assert "max_hops=1" in service.data(query, maxHops=1)["tableSubgraph"]["truncated"]
    few = service.data(query, maxNodes=2)["tableSubgraph"]
    assert len(few["nodes"]) == 2
    assert few["truncated"]


def test_the_flows_of_a_subgraph_of_tables_are_paged(service: Service) -> None:
    query = """query ($after: String) { tableSubgraph(tables: ["staged"], maxEdges: 1) {
      truncated edges { sourceKey } flows(first: 2, after: $after) { totalCount pageInfo { hasNextPage endCursor }
        nodes { sourceKey source { name kind } target { name columns { totalCount } } } } } }"""
    first = service.data(query)["tableSubgraph"]
    assert [one["sourceKey"] for one in first["edges"]] == [key("contacts")]
    assert "`flows` has them" in first["truncated"]
    assert first["flows"]["totalCount"] == 3
    names = [(one["source"]["name"], one["target"]["name"]) for one in first["flows"]["nodes"]]
    last = service.data(query, after=first["flows"]["pageInfo"]["endCursor"])["tableSubgraph"]["flows"]
    names += [(one["source"]["name"], one["target"]["name"]) for one in last["nodes"]]
    assert names == [("contacts", "copied"), ("staged", "contacts"), ("users", "staged")]
    assert (first["flows"]["pageInfo"]["hasNextPage"], last["pageInfo"]["hasNextPage"]) == (True, False)


def test_neighbours_of_a_page_of_columns_are_counted(service: Service) -> None:
    query = """query ($asOf: DateTime) { table(name: "staged") { columns { nodes {
      path upstreamCount(asOf: $asOf) downstreamCount(asOf: $asOf) } } } }"""

    def counts(**asked: Any) -> list[tuple[Any, ...]]:
        return [tuple(one.values()) for one in service.data(query, **asked)["table"]["columns"]["nodes"]]

    assert counts() == [("id", 1, 0), ("mail", 1, 3)]
    assert counts(asOf=day(2).isoformat()) == [("id", 1, 0), ("mail", 0, 0)]
    asked = service.data('{ column(name: "users.country") { upstreamCount downstreamCount } }')["column"]
    assert asked == {"upstreamCount": 0, "downstreamCount": 1}


def test_impact_of_one_kind_of_tables(service: Service, store: GraphStore) -> None:
    board = replace(table("board", "n", at=6), kind=DatasetKind.EXPOSURE)
    store.apply(batch(board, job("board", "contacts.n -> board.n", at=6)))
    query = """query ($kinds: [DatasetKind!]) { impact(column: "users.email", filter: {tableKinds: $kinds}) {
      totalCount tableCount countsByHop { hops columns } nodes { key } } }"""
    found = service.data(query, kinds=["EXPOSURE"])["impact"]
    hops = [{"hops": 3, "columns": 1}]
    assert found == {"totalCount": 1, "tableCount": 1, "countsByHop": hops, "nodes": [{"key": key("board.n")}]}
    assert service.data(query, kinds=["EXPOSURE", "TABLE"])["impact"]["totalCount"] == 5
    assert service.data(query)["impact"]["totalCount"] == 5
    assert service.data(query, kinds=["FILE"])["impact"]["totalCount"] == 0
    upstream = '{ rootCause(column: "board.n", filter: {tableKinds: [VIEW]}) { totalCount } }'
    assert service.data(upstream)["rootCause"]["totalCount"] == 0
    assert service.refusal(query, kinds=[])["code"] == "BAD_ARGUMENT"


def test_reads_of_columns_that_are_not_there_are_named(service: Service, store: GraphStore) -> None:
    store.apply(batch(table("l", "gone", "x", at=1), job("r", "l.gone -> r.y", at=1)))
    store.apply(batch(table("l", "x", at=2), job("r", "l.gone -> r.y", at=2)))
    query = """{ table(name: "l") { brokenReads { name readerName since } }
      impact(column: "l.gone") { brokenReads { columnKey readerKey jobKey } } }"""
    found = service.data(query)
    assert found["table"]["brokenReads"] == [{"name": "l.gone", "readerName": "r", "since": None}]
    read = {"columnKey": key("l.gone"), "readerKey": key("r"), "jobKey": "r"}
    assert found["impact"]["brokenReads"] == [read]


_PAIRS = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(0, 1), st.sampled_from(["->", "~>"]), st.integers(0, 5), st.integers(-1, 1)
    ),
    min_size=1,
    max_size=14,
)


@pytest.fixture(scope="module")
def number() -> Any:
    return iter(range(10_000))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs=_PAIRS, start=st.integers(0, 5), whole=st.booleans(), hops=st.integers(1, 6))
def test_subgraphs_have_what_impact_and_root_cause_reach(
    store: GraphStore, number: Any, pairs: list[Any], start: int, whole: bool, hops: int
) -> None:
    n = next(number)

    def end(one: int, column: int) -> str:
        return f"r{n}t{one}" if column < 0 else f"r{n}t{one}.c{column}"

    views: dict[int, list[str]] = {}
    for source, column, arrow, target, into in pairs:
        if into >= 0 or arrow == "~>":
            views.setdefault(target, []).append(f"{end(source, column)} {arrow} {end(target, into)}")
    tables = [table(f"r{n}t{one}", "c0", "c1") for one in range(6)]
    store.apply(batch(*tables, *(view(f"r{n}t{one}", *sorted(set(lines)), at=1) for one, lines in views.items())))
    name = f"r{n}t{start}" if whole else f"r{n}t{start}.c0"
    with running(store) as service:
        for direction, field in (("DOWNSTREAM", "impact"), ("UPSTREAM", "rootCause")):
            asked = f"{'table' if whole else 'column'}: {name!r}, maxHops: {hops}".replace("'", '"')
            shown = "nodes { key } start { ... on Table { columns { nodes { key } } } }"
            reached = service.data(f"{{ {field}({asked}) {{ {shown} }} }}")[field]
            starts: dict[str, Any] = {"tables" if whole else "columns": [name]}
            found = service.data(_AROUND, directions=[direction], maxHops=hops, **starts)["subgraph"]
            nodes = set(keys_of(found["nodes"]))
            assert len(nodes) == len(found["nodes"])
            own = {key(name), *keys_of(reached["start"].get("columns", {}).get("nodes", []))}
            assert {one for one in nodes if "#" in one} == {
                one for one in {*keys_of(reached["nodes"]), *own} if "#" in one
            }
            assert {one[end] for one in found["edges"] for end in ("sourceKey", "targetKey")} <= nodes
            linked = {one["targetKey" if direction == "DOWNSTREAM" else "sourceKey"] for one in found["edges"]}
            for one in keys_of(reached["nodes"]):
                # By an edge, or by which rows its table has; upstream by the table of the one before it.
                assert one in linked or one.partition("#")[0] in nodes or direction == "UPSTREAM"
