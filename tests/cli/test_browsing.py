"""`lineage search`, `show`, `columns`, `jobs`, `diagnostics` and `diff`, on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lineage.cli.name_argument import complete_name
from lineage.cli.registry import load_command
from lineage.store import open_store
from tests.cli.running import Finished, lineage
from tests.store.batch_builders import batch, day, rename, table

FIRST = {
    "base.sql": "CREATE TABLE shop.orders (id int, amount numeric); CREATE TABLE shop.old (x int);",
    "rev.sql": "CREATE VIEW mart.rev AS SELECT id, sum(amount) AS total FROM shop.orders GROUP BY id;",
    "gone.sql": "CREATE VIEW mart.gone AS SELECT x FROM shop.old;",
}
SECOND = {
    "base.sql": FIRST["base.sql"] + "ALTER TABLE shop.orders RENAME COLUMN amount TO net; DROP TABLE shop.old;",
    "rev.sql": "CREATE VIEW mart.rev AS SELECT id, sum(net) AS total, max(net) AS most FROM shop.orders GROUP BY id;",
    "bad.sql": "CREATE TABLE shop.pets (y int); CREATE VIEW mart.bad AS\nSELECT nmae FROM shop.pets;",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browse")
    models = folder / "models"
    models.mkdir()
    for number, files in (1, FIRST), (2, SECOND):
        for path in models.iterdir():
            path.unlink()
        for name, sql in files.items():
            (models / name).write_text(sql)
        options = ("-d", "postgres", "--project", "shop", "--observed-at", f"2026-01-0{number}T00:00:00", "--yes")
        done = lineage("ingest", "sql", models, *options, "-s", folder / "s.db")
        assert done.code == 0, done.err
    return folder / "s.db"


def words(done: Finished) -> list[list[str]]:
    assert done.code == 0, done.err
    return [line.split() for line in done.out.splitlines()]


def test_search(store: Path) -> None:
    assert [one["name"] for one in lineage("search", "ORDERS", "-s", store, "--json").json] == ["shop.orders"]
    found = lineage("search", "net", "--type", "column", "-s", store)
    assert ["column", "shop.orders.net", "decimal", "postgres"] in words(found)
    assert lineage("search", "net", "--type", "table", "-s", store).err == "no table or column matches 'net'\n"
    assert "did you mean `shop.orders`" in lineage("search", "odrers", "-s", store).err
    assert "give part of a name" in lineage("search", "-s", store).err
    assert lineage("search", "o", "--limit", 1, "-s", store).err == "… and more; --limit 5 shows up to 5\n"


def test_show(store: Path) -> None:
    shown = lineage("show", "shop.orders", "-s", store, "--json").json
    assert (shown["kind"], shown["comes_from"], shown["leads_to"]) == ("table", [], ["mart.rev"])
    assert [(one["column"], one["type"], one["earlier_names"]) for one in shown["columns"]] == [
        ("id", "int", []),
        ("net", "decimal", ["amount"]),
    ]
    assert shown["read_by"] == ["file:shop:rev.sql@postgres>postgres/mart.rev"]
    text = lineage("show", "mart.rev.total", "-s", store)
    assert "mart.rev is a view of postgres" in text.out
    assert ["2", "total", "schema"] in words(text)
    assert ["1", "id"] not in [line[:2] for line in words(text)]
    assert "did you mean `shop.orders`" in lineage("show", "shop.ordres", "-s", store).err


def test_show_tells_earlier_names_from_other_names(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_store(path) as store:
        store.apply(batch(table("a", "x", at=1), table("path", "x", at=1)))
        store.apply(replace(batch(), changes=(rename("a", "b", 2),), aliases=(("pg/path", "pg/b"),)))
    shown = lineage("show", "b", "-s", path, "--json").json
    assert shown["other_names"] == ["pg/path"]
    assert shown["earlier_names"] == [{"name": "a", "until": day(2).isoformat()}]
    assert f"`a` until {day(2):%Y-%m-%d}" in " ".join(lineage("show", "b", "-s", path).out.split())


def test_columns(store: Path) -> None:
    assert [one["column"] for one in lineage("columns", "shop.orders", "-s", store, "--json").json] == ["id", "net"]
    past = lineage("columns", "shop.old", "--dropped", "-s", store)
    assert any(line[:2] == ["1", "x"] for line in words(past)), past.out


def test_columns_as_of(store: Path) -> None:
    def listed(*options: str) -> list[str]:
        return [one["column"] for one in lineage("columns", "mart.rev", "-s", store, "--json", *options).json]

    assert listed() == listed("--as-of", "2026-01-02") == ["id", "total", "most"]
    assert listed("--as-of", "2026-01-01T12:00:00") == ["id", "total"]
    assert lineage("columns", "mart.rev", "-s", store, "--as-of", "2026-01-01", "--dropped").code == 2


def test_jobs(store: Path) -> None:
    rows = lineage("jobs", "--table", "mart.rev", "-s", store, "--json").json
    assert [(one["writes"], one["reads"], one["file"], one["line"]) for one in rows] == [
        (["mart.rev"], ["shop.orders"], "rev.sql", 1)
    ]
    keys = {one["key"] for one in lineage("jobs", "-s", store, "--json").json}
    with_retired = {one["key"] for one in lineage("jobs", "--retired", "-s", store, "--json").json}
    assert {key for key in with_retired - keys if "mart.gone" in key}
    alone = lineage("jobs", rows[0]["key"], "-s", store)
    assert "sum(net) AS total" in alone.out
    unknown = lineage("jobs", "nothing", "-s", store)
    assert (unknown.code, "no job 'nothing'" in " ".join(unknown.err.split())) == (2, True)
    assert "… and" in lineage("jobs", "--limit", 1, "-s", store).err


def test_diagnostics(store: Path) -> None:
    [found] = lineage("diagnostics", "-s", store, "--json").json
    assert (found["code"], found["source"], found["project"]) == ("UNKNOWN_COLUMN", "bad.sql", "shop")
    assert words(lineage("diagnostics", "-s", store))[2][:3] == ["warning", "UNKNOWN_COLUMN", "bad.sql:2:8"]
    for left_out in ("--severity", "error"), ("--code", "NOT_SQL"), ("--source", "base.sql"):
        done = lineage("diagnostics", *left_out, "-s", store)
        assert (done.code, done.err) == (0, "no diagnostic matches\n"), left_out
    unknown = ("--project", "other", "SQL files of project"), ("--source", "nope.sql", "file"), ("--job", "nope", "job")
    for option, name, what in unknown:  # of which nothing is known, also not that all is well
        done = lineage("diagnostics", option, name, "-s", store)
        assert (done.code, done.err) == (0, f"the graph has no {what} '{name}': lineage jobs lists what it has\n")


def test_diff(store: Path) -> None:
    found = lineage("diff", "--as-of", "2026-01-01", "--as-of", "2026-01-03", "-s", store, "--json").json
    assert [(one["change"], one["name"]) for one in found["datasets"]] == [
        ("came", "mart.bad"),
        ("went", "shop.old"),
        ("came", "shop.pets"),
    ]
    assert [(one["change"], one.get("earlier"), one["name"]) for one in found["columns"]] == [
        ("came", None, "mart.bad.nmae"),
        ("came", None, "mart.rev.most"),
        ("went", None, "shop.old.x"),
        ("renamed", "amount", "shop.orders.net"),
        ("came", None, "shop.pets.y"),
        ("came", None, "shop.pets.nmae"),
    ]
    assert {(one["change"], one["target"]) for one in found["edges"]} == {
        ("came", "postgres/mart.bad"),
        ("came", "postgres/mart.bad#nmae"),
        ("came", "postgres/mart.rev#most"),
        ("went", "postgres/mart.gone"),
        ("went", "postgres/mart.gone#x"),
    }
    rows = words(lineage("diff", "--as-of", "2026-01-01", "--as-of", "2026-01-03", "-s", store, columns=200))
    assert ["renamed", "column", "shop.orders.net", "amount"] in [row[:4] for row in rows]
    rows = words(lineage("diff", "mart.rev", "--as-of", "2026-01-01", "-s", store, "-f", "csv"))
    assert rows[1][0].startswith("came,column,mart.rev.most,")
    assert "nothing differs" in lineage("diff", "--as-of", "2026-01-04", "-s", store).out


def test_diff_wants_two_times_in_order(store: Path) -> None:
    wrong = lineage("diff", "--as-of", "2026-02-01", "--as-of", "2026-01-01", "-s", store)
    assert (wrong.code, "give the earlier time first" in wrong.err) == (2, True)
    assert lineage("diff", "-s", store).code == 2


@pytest.mark.parametrize("command", ["search", "show", "columns", "jobs", "diagnostics", "diff"])
def test_help_has_an_example_and_csv_a_header(store: Path, command: str) -> None:
    assert f"Example: lineage {command}" in " ".join(lineage(command, "--help").out.split())


def test_names_are_completed(store: Path) -> None:
    context = load_command("columns").make_context("columns", ["x", "--store", str(store)])
    assert complete_name(context, "shop.or") == ["shop.orders"]
    assert complete_name(context, "mart.rev.mo") == ["mart.rev.most"]


def test_search_says_what_was_dropped(tmp_path: Path) -> None:
    store = tmp_path / "g.db"
    for number, sql in enumerate(("CREATE TABLE old_t (a INT); CREATE TABLE new_t (a INT);", "DROP TABLE old_t;")):
        (tmp_path / f"{number}.sql").write_text(sql)
        lineage("ingest", "sql", tmp_path / f"{number}.sql", "-d", "postgres", "-s", store)
    listed = lineage("search", "_t", "--type", "table", "-s", store, "--format", "csv").out.splitlines()
    assert listed[0].endswith(",dropped")
    assert [bool(line.rpartition(",")[2]) for line in listed[1:]] == [False, True]
