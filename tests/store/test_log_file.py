"""A store whose log (`-wal`) is damaged or cut after its process was killed: the right answer or an error, until it is
accepted that something is lost.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lineage.store import StoreDamagedError, open_store
from lineage.store.sqlite.log_file import log_of
from lineage.store.sqlite.maintenance import find_damage, recover
from lineage.store.values import GraphDump
from tests.cli.running import lineage

TRIES = 60


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store whose writer was killed, with several batches in the log."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-m", "tests.store.again_writer", str(folder / "store.db"), "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < 8:
            pass
        writer.kill()
    assert (folder / "store.db-wal").stat().st_size > 100_000
    return folder


def _dump(path: Path, *, read_only: bool = False) -> GraphDump:
    with open_store(path, read_only=read_only) as store:
        return store.dump()


@pytest.mark.parametrize("how", ["changed", "cut", "changed, and without the shared file"])
def test_no_answer_lacks_what_the_log_had(killed: Path, tmp_path: Path, how: str) -> None:
    chance = random.Random(how)
    whole = _dump(Path(shutil.copytree(killed, tmp_path / "whole")) / "store.db")
    errors = 0
    for number in range(TRIES):
        path = Path(shutil.copytree(killed, tmp_path / str(number))) / "store.db"
        log = path.with_name("store.db-wal")
        content = bytearray(log.read_bytes())
        place = chance.randrange(32 if number < 3 else len(content))
        if how == "cut":
            del content[max(place, 1) :]
        else:
            content[place] ^= 1 << chance.randrange(8)
        log.write_bytes(content)
        if "without" in how:
            path.with_name("store.db-shm").unlink()
        try:
            assert _dump(path, read_only=bool(number % 2)) == whole, place
        except StoreDamagedError:
            errors += 1
            assert log.read_bytes() == content
            recover(path)
            assert find_damage(path) == []
            assert len(_dump(path).relationships) < len(whole.relationships)
        shutil.rmtree(path.parent)
    assert errors > TRIES / 2


def test_the_command_says_what_to_do(killed: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(killed, tmp_path / "copy")) / "store.db"
    log = path.with_name("store.db-wal")
    log.write_bytes(log.read_bytes()[:50_000])
    for command in (("runs",), ("store", "verify"), ("store", "backup", tmp_path / "backup.db"), ("store", "compact")):
        found = lineage(*command, "--store", path)
        assert (found.code, "store.db-wal was cut off" in found.err) == (3, True), command
    assert "what could be read is kept" in lineage("store", "recover", "--store", path).out
    assert lineage("store", "verify", "--store", path).code == 0


def test_what_is_not_committed_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("PRAGMA cache_size = 5")  # what does not fit is written to the log before it is committed
        connection.execute("CREATE TABLE t (a)")
        connection.commit()
        committed, length = log_of(path, is_open=True), path.with_name("store.db-wal").stat().st_size
        connection.executemany("INSERT INTO t VALUES (zeroblob(?))", [(3_000,)] * 200)
        assert path.with_name("store.db-wal").stat().st_size > length
        assert log_of(path, is_open=True) == committed
        connection.commit()
        assert log_of(path, is_open=True) != committed
