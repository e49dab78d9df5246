"""Personal data over GraphQL: tags by stewards, where values are, unused tables, and who sees what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lineage.governance.report.policy import Policy, PolicyEntry, Verdict
from lineage.model.batch import UsageRecord
from lineage.store import open_store
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.roles import Role
from lineage_graphql.settings import Settings
from tests.service.graph import fill
from tests.service.running import Service, running
from tests.store.batch_builders import batch, day, key

READ = UsageRecord(key("staged.mail"), day(4).date(), reads=1, users=(("ana", 1),), last_read=day(4))
TAG = """mutation ($c: String!, $n: String!, $d: Boolean! = false) {
  tag(column: $c, name: $n, denied: $d, why: "form") { name denied why source } }"""
UNTAG = "mutation ($c: String!, $n: String!) { untag(column: $c, name: $n) { name } }"
EXPOSURES = """{ exposures(column: "users.email") { name totalCount tags { name }
  columns { name exposure hops users path { source target exposure sql } } influenced { name } } }"""


def test_tags_are_added_and_removed_one_by_one(service: Service) -> None:
    service.data(TAG, c="users.email", n="Email")
    found = service.data(TAG, c="users.email", n="gdpr")["tag"]
    assert [one["name"] for one in found] == ["email", "gdpr"]
    assert service.data(UNTAG, c="users.email", n="gdpr")["untag"] == [{"name": "email"}]
    assert service.refusal(UNTAG, c="users.email", n="gdpr")["code"] == "NOT_FOUND"
    assert service.refusal(TAG, c="users.email", n=" ")["code"] == "BAD_ARGUMENT"
    assert service.refusal(TAG, c="nowhere.at_all", n="email")["code"] == "NOT_FOUND"
    assert service.data('{ columnTags(column: "users.email") { name why } }')["columnTags"] == [
        {"name": "email", "why": "form"}
    ]
    assert service.data('{ search(text: "email", tags: ["email"]) { totalCount } }')["search"]["totalCount"] == 1


def test_where_values_are(service: Service) -> None:
    service.data(TAG, c="users.email", n="email")
    found = service.data(EXPOSURES)["exposures"]
    assert (found["name"], found["tags"]) == ("users.email", [{"name": "email"}])
    assert found["totalCount"] == len(found["columns"]) > 0
    report = service.data("{ piiReport { totalCount classes sources { name columns { name } } blindSpots } }")[
        "piiReport"
    ]
    assert (report["totalCount"], report["classes"]) == (1, ["email"])
    assert len(report["sources"][0]["columns"]) == found["totalCount"]
    assert service.data('{ piiReport(classes: ["phone"]) { totalCount } }')["piiReport"]["totalCount"] == 0
    service.data(TAG, c=found["columns"][0]["name"], n="email", d=True)
    assert service.data(EXPOSURES.replace("totalCount", "stopped"))["exposures"]["stopped"]


def test_which_of_some_columns_hold_personal_data(service: Service) -> None:
    service.data(TAG, c="users.email", n="email")
    asked = """query ($columns: [String!]!, $at: DateTime) { personalDataIn(columns: $columns, asOf: $at) {
      columns { key classes { name exposure sourceKey } } cuts } }"""
    names = ("contacts.hashed", "staged.mail", "users.country", "users.email", "nowhere.at_all")
    found = service.data(asked, columns=[key(one) for one in names])["personalDataIn"]
    source = {"name": "email", "sourceKey": key("users.email")}
    assert found == {
        "columns": [
            {"key": key("contacts.hashed"), "classes": [{**source, "exposure": "MASKED"}]},
            {"key": key("staged.mail"), "classes": [{**source, "exposure": "UNMASKED"}]},
            {"key": key("users.email"), "classes": [{**source, "exposure": "UNMASKED"}]},
        ],
        "cuts": [],
    }
    early = service.data(asked, columns=[key("staged.mail")], at="2023-01-01T00:00:00")["personalDataIn"]
    assert early["columns"] == []
    assert service.refusal(asked, columns=[])["code"] == "BAD_ARGUMENT"
    assert service.refusal(asked, columns=[key("users.email")] * 501)["code"] == "LIMIT_EXCEEDED"


def test_the_policy_of_the_service_says_what_may_be_where(tmp_path: Path) -> None:
    entry = PolicyEntry(classes=("email",), tables=("staged",), verdict=Verdict.DENY, why="raw mail stays in users")
    asked = """{ piiReport { verdicts { verdict columns } sources { rulings { verdict }
      columns { table rulings { name verdict why } } } } }"""
    with open_store(tmp_path / "store.db") as store:
        fill(store)
        with running(store, Settings(pii_policy=Policy(policies=(entry,)))) as service:
            service.data(TAG, c="users.email", n="email")
            report = service.data(asked)["piiReport"]
        with running(store) as service:
            without = service.data(asked)["piiReport"]
    [source] = report["sources"]
    denied = [one for one in source["columns"] if one["rulings"][0]["verdict"] == "DENY"]
    assert {one["table"] for one in denied} == {"staged"}
    assert denied[0]["rulings"] == [{"name": "email", "verdict": "DENY", "why": "raw mail stays in users"}]
    assert source["rulings"] == [{"verdict": "ALLOW"}]
    assert {one["verdict"]: one["columns"] for one in report["verdicts"]}["DENY"] == len(denied)
    assert (without["verdicts"], without["sources"][0]["rulings"]) == (None, [])


def test_unused_tables_are_refused_without_a_log_of_the_time(service: Service) -> None:
    unused = "query ($until: Date!) { unused(days: 2, until: $until) { totalCount logLastDay tables { name sure } } }"
    found = service.data(unused, until="2024-01-05")["unused"]
    assert found["totalCount"] == len(found["tables"])
    assert service.refusal(unused, until="2030-01-01")["code"] == "NOT_FOUND"


def test_only_stewards_see_names_of_users_and_sql(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    with open_store(tmp_path / "store.db") as store:
        fill(store)
        store.apply(replace(batch(run="usage"), usage=(READ,)))
        with running(store, Settings(tokens=tokens.path)) as service:
            (reader, _), (steward, _) = (tokens.create(str(one), [one]) for one in (Role.READER, Role.STEWARD))
            hidden, shown = (service.data(EXPOSURES, token)["exposures"]["columns"] for token in (reader, steward))
    assert {one["users"] is None and one["path"][0]["sql"] is None for one in hidden} == {True}
    assert [one["users"] for one in shown if one["name"] == "staged.mail"] == [["ana"]]
    assert shown[0]["path"][0]["sql"] == ["email"]
    assert "ana" not in str(hidden)


def test_only_stewards_see_who_used_a_table(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    usage = '{ usage(table: "staged") { topUsers { user queries } } }'
    with open_store(tmp_path / "store.db") as store:
        fill(store)
        store.apply(replace(batch(run="usage"), usage=(replace(READ, of=key("staged")),)))
        with running(store, Settings(tokens=tokens.path)) as service:
            (reader, _), (steward, _) = (tokens.create(str(one), [one]) for one in (Role.READER, Role.STEWARD))
            assert service.data(usage, reader)["usage"]["topUsers"] == [{"user": "user 1", "queries": 1}]
            assert service.data(usage, steward)["usage"]["topUsers"] == [{"user": "ana", "queries": 1}]
            jobs = '{ jobs(user: "ana") { totalCount } }'
            assert service.refusal(jobs, reader)["code"] == "FORBIDDEN"
            assert service.data(jobs, steward)["jobs"]["totalCount"] == 0


AUDIT = """{ accessAudit(classes: ["email"]) { totalCount blindSpots logLastDay newReaders { name users }
  accesses { user column exposure queries firstDay lastDay isNew sources path { sql } } } }"""


def test_who_read_a_class_by_role(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    later = replace(READ, day=day(60).date(), users=(("zoe", 1),), last_read=day(60))
    with open_store(tmp_path / "store.db") as store:
        fill(store)
        store.apply(replace(batch(run="usage"), usage=(READ, later, replace(later, of=key("staged")))))
        with running(store, Settings(tokens=tokens.path)) as service:
            (reader, _), (steward, _) = (tokens.create(str(one), [one]) for one in (Role.READER, Role.STEWARD))
            service.data(TAG, steward, c="users.email", n="email")
            hidden, shown = (service.data(AUDIT, token)["accessAudit"] for token in (reader, steward))
            only = AUDIT.replace(")", ', users: ["zoe"])', 1)
            assert service.refusal(only, reader)["code"] == "FORBIDDEN"
            assert {one["user"] for one in service.data(only, steward)["accessAudit"]["accesses"]} == {"zoe"}
            late = AUDIT.replace(")", ', since: "2030-01-01")', 1)
            assert service.refusal(late, reader)["code"] == "NOT_FOUND"
    staged = [one for one in shown["accesses"] if one["column"] == "staged.mail"]
    assert {(one["user"], one["queries"], one["isNew"]) for one in staged} == {("ana", 1, False), ("zoe", 1, True)}
    assert shown["newReaders"] == [{"name": "email", "users": ["zoe"]}]
    assert shown["blindSpots"][0].startswith("only what is in the logs")
    assert staged[0]["path"] == [{"sql": ["email"]}]
    assert not {"ana", "zoe"} & {*str(hidden).replace("'", " ").split()}
    assert {one["user"] for one in hidden["accesses"]} == {"user 1", "user 2"}
    assert {step["sql"] is None for one in hidden["accesses"] for step in one["path"]} == {True}


GRANTS = """{ grantAudit(classes: ["email"]) { totalCount blindSpots
  grants { role on classes state why granted queries lastDay distinctUsers users } } }"""


def test_which_grants_nobody_used_by_role(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    with open_store(tmp_path / "store.db") as store:
        fill(store)
        store.describe(key("users"), tags=("reader:ana", "reader:ghost"))
        with running(store, Settings(tokens=tokens.path)) as service:
            (reader, _), (steward, _) = (tokens.create(str(one), [one]) for one in (Role.READER, Role.STEWARD))
            service.data(TAG, steward, c="users.email", n="email")
            hidden, shown = (service.data(GRANTS, token)["grantAudit"] for token in (reader, steward))
            used = service.data(GRANTS.replace(")", ", states: [USED])", 1), reader)["grantAudit"]
            assert service.refusal(GRANTS.replace(")", ', since: "2030-01-01")', 1), reader)["code"] == "NOT_FOUND"
            both = ', since: "2024-01-05", until: "2024-01-04")'
            assert service.refusal(GRANTS.replace(")", both, 1), reader)["code"] == "BAD_ARGUMENT"
            assert service.refusal(GRANTS)["code"] == "UNAUTHENTICATED"
    assert [(one["role"], one["state"]) for one in shown["grants"]] == [("ghost", "UNKNOWN"), ("ana", "USED")]
    assert shown["grants"][1] == {
        "role": "ana", "on": "users", "classes": ["email"], "state": "USED", "why": None, "granted": None,
        "queries": 4, "lastDay": "2024-01-04", "distinctUsers": 1, "users": ["ana"],
    }  # fmt: skip
    assert [(one["users"], one["distinctUsers"]) for one in hidden["grants"]] == [(None, 0), (None, 1)]
    assert (used["totalCount"], [one["role"] for one in used["grants"]]) == (1, ["ana"])
    assert shown["blindSpots"][0].startswith("only what is in the logs")


def test_what_depends_on_a_column_by_tag(service: Service) -> None:
    impact = """query ($t: [String!]) { impact(column: "users.email", filter: {tags: $t}) {
      totalCount nodes { column { name } } } }"""
    every = service.data(impact)["impact"]["totalCount"]
    service.data(TAG, c="staged.mail", n="email")
    found = service.data(impact, t=["Email"])["impact"]
    assert (found["totalCount"], [one["column"]["name"] for one in found["nodes"]]) == (1, ["staged.mail"])
    assert every > 1
    service.data(TAG, c="staged.mail", n="email", d=True)
    assert service.data(impact, t=["email"])["impact"]["totalCount"] == 0
