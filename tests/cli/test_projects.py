"""Which file is which: however a command names it, in which project it lies, and what happens when it is gone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage.store import open_store
from lineage.store.page_requests import JobFilter
from tests.cli.running import Finished, lineage


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


def write(folder: Path, **files: str) -> Path:
    """Write `stg__orders` as stg/orders.sql; `select a from t` is the whole of it."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def project(folder: Path, origin: str | None = None, *, dbt: bool = False) -> Path:
    """Make a folder a project."""
    folder.mkdir(parents=True, exist_ok=True)
    if dbt:
        (folder / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
        return folder
    (folder / ".git").mkdir()
    remote = f'[remote "origin"]\n\turl = {origin}\n' if origin else ""
    (folder / ".git/config").write_text(f"[core]\n\tbare = false\n{remote}", encoding="utf-8")
    return folder


def ingest(store: Path, *arguments: object, code: int = 0) -> Finished:
    done = lineage("ingest", "sql", *arguments, "-s", store)
    assert done.code == code, done.err
    return done


def live(store: Path, *, retired: bool = False) -> set[str]:
    """Return the edges between columns, each with its job's file: `t.a > v.a by orders.sql`."""
    with open_store(store, read_only=True) as opened:
        jobs = {job.key: job for job in opened.jobs_after(limit=1000, wanted=JobFilter(retired=retired))}
        return {
            f"{edge.source.partition('/')[2].replace('#', '.')} > {edge.target.partition('/')[2].replace('#', '.')}"
            f" by {jobs[edge.job].path}"
            for edge in opened.edges_of(list(jobs))
            if "#" in edge.source
        }


def names(store: Path) -> set[tuple[str | None, str | None]]:
    """Return the live files: each with its project."""
    with open_store(store, read_only=True) as opened:
        return {(job.project, job.path) for job in opened.jobs_after(limit=1000)}


V = "create view v as select a from t"
W = "create view w as select b from t"


def test_two_files_of_one_name_are_two(tmp_path: Path, store: Path) -> None:
    write(tmp_path / "p", stg__orders=V, core__orders=W)
    ingest(store, tmp_path / "p/stg/orders.sql", tmp_path / "p/core/orders.sql")
    first = live(store)
    assert {edge.partition(" by")[0] for edge in first} == {"t.a > v.a", "t.b > w.b"}
    ingest(store, tmp_path / "p")
    assert live(store) == first
    ingest(store, tmp_path / "p/core/orders.sql", tmp_path / "p/core/orders.sql", tmp_path / "p/core")
    assert live(store) == first


def test_two_projects_with_files_of_one_name_do_not_meet(tmp_path: Path, store: Path) -> None:
    for one, text in (("p1", V), ("p2", W)):
        write(tmp_path / one / "models", orders=text)
    ingest(store, tmp_path / "p1/models")
    done = ingest(store, tmp_path / "p2/models")
    assert "ended" not in done.out
    assert {edge.partition(" by")[0] for edge in live(store)} == {"t.a > v.a", "t.b > w.b"}


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://ana:s3cr3t@github.com/Acme/shop.git", "github.com/acme/shop"),
        ("git@git.acme.com:team/shop.git", "git.acme.com/team/shop"),
        ("ssh://git@git.acme.com:2222/team/shop", "git.acme.com:2222/team/shop"),
    ],
)
def test_a_repository_is_itself_on_every_machine(tmp_path: Path, store: Path, url: str, name: str) -> None:
    for machine in ("one", "two"):
        write(project(tmp_path / machine / "shop", url), models__orders=V)
        done = ingest(store, tmp_path / machine / "shop/models", "-f", "json").json
        assert [(one["project"], one["files"]) for one in done["projects"]] == [(name, 1)]
    assert names(store) == {(name, "models/orders.sql")}
    kept = b"".join(path.read_bytes() for path in store.parent.glob("graph.db*"))
    assert b"s3cr3t" not in kept


def test_a_working_tree_and_a_submodule_are_found_by_their_git_file(tmp_path: Path, store: Path) -> None:
    main = project(tmp_path / "shop", "https://github.com/acme/shop")
    (main / ".git/worktrees/fix").mkdir(parents=True)
    (main / ".git/worktrees/fix/commondir").write_text("../..\n", encoding="utf-8")
    write(tmp_path / "fix", models__orders=V)
    (tmp_path / "fix/.git").write_text(f"gitdir: {main}/.git/worktrees/fix\n", encoding="utf-8")
    (main / ".git/modules/sub").mkdir(parents=True)
    config = '[remote "origin"]\n\turl = https://github.com/acme/sub.git\n'
    (main / ".git/modules/sub/config").write_text(config, encoding="utf-8")
    write(main / "sub", models__orders=W)
    (main / "sub/.git").write_text("gitdir: ../.git/modules/sub\n", encoding="utf-8")
    ingest(store, tmp_path / "fix", main)
    assert names(store) == {
        ("github.com/acme/shop", "models/orders.sql"),
        ("github.com/acme/sub", "models/orders.sql"),
    }


def test_dbt_projects_of_one_repository(tmp_path: Path, store: Path) -> None:
    root = project(tmp_path / "shop", "https://github.com/acme/shop")
    for one, text in (("a", V), ("b", W)):
        write(project(root / one, dbt=True), models__orders=text)
    write(root, etl__load="create view x as select c from t")
    ingest(store, root)
    expected = {
        ("github.com/acme/shop", "etl/load.sql"),
        ("github.com/acme/shop//a", "models/orders.sql"),
        ("github.com/acme/shop//b", "models/orders.sql"),
    }
    assert names(store) == expected
    ingest(store, root / "a/models/orders.sql")
    assert names(store) == expected
    done = lineage("path", "t.a", "v.a", "-s", store)
    assert "models/orders.sql:1:" in done.out


def test_a_project_without_an_origin_is_known_by_its_folder(tmp_path: Path, store: Path) -> None:
    root = write(project(tmp_path / "shop"), models__orders=V)
    done = ingest(store, root / "models")
    assert f"project {root} (by folder of .git" in " ".join(done.out.split())
    assert "--project NAME" in done.err
    assert names(store) == {(str(root), "models/orders.sql")}


def test_a_name_given_holds_wherever_the_files_lie(tmp_path: Path, store: Path) -> None:
    write(tmp_path / "one/models", orders=V, sub__more=W)
    shutil.copytree(tmp_path / "one/models", tmp_path / "two/checkout/models")
    ingest(store, tmp_path / "one/models", "--project", "shop")
    first = names(store)
    assert first == {("shop", "orders.sql"), ("shop", "sub/more.sql")}
    done = ingest(store, tmp_path / "two/checkout/models", "--project", "shop")
    assert "(0 new)" in done.out
    ingest(store, tmp_path / "two/checkout/models/sub/more.sql", "--project", "shop")
    ingest(store, tmp_path / "one/models/sub", "--project", "shop", "--project-root", tmp_path / "one/models")
    assert names(store) == first


def test_where_a_named_project_begins_may_have_to_be_said(tmp_path: Path, store: Path) -> None:
    for one in ("a", "b"):
        write(project(tmp_path / one, f"https://github.com/acme/{one}"), orders=V)
    done = ingest(store, tmp_path / "a", tmp_path / "b", "--project", "shop", code=2)
    assert "several repositories" in " ".join(done.err.replace("│", "").split())
    ingest(store, tmp_path / "a", tmp_path / "b", "--project", "shop", "--project-root", tmp_path)
    assert names(store) == {("shop", "a/orders.sql"), ("shop", "b/orders.sql")}


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[None]:
    before = Path.cwd()
    yield
    os.chdir(before)


@pytest.mark.usefixtures("elsewhere")
def test_a_file_is_itself_however_it_is_named(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p/models", stg__orders=V, top=W)
    (tmp_path / "link").symlink_to(folder)
    ingest(store, folder)
    first = live(store)
    os.chdir(folder)
    for arguments in ([Path()], [f"{folder}/"], ["stg"], ["stg/orders.sql"], ["../models/stg"], [tmp_path / "link"]):
        done = ingest(store, *arguments)
        assert "(0 new)" in done.out, arguments
        assert live(store) == first, arguments
    os.chdir(tmp_path)
    ingest(store, "p")
    assert live(store) == first


def test_linked_folders_are_followed_once(tmp_path: Path, store: Path) -> None:
    write(tmp_path / "shared", common=W)
    folder = write(tmp_path / "p", orders=V)
    (folder / "shared").symlink_to(tmp_path / "shared")
    (folder / "round").symlink_to(folder)
    ingest(store, folder)
    assert names(store) == {(None, str(folder / "orders.sql")), (None, str(tmp_path / "shared/common.sql"))}


def test_the_same_files_in_another_namespace_end_nothing(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", orders=V)
    ingest(store, folder, "-d", "bigquery", "--project", "shop")
    done = ingest(store, folder, "-d", "bigquery", "--namespace", "bigquery://dev", "--project", "shop")
    assert "ended" not in done.out
    assert "lineage forget --project shop --environment bigquery" in done.err
    with open_store(store, read_only=True) as opened:
        assert sum("#" in edge.source for edge in opened.edges_of(opened.job_keys())) == 2


@pytest.mark.parametrize("named", [(), ("--project", "shop")])
def test_the_same_file_in_another_dialect_replaces(tmp_path: Path, store: Path, named: tuple[str, ...]) -> None:
    folder = write(tmp_path / "p", orders=V, broken="create view x as select from where (")
    assert "no dialect given: ansi" in ingest(store, folder, *named, code=1).err
    done = ingest(store, folder, "-d", "snowflake", *named, code=1)
    assert "2 files known as ansi before: now snowflake, which replaces it" in done.err
    assert "forget" not in done.err
    assert live(store) == {"T.A > V.A by " + ("orders.sql" if named else str(folder / "orders.sql"))}
    answer = lineage("impact", "t.a", "-s", store).out
    assert answer.startswith("1 column in 1 table depends on T.A")
    done = ingest(store, folder / "orders.sql", *named)
    assert "no dialect given: snowflake, as these files were ingested before" in done.err
    assert "(1 new, 1 ended)" in ingest(store, folder / "orders.sql", "-d", "ansi", *named).out


def test_a_dialect_that_is_not_given_is_that_of_the_project(tmp_path: Path, store: Path) -> None:
    folder = project(write(tmp_path / "p", models__orders=V), dbt=True)
    (folder / ".sqlfluff").write_text("[sqlfluff]\ndialect = tsql\n", encoding="utf-8")
    assert "no dialect given: tsql, that of " in ingest(store, folder / "models").err
    (folder / "target").mkdir()
    (folder / "target/manifest.json").write_text('{"metadata": {"adapter_type": "sqlserver"}}', encoding="utf-8")
    assert "no dialect given: tsql, that of " in ingest(tmp_path / "other.db", folder / "models/orders.sql").err


def test_an_edited_file_replaces_what_the_folder_said(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", orders=V, more=W)
    ingest(store, folder)
    write(folder, orders="create view v as select z from t")
    assert "(1 new, 1 ended)" in ingest(store, folder / "orders.sql").out
    assert {edge.partition(" by")[0] for edge in live(store)} == {"t.z > v.z", "t.b > w.b"}


def test_a_file_that_is_gone_is_retired_with_its_folder_and_can_come_back(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p/models", orders=V, more=W)
    ingest(store, folder, "--observed-at", "2026-01-01")
    (folder / "orders.sql").unlink()
    ingest(store, folder / "more.sql", "--observed-at", "2026-01-02")
    assert len(live(store)) == 2  # a single file never retires others
    done = ingest(store, tmp_path / "p", "--observed-at", "2026-01-03")
    assert "retired: 1 file no longer there, with 1 edge" in done.out
    assert live(store) == {f"t.b > w.b by {folder}/more.sql"}
    then = lineage("impact", "t.a", "-s", store, "--as-of", "2026-01-02", "-f", "json").json
    assert [column["column"] for column in then["columns"]] == ["a"]
    write(folder, orders=V)
    ingest(store, folder, "--observed-at", "2026-01-04")
    assert len(live(store)) == 2
    assert lineage("impact", "t.a", "-s", store, "--as-of", "2026-01-03T12:00:00", "-f", "json").json["columns"] == []


def test_the_last_file_of_a_folder_may_be_gone(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", orders=V)
    ingest(store, folder)
    (folder / "orders.sql").unlink()
    assert "1 of 1 known files are gone; nothing was stored" in ingest(store, folder, code=2).err
    assert "retired: 1 file" in ingest(store, folder, "--yes").out
    assert live(store) == set()
    ingest(store, folder, code=2)  # no SQL files, and none known


def test_a_moved_file_leaves_no_gap_and_no_second_statement(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", old__orders=V, old__more=W)
    ingest(store, folder, "--observed-at", "2026-01-01")
    shutil.move(folder / "old", folder / "new")
    done = ingest(store, folder / "new", "--observed-at", "2026-01-02")
    assert live(store) == {f"t.a > v.a by {folder}/new/orders.sql", f"t.b > w.b by {folder}/new/more.sql"}, done.out
    for day in ("2026-01-01T12:00:00", "2026-01-02", "2026-01-02T12:00:00"):
        answer = lineage("impact", "t.a", "-s", store, "--as-of", day, "-f", "json").json
        assert [column["column"] for column in answer["columns"]] == ["a"], day


def test_when_most_files_are_gone_that_must_be_confirmed(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", **{f"v{n}": f"create view v{n} as select a from t" for n in range(8)})
    ingest(store, folder)
    before = live(store)
    for number in range(6):
        (folder / f"v{number}.sql").unlink()
    done = ingest(store, folder, code=2)
    assert "6 of 8 known files are gone; nothing was stored" in done.err
    assert live(store) == before
    assert "retired: 6 files no longer there, with 6 edges" in ingest(store, folder, "--yes").out
    assert len(live(store)) == 2


def test_more_than_half_is_most_but_a_file_with_another_name_is_not_lost(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", one=V, two=W, three="create view x as select c from t")
    ingest(store, folder)
    for name in ("one", "two", "three"):
        (folder / f"{name}.sql").rename(folder / f"{name}_renamed.sql")
    assert "retired: 3 files no longer there" in ingest(store, folder).out
    (folder / "one_renamed.sql").unlink()
    assert "retired: 1 file no longer there" in ingest(store, folder).out
    (folder / "two_renamed.sql").unlink()
    assert "retired: 1 file no longer there" in ingest(store, folder).out  # half
    write(folder, four=V, five=W)
    ingest(store, folder)
    (folder / "four.sql").unlink()
    (folder / "five.sql").unlink()
    assert "2 of 3 known files are gone" in ingest(store, folder, code=2).err


def test_a_file_that_cannot_be_read_is_not_gone(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", orders=V, more=W)
    (tmp_path / "kept.sql").write_text(V, encoding="utf-8")
    ingest(store, folder)
    first = live(store)
    (folder / "orders.sql").unlink()
    (folder / "orders.sql").symlink_to(folder / "nowhere.sql")
    done = ingest(store, folder, code=1)
    assert "UNREADABLE_FILE" in done.err
    assert live(store) == first
    (folder / "orders.sql").unlink()
    write(folder, orders=V)
    ingest(store, folder)
    with open_store(store, read_only=True) as opened:
        assert opened.diagnostics() == []


def test_what_was_found_in_a_file_goes_with_it(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", prose="Dear team, the figures are ready.", more=W)
    ingest(store, folder, code=1)
    (folder / "prose.sql").unlink()
    ingest(store, folder)
    with open_store(store, read_only=True) as opened:
        assert opened.diagnostics() == []


def test_a_late_ingest_retires_nothing_that_was_seen_since(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", orders=V, more=W)
    ingest(store, folder, "--observed-at", "2026-01-10")
    (folder / "orders.sql").unlink()
    ingest(store, folder, "--observed-at", "2026-01-05")
    assert len(live(store)) == 2


def test_the_same_ingest_twice_is_one_run(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", orders=V, more=W)
    ingest(store, folder, "--observed-at", "2026-01-01")
    (folder / "orders.sql").unlink()
    dumps = []
    for _ in range(2):
        ingest(store, folder, "--observed-at", "2026-01-02")
        with open_store(store, read_only=True) as opened:
            dumps.append(opened.dump())
    assert dumps[0] == dumps[1]


def test_a_name_that_two_projects_have_is_told_apart_in_answers(tmp_path: Path, store: Path) -> None:
    for one, text in (("a", V), ("b", "create view w as select a from v")):
        write(project(tmp_path / one, f"https://github.com/acme/{one}"), models__orders=text)
        ingest(store, tmp_path / one)
    done = lineage("path", "t.a", "w.a", "-s", store)
    assert "github.com/acme/a: models/orders.sql:1:" in done.out
    assert "github.com/acme/b: models/orders.sql:1:" in done.out


def test_what_is_forgotten_is_said_first_and_asked_for(tmp_path: Path, store: Path) -> None:
    for one, text in (("a", V), ("b", W)):
        ingest(store, write(tmp_path / one, orders=text), "--project", one)
    done = lineage("forget", "--project", "a", "--dry-run", "-s", store)
    assert (done.code, done.out) == (0, "this would retire 1 job of 1 file, with 1 live edge\n")
    done = lineage("forget", "--project", "a", "-s", store)
    assert done.code == 2
    assert "confirm with --yes" in done.err
    assert len(live(store)) == 2
    assert lineage("forget", "-s", store).code == 2
    done = lineage("forget", "--source", "orders.sql", "--project", "a", "--yes", "-s", store)
    assert (done.code, done.out) == (0, "retired 1 job of 1 file, with 1 live edge\n")
    assert {edge.partition(" by")[0] for edge in live(store)} == {"t.b > w.b"}
    assert "no live job" in lineage("forget", "--project", "a", "--yes", "-s", store).err
    assert "(1 new)" in ingest(store, tmp_path / "a", "--project", "a").out


def test_the_same_files_known_otherwise_are_said(tmp_path: Path, store: Path) -> None:
    folder = write(tmp_path / "p", orders=V)
    ingest(store, folder)
    done = ingest(store, folder, "--project", "shop")
    assert f"lineage forget --source {folder} --environment ansi" in done.err
    assert lineage("forget", "--source", folder, "--environment", "ansi", "--yes", "-s", store).code == 0
    assert names(store) == {("shop", "orders.sql")}
    assert "forget" not in ingest(store, folder, "--project", "shop").err
