"""`lineage runs`: what was ingested, on the command line."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from lineage.model.batch import RunRecord
from lineage.store import open_store
from tests.cli.running import lineage
from tests.store.batch_builders import batch, day, table


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "graph.db"
    counts = {"statements": 4, "resolved": 3, "diagnostics": 2, "edges": 12}
    stated = (
        RunRecord("files:1", "sql_files", "models", day(1), {"files": 2, **counts}, 1.24),
        RunRecord("log:1/1", "log", "trino log", day(2)),
        RunRecord("log:1", "log", "trino log", day(2), {"rows": 1200, **counts, "left_out": 7}, 60.0),
        RunRecord("log:2", "log", "trino log", day(3), {"rows": 1, **counts}, None),
    )
    with open_store(path) as opened:
        for run in stated:
            opened.apply(replace(batch(table("orders", "id", at=1)), run=run))
    return path


def test_the_latest_first(store: Path) -> None:
    done = lineage("runs", "-s", store, columns=120)
    assert done.code == 0
    lines = [line.split() for line in done.out.splitlines() if "log" in line or "sql_files" in line]
    assert lines[0][2:] == ["log", "trino", "log", "1", "row", "4", "3", "2", "12"]
    assert lines[1][2:] == ["log", "trino", "log", "1,200", "rows", "4", "3", "2", "12", "60.0"]
    assert lines[2] == [
        *f"{day(1):%Y-%m-%d %H:%M:%S}".split(),
        "sql_files",
        "models",
        "2",
        "files",
        "4",
        "3",
        "2",
        "12",
        "1.2",
    ]
    assert len(lines) == 3


def test_a_limit_counts_whole_ingests(store: Path) -> None:
    answer = lineage("runs", "--limit", 2, "-s", store, "-f", "json").json
    assert [run["key"] for run in answer] == ["log:2", "log:1"]
    assert (answer[1]["left_out"], answer[1]["seconds"]) == (7, 60.0)
    assert len(lineage("runs", "--limit", 0, "-s", store, "-f", "json").json) == 3


def test_csv(store: Path) -> None:
    rows = list(csv.DictReader(lineage("runs", "-s", store, "-f", "csv").out.splitlines()))
    assert [(row["read"], row["edges"]) for row in rows] == [("1 row", "12"), ("1,200 rows", "12"), ("2 files", "12")]


def test_nothing_yet(tmp_path: Path) -> None:
    open_store(tmp_path / "empty.db").close()
    done = lineage("runs", "-s", tmp_path / "empty.db")
    assert (done.code, done.out, done.err) == (0, "", "nothing has been ingested yet\n")


def test_the_help_has_an_example() -> None:
    assert "lineage runs --limit 5" in " ".join(lineage("runs", "--help").out.split())
