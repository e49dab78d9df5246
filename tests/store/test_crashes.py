"""The content of the embedded store after its process was killed during a write."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lineage.store import StoreDamagedError, open_store
from lineage.store.values import GraphDump
from tests.faults.injector import injected
from tests.store import again_writer, stopped_writer
from tests.store.batch_builders import batch, day, key, view
from tests.store.damage import results

KILLS = 10
STATES = 12
"""Number of observed file states that are opened."""


def test_a_crash_while_writing_leaves_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
        before = store.dump()
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.store.endless_writer", str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    applied = int(writer.stdout.readline())
    # The next batch is being written now: that takes longer than reading from the pipe.
    writer.kill()
    writer.wait()
    writer.stdout.close()
    with open_store(path) as store:
        names = {one.name for one in store.datasets()}
        batches = {int(found.group(1)) for name in names if (found := re.fullmatch(r"t(\d+)_\d+", name))}
        assert batches >= set(range(applied + 1))
        assert len(batches) <= applied + 2
        dump = store.dump()
        for number in batches:
            ours = [one for one in dump.relationships if f"/t{number}_" in one[2] and one[0] == "CONTRIBUTES"]
            assert len(ours) == 2000, number
        assert [one for one in before.nodes if one[1] == key("v")] == [one for one in dump.nodes if one[1] == key("v")]


def test_each_state_of_the_files_holds_whole_batches(tmp_path: Path) -> None:
    # A stopped process leaves the files in the same state as one killed at that point.
    states = _states_while_writing(tmp_path)
    with open_store(tmp_path / "expected.db") as store:
        stopped_writer.write_first(store)
        before = (store.dump(), "ab")
        stopped_writer.write_second(store)
        after = (store.dump(), "bcd")
        assert stopped_writer.buffered_texts(store) == "bcd"
    step = max(1, len(states) // STATES)
    seen = [_opened(state, read_only=bool(number % 2)) for number, state in enumerate(states[::step])]
    assert all(one in (before, after) for one in seen)
    assert [one == after for one in seen] == sorted(one == after for one in seen)
    assert seen[0] == before
    assert _opened(states[-1]) == after
    for state in states[::step]:
        assert _applied_again(state) == after


def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    path, chance, number = tmp_path / "store.db", random.Random(5), 0
    for _ in range(KILLS):
        writer = subprocess.Popen(
            [sys.executable, "-m", "tests.store.again_writer", str(path), str(number + 1)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 4)):
            number = int(writer.stdout.readline())
        time.sleep(chance.random() / 20)
        writer.kill()
        writer.wait()
        number = max([number, *map(int, writer.stdout.read().split())])
        writer.stdout.close()
        with open_store(path, read_only=chance.random() < 0.5) as store:
            dump = store.dump()
        edges = [one for one in dump.relationships if one[0] == "CONTRIBUTES"]
        (last,) = {one[3]["last_seen"] for one in edges if one[2].startswith(key("v."))}
        stored = round((last - day(1)).total_seconds())
        assert number <= stored <= number + 1
        number = stored
        assert len(edges) == again_writer.COLUMNS + number
    with open_store(path) as store, open_store(tmp_path / "expected.db") as expected:
        for one in range(1, number + 1):
            expected.apply(again_writer.seen(one))
        assert store.dump() == expected.dump()


_FULL = """
import resource, signal, sys
from lineage.store import StoreFullError, open_store
from tests.faults.injector import injected
from tests.store import again_writer
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
with open_store(sys.argv[1]) as store:
    number, stored = 0, None
    while stored is None:
        number += 1
        before = store.dump()
        try:
            store.apply(again_writer.seen(number))
        except StoreFullError as error:
            assert error.hint and "make room" in error.hint
            stored = number - 1
    assert store.dump() == before
    if sys.argv[2] == "room":
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        store.apply(again_writer.seen(number))
        stored = number
print(stored)
"""


@pytest.mark.parametrize("then", ["room", "still full"])
def test_a_full_disk_is_an_error_and_reading_goes_on(tmp_path: Path, then: str) -> None:
    path = tmp_path / "store.db"
    command = [sys.executable, "-c", _FULL, str(path), then]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    number = int(ended.stdout)
    with open_store(path) as store, open_store(tmp_path / "expected.db") as expected:
        for one in range(1, number + 1):
            expected.apply(again_writer.seen(one))
        assert store.dump() == expected.dump()
        store.apply(again_writer.seen(number + 1))


@pytest.mark.parametrize("written", [50_000, 230_000, 400_000])
def test_a_full_disk_while_a_store_is_made_leaves_no_damaged_file(tmp_path: Path, written: int) -> None:
    # In its log, and in the checkpoint that ends the log: that of closing the file says nothing.
    path = tmp_path / "store.db"
    code = "import sys; from lineage.store import open_store; open_store(sys.argv[1])"
    environment = {**os.environ, **injected(full_after=written, under=tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", code, path], check=False, capture_output=True, text=True, env=environment
    )
    assert "StoreFullError" in ended.stderr, ended.stderr
    assert [*tmp_path.iterdir()] == []
    with open_store(path) as store:
        assert store.datasets() == []


@pytest.mark.parametrize("place", range(10))
def test_a_damaged_file_gives_the_right_answer_or_an_error(tmp_path: Path, place: int) -> None:
    found = results(tmp_path, 20, place)
    assert found.keys() <= {"right", "error"}
    assert found["error"] >= 5


def test_a_file_that_ends_within_its_last_page_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        stopped_writer.write_first(store)
    whole = path.read_bytes()
    for cut in (1, 100, 4095):
        path.write_bytes(whole[:-cut])
        for read_only in (True, False):
            with pytest.raises(StoreDamagedError, match="was cut off"):
                open_store(path, read_only=read_only)


def _states_while_writing(folder: Path) -> list[Path]:
    """Return copies of a store's files, taken one after the other while a batch was written."""
    live = folder / "live"
    live.mkdir()
    command = [sys.executable, "-m", "tests.store.stopped_writer", str(live / "store.db")]
    writer = subprocess.Popen(command)
    states: list[Path] = []
    fingerprint: object = None
    while os.WIFSTOPPED(status := os.waitpid(writer.pid, os.WUNTRACED)[1]):
        files = sorted(live.iterdir())
        if fingerprint != (fingerprint := [(one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in files]):
            states.append(folder / f"state{len(states)}" / "store.db")
            shutil.copytree(live, states[-1].parent)
        # Popen's own method would poll the process and consume its exit status.
        os.kill(writer.pid, signal.SIGCONT)
        time.sleep(0.001)
        os.kill(writer.pid, signal.SIGSTOP)
    writer.returncode = os.waitstatus_to_exitcode(status)
    assert writer.returncode == 0
    shutil.copytree(live, folder / "last")
    return [*states, folder / "last" / "store.db"]


def _opened(path: Path, *, read_only: bool = False) -> tuple[GraphDump, str]:
    with open_store(path, read_only=read_only) as store:
        return store.dump(), stopped_writer.buffered_texts(store)


def _applied_again(path: Path) -> tuple[GraphDump, str]:
    with open_store(path) as store:
        stopped_writer.write_second(store)
        return store.dump(), stopped_writer.buffered_texts(store)
