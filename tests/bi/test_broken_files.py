"""Broken input: each is a diagnostic, and the rest is ingested."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from lineage.model.diagnostics import Severity
from lineage.store import open_store
from lineage_ingest.bi.connections import ConnectionMap
from lineage_ingest.bi.files import ExportFile, read_files, yaml_of
from lineage_ingest.bi.superset.reader import read_superset
from tests.bi.exports import DATA, codes, ingest
from tests.bi.test_metabase import DATABASE, card


def test_a_zip_bomb_and_half_an_archive(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("cards.json", b"[" + b" " * 50_000_000 + b"]")
    whole = (folder / "bomb.zip").read_bytes()
    (folder / "half.zip").write_bytes(whole[: len(whole) // 2])
    (folder / "db.json").write_text(json.dumps(DATABASE), encoding="utf-8")
    (folder / "half.json").write_text(json.dumps([card(2, {})])[:-9], encoding="utf-8")
    (folder / "cards.json").write_text(json.dumps([card(1, {"source-table": 10})]), encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "metabase", folder)
        assert codes(summary) == {"UNREADABLE_FILE", "ARTIFACT_DAMAGED"}
        assert any("zip bomb" in one.diagnostic.message for one in summary.diagnostics)
        assert summary.batch.run.counts["queries"] == 1
        assert summary.batch.run.counts["resolved"] == 1


def test_aliases_of_yaml_that_expand_without_end(tmp_path: Path) -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12))
    (tmp_path / "bomb.yaml").write_text(f"l0: &l0 [x]\n{levels}", encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "superset", [tmp_path / "bomb.yaml", DATA / "superset"])
        assert any("aliases" in one.diagnostic.message for one in summary.diagnostics)
        assert summary.batch.run.counts["dashboards"] == 1


@pytest.mark.parametrize("file", ["dashboards/Slack_Dashboard", "datasets/messages_channels", "charts/Weekly_Messages"])
def test_a_file_of_superset_that_is_cut_anywhere(tmp_path: Path, file: str) -> None:
    lines = (DATA / "superset" / f"{file}.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "cut.yaml"
    for count in range(1, lines.index("version: 1.0.0\n"), 3):
        path.write_text("".join(lines[:count]), encoding="utf-8")
        export = read_superset(read_files((path,), frozenset()), ConnectionMap(), "bi.test", lambda _done: None)
        said = (
            *(problem for _, problem in export.problems),
            *(one for asset in export.assets for one in asset.problems),
        )
        assert any(one.severity is not Severity.INFO for one in said), f"nothing is said of the first {count} lines"
        assert not export.is_whole


def test_entities_of_xml(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><workbook>&b;</workbook>'
    (tmp_path / "bomb.twb").write_text(bomb, encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "tableau", [tmp_path / "bomb.twb", DATA / "tableau" / "sample-superstore.twb"])
        assert codes(summary) == {"UNREADABLE_FILE"}
        assert summary.batch.run.counts["resolved"] == 2


def test_a_corrupt_pbix(tmp_path: Path) -> None:
    good = DATA / "powerbi" / "directquery-parameters.pbix"
    content = bytearray(good.read_bytes())
    (tmp_path / "half.pbix").write_bytes(content[: len(content) // 2])
    with zipfile.ZipFile(good) as read, zipfile.ZipFile(tmp_path / "corrupt.pbix", "w") as written:
        for member in read.infolist():
            data = bytearray(read.read(member))
            if member.filename == "DataModel":
                data[200:4000] = bytes(3800)
            written.writestr(member.filename, bytes(data))
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "powerbi", [tmp_path / "half.pbix", tmp_path / "corrupt.pbix", good])
        assert codes(summary) == {"ARTIFACT_DAMAGED"}
        assert summary.batch.run.counts["resolved"] == 6


def test_a_lone_semicolon_in_lookml(tmp_path: Path) -> None:
    (tmp_path / "lone.view.lkml").write_text("view: v {\n dimension: id { sql: a; b ;; } ;\n}", encoding="utf-8")
    (tmp_path / "good.view.lkml").write_text("view: w { sql_table_name: t ;; dimension: id {} }", encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "lookml", tmp_path)
        [problem] = [one.diagnostic for one in summary.diagnostics if one.diagnostic.code == "ARTIFACT_DAMAGED"]
        assert problem.message.startswith("line 2: not valid LookML")


def test_files_of_another_tool(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "metabase", DATA / "superset")
        assert summary.has_errors
        [record] = [one for one in summary.diagnostics if one.diagnostic.severity == "error"]
        assert record.diagnostic.message.startswith("nothing of Metabase is in what was read (")


def test_a_file_that_is_there_twice(tmp_path: Path) -> None:
    book = DATA / "tableau" / "sample-superstore.twb"
    view = "view: v { sql_table_name: t ;; dimension: id { %s } }"
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "tableau", [book, DATA / "tableau" / "sample-superstore.twb"]).diagnostics
        for folder, more in (("a", ""), ("b", ""), ("c", "sql: ${TABLE}.key ;;")):
            (tmp_path / "in" / folder).mkdir(parents=True)
            (tmp_path / "in" / folder / book.name).write_bytes(book.read_bytes())
            (tmp_path / "in" / folder / "v.view.lkml").write_text(view % more, encoding="utf-8")
        assert "DEFINED_TWICE" not in codes(ingest(store, "tableau", tmp_path / "in"))
        both = [tmp_path / "in" / "a", tmp_path / "in" / "b"]
        assert "DEFINED_TWICE" not in codes(ingest(store, "lookml", both, dialect="postgres"))
        assert "DEFINED_TWICE" in codes(ingest(store, "lookml", tmp_path / "in", dialect="postgres"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[=, no, on, y, 012, 1:30, 1_000, .inf, 2030-13-45, .]",
         ["=", "no", "on", "y", "012", "1:30", "1_000", ".inf", "2030-13-45", "."]),
        ("[1, -2, 0x1f, 1.5, .5, -3.2e5, 7., ~, null, true, False]",
         [1, -2, 31, 1.5, 0.5, -320000.0, 7.0, None, None, True, False]),
        ("{on: 1, no: {}}", {"on": 1, "no": {}}),
        ("a:\nb: ''", {"a": None, "b": ""}),
        ("x: &a {b: 1}\ny: {<<: *a, c: 2}", {"x": {"b": 1}, "y": {"b": 1, "c": 2}}),
    ],
)  # fmt: skip
def test_scalars_of_yaml(text: str, value: object) -> None:
    assert yaml_of(ExportFile("a.yaml", "a.yaml", text.encode())) == value
