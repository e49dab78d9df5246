"""Revisions of git: the files of a folder as they were, whatever attributes, links and depth the repository has."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lineage_ingest import RevisionOptions, diff_revisions
from lineage_ingest.diff.revisions.git_folder import GitRevisionError, extract_revision
from lineage_ingest.options import OptionError

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
    assert read(extract_revision(text, tmp_path / "out").path) == {
        "v.sql": VIEW.encode(),
        "deep/größe\n.sql": b"create view w as select 1 as a;\r\n",
        "empty.sql": b"",
        ".gitattributes": b"*.sql export-ignore\n",
        "s.sql": b"create view s as select id from raw.t;\n",
    }


def test_the_whole_repository(repository: Path, tmp_path: Path) -> None:
    assert {"models/v.sql", "shared/s.sql"} <= set(read(extract_revision("HEAD:", tmp_path / "out").path))


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


def effects(base: str, head: str) -> tuple[dict[str, str], list[str]]:
    found = diff_revisions(base, head, options=RevisionOptions(dialect="postgres"))
    edited = {one.title: str(one.effect) for one in found.tables.values() if one.effect != "unchanged"}
    return edited, [error for error in found.errors if "EMPTY_INPUT" not in error]


def test_links_are_read_as_in_the_work_tree(repository: Path) -> None:
    for name in ("outside", "dangling", "loop", "folder"):
        (repository / "models" / f"{name}.sql").unlink()
    os.symlink("../shared", repository / "models" / "linked")
    os.symlink("deep", repository / "models" / "again")
    os.symlink("v.sql", repository / "models" / "w.sql")
    os.symlink("/nowhere/README.md", repository / "models" / "README.md")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "two")
    assert effects("HEAD:models", "models") == effects("HEAD:", ".") == ({}, [])


def test_links_that_lead_elsewhere_are_reported(repository: Path) -> None:
    broken = [f"{name}.sql: a broken link" for name in ("dangling", "loop")]
    outside = "outside.sql: a link to `/etc/hostname`: git has no files of it, they are not compared"
    assert effects("HEAD:models", "HEAD:models") == ({}, [f"HEAD:models: {one}" for one in (*broken, *broken)])
    _, errors = effects("HEAD:models", "models")
    assert errors == [f"HEAD:models: {one}" for one in (*broken, outside)] + [f"models: {one}" for one in broken]


def test_links_do_not_lead_out_by_way_of_others(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.sql").write_text("select 1")
    os.symlink("../..", repository / "models" / "deep" / "up")
    os.symlink("deep/up/../secret.sql", repository / "models" / "x.sql")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "two")
    out = extract_revision("HEAD:models", tmp_path / "out")
    assert out.left_out["x.sql"] == "a link to `deep/up/../secret.sql`"
    assert not os.path.lexists(out.path / "x.sql")


def test_submodules_and_files_of_lfs_are_reported(repository: Path, tmp_path: Path) -> None:
    for name in ("dangling", "loop", "outside"):
        (repository / "models" / f"{name}.sql").unlink()
    git(tmp_path, "clone", "--quiet", str(repository), "other")
    git(repository, "submodule", "add", "--quiet", str(tmp_path / "other"), "models/sub")
    commit = next((tmp_path / "other" / ".git" / "refs" / "heads").iterdir()).read_text()[:12]
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12\n"
    (repository / "models" / "large.sql").write_text(pointer)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "two")
    assert effects("HEAD:models", "HEAD:models") == ({}, [])  # the same on both sides
    _, errors = effects("HEAD~1:models", "HEAD:models")
    assert sorted(error.rpartition(", ")[0] for error in errors if error.startswith("HEAD:")) == [
        f"HEAD:models: large.sql: a file of Git LFS, sha256:{'a' * 13}: git has no files of it",
        f"HEAD:models: sub: a submodule, at {commit}: git has no files of it",
    ]


@pytest.mark.parametrize(("base", "head", "said"), [
    ("HEAD:", ".", "HEAD: is a dbt project: give its target folder, HEAD:target"),
    ("HEAD:target", "HEAD:", "HEAD: is a dbt project: give its target folder, HEAD:target"),
])  # fmt: skip
def test_a_dbt_project_is_called_as_it_was_given(repository: Path, base: str, head: str, said: str) -> None:
    (repository / "target").mkdir()
    (repository / "target" / "manifest.json").write_text("{}")
    (repository / "dbt_project.yml").write_text("name: shop")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "two")
    with pytest.raises(OptionError, match=said) as raised:
        diff_revisions(base, head)
    assert raised.value.option == ("base" if base == "HEAD:" else "head")


def test_a_folder_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitRevisionError, match="git knows no `main:models`: not a git repository"):
        diff_revisions("main:models", ".")
