"""Names, SQL and logs of others steer no terminal."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

from lineage.model.text.visible_text import VisibleFormatter
from tests.cli.running import Finished, lineage

STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
NAMES = [
    "\x1b[31mred",
    "bell\x07",
    "\x9b2J",
    "a\rb",
    "x\u202ey",
    "tab\there",
    "two\nlines",
    "[bold]b[/bold]",
    "\\[red]c",
]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def shown(done: Finished) -> str:
    found = STEERING.search(done.out + done.err)
    assert not found, (found, done)
    return done.out + done.err


def test_steering_characters_are_shown(tmp_path: Path) -> None:
    columns = ", ".join(f"{quoted(name)} || 'x' AS {quoted(name)}" for name in NAMES)
    sql = f"CREATE TABLE {quoted('o' + NAMES[0])} (a int);\n"
    sql += f"CREATE VIEW {quoted('v' + NAMES[0])} AS SELECT {columns} FROM {quoted('t' + NAMES[2])};\n"
    sql += f"SELECT {quoted(NAMES[0])}.x FROM t; SELECT a {quoted(NAMES[1])} {quoted(NAMES[0])} FROM t"
    file, store = tmp_path / "f.sql", tmp_path / "s.db"
    file.write_text(sql)
    shown(lineage("ingest", "sql", file, "-d", "postgres", "--store", store))
    extracted = shown(lineage("extract", "-d", "postgres", file))
    assert "␛[31mred" in extracted
    assert "[bold]b[/bold]" in extracted
    assert "\\[red]c" in extracted
    shown(lineage("tables", "-d", "postgres", file))
    for name in (*NAMES, "unknown\x1b[0m"):
        of = f"{quoted('t' + NAMES[2])}.{quoted(name)}"
        for command in ("impact", "root-cause"):
            shown(lineage(command, of, "--store", store))
        shown(lineage("path", of, f"{quoted('v' + NAMES[0])}.{quoted(name)}", "--store", store))
    shown(lineage("runs", "--store", store))
    asked = ("impact", f"{quoted('t' + NAMES[2])}", "--store", store, "--format")
    answer = lineage(*asked, "json")
    assert not STEERING.search(answer.out)
    assert {one["column"] for one in json.loads(answer.out)["columns"]} >= {'"\x1b[31mred"', "x\u202ey"}
    table = lineage(*asked, "csv").out
    assert not STEERING.search(table.replace("\t", "").replace("\r\n", ""))
    assert "two\nlines" in table


def test_log_lines_are_lines() -> None:
    record = logging.LogRecord("n", logging.WARNING, "f", 1, "left out %s", ("a\x1b[2J\nWARNING forged",), None)
    assert VisibleFormatter().format(record) == "left out a␛[2J␊WARNING forged"
