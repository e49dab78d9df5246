"""`lineage store`: a file is verified, copied while it is written, restored and compacted; nothing is written over."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from lineage.store import open_store
from lineage.store.sqlite.connection import SqliteConnection
from tests.cli.running import lineage
from tests.store.batch_builders import batch, view


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        store.apply(batch(*(view(f"v{n}", f"a.x{n} -> v{n}.x", at=1) for n in range(200))))
    return path


def test_a_backup_is_what_was_there(path: Path, tmp_path: Path) -> None:
    copy, again = tmp_path / "copy.db", tmp_path / "again.db"
    with open_store(path) as store:
        before = store.dump()
        store.apply(batch(view("w", "a.x -> w.x", at=2)))  # in the log of the file, which is still open
        after = store.dump()
        assert lineage("store", "backup", copy, "--store", path).code == 0
    assert after != before
    with open_store(copy, read_only=True) as store:
        assert store.dump() == after
    refused = lineage("store", "backup", copy, "--store", path)
    assert (refused.code, "is there already" in refused.err) == (3, True)
    assert lineage("store", "restore", copy, "--store", again).code == 0
    with open_store(again) as store:
        assert store.dump() == after
        store.apply(batch(view("z", "a.x -> z.x", at=3)))
    assert lineage("store", "verify", "--store", again).code == 0


def test_what_is_deleted_is_given_back(path: Path) -> None:
    with open_store(path) as store:
        store.buffer_texts([])
        before = store.dump()
    done = lineage("store", "compact", "--store", path)
    assert (done.code, "MB, now" in " ".join(done.out.split())) == (0, True)
    with open_store(path) as store:
        assert store.dump() == before


def test_damage_is_found_and_said(path: Path, tmp_path: Path) -> None:
    assert "nothing is wrong" in lineage("store", "verify", "--store", path).out.replace("\n", " ")
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 4
    path.write_bytes(whole)
    found = lineage("store", "verify", "--store", path)
    assert (found.code, "damaged" in found.out + found.err) == (3, True), found
    refused = lineage("store", "backup", tmp_path / "copy.db", "--store", path)
    assert (refused.code, (tmp_path / "copy.db").exists()) == (3, False)
    assert lineage("store", "compact", "--store", "bolt://127.0.0.1:1").code == 2
    assert lineage("store", "verify", "--store", tmp_path / "none.db").code == 3


def test_rows_that_refer_to_nothing_are_found(path: Path) -> None:
    with closing(SqliteConnection(path, read_only=False)) as connection:
        connection.execute("DELETE FROM job_key WHERE id = (SELECT min(job) FROM lineage)")
    found = lineage("store", "verify", "--store", path)
    assert (found.code, "edges without a job" in found.out) == (3, True)


def test_what_is_not_there_is_not_made(path: Path, tmp_path: Path) -> None:
    for command in ("verify", "compact", "recover"):
        done = lineage("store", command, "--store", tmp_path / "none.db")
        assert (done.code, "there is no store" in done.err) == (3, True), command
    assert list(tmp_path.iterdir()) == [path]
    assert "nothing to recover" in lineage("store", "recover", "--store", path).out
