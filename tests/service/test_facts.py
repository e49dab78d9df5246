"""Facts of tables and columns over GraphQL."""

from __future__ import annotations

from dataclasses import replace

from lineage.model.facts import Check, CheckResult, Constraint, Facts, FactsRecord, Freshness
from lineage.store import GraphStore
from tests.service.running import running
from tests.store.batch_builders import batch, day, drop, key, table


def test_facts_of_a_table_and_its_columns(store: GraphStore) -> None:
    checks = (Check("t1", "unique", ("x",), "error", None, CheckResult("fail", day(1), 2)), Check("t2", "unit"))
    of_table = Facts(
        "dbt/shop:model.a@", day(1), "All.", ("core",), (("pii", "true"),), "Ana", None, True,
        (Constraint("primary_key", ("x",)),), checks, Freshness("warn", day(1)),
    )  # fmt: skip
    of_column = Facts("dbt/shop:model.a@", day(1), data_type="int")
    store.apply(replace(batch(table("a", "x", "y")), facts=(FactsRecord(key("a"), of_table, {"x": of_column}),)))
    query = """{ table(name: "a") { facts { source description tags owner isContracted meta { name value }
      constraints { kind columns } tests { key kind columns status failures at } freshness { status loadedAt } }
      columns { edges { node { path facts { dataType } } } } } }"""
    with running(store) as service:
        found = service.data(query)["table"]
    assert found["facts"] == [
        {
            "source": "dbt/shop:model.a@", "description": "All.", "tags": ["core"], "owner": "Ana",
            "isContracted": True, "meta": [{"name": "pii", "value": "true"}],
            "constraints": [{"kind": "primary_key", "columns": ["x"]}],
            "tests": [
                {"key": "t1", "kind": "unique", "columns": ["x"], "status": "fail", "failures": 2,
                 "at": day(1).isoformat()},
                {"key": "t2", "kind": "unit", "columns": [], "status": None, "failures": None, "at": None},
            ],
            "freshness": {"status": "warn", "loadedAt": None},
        }
    ]  # fmt: skip
    assert [one["node"]["facts"] for one in found["columns"]["edges"]] == [[{"dataType": "int"}], []]


def test_owners_have_their_tables(store: GraphStore) -> None:
    stated = [("a", "Finance"), ("b", "Finance"), ("b", "Ops"), ("c", None)]
    tables = [table(name, "x") for name in ("a", "b", "c")]
    facts = tuple(FactsRecord(key(of), Facts(f"s{n}", day(1), owner=owner)) for n, (of, owner) in enumerate(stated))
    store.apply(replace(batch(*tables), facts=facts))
    with running(store) as service:
        found = service.data("{ owners { totalCount unownedTables nodes { name tableCount } } }")["owners"]
        assert found["nodes"] == [{"name": "Finance", "tableCount": 2}, {"name": "Ops", "tableCount": 1}]
        assert (found["totalCount"], found["unownedTables"]) == (2, len(store.datasets()) - 2)
        query = """query ($owner: String!, $exact: Boolean! = false, $after: String) {
          ownedTables(owner: $owner, exact: $exact, first: 1, after: $after) {
            totalCount nodes { key } pageInfo { hasNextPage endCursor } } }"""
        page = service.data(query, owner="fin")["ownedTables"]
        assert (page["totalCount"], page["nodes"]) == (2, [{"key": key("a")}])
        page = service.data(query, owner="fin", after=page["pageInfo"]["endCursor"])["ownedTables"]
        assert (page["nodes"], page["pageInfo"]["hasNextPage"]) == ([{"key": key("b")}], False)
        assert service.data(query, owner="fin", exact=True)["ownedTables"]["totalCount"] == 0
        store.apply(batch(drop("b", at=9), run="dropped"))
        assert service.data(query, owner="Ops")["ownedTables"]["totalCount"] == 0


def test_domains_have_their_tables(store: GraphStore) -> None:
    sales = Facts("dbt", day(1), meta=(("domain", '"Sales"'),))
    tagged = Facts("csv", day(1), tags=("domain:Ops", "pii"))
    facts = (FactsRecord(key("a"), sales), FactsRecord(key("b"), tagged))
    store.apply(replace(batch(*(table(name, "x") for name in ("a", "b", "c"))), facts=facts))
    store.describe(key("b"), tags=["Domain: Sales"])
    with running(store) as service:
        found = service.data("{ domains { totalCount tablesWithout nodes { name tableCount } } }")["domains"]
        assert found["nodes"] == [{"name": "Sales", "tableCount": 2}, {"name": "Ops", "tableCount": 1}]
        assert (found["totalCount"], found["tablesWithout"]) == (2, len(store.datasets()) - 2)
        query = "query ($domain: String!) { domainTables(domain: $domain) { nodes { key } } }"
        assert service.data(query, domain="Sales")["domainTables"]["nodes"] == [{"key": key("a")}, {"key": key("b")}]
        store.apply(batch(drop("b", at=9), run="dropped"))
        assert service.data(query, domain="Ops")["domainTables"]["nodes"] == []
