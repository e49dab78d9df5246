"""What is changed by hand over GraphQL, and who watches it."""

from __future__ import annotations

from tests.service.running import Service
from tests.store.batch_builders import key


def test_descriptions_and_tags(service: Service) -> None:
    query = """mutation ($of: String!, $description: String, $tags: [String!]) {
      describe(of: $of, description: $description, tags: $tags) {
        ... on Table { name description tags } ... on Column { name description tags } } }"""
    reply = service.data(query, of="users", description="who we know", tags=["core"])["describe"]
    assert reply == {"name": "users", "description": "who we know", "tags": ["core"]}
    reply = service.data(query, of="users.email", tags=["pii", "pii"])["describe"]
    assert reply == {"name": "users.email", "description": None, "tags": ["pii"]}
    assert service.data('{ table(name: "users") { description } }')["table"]["description"] == "who we know"
    assert service.refusal(query, of="nobody", description="x")["code"] == "NOT_FOUND"
    assert service.refusal(query, of="users", tags=[" "])["code"] == "BAD_ARGUMENT"
    assert service.refusal(query, of="users", description="x" * 10_001)["code"] == "LIMIT_EXCEEDED"


def test_an_edge_asserted_by_hand_is_kept_apart_and_can_be_retired(service: Service) -> None:
    assert_edge = """mutation { assertEdge(source: "contacts.address", target: "copied.address2", subtype: IDENTITY) {
      kind } }"""
    assert service.refusal(assert_edge)["code"] == "NOT_FOUND"
    assert_edge = """mutation { assertEdge(source: "users.country", target: "contacts.n", subtype: TRANSFORMATION,
      since: "2024-01-06T00:00:00Z") { kind subtypes validFrom job { key kind operation source sql } } }"""
    edge = service.data(assert_edge)["assertEdge"]
    assert (edge["kind"], edge["subtypes"], edge["validFrom"][:10]) == ("CONTRIBUTES", ["TRANSFORMATION"], "2024-01-06")
    assert edge["job"] == {
        "key": f"assertion:{key('users.country')}>{key('contacts.n')}",
        "kind": "ASSERTION",
        "operation": "ASSERT",
        "source": "steward",
        "sql": None,
    }
    impact = '{ impact(column: "users.country", kinds: [CONTRIBUTES]) { edges { node { column { name } } } } }'
    assert service.data(impact)["impact"]["edges"] == [{"node": {"column": {"name": "contacts.n"}}}]
    retire = """mutation ($job: ID) {
      retireEdge(source: "users.country", target: "contacts.n", kind: CONTRIBUTES, job: $job) { ended } }"""
    assert service.refusal(retire, job="another")["code"] == "NOT_FOUND"
    assert service.data(retire)["retireEdge"] == {"ended": 1}
    assert service.data(impact)["impact"]["edges"] == []
    assert service.data(assert_edge)


def test_edges_that_make_no_sense_are_refused(service: Service) -> None:
    query = "mutation ($s: String!, $t: String!) { assertEdge(source: $s, target: $t) { kind } }"
    assert service.refusal(query, s="users.id", t="staged")["code"] == "BAD_ARGUMENT"
    assert service.refusal(query, s="users.id", t="users.id")["code"] == "BAD_ARGUMENT"


def test_pruning(service: Service) -> None:
    assert service.data('mutation { prune(olderThan: "2030-01-01T00:00:00Z") { ended } }')["prune"] == {"ended": 0}


def test_forgetting(service: Service) -> None:
    forget = "mutation ($job: ID, $dry: Boolean!) { forget(job: $job, dryRun: $dry) { jobs ended } }"
    expected = {"jobs": 1, "ended": 3}
    assert service.data(forget, job="contacts.sql", dry=True)["forget"] == expected
    assert service.data(forget, job="contacts.sql", dry=False)["forget"] == expected
    assert service.data(forget, job="contacts.sql", dry=False)["forget"] == {"jobs": 0, "ended": 0}
    assert service.refusal(forget, dry=True)["code"] == "BAD_ARGUMENT"
