"""`lineage tag scan --samples`: classes by the values of columns whose names say nothing; no value is kept or shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.value_checks import UnknownCheckError, value_check
from tests.cli.running import lineage

VALUES = {
    "contact": [f"+49 30 901820{number}" for number in range(10, 30)],
    "note": [f"note {number}" for number in range(20)],
    "reach": [f"person{number}@example.com" for number in range(18)] + ["none", "unknown"],
    "few": ["+49 30 90182010"] * 20,
    "email": [f"{number:064x}" for number in range(20)],
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "lineage.db"
    (tmp_path / "people.sql").write_text(f"CREATE TABLE crm.people ({' text, '.join(VALUES)} text)")
    assert lineage("ingest", "sql", tmp_path / "people.sql", "-d", "postgres", "--store", path).code == 0
    return path


def sampled(folder: Path, values: dict[str, list[str]], name: str = "crm.people.csv") -> Path:
    folder.mkdir(exist_ok=True)
    rows = [",".join(values), *(",".join(row) for row in zip(*values.values(), strict=True))]
    (folder / name).write_text("\n".join(rows) + "\n")
    return folder


def tags(store: Path) -> dict[tuple[str, str, str], tuple[float, str]]:
    listed = lineage("tag", "list", "--json", "--store", store).json
    return {
        (one["column"].rpartition(".")[2], one["class"], one["source"]): (float(one["confidence"]), one["why"])
        for one in listed
    }


def test_values_say_what_names_do_not(store: Path, tmp_path: Path) -> None:
    folder = sampled(tmp_path / "samples", VALUES)
    done = lineage("tag", "scan", "--samples", folder, "--store", store)
    assert done.code == 0
    assert tags(store) == {
        ("contact", "phone", "samples"): (1.0, "20 of 20 sample values pass phone"),
        ("reach", "email", "samples"): (0.9, "18 of 20 sample values pass email"),
        ("email", "email", "rules"): (0.9, "name matches e_?mail; 0 of 20 sample values pass email"),
    }
    assert "values of 4 columns checked; 1 with fewer than 10 different ones say nothing" in " ".join(done.err.split())
    shown = done.out + done.err + lineage("tag", "list", "--store", store).out
    assert "@example" not in shown
    assert "90182" not in shown
    assert b"person1@example" not in store.read_bytes()


def test_a_scan_without_samples_keeps_what_they_said(store: Path, tmp_path: Path) -> None:
    lineage("tag", "scan", "--samples", sampled(tmp_path / "samples", VALUES), "--store", store)
    lineage("tag", "scan", "--store", store)
    assert ("contact", "phone", "samples") in tags(store)
    changed = VALUES | {"contact": VALUES["note"]}
    lineage("tag", "scan", "--samples", sampled(tmp_path / "samples", changed), "--store", store)
    assert ("contact", "phone", "samples") not in tags(store)


@pytest.mark.parametrize(
    ("name", "text", "code", "said"),
    [
        ("crm.nobody.csv", "a\n1\n", 0, "not used: crm.nobody.csv: "),
        ("crm.people.csv", "contact,salary\n1,2\n", 0, "no column of crm.people has the name in field 2 of its"),
        ("crm.people.csv", "", 1, "the first line names the columns"),
        ("crm.people.txt", "contact\n", 0, "no CSV file in it"),
    ],
)
def test_what_cannot_be_used_is_said(store: Path, tmp_path: Path, name: str, text: str, code: int, said: str) -> None:
    folder = tmp_path / "samples"
    folder.mkdir()
    (folder / name).write_text(text)
    done = lineage("tag", "scan", "--samples", folder, "--store", store)
    assert (done.code, said in " ".join(done.err.split())) == (code, True), done.err


def test_a_file_without_names_of_columns_shows_no_value(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "samples"
    folder.mkdir()
    (folder / "crm.people.csv").write_text("+49 30 90182010,ana@example.com\n" * 20)
    done = lineage("tag", "scan", "--samples", folder, "--store", store)
    assert "no column of crm.people has the name in fields 1, 2 of its first line" in " ".join(done.err.split())
    assert "ana@" not in done.out + done.err
    assert "90182" not in done.out + done.err


def test_a_class_is_counted_once_for_a_column(store: Path, tmp_path: Path) -> None:
    values = VALUES | {"email": [f"person{number}@example.com" for number in range(20)]}
    done = lineage("tag", "scan", "--samples", sampled(tmp_path / "samples", values), "--store", store)
    assert "3 columns of 5 tagged" in done.err
    assert "email 2, phone 1" in " ".join(done.err.split())


def test_a_wrong_check_is_an_error(store: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    for check, code, said in (("telephone", 2, "no check of values"), ("phone:XX", 2, "no such country")):
        rules.write_text(f"classes:\n  phone:\n    names: [phone]\n    values: ['{check}']\n")
        folder = sampled(tmp_path / "samples", VALUES)
        done = lineage("tag", "scan", "--samples", folder, "--rules", rules, "--store", store)
        assert (done.code != 0, said in " ".join(done.err.split())) == (True, True), (code, done.err)


@pytest.mark.parametrize(
    ("check", "passes", "fails"),
    [
        ("email", "ana@example.com", "ana@example"),
        ("ip", "2001:db8::1", "10.0.0"),
        ("card", "4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("card", "4111111111111111", "18"),
        ("phone", "+1 212-555-0123", "2125550123"),
        ("phone:US", "(212) 555-0123", "12"),
        ("stdnum:iban", "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"),
    ],
)
def test_checks(check: str, passes: str, fails: str) -> None:
    assert (value_check(check)(passes), value_check(check)(fails)) == (True, False)


def test_the_default_rules_name_checks_that_exist() -> None:
    for rule in default_rules().classes.values():
        for check in rule.values:
            value_check(check)
    with pytest.raises(UnknownCheckError):
        value_check("stdnum:nobody")


def test_a_library_that_is_not_installed_is_named(store: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("classes:\n  ssn:\n    names: [ssn]\n    values: ['presidio:US_SSN']\n")
    done = lineage(
        "tag", "scan", "--samples", sampled(tmp_path / "samples", VALUES), "--rules", rules, "--store", store
    )
    assert (done.code, tags(store)) == (2, {})
    assert "needs presidio-analyzer" in done.err
    assert "[presidio]" in done.err


def test_names_that_differ_in_case_only_are_two_columns(tmp_path: Path) -> None:
    path = tmp_path / "lineage.db"
    (tmp_path / "a.sql").write_text('CREATE TABLE crm.people (reach text, "Reach" text, "REACH" text, note text)')
    assert lineage("ingest", "sql", tmp_path / "a.sql", "-d", "postgres", "--store", path).code == 0
    folder = sampled(tmp_path / "s", {"reach": VALUES["reach"], "Reach": VALUES["note"], "NOTE": VALUES["contact"]})
    assert lineage("tag", "scan", "--samples", folder, "--store", path).code == 0
    assert [key[:2] for key in sorted(tags(path))] == [("note", "phone"), ("reach", "email")]
