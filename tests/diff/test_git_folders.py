"""Revisions of git: the files of a folder as they were, whatever attributes, links and depth the repository has."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lineage_ingest import RevisionOptions, diff_revisions
from lineage_ingest.diff.git_folder import GitRevisionError, extract_revision

VIEW = "create view v as select id from raw.t;\n"


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    (folder / "models" / "deep").mkdir(parents=True)
    (folder / "shared").mkdir()
    (folder / "models" / "v.sql").write_text(VIEW)
    (folder / "models" / "deep" / "größe\n.sql").write_bytes(b"create view w as select 1 as a;\r\n")
    (folder / "models" / "empty.sql").write_text("")
    (folder / "models" / ".gitattributes").write_text("*.sql export-ignore\n")
    (folder / "shared" / "s.sql").write_text("create view s as select id from raw.t;\n")
    os.symlink("../shared/s.sql", folder / "models" / "s.sql")
    for name, to in (("outside", "/etc/hostname"), ("dangling", "nowhere"), ("loop", "loop.sql"), ("folder", "deep")):
        os.symlink(to, folder / "models" / f"{name}.sql")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "one")
    monkeypatch.chdir(folder)
    return folder


def read(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("current", "text"),
    [(".", "HEAD:models"), ("models/deep", "HEAD:models/"), ("models", "HEAD:./"), ("models", "HEAD:../models")],
)
def test_the_files_of_a_revision(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, current: str, text: str
) -> None:
    monkeypatch.chdir(repository / current)
    assert read(extract_revision(text, tmp_path / "out")) == {
        "v.sql": VIEW.encode(),
        "deep/größe\n.sql": b"create view w as select 1 as a;\r\n",
        "empty.sql": b"",
        ".gitattributes": b"*.sql export-ignore\n",
        "s.sql": b"create view s as select id from raw.t;\n",
    }


def test_the_whole_repository(repository: Path, tmp_path: Path) -> None:
    assert {"models/v.sql", "shared/s.sql"} <= set(read(extract_revision("HEAD:", tmp_path / "out")))


def test_a_renamed_folder_changes_nothing(repository: Path) -> None:
    (repository / "models" / "two.sql").write_text(
        "insert into wh.c (id) select id from v;\ninsert into wh.c select 1;"
    )
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "two")
    git(repository, "mv", "models", "renamed")
    git(repository, "commit", "--quiet", "--message", "three")
    found = diff_revisions("HEAD~1:models", "HEAD:renamed", options=RevisionOptions(dialect="postgres"))
    assert {one.title: str(one.effect) for one in found.tables.values()} == dict.fromkeys("cvws", "unchanged")


def test_a_shallow_clone(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GitRevisionError, match=r"git knows no `HEAD~1:models`: [^;]*$"):
        extract_revision("HEAD~1:models", tmp_path / "out")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "two")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repository}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    with pytest.raises(GitRevisionError, match="the clone is shallow: `git fetch --unshallow`"):
        extract_revision("HEAD~1:models", tmp_path / "out")
