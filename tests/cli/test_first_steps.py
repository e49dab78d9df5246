"""What somebody types who does not know the command yet, and what the answer says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import lineage


@pytest.mark.parametrize("at", ["2030-12-31 08:00", "2030-12-31 08:00 UTC", "2030-12-31 08:00:00.5+01:00"])
def test_a_time_is_accepted_as_it_is_printed(tmp_path: Path, at: str) -> None:
    file, store = tmp_path / "v.sql", tmp_path / "graph.db"
    file.write_text("create view v as select a from t")
    lineage("ingest", "sql", file, "-s", store)
    assert lineage("impact", "t.a", "--as-of", at, "-s", store).code == 0


def test_no_time_is_told_what_to_write() -> None:
    error = lineage("impact", "a", "--as-of", "yesterday").err
    assert "'yesterday' is no time: write 2026-01-31, or 2026-01-31 08:00" in " ".join(error.split())


def test_a_folder_that_cannot_be_read_is_not_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    (tmp_path / "closed").mkdir()
    (tmp_path / "a.sql").write_text("create view v as select a from t")
    monkeypatch.setattr(os, "scandir", refuse)
    done = lineage("ingest", "sql", tmp_path / "a.sql", tmp_path / "closed", "-s", tmp_path / "graph.db")
    assert done.code == 1
    assert "closed cannot be read: Permission denied" in done.err
    assert done.out.startswith("1 file, 1 statement: 1 resolved")


def test_a_path_without_its_command(tmp_path: Path) -> None:
    done = lineage("ingest", tmp_path)
    assert done.code == 2
    assert f"did you mean `lineage ingest sql {tmp_path}`?" in done.err


def test_a_missing_argument_has_an_example() -> None:
    error = lineage("path", "a").err
    assert "Missing argument 'END'. For example: lineage path raw.users.email mart.contacts.address" in error


def test_a_line_that_does_not_parse_is_shown_without_its_literals(tmp_path: Path) -> None:
    file = tmp_path / "bad.sql"
    file.write_text("select 1 from t;\nselect 'Ann' as n, a b c from t")
    shown = "select '***' as n, a b c from t\n                       ^\n"
    assert shown in lineage("extract", "-d", "postgres", file, columns=100).err
    assert shown in lineage("ingest", "sql", file, "-d", "postgres", "-s", tmp_path / "g.db", columns=100).err


def test_the_help_names_values_as_manuals_do() -> None:
    text = lineage("impact", "--help", columns=80).out
    assert text.startswith("Usage: lineage impact [OPTIONS] NAME\n")
    assert "  --max-hops N  " in text
    assert "  NAME  A column" in text
    assert lineage("extract", "--help").out.startswith("Usage: lineage extract [OPTIONS] [FILE...]\n")
