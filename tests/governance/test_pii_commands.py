"""`lineage pii` on a made-up company."""

from __future__ import annotations

import ctypes.util
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lineage.governance.report.report_pdf import _refuse
from lineage.model.statement import Completeness
from lineage.store import open_store
from tests.cli.running import lineage
from tests.store.batch_builders import batch, job


def _policy(folder: Path, text: str) -> Path:
    file = folder / "policy.yaml"
    file.write_text(text)
    return file


def test_a_policy_decides_by_class_place_and_exposure(tagged: Path, tmp_path: Path) -> None:
    policy = _policy(
        tmp_path,
        "policies:\n"
        "  - {classes: [email], tables: ['export.newsletter'], verdict: warn, purpose: newsletter}\n"
        "  - {classes: ['*'], tables: ['export.*'], verdict: deny, why: no exports}\n"
        "  - {classes: [phone], namespaces: ['snowflake*'], verdict: deny}\n",
    )
    done = lineage("pii", "report", "--policy", policy, "--format", "json", "--store", tagged)
    assert done.code == 1
    verdicts = {
        (source["name"], one["name"]): one["verdict"]
        for source in done.json["sources"]
        for one in (source["own"], *source["reached"])
    }
    for source in done.json["sources"]:
        steps = source["steps"]
        assert len({json.dumps(step) for step in steps}) == len(steps)  # each is listed once
        for one in source["reached"]:
            way = [steps[place] for place in one["path"]]
            assert len(way) == one["hops"]
            assert [source["name"], *(step["target"] for step in way)] == [
                *(step["source"] for step in way),
                one["name"],
            ]
    email = "crm.customers.email"
    assert verdicts[email, "export.newsletter.email"] == "warn"
    assert verdicts[email, "export.crm_copy.email"] == "deny"
    assert verdicts[email, "export.suppressed.email_hash"] == "allow"
    assert verdicts["crm.customers.phone", "stage.contacts.phone"] == "allow"
    assert lineage("pii", "report", "--policy", policy, "--class", "ip", "--store", tagged).code == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("policies:\n  - classes: [email]\n    verdict: maybe\n", ":3:5: policies.0.verdict"),
        ("policies:\n  - classes: [email\n", ":3:1: not YAML"),
        ("policies:\n  - {verdict: deny, exposures: [all]}\n", ":2:33: policies.0.exposures.0"),
        ("policy: []\n", ":1:1: "),
    ],
)
def test_a_wrong_policy_says_where(tagged: Path, tmp_path: Path, text: str, expected: str) -> None:
    policy = _policy(tmp_path, text)
    done = lineage("pii", "report", "--policy", policy, "--store", tagged)
    assert done.code == 2
    assert f"{policy}{expected}" in " ".join(done.err.split())


def test_what_is_new_since_a_report(tagged: Path, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    lineage("pii", "report", "--format", "json", "--output", saved, "--store", tagged)
    assert lineage("pii", "report", "--diff", saved, "--store", tagged).code == 0
    report = json.loads(saved.read_text())
    [ip] = [one for one in report["sources"] if one["name"] == "web.sessions.ip"]
    ip["reached"] = [one for one in ip["reached"] if one["name"] != "stage.sessions.ip"]
    ip["reached"][0]["exposure"] = "masked"
    ip["reached"].append({"name": "mart.gone", "exposure": "unmasked"})
    saved.write_text(json.dumps(report))
    done = lineage("pii", "report", "--diff", saved, "--format", "json", "--store", tagged)
    assert done.code == 1
    assert [(one["column"], one["before"], one["shows"]) for one in done.json][-1] == ("mart.gone", "unmasked", "less")
    assert {one["column"] for one in done.json if one["shows"] == "more"} >= {"stage.sessions.ip"}
    report["sources"] = [one for one in report["sources"] if one["name"] != "crm.customers.email"]
    saved.write_text(json.dumps(report))
    done = lineage("pii", "report", "--diff", saved, "--format", "json", "--store", tagged)
    own = [(one["before"], one["now"]) for one in done.json if one["column"] == one["source"] == "crm.customers.email"]
    assert own == [(None, "unmasked")]
    saved.write_text("{}")
    assert lineage("pii", "report", "--diff", saved, "--store", tagged).code == 2


def test_a_policy_decides_of_what_is_not_new_too(tagged: Path, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    lineage("pii", "report", "--format", "json", "--output", saved, "--store", tagged)
    policy = _policy(tmp_path, "policies: [{classes: [email], tables: ['export.*'], verdict: deny}]\n")
    done = lineage("pii", "report", "--diff", saved, "--policy", policy, "--store", tagged)
    assert done.code == 1
    assert "denied: export.newsletter.email is unmasked" in done.err
    assert lineage("pii", "report", "--diff", saved, "--output", tmp_path / "new", "--store", tagged).code == 2


def test_a_class_that_a_policy_misspells_is_named(tagged: Path, tmp_path: Path) -> None:
    policy = _policy(tmp_path, "policies: [{classes: [emial, 'phon?'], verdict: deny, tables: [no.table]}]\n")
    done = lineage("pii", "report", "--policy", policy, "--store", tagged)
    assert (done.code, done.err.count("without effect")) == (0, 1)
    assert "policy without effect: there is no class emial" in done.err


def test_the_page_has_everything_in_itself(tagged: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    lineage("tag", "add", "crm.notes.body", "<script>", "--why", "</td><img src=x>", "--store", tagged)
    assert lineage("pii", "report", "--format", "html", "--output", page, "--store", tagged).code == 0
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href|url\()\s*=?\s*[\"']?(?:https?:|//)", text)
    assert "<script>" not in text
    assert "<img" not in text
    assert "<svg" in text
    assert "The values reach" in text
    assert "md5(lower(email))" in text
    markdown = lineage("pii", "report", "--format", "markdown", "--store", tagged).out
    assert "<script>" not in markdown
    assert "`mart.joined_back.email`" in markdown


def test_a_report_as_pdf(tagged: Path, tmp_path: Path) -> None:
    """Where Pango is not installed, the command says so, and how to install it."""
    file = tmp_path / "report.pdf"
    done = lineage("pii", "report", "--class", "ip", "--format", "pdf", "--output", file, "--store", tagged)
    if ctypes.util.find_library("pango-1.0") is None:
        assert (done.code, file.exists()) == (2, False)
        assert "apt install libpango" in " ".join(done.err.split())
    else:
        assert done.code == 0, done.err
        assert file.read_bytes().startswith(b"%PDF-")
    done = lineage("pii", "report", "--format", "pdf", "--store", tagged)
    assert (done.code, "--output report.pdf" in " ".join(done.err.split())) == (2, True)


def test_a_pdf_loads_nothing() -> None:
    with pytest.raises(ValueError, match="loads nothing"):
        _refuse("file:///etc/passwd")


def test_a_source_that_another_explains_is_no_source(tagged: Path) -> None:
    names = {
        one["name"]
        for one in lineage("pii", "report", "-f", "json", "--class", "email", "--store", tagged).json["sources"]
    }
    assert names == {"crm.customers.email", "crm.leads.email", "support.messages.sender_email"}
    lineage("tag", "add", "export.crm_copy.email", "email", "--store", tagged)
    listed = lineage("pii", "report", "-f", "json", "--class", "email", "--store", tagged).json["sources"]
    assert "export.crm_copy.email" in {one["name"] for one in listed}


def test_who_read_a_class(tagged: Path) -> None:
    done = lineage("pii", "access", "--class", "email", "--json", "--store", tagged).json
    assert {(one["user"], one["column"], one["shows"], one["queries"]) for one in done["accesses"]} == {
        ("ana", "mart.customer_360.email", "unmasked", 2),
        ("bo", "mart.customer_360.email", "unmasked", 1),
        ("cy", "mart.reachable.contact", "unmasked", 1),
        ("cy", "dbt.ticket_contacts.contact", "unmasked", 1),
        ("dba", "crm.customers.email", "unmasked", 1),
        ("mailer", "export.newsletter.email", "unmasked", 1),
        ("mailer", "export.newsletter.email_domain", "partial", 1),
    }
    assert done["blind_spots"][0] == "only what is in the logs from 2026-01-03 to 2026-02-28 of postgres"
    assert done["new_readers"] == {"email": ["ana", "bo", "cy", "dba", "mailer"]}
    [letter] = [one for one in done["accesses"] if one["column"] == "export.newsletter.email_domain"]
    assert [step["target"] for step in letter["path"]] == ["stage.people_safe.email_domain", letter["column"]]
    assert all(step["sql"] for step in letter["path"])
    text = lineage("pii", "access", "--class", "email", "--store", tagged).out
    assert text.startswith("new readers of email in the last 30 days of the logs: ana, bo, cy")
    since = lineage("pii", "access", "--class", "email", "--since", "2026-02-21", "--json", "--store", tagged).json
    assert {one["user"] for one in since["accesses"]} == {"bo", "cy", "dba", "mailer"}
    hidden = lineage("pii", "access", "--hide-users", "--json", "--store", tagged).out
    assert not {"ana", "mailer"} & {one["user"] for one in json.loads(hidden)["accesses"]}
    assert set(json.loads(hidden)["new_readers"]["email"]) <= {f"user {number}" for number in range(1, 10)}
    done = lineage("pii", "access", "--since", "2027-01-01", "--store", tagged)
    assert done.code == 1
    assert "no log covers 2027-01-01" in done.err


def test_an_audit_says_how_much_of_the_sql_is_not_resolved(tagged: Path) -> None:
    with open_store(tagged) as store:
        copied = job("copy.py", at=1)
        tables = replace(copied.job, reads=("postgres/crm.customers",), completeness=Completeness.TABLES)
        store.apply(batch(replace(copied, job=tables), run="copy"))
    spots = lineage("pii", "access", "--class", "email", "--json", "--store", tagged).json["blind_spots"]
    [share] = [one for one in spots if one.startswith("columns of some SQL: ")]
    assert re.search(r": 1 of \d+ jobs that read these tables are known by table only", share)


def test_where_tells_of_any_column(path: Path) -> None:
    done = lineage("pii", "where", "hr.employees.salary", "--store", path, columns=80)
    assert done.out.startswith("hr.employees.salary (no tag) is in 6 other columns: 2 unmasked, 4 aggregated")
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_part_that_a_temporary_table_of_a_log_takes_is_named(tmp_path: Path) -> None:
    rows = (
        "create table crm.people (id int, email text, ssn text)",
        "create temp table t as select right(ssn, 4) as last4, email from crm.people",
        "create table mart.x as select last4, email, lower(email) as low from t",
        "insert into mart.y (last4) select last4 from t",
    )
    lines = [f'"{sql}",2026-03-02T09:0{number}:00Z,ana,1\n' for number, sql in enumerate(rows)]
    (tmp_path / "log.csv").write_text("query_text,started_at,user,session\n" + "".join(lines), encoding="utf-8")
    store = ("--store", tmp_path / "l.db")
    logged = ("--source", "generic", "--dialect", "postgres", "--namespace", "postgres")
    assert lineage("ingest", "log", tmp_path / "log.csv", *logged, *store).code == 0
    done = lineage("pii", "where", "crm.people.ssn", *store)
    assert "mart.x.last4, mart.y.last4 count as unmasked, but the SQL that computes them" in " ".join(done.err.split())
    assert "count as unmasked" not in lineage("pii", "where", "crm.people.email", *store).err


@pytest.mark.parametrize(
    ("behind", "is_named"),
    [
        ("create view c as select decrypt(e, 'k')::varchar as mail from m", False),
        ("create view c as select decrypt(encrypt(email, 'k'), 'k') as mail from p", True),
        ("create view c as select e as mail from m", False),
        ("create view c as select sha2(decrypt(email, 'k')) as mail from p", False),
        ("create view c as select decrypt(email, 'k') as mail from p", False),
    ],
)
def test_what_is_decrypted_is_not_said_to_be_safe(tmp_path: Path, behind: str, is_named: bool) -> None:
    (tmp_path / "a.sql").write_text(
        f"create table p (email varchar); create table m as select encrypt(email, 'k') as e from p; {behind};"
    )
    store = tmp_path / "graph.db"
    assert lineage("ingest", "sql", tmp_path / "a.sql", "-d", "snowflake", "--store", store).code == 0
    nowhere = lineage("pii", "where", "C.MAIL", "--store", store).out
    assert nowhere == "C.MAIL (no tag) is in no other column that is known\n"  # and no table without rows
    assert ("what is decrypted" in lineage("pii", "where", "P.EMAIL", "--store", store).err) == is_named
    assert lineage("tag", "add", "P.EMAIL", "email", "--store", store).code == 0
    said = " ".join(lineage("pii", "report", "--store", store).out.split())
    assert ("C.MAIL: masked on their way, but by SQL that decrypts they may be in clear" in said) == is_named
