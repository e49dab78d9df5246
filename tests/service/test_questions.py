"""What the service answers, on both stores."""

from __future__ import annotations

from typing import Any

from lineage.catalog import Catalog
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming, column_key
from lineage.sql.script.extract_script import extract_script
from lineage.store import GraphStore
from lineage_ingest.batch.builder import BatchBuilder, FileOrigin, of_files
from tests.service.running import Service, running
from tests.store.batch_builders import batch, day, key, view

_IMPACT = """
query ($column: String, $table: String, $first: Int = 100, $after: String, $filter: ReachedFilter, $asOf: DateTime,
       $throughMasking: Boolean = true, $maxReferences: Int, $maxHops: Int = 20, $kinds: [EdgeKind!]) {
  impact(column: $column, table: $table, first: $first, after: $after, filter: $filter, asOf: $asOf,
         throughMasking: $throughMasking, maxReferences: $maxReferences, maxHops: $maxHops, kinds: $kinds) {
    totalCount totalCountIsLowerBound truncated asOf tableCount
    countsByHop { hops columns }
    tables { name columns hops table { kind } }
    possiblyAffected { name hops job { key } }
    start { __typename ... on Column { name } ... on Table { name } }
    pageInfo { hasNextPage hasPreviousPage endCursor }
    edges { cursor node {
      hops references influence transformation masked
      column { name dataType } table { name }
      path { hops transformation masked steps { sourceKey targetKey kind subtypes job { key } spans { text line } } }
      contribution { masked }
    } }
  }
}
"""


def reached(answer: dict[str, Any]) -> list[str]:
    return [edge["node"]["column"]["name"] for edge in answer["edges"]]


def test_impact_tells_what_is_reached_and_proves_it(service: Service) -> None:
    answer = service.data(_IMPACT, column="users.email")["impact"]
    assert reached(answer) == ["staged.mail", "contacts.address", "contacts.hashed", "contacts.n"]
    assert (answer["totalCount"], answer["totalCountIsLowerBound"], answer["truncated"]) == (4, False, None)
    assert answer["countsByHop"] == [{"hops": 1, "columns": 1}, {"hops": 2, "columns": 3}]
    assert answer["tables"] == [
        {"name": "staged", "columns": 1, "hops": 1, "table": {"kind": "TABLE"}},
        {"name": "contacts", "columns": 3, "hops": 2, "table": {"kind": "TABLE"}},
    ]
    assert answer["possiblyAffected"] == [{"name": "copied", "hops": 3, "job": {"key": "copy.py"}}]
    assert answer["start"] == {"__typename": "Column", "name": "users.email"}
    [_, address, hashed, count] = [edge["node"] for edge in answer["edges"]]
    assert (address["masked"], hashed["masked"], count["masked"]) == (False, True, True)
    assert (address["transformation"], count["transformation"]) == ("IDENTITY", "AGGREGATION")
    assert hashed["influence"] == ["CONTRIBUTES"]
    assert address["path"]["steps"][0] == {
        "sourceKey": key("users.email"),
        "targetKey": key("staged.mail"),
        "kind": "CONTRIBUTES",
        "subtypes": ["IDENTITY"],
        "job": {"key": "staged.sql"},
        "spans": [{"text": "email", "line": 1}],
    }


def test_pages_of_impact_hold_each_column_once(service: Service) -> None:
    whole = reached(service.data(_IMPACT, table="users")["impact"])
    pages, after = [], None
    while True:
        answer = service.data(_IMPACT, table="users", first=2, after=after)["impact"]
        assert answer["totalCount"] == len(whole)
        assert answer["pageInfo"]["hasPreviousPage"] == (after is not None)
        pages.append(reached(answer))
        after = answer["pageInfo"]["endCursor"]
        if not answer["pageInfo"]["hasNextPage"]:
            break
    assert [name for page in pages for name in page] == whole
    assert [len(page) for page in pages] == [2, 2, 1]


def test_what_impact_is_asked_for_it_keeps_to(service: Service) -> None:
    def names(**asked: Any) -> list[str]:
        return reached(service.data(_IMPACT, **asked)["impact"])

    assert names(column="users.email", throughMasking=False) == ["staged.mail", "contacts.address"]
    assert names(column="users.email", maxHops=1) == ["staged.mail"]
    assert names(column="users.country", maxReferences=0) == []
    assert names(column="users.country", kinds=["CONTRIBUTES"]) == []
    assert "staged.id" in names(column="users.country")
    assert names(table="users", asOf=day(2).isoformat()) == ["staged.id"]
    assert names(column="users.email", filter={"masked": True}) == ["contacts.hashed", "contacts.n"]
    assert names(column="users.email", filter={"table": "CONT", "masked": False}) == ["contacts.address"]
    assert names(column="users.email", filter={"maxHops": 1}) == ["staged.mail"]
    assert names(column="users.email", filter={"namespace": "other"}) == []


def test_a_limit_that_cuts_is_said(service: Service) -> None:
    answer = service.data(_IMPACT, column="users.email", maxHops=1)["impact"]
    assert "max_hops=1" in answer["truncated"]
    assert not answer["totalCountIsLowerBound"]  # of what lies within one hop, these are all


def test_root_cause_marks_the_roots(service: Service) -> None:
    query = """{ rootCause(column: "contacts.hashed") { direction
      edges { node { root hops influence column { name } } } } }"""
    answer = service.data(query)["rootCause"]
    assert answer["direction"] == "UPSTREAM"
    assert [(one["node"]["column"]["name"], one["node"]["root"]) for one in answer["edges"]] == [
        ("staged.mail", False),
        ("users.email", True),
        ("users.country", True),
    ]


def test_paths_with_their_evidence(service: Service) -> None:
    query = """{ paths(from: "users.email", to: "contacts.n") {
      hops masked transformation steps { source { name } target { ... on Column { name } } spans { text } } } }"""
    [path] = service.data(query)["paths"]
    assert (path["hops"], path["masked"], path["transformation"]) == (2, True, "AGGREGATION")
    assert [step["target"]["name"] for step in path["steps"]] == ["staged.mail", "contacts.n"]


def test_a_job_with_its_sql_and_its_edges(service: Service) -> None:
    query = """{ job(key: "staged.sql") { sql kind completeness reads { name } writes { name }
      edges(first: 2) { pageInfo { hasNextPage endCursor } edges { node {
        target { __typename } places { text line column } } } } } }"""
    job = service.data(query)["job"]
    assert job["sql"].endswith("country = '**'")
    assert (job["reads"], job["writes"]) == ([{"name": "users"}], [{"name": "staged"}])
    assert [edge["node"] for edge in job["edges"]["edges"]] == [
        {"target": {"__typename": "Table"}, "places": [{"text": "country", "line": 1, "column": 54}]},
        {"target": {"__typename": "Column"}, "places": [{"text": "id", "line": 1, "column": 27}]},
    ]
    after = job["edges"]["pageInfo"]["endCursor"]
    rest = service.data(
        'query ($after: String) { job(key: "staged.sql") { edges(after: $after) { edges { node { sourceKey } } } } }',
        after=after,
    )
    assert [edge["node"]["sourceKey"] for edge in rest["job"]["edges"]["edges"]] == [key("users.email")]
    assert service.data('{ job(key: "none") { key } }')["job"] is None


def test_tables_and_columns(service: Service) -> None:
    query = """query ($key: ID, $name: String, $namespace: String) {
      table(key: $key, name: $name, namespace: $namespace) { name schemaKnown
        columns(first: 2) { edges { node { path ordinal table { name } } } pageInfo { hasNextPage endCursor } }
      jobs { edges { node { key } } } } }"""
    by_name = service.data(query, name="users")["table"]
    assert by_name == service.data(query, key=key("users"))["table"]
    assert by_name == service.data(query, name="USERS", namespace="pg")["table"]
    assert [edge["node"]["path"] for edge in by_name["columns"]["edges"]] == ["id", "email"]
    assert by_name["columns"]["pageInfo"]["hasNextPage"]
    assert by_name["jobs"]["edges"] == [{"node": {"key": "staged.sql"}}]
    column = service.data('{ column(name: "users.email") { key name dataType inferred } }')["column"]
    assert column == {"key": key("users.email"), "name": "users.email", "dataType": "int", "inferred": False}


def test_an_unknown_name_is_an_error_with_suggestions(service: Service) -> None:
    answer = service.ask('{ table(name: "user") { key } }')
    assert answer["data"] == {"table": None}
    [error] = answer["errors"]
    assert error["extensions"]["code"] == "NOT_FOUND"
    assert error["extensions"]["suggestions"] == ["users"]


def test_search_by_name_page_and_tag(service: Service) -> None:
    query = """query ($text: String!, $tags: [String!], $types: [NodeType!], $after: String) {
      search(text: $text, tags: $tags, types: $types, first: 2, after: $after) {
        edges { node { key node { __typename } } } pageInfo { hasNextPage endCursor } } }"""
    first = service.data(query, text="a")["search"]
    second = service.data(query, text="a", after=first["pageInfo"]["endCursor"])["search"]
    keys = [edge["node"]["key"] for page in (first, second) for edge in page["edges"]]
    assert len(set(keys)) == 4
    service.data('mutation { describe(of: "users.email", tags: ["pii"]) { __typename } }')
    tagged = service.data(query, text="", tags=["pii"])["search"]["edges"]
    assert tagged == [{"node": {"key": key("users.email"), "node": {"__typename": "Column"}}}]
    tables = service.data(query, text="s", types=["TABLE"])["search"]["edges"]
    assert {edge["node"]["node"]["__typename"] for edge in tables} == {"Table"}


def test_jobs_runs_and_diagnostics(service: Service) -> None:
    query = """{ jobs(first: 2) { edges { node { key topUsers { user }
        diagnostics { code span { line column } place { line column } } } }
        pageInfo { hasNextPage endCursor } }
      runs(first: 1) { edges { node { key kind counts { name number } } } pageInfo { hasNextPage } }
      diagnostics(severities: [WARNING]) { edges { node { message hint job { key } } } }
      none: diagnostics(severities: [ERROR]) { edges { node { message } } } }"""
    reply = service.data(query)
    assert [edge["node"]["key"] for edge in reply["jobs"]["edges"]] == ["contacts.sql", "copy.py"]
    assert reply["jobs"]["edges"][0]["node"]["diagnostics"] == [
        {"code": "UNKNOWN_TABLE", "span": {"line": 1, "column": 4}, "place": {"line": 1, "column": 4}}
    ]
    assert reply["jobs"]["pageInfo"]["hasNextPage"]
    assert reply["runs"]["edges"][0]["node"]["counts"] == [{"name": "files", "number": 1}]
    assert reply["runs"]["pageInfo"]["hasNextPage"]
    assert reply["diagnostics"]["edges"] == [
        {"node": {"message": "no table `x`", "hint": "look", "job": {"key": "contacts.sql"}}}
    ]
    assert reply["none"]["edges"] == []


def test_usage_by_day(service: Service) -> None:
    query = """query ($from: Date, $to: Date) { usage(table: "users", from: $from, to: $to) {
      reads writes distinctUsers topUsers { user queries } firstDay lastRead days { day reads } } }"""
    usage = service.data(query)["usage"]
    assert (usage["reads"], usage["writes"], usage["distinctUsers"]) == (4, 2, 2)
    assert usage["topUsers"][0] == {"user": "ana", "queries": 4}
    assert usage["days"] == [{"day": "2024-01-03", "reads": 2}, {"day": "2024-01-04", "reads": 2}]
    later = service.data(query, **{"from": "2024-01-04"})["usage"]
    assert later["reads"] == 2
    assert service.refusal(query, **{"from": "2024-01-04", "to": "2024-01-03"})["code"] == "BAD_ARGUMENT"
    assert service.data('{ usage(column: "users.email") { reads } }') == {"usage": {"reads": 1}}


def test_what_differs_between_two_times(service: Service) -> None:
    query = """query ($scope: String, $first: Int = 100, $after: String) {
      lineageDiff(asOfA: "2024-01-02T00:00:00Z", asOfB: "2024-01-06T00:00:00Z",
                  scope: $scope, first: $first, after: $after) {
        began ended changed truncated pageInfo { hasNextPage endCursor }
        edges { node { change before { sourceKey } after { sourceKey targetKey validFrom } } } } }"""
    diff = service.data(query)["lineageDiff"]
    assert (diff["began"], diff["ended"], diff["changed"], diff["truncated"]) == (5, 0, 0, False)
    first = service.data(query, first=3)["lineageDiff"]
    rest = service.data(query, first=3, after=first["pageInfo"]["endCursor"])["lineageDiff"]
    assert [*first["edges"], *rest["edges"]] == diff["edges"]
    of_staged = service.data(query, scope="staged")["lineageDiff"]
    assert [edge["node"]["after"]["sourceKey"] for edge in of_staged["edges"]] == [
        key("users.country"),
        key("users.email"),
    ]
    assert service.data(query, scope="pg/cont")["lineageDiff"]["began"] == 3


def test_each_subtype_of_an_edge_has_its_own_masking(store: GraphStore) -> None:
    store.apply(batch(view("v", "t.a -> v.x IDENTITY AGGREGATION:MASKING", "t.a ~> v JOIN FILTER MASKING", at=1)))
    query = """query ($columns: [String!]) { subgraph(columns: $columns, maxHops: 1) {
      edges { targetKey subtypes masking maskedSubtypes } } }"""
    with running(store) as service:
        found = service.data(query, columns=["t.a"])["subgraph"]["edges"]
    assert {edge["targetKey"]: (edge["subtypes"], edge["masking"], edge["maskedSubtypes"]) for edge in found} == {
        key("v.x"): (["IDENTITY", "AGGREGATION"], False, ["AGGREGATION"]),
        key("v"): (["JOIN", "FILTER"], True, ["JOIN", "FILTER"]),
    }


def test_extract_tells_what_sql_would_do_and_stores_nothing(service: Service) -> None:
    query = """query ($sql: String!) { extract(sql: $sql, dialect: "postgres") {
      operation target sources outputColumns completeness targetKey
      stated { source { table column } target { table column } kind subtype masking
        span { text line } place { text line } }
      steps { source { table cte column } target { table cte column } kind unchanged masking }
      diagnostics { code } impact(maxHops: 5) { totalCount edges { node { column { name } } } } } }"""
    sql = "insert into staged (mail) select md5(email) from users where country = 'secret'"
    before = service.data("{ runs { edges { node { key } } } jobs { edges { node { key } } } }")
    [statement] = service.data(query, sql=sql)["extract"]
    assert (statement["operation"], statement["target"], statement["completeness"]) == ("INSERT", "staged", "FULL")
    assert statement["stated"][0] == {
        "source": {"table": "users", "column": "email"},
        "target": {"table": "staged", "column": "mail"},
        "kind": "CONTRIBUTES",
        "subtype": "TRANSFORMATION",
        "masking": True,
        "span": {"text": "email", "line": 1},
        "place": {"text": "email", "line": 1},
    }
    assert statement["impact"]["totalCount"] == 3
    assert "secret" not in str(statement)
    assert statement["steps"] is None
    [unknown] = service.data(query, sql="select * from users")["extract"]
    assert unknown["outputColumns"] == ["id", "email", "country"]
    assert unknown["impact"] is None
    assert before == service.data("{ runs { edges { node { key } } } jobs { edges { node { key } } } }")
    [steps] = service.data(query, sql="with c as (select md5(email) as m from users) select m from c")["extract"]
    assert steps["steps"][0] == {
        "source": {"table": "users", "cte": None, "column": "email"},
        "target": {"table": None, "cte": "c", "column": "m"},
        "kind": "CONTRIBUTES",
        "unchanged": False,
        "masking": True,
    }
    [bad] = service.data(query, sql="select from where (")["extract"]
    assert bad["diagnostics"][0]["code"] == "PARSE_ERROR"
    no_dialect = '{ extract(sql: "select 1", dialect: "klingon") { operation } }'
    assert service.refusal(no_dialect)["code"] == "BAD_ARGUMENT"


def test_evidence_is_chains_of_spans(store: GraphStore) -> None:
    sql = "create view w as\nwith l as (select * from users) select md5(email) as m from l"
    files = {"w.sql": FileOrigin("w.sql", "w.sql")}
    known = Catalog.from_dict({"users": ["email"]}, "postgres")
    builder = BatchBuilder(Naming(dialect_named("postgres")), known, day(1), of_files(day(1), files), files=files)
    builder.add_file("w.sql", sql, extract_script({"w.sql": sql}, "postgres", known))
    store.apply(builder.batch("sql", "w.sql", [sql]))
    query = """{ paths(from: "users.email", to: "w.m") { steps {
      spans { text } evidence { text expression line sourceLine sourceColumn }
      places { text } proofs { text expression line sourceLine sourceColumn } } } }"""
    with running(store) as service:
        [[step]] = [path["steps"] for path in service.data(query)["paths"]]
    assert step["spans"] == step["places"] == [{"text": "*"}]
    assert (
        step["evidence"]
        == step["proofs"]
        == [
            [
                {"text": "*", "expression": "*", "line": 2, "sourceLine": 2, "sourceColumn": 19},
                {"text": "email", "expression": "md5(email)", "line": 2, "sourceLine": 2, "sourceColumn": 44},
            ]
        ]
    )


def test_columns_of_any_name_are_asked_for_by_name_and_by_key(store: GraphStore) -> None:
    sql = 'CREATE VIEW v AS SELECT "item#", "my col", "Total.Amount", "50%" FROM o'
    builder = BatchBuilder(Naming(dialect_named("postgres")), Catalog(), day(1), of_files(day(1)))
    builder.add_file("v.sql", sql, extract_script({"v.sql": sql}, "postgres"))
    store.apply(builder.batch("sql", "v.sql", [sql]))
    asked = "query ($of: String!) { impact(column: $of) { edges { node { column { key name path } } } } }"
    with running(store) as service:
        for name in ("item#", "my col", '"Total.Amount"', "50%"):
            for of in (f"o.{name}", column_key("postgres/o", name)):
                [edge] = service.data(asked, of=of)["impact"]["edges"]
                found = edge["node"]["column"]
                assert (found["path"], found["name"]) == (name, f"v.{name}")
                assert found["key"] == column_key("postgres/v", name)
