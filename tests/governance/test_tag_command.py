"""`lineage tag`: what people say of columns is added and removed one by one, and never lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.governance.tags.rules import column_words, default_rules, read_rules
from lineage.governance.tags.tagging import classify
from lineage.governance.yaml_files import GovernanceFileError
from lineage.model.facts import Facts, FactsRecord
from lineage.store import open_store
from lineage.store.values import StoredTag
from tests.cli.running import lineage
from tests.store.batch_builders import batch

EMAIL = "crm.customers.email"


def _tags(path: Path, *options: str) -> list[tuple[str, str, str]]:
    listed = lineage("tag", "list", *options, "--json", "--store", path).json
    return [(one["column"], one["class"], one["by"]) for one in listed]


def test_each_steward_changes_tags_of_their_own(path: Path) -> None:
    for class_, by in (("email", "ana"), ("gdpr", "bo")):
        assert lineage("tag", "add", EMAIL, class_, "--by", by, "--store", path).code == 0
    assert _tags(path) == [(EMAIL, "email", "ana"), (EMAIL, "gdpr", "bo")]
    assert lineage("tag", "remove", EMAIL, "gdpr", "--store", path).code == 0
    assert lineage("tag", "remove", EMAIL, "gdpr", "--store", path).code == 1
    with open_store(path) as store:
        key = store.tags()[0].column
        store.describe(key, tags=["core"])
        store.describe(key, tags=[])
    assert _tags(path, EMAIL) == [(EMAIL, "email", "ana")]
    [shown] = lineage("columns", EMAIL, "--json", "--store", path).json
    [hit] = lineage("search", "email", "--tag", "email", "--json", "--store", path).json
    assert (shown["tags"], hit["tags"], hit["name"]) == (["email"], ["email"], EMAIL)


def test_a_denial_wins_over_rules_and_stays(path: Path) -> None:
    lineage("tag", "scan", "--store", path)
    assert (EMAIL, "email", "default rules") in _tags(path)
    lineage("tag", "deny", EMAIL, "--by", "ana", "--why", "a test", "--store", path)
    lineage("tag", "scan", "--store", path)
    assert _tags(path, EMAIL) == [(EMAIL, "not pii", "ana")]
    found = lineage("search", "email", "--json", "--store", path)
    assert found.code == 0
    lineage("tag", "remove", EMAIL, "pii", "--store", path)
    assert _tags(path, EMAIL) == [(EMAIL, "email", "default rules")]


def test_values_are_not_followed_beyond_a_denied_column(path: Path) -> None:
    lineage("tag", "add", EMAIL, "email", "--store", path)
    lineage("tag", "deny", "stage.contacts.email", "email", "--store", path)
    report = lineage("pii", "report", "--format", "json", "--store", path).json
    [source] = report["sources"]
    assert source["stopped"] == ["stage.contacts.email"]
    names = {one["name"] for one in source["reached"]}
    assert "mart.joined_back.email" in names
    assert not names & {"stage.contacts.email", "mart.customer_360.email", "export.newsletter.email"}
    assert "not followed into stage.contacts.email" in lineage("pii", "report", "--store", path).err


def test_a_tag_of_an_unknown_column_is_pending_until_it_is_known(path: Path) -> None:
    done = lineage("tag", "add", "crm.customers.emial", "email", "--store", path)
    assert done.code == 0
    assert "pending" in done.err
    assert "did you mean `crm.customers.email`?" in done.err
    [listed] = lineage("tag", "list", "--json", "--store", path).json
    assert listed["why"].startswith("pending")
    assert (
        lineage("pii", "report", "--format", "json", "--store", path).json["blind_spots"][-1]["what"] == "pending tags"
    )
    assert lineage("tag", "add", "nowhere.at_all", "email", "--store", path).code == 2


def test_a_tag_goes_with_a_renamed_column(path: Path, tmp_path: Path) -> None:
    lineage("tag", "add", "crm.notes.body", "health", "--store", path)
    (tmp_path / "log.csv").write_text(
        "query_text,started_at\nalter table crm.notes rename column body to content,2026-03-01T00:00:00Z\n"
    )
    options = ("--source", "generic", "--dialect", "postgres", "--namespace", "postgres", "--store", path)
    assert lineage("ingest", "log", tmp_path / "log.csv", *options).code == 0
    with open_store(path) as store:
        found = classify(store, default_rules())
    assert [key.rpartition("#")[2] for key in found.tags] == ["content"]


def test_tags_from_csv(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "tags.csv"
    file.write_text(
        "column,class,action,confidence,why\ncrm.notes.body,health,,0.5,free text\ncrm.customers.id,pii,deny,,\n"
    )
    assert lineage("tag", "import", file, "--json", "--by", "ana", "--store", path).json["changed"] == 2
    assert _tags(path) == [("crm.customers.id", "not pii", "ana"), ("crm.notes.body", "health", "ana")]
    file.write_text("column,class,action\ncrm.notes.body,health,remove\n")
    assert lineage("tag", "import", file, "--json", "--store", path).json["removed"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,class\na,b\n", ":1:1: the first line names the columns"),
        ("column,class,action\ncrm.notes.body,health,drop\n", ":2:3: 'drop' is no action"),
        ("column,class,confidence\ncrm.notes.body,health,7\n", ":2:3: a confidence is a number"),
        ("column,class\ncrm.notes.body,\n", ":2:2: no class"),
        ("column,class\ncrm.notes.body,health\nnowhere.at_all,email\n", ":3:1: "),
    ],
)
def test_a_wrong_line_changes_nothing(path: Path, tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "tags.csv"
    file.write_text(text)
    done = lineage("tag", "import", file, "--store", path)
    assert done.code == 1
    assert f"{file}{expected}" in " ".join(done.err.split())
    assert _tags(path) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("classes:\n  email:\n    names: ['[']\n", ":3:5: classes.email.names: '[' is no regular expression"),
        ("classes:\n  email:\n    name: [x]\n", ":2:3: classes.email.names: Field required"),
        ("classes:\n  email: {names: [a], confidence: 2}\n", ":2:23: classes.email.confidence"),
        ("classes:\n  - email\n", ":1:1: classes"),
        ("classes: [\n", ":2:1: not YAML"),
        ("", ":1:1: classes: Field required"),
    ],
)
def test_a_wrong_file_of_rules_says_where(path: Path, tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text)
    with pytest.raises(GovernanceFileError) as error:
        read_rules(file)
    assert f"{file}{expected}" in str(error.value)
    assert lineage("tag", "scan", "--rules", file, "--store", path).code == 2


def test_own_rules_extend_the_default_ones(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("extends: default\nclasses:\n  order_reference:\n    names: ['order_?id']\n")
    lineage("tag", "scan", "--rules", file, "--store", path)
    classes = {class_ for _, class_, _ in _tags(path, "--rules", str(file))}
    assert {"order_reference", "email", "national_id"} <= classes
    lineage("tag", "scan", "--store", path)  # what no rule says any more goes
    assert "order_reference" not in {class_ for _, class_, _ in _tags(path)}


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("email", {"email"}), ("homeEMail", {"email"}), ("CUSTOMER_E_MAIL", {"email"}), ("emails_sent", set()),
        ("email_hash", set()), ("is_email_valid", set()), ("phoneNumber", {"phone"}), ("phone_model", set()),
        ("hotel", set()), ("first_name", {"name"}), ("product_name", set()), ("ip_address", {"ip"}),
        ("billing_address", {"address"}), ("address_id", set()), ("dob", {"birth_date"}), ("page", set()),
        ("card_number", {"card_number"}), ("password", {"credentials"}), ("password_changed_at", set()),
        ("icd9_code", {"health"}), ("company", set()), ("latitude", {"geo"}), ("platform", set()),
        ("ssn", {"national_id"}), ("gender", {"gender"}), ("shipping", set()), ("spin", set()),
    ],
)  # fmt: skip
def test_names_that_the_default_rules_know(name: str, classes: set[str]) -> None:
    words = column_words(name)
    assert {one for one, rule in default_rules().classes.items() if rule.match(words, None)} == classes


def test_a_type_that_does_not_fit_is_no_match() -> None:
    rule = default_rules().classes["email"]
    assert rule.match("email", "varchar(20)")
    assert not rule.match("email", "boolean")


def test_what_dbt_says_counts(path: Path) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    columns = {
        "body": Facts("dbt/shop:model.shop.notes@", at, tags=("health", "nightly")),
        "id": Facts("dbt/shop:model.shop.notes@", at, meta=(("classification", '"national_id"'), ("pii", "true"))),
    }
    stated = FactsRecord("postgres/crm.notes", Facts("dbt/shop:model.shop.notes@", at), columns)
    with open_store(path) as store:
        store.apply(replace(batch(run="facts"), facts=(stated,)))
    lineage("tag", "scan", "--store", path)
    listed = lineage("tag", "list", "--json", "--store", path).json
    found = {(one["column"], one["class"], one["source"]) for one in listed if one["column"].startswith("crm.notes")}
    assert found == {
        ("crm.notes.body", "health", "dbt"), ("crm.notes.id", "national_id", "dbt"), ("crm.notes.id", "pii", "dbt"),
    }  # fmt: skip


def test_of_several_sources_people_come_first(path: Path) -> None:
    with open_store(path) as store:
        [key] = [one.key for one in store.columns(store.dataset_keys()) if one.key.endswith("crm.customers#email")]
        at = datetime(2026, 1, 1, tzinfo=UTC)
        store.change_tags([StoredTag(key, "email", source, at) for source in ("rules", "csv", "manual", "dbt")])
        [tag] = classify(store, default_rules()).tags[key]
        assert tag.source == "manual"
        store.change_tags(removed=[tag.identity])
        assert [one.source for one in classify(store, default_rules()).tags[key]] == ["csv"]


def test_impact_by_tag_masking_and_kind_of_table(path: Path) -> None:
    def columns(*options: str) -> set[str]:
        found = lineage("impact", "crm.customers.email", "--json", "--store", path, *options)
        assert found.code == 0
        return {f"{one['table']}.{one['column']}" for one in found.json["columns"]}

    lineage("tag", "add", "mart.reachable.contact", "email", "--store", path)
    lineage("tag", "add", "mart.hashed_audience.email_hash", "email", "--store", path)
    assert columns("--tag", "email") == {"mart.reachable.contact", "mart.hashed_audience.email_hash"}
    assert columns("--tag", "email", "--unmasked") == {"mart.reachable.contact"}
    assert columns("--tag", "email", "--masked") == {"mart.hashed_audience.email_hash"}
    assert columns("--tag", "email", "--table-kind", "table") == set()
    assert "export.newsletter.email" in columns("--table-kind", "table", "--unmasked")
    shown = lineage("impact", "crm.customers.email", "--tag", "email", "--store", path, columns=80)
    assert shown.out.startswith("2 of ")
    assert max(map(len, shown.out.splitlines())) <= 80


def test_a_column_of_a_dropped_table_holds_nothing(tmp_path: Path) -> None:
    def sources_after(name: str, sql: str) -> list[str]:
        (tmp_path / name).write_text(sql)
        assert lineage("ingest", "sql", tmp_path / name, "--dialect", "postgres", *store).code == 0
        report = lineage("pii", "report", "--json", *store).json
        return [one["name"] for one in report["sources"]]

    store = ("--store", tmp_path / "l.db")
    made = "create table crm.a (id int, x text); create table crm.b (id int, x text);"
    assert sources_after("1.sql", made) == []
    for column in ("crm.a.x", "crm.b.x"):
        assert lineage("tag", "add", column, "email", *store).code == 0
    assert sources_after("2.sql", "drop table crm.b;") == ["crm.a.x"]
    assert sources_after("3.sql", "create table crm.b (id int, x text);") == ["crm.a.x", "crm.b.x"]
