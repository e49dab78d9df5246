"""`lineage diff --base --head`, as it is typed: sides, reports, conditions, readers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.running import lineage
from tests.dbt.manifests import manifest, model, relation, source, write

BASE = """
create table raw.orders (id int, day date, amount int, note text);
create view mart.daily as select day, sum(amount) as total from raw.orders where amount > 0 group by day;
create view mart.best as select day, total from mart.daily order by total desc limit 3;
create view mart.notes as select id, note from raw.orders;
"""
HEAD = BASE.replace("amount > 0", "amount >= 0").replace("select id, note", "select o.id, o.note").replace(
    "raw.orders;", "raw.orders o;"
)  # fmt: skip


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("base", BASE), ("head", HEAD)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.sql").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINEAGE_STORE", raising=False)
    return tmp_path


def _effects(found: dict[str, object]) -> dict[str, str]:
    tables = found["tables"]
    assert isinstance(tables, list)
    return {one["name"]: one["effect"] for one in tables}


def test_folders_of_sql(folders: Path) -> None:
    done = lineage("diff", "--base", "base", "--head", "head", "-d", "postgres", "--json")
    assert done.code == 0
    assert _effects(done.json) == {"mart.daily": "changed", "mart.best": "affected", "mart.notes": "cosmetic"}
    assert done.json["state_modified_plus"] is None
    shown = lineage("diff", "--base", "base", "--head", "head", "-d", "postgres").out
    assert "1 table changed, 1 affected downstream, 1 with cosmetic edits only" in shown
    assert shown.count("readers outside the project are unknown") == 1
    assert "safe" not in shown


def test_revisions_of_git(folders: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    (folders / "head" / "all.sql").rename(folders / "kept.sql")
    (folders / "head" / "all.sql").write_text(BASE, encoding="utf-8")
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    (folders / "head" / "all.sql").write_text(HEAD, encoding="utf-8")
    found = lineage("diff", "--base", "HEAD:head", "--head", "head", "-d", "postgres", "--json").json
    assert _effects(found) == {"mart.daily": "changed", "mart.best": "affected", "mart.notes": "cosmetic"}
    assert {one["source"] for one in found["tables"]} == {"head/all.sql"}
    both = lineage("diff", "--base", "HEAD:base", "--head", "HEAD:head", "-d", "postgres", "--json").json
    assert _effects(both) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base", "base"], "give --base and --head"),
        (["--base", "base", "--head", "nowhere"], "no such folder"),
        (["--base", "HEAD:nowhere", "--head", "head"], "git knows no"),
        (["--base", "base", "--head", "head", "--as-of", "2026-01-01"], "either --as-of"),
        (["--base", "base", "--head", "head", "--write", "report.txt"], "suffix"),
        (["--base", "base", "--head", "target"], "compare two of one kind"),
        (["--base", "dbt", "--head", "head"], "run `dbt compile`"),
        (["mart.daily", "--base", "base", "--head", "head"], "with --as-of only"),
        (["--base", "base", "--head", "head", "-d", "klingon"], "klingon"),
    ],
)
def test_wrong_use(folders: Path, arguments: list[str], message: str) -> None:
    write(folders / "target", manifest(model("a", "select 1 as x")))
    (folders / "dbt").mkdir()
    (folders / "dbt" / "dbt_project.yml").write_text("name: shop", encoding="utf-8")
    done = lineage("diff", *arguments)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_a_store_that_is_not_there(folders: Path) -> None:
    assert lineage("diff", "--base", "base", "--head", "head", "-s", "bolt://127.0.0.1:1").code == 3


def test_reports(folders: Path) -> None:
    written = ["comment.md", "diff.json", "diff.sarif", "diff.xml"]
    options = [text for name in written for text in ("--write", name)]
    done = lineage("diff", "--base", "base", "--head", "head", "-d", "postgres", "--fail-on", "value", *options)
    assert done.code == 1
    assert "--fail-on value: daily.day: row set changed" in done.err
    comment = (folders / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith("<!-- lineage-diff -->\n### Lineage: 1 table changed")
    assert "| `daily` | day | row set changed (WHERE) | changes content |" in comment
    sarif = json.loads((folders / "diff.sarif").read_text(encoding="utf-8"))
    results = sarif["runs"][0]["results"]
    rules = {one["id"] for one in sarif["runs"][0]["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in results} <= rules
    assert {one["level"] for one in results} == {"error"}
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "head/all.sql"
    suite = ElementTree.parse(folders / "diff.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("7", "1")
    report = json.loads((folders / "diff.json").read_text(encoding="utf-8"))
    assert {one["on"] for one in report["failures"]} == {"value"}
    for kind in ("markdown", "sarif", "junit", "csv"):
        assert lineage("diff", "--base", "base", "--head", "head", "-f", kind, "-d", "postgres").code == 0


def test_names_cannot_break_a_comment(folders: Path) -> None:
    text = 'create view "a|b`<x>" as select 1 as "c|d@e", 2 as "**f**", 0 as g;'
    (folders / "base" / "all.sql").write_text(text, encoding="utf-8")
    (folders / "head" / "all.sql").write_text(text.replace("1", "3").replace("2", "4"), encoding="utf-8")
    comment = lineage("diff", "--base", "base", "--head", "head", "-d", "postgres", "-f", "markdown").out
    row = next(line for line in comment.splitlines() if "value changed" in line)
    assert row.replace("\\|", "").count("|") == 5
    assert row.startswith("| `a\\|b<x>` | c\\|d@\u200be, \\*\\*f\\*\\* |")  # code, and text that mentions nobody


def test_no_literal_of_the_sql_is_shown(folders: Path) -> None:
    for name, secret in (("base", "s3cret-one"), ("head", "s3cret-two")):
        text = f"create view v as select '{secret}' as a, f('{secret}'), case when x = '{secret}' then 1 end from t;"
        (folders / name / "all.sql").write_text(text, encoding="utf-8")
    for kind in ("table", "json", "csv", "markdown", "sarif", "junit"):
        done = lineage("diff", "--base", "base", "--head", "head", "-f", kind)
        assert "v" in done.out
        assert "s3cret" not in done.out + done.err


def test_readers_in_a_store(folders: Path) -> None:
    orders = source("orders", {"id": "int", "day": "date", "amount": "int"})
    stg = model("stg", "select id, day, amount from wh.raw.orders", orders["unique_id"])
    daily = model("daily", f"select day, sum(amount) as total from {relation('stg')} group by day", "stg")
    write(folders / "before", manifest(orders, stg, daily))
    gone = {**daily, "compiled_code": f"select day from {relation('stg')} group by day", "raw_code": "select day"}
    write(folders / "after", manifest(orders, stg, gone))
    (folders / "log.csv").write_text(
        "query_text,user,started_at\n"
        '"select total from wh.main.daily",ana,2026-03-01T10:00:00Z\n'
        '"create table wh.finance.report as select total * 2 as twice from wh.main.daily",bo,2026-03-02T10:00:00Z\n',
        encoding="utf-8",
    )
    options = ("--namespace", "postgres", "-s", "graph.db")
    assert lineage("ingest", "dbt", "before", *options).code == 0
    log = ("ingest", "log", "log.csv", "--source", "generic", "--dialect", "postgres", "--engine", "local")
    assert lineage(*log, *options).code == 0
    before = (folders / "graph.db").read_bytes()
    found = lineage("diff", "--base", "before", "--head", "after", *options, "--json").json
    assert (folders / "graph.db").read_bytes() == before
    table = next(one for one in found["tables"] if one["title"] == "daily")
    column = next(one for one in table["columns"] if one["name"] == "total")
    assert (column["effects"], column["risk"]) == (["removed"], "breaking")
    reach = table["reach"]
    assert [(one["name"], one["columns"]) for one in reach["downstream"]] == [("wh.finance.report", ["twice"])]
    assert {one["user"] for one in reach["users"]} == {"ana", "bo"}
    assert reach["last_read"].startswith("2026-03-02")
    assert {one["users"][0]: one["last"][:10] for one in reach["readers"]} == {"ana": "2026-03-01", "bo": "2026-03-02"}
    comment = lineage("diff", "--base", "before", "--head", "after", *options, "-f", "markdown").out
    assert "downstream: wh.finance.report; people: ana (1), bo (1), last on 2026-03-02" in comment.replace("\\", "")
    without = lineage("diff", "--base", "before", "--head", "after", "--namespace", "other", "-s", "graph.db").out
    assert "its readers are unknown" in without
    assert "possibly breaking" in without


def test_half_a_manifest(folders: Path) -> None:
    data = manifest(model("a", "select 1 as x"), model("b", f"select x from {relation('a')}", "a"))
    write(folders / "before", data)
    write(folders / "after", data)
    text = (folders / "after" / "manifest.json").read_text(encoding="utf-8")
    (folders / "after" / "manifest.json").write_text(text[: text.index("model.shop.b", 300) + 60], encoding="utf-8")
    done = lineage("diff", "--base", "before", "--head", "after")
    assert done.code == 1
    assert "ends in the middle" in done.out
    (folders / "after" / "manifest.json").write_text("no manifest", encoding="utf-8")
    assert lineage("diff", "--base", "before", "--head", "after").code == 2


REPORTS = ("--write", "r.md", "--write", "r.sarif", "--write", "r.xml")


def _sides(folder: Path, base: str, head: str) -> None:
    for name, text in (("base", base), ("head", head)):
        (folder / name / "all.sql").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("create view s.other as select a, b from raw.t;", "gone: renamed to other"),
        ("create view s.third as select c from raw.t;", "gone.a: removed"),
        ("", "gone.a: removed"),
    ],
)
def test_a_table_that_is_gone_fails_in_every_report(folders: Path, head: str, told: str) -> None:
    _sides(folders, "create view s.gone as select a, b from raw.t;", head)
    done = lineage("diff", "--base", "base", "--head", "head", "-d", "postgres", "--fail-on", "removed", *REPORTS)
    assert done.code == 1
    assert told in done.err
    results = json.loads((folders / "r.sarif").read_text())["runs"][0]["results"]
    assert "error" in {one["level"] for one in results}
    suite = ElementTree.parse(folders / "r.xml").getroot().find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"


def test_a_removed_table_of_unknown_columns_fails(folders: Path) -> None:
    kept = "create view s.kept as select a from raw.t;"
    _sides(folders, f"{kept} insert into s.log select a from raw.t; insert into s.log select b from raw.u;", kept)
    done = lineage("diff", "--base", "base", "--head", "head", "-d", "postgres", "--fail-on", "removed", *REPORTS)
    assert done.code == 1
    assert "--fail-on removed: log: removed" in done.err
    [result] = json.loads((folders / "r.sarif").read_text())["runs"][0]["results"]
    assert (result["level"], result["message"]["text"]) == ("error", "log: table removed")


def test_a_column_that_was_missing_before_is_no_news_after_a_rename(folders: Path) -> None:
    base = "create view s.one as select a from raw.t; create view s.reads as select nothing from s.one;"
    _sides(folders, base, base.replace("s.one", "s.two"))
    done = lineage("diff", "--base", "base", "--head", "head", "-d", "postgres", "--json")
    assert done.json["missing_columns"] == []


def test_sides_without_tables(folders: Path) -> None:
    _sides(folders, "analyze t;", "analyze t;")
    done = lineage("diff", "--base", "base", "--head", "head")
    assert done.code == 0
    assert "no statement in base and in head defines a table: is it the right folder?" in " ".join(done.out.split())
    done = lineage("diff", "--base", "base", "--head", "head", "--fail-on", "removed", *REPORTS)
    assert (done.code, "nothing was compared" in done.err) == (1, True)
    suite = ElementTree.parse(folders / "r.xml").getroot().find("testsuite")
    assert suite is not None
    assert suite.get("errors") == "1"


def test_tables_of_one_last_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    views = (f"create view {at}.mart.revenue as select a from raw.t where b > %s" for at in ("analytics", "finance"))
    text = "; ".join((*views, "create view mart.other as select a from raw.t where b > %s"))
    for name in ("base", "head"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.sql").write_text(text.replace("%s", str(len(name) if name == "base" else 7)))
    shown = lineage("diff", "--base", "base", "--head", "head", "-d", "snowflake", columns=200).out
    assert {line.split()[0] for line in shown.splitlines() if " changed " in line} >= {
        "ANALYTICS.MART.REVENUE", "FINANCE.MART.REVENUE", "OTHER",
    }  # fmt: skip
