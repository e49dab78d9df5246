"""A file that a later run may use: whole, of the same basis, and its owner's, or none; few and small ones are kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lineage.saved_file import SavedFile

_WRITES_FOR_EVER = """
import sys
from pathlib import Path
from lineage.saved_file import SavedFile
while True:
    for letter in b"abc":
        SavedFile(Path(sys.argv[1]), "1").write(bytes([letter]) * 3_000_000)
        print(flush=True)
"""


def test_what_is_written_is_read_with_the_same_basis_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "one.saved"
    assert SavedFile(path, "1").read() is None
    assert SavedFile(path, "1").write(b"content\n1")
    assert SavedFile(path, "1").read() == b"content\n1"
    assert SavedFile(path, "2").read() is None
    SavedFile(path, "2").forget()
    assert SavedFile(path, "1").read() is None
    assert not SavedFile(tmp_path, "1").write(b"a folder has this name")


def test_writers_that_are_killed_and_that_run_at_once_leave_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "one.saved"
    read = 0
    for _ in range(4):
        writers = [
            subprocess.Popen([sys.executable, "-c", _WRITES_FOR_EVER, str(path)], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        try:
            for writer in writers:
                assert writer.stdout is not None
                writer.stdout.readline()
            for _ in range(20):
                content = SavedFile(path, "1").read()
                assert content is not None
                assert len(content) == 3_000_000 == content.count(content[:1])
                read += 1
        finally:
            for writer in writers:
                writer.send_signal(signal.SIGKILL)
                writer.communicate()
        assert SavedFile(path, "1").read() is not None
    assert read == 80


def test_the_oldest_files_and_unfinished_ones_are_deleted(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.saved" for number in range(6)]
    for number, path in enumerate(files):
        SavedFile(path, "1", max_files=3).write(b"x")
        os.utime(path, (1_000 + number, 1_000 + number))
    SavedFile(files[3], "1").touch()
    for name, age in (("a.saved.1.new", 7_200), ("b.saved.2.new", 60)):
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    SavedFile(tmp_path / "last.saved", "1", max_files=3).write(b"x")
    assert {path.name for path in tmp_path.iterdir()} == {"3.saved", "5.saved", "last.saved", "b.saved.2.new"}
    SavedFile(tmp_path / "large.saved", "1", max_bytes=1_000).write(b"x" * 800)
    assert {path.name for path in tmp_path.glob("*.saved")} == {"large.saved", "last.saved"}
    assert not SavedFile(tmp_path / "large.saved", "1", max_bytes=1_000).write(b"x" * 2_000)
    assert {path.name for path in tmp_path.glob("*.saved")} == {"last.saved"}
