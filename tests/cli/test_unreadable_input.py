"""What is no SQL and no store is said in one line: binary files, links that lead nowhere, damaged stores."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.running import lineage

SQL = "CREATE VIEW v AS SELECT a AS é FROM t;"
BINARY = bytes(range(256)) * 50


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "good.sql").write_text(SQL, encoding="utf-8")
    return folder


CONTENTS = [BINARY, gzip.compress(SQL.encode() * 50, mtime=0), SQL.encode("utf-16-le")]


@pytest.mark.parametrize("content", CONTENTS, ids=["binary", "packed", "utf-16"])
def test_a_binary_file_is_one_diagnostic(folder: Path, tmp_path: Path, content: bytes) -> None:
    (folder / "packed.sql").write_bytes(content)
    done = lineage("ingest", "sql", folder, "-s", tmp_path / "s.db", "-f", "json")
    assert done.code == 1
    assert [(one["source"], one["code"]) for one in done.json["found"]] == [("models/packed.sql", "UNREADABLE_FILE")]
    assert done.json["resolved"] == 1
    for command in ("extract", "tables"):
        done = lineage(command, folder / "packed.sql", folder / "good.sql")
        assert (done.code, done.err.count("UNREADABLE_FILE"), len(done.err.splitlines())) == (1, 1, 1)
        assert "CREATE_VIEW" in done.out
    report = lineage("extract", "--report", folder)
    assert report.err.count("UNREADABLE_FILE") == 1
    assert "1 text, 1 statement" in report.out


def test_a_file_that_became_binary_is_not_gone(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    lineage("ingest", "sql", folder, "-s", store)
    (folder / "good.sql").write_bytes(BINARY)
    (folder / "other.sql").write_text("CREATE VIEW w AS SELECT b FROM t")
    assert lineage("ingest", "sql", folder, "-s", store).code == 1
    assert "v.é" in lineage("impact", "t.a", "-s", store).out


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark_are_read(folder: Path, encoding: str) -> None:
    (folder / "good.sql").write_bytes(SQL.encode(encoding))
    done = lineage("extract", folder / "good.sql")
    assert (done.code, "v.é" in done.out) == (0, True), done
    assert lineage("extract", "--report", folder).code == 0


def test_wrong_bytes_are_said_and_the_rest_is_read(folder: Path) -> None:
    (folder / "good.sql").write_bytes(SQL.encode("latin-1"))
    done = lineage("extract", folder / "good.sql")
    assert (done.code, "INVALID_ENCODING at 1:30" in done.err, "t.a" in done.out) == (1, True, True), done


def test_links_that_lead_nowhere_are_said(folder: Path, tmp_path: Path) -> None:
    link = folder / "link.sql"
    link.symlink_to(tmp_path / "nothing.sql")
    done = lineage("ingest", "sql", folder, "-s", tmp_path / "s.db")
    assert (done.code, "link.sql cannot be read: a broken link" in done.err) == (1, True), done
    done = lineage("ingest", "sql", link, "-s", tmp_path / "s.db")
    assert (done.code, "a broken link" in " ".join(done.err.split())) == (2, True), done
    for command in ("extract", "tables"):
        done = lineage(command, link)
        assert (done.code, "broken symbolic link" in " ".join(done.err.split())) == (2, True), done


@pytest.mark.parametrize("content", [b"abc", b"x" * 100_000, b"\0" * 5], ids=["short", "long", "zeros"])
def test_a_file_that_is_no_store(tmp_path: Path, content: bytes) -> None:
    store = tmp_path / "s.db"
    store.write_bytes(content)
    for command in ("impact", "x"), ("runs",), ("search", "x"):
        done = lineage(*command, "-s", store)
        assert (done.code, "no lineage store" in " ".join(done.err.split())) == (3, True), done
        assert "Traceback" not in done.err
    assert store.read_bytes() == content
