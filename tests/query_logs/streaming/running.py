"""Streams for tests: a log in pieces, the command in a process of its own, and what a graph holds, times apart."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from lineage.store import open_store
from tests.query_logs.pipeline.running import AT

MAPPING = {"query_text": "sql", "started_at": "at", "session": "session", "user": "user"}
OPTIONS = ("--dialect", "postgres", *(part for pair in MAPPING.items() for part in ("--map", "=".join(pair))))

# Each a piece: a file that lands, or some messages. Sessions reach over pieces; there are bad rows, and usage twice.
PIECES: tuple[tuple[tuple[str, str, str], ...], ...] = (
    (
        ("s1", "ann", "CREATE TEMP TABLE t AS SELECT id, md5(email) AS email FROM crm.users"),
        ("s2", "bob", "SET search_path = mart"),
        ("s3", "cyd", "CREATE TABLE shop.base AS SELECT id, name FROM shop.raw"),
    ),
    (
        ("s1", "ann", "INSERT INTO t SELECT id, phone FROM crm.phones"),
        ("s2", "bob", "INSERT INTO filled SELECT a FROM q"),
        ("s4", "ann", "CREATE VIEW shop.v AS SELECT * FROM shop.base WHERE id > 7"),
        ("s5", "bob", "SELECT FROM FROM"),
    ),
    (
        ("s1", "ann", "INSERT INTO mart.mails SELECT email FROM t WHERE id > 1"),
        ("s4", "ann", "INSERT INTO shop.copy SELECT * FROM shop.v"),
        ("s3", "cyd", "CREATE TABLE shop.base AS SELECT id, title FROM shop.raw_2"),
    ),
    (
        ("s1", "bob", "INSERT INTO mart.mails SELECT email FROM t WHERE id > 2"),
        ("s1", "bob", "DROP TABLE t"),
        ("s2", "bob", "INSERT INTO filled SELECT a FROM q"),
        ("s6", "ann", "SELECT name FROM shop.v"),
    ),
)


def lines(piece: int) -> list[str]:
    """Return a piece as JSON lines."""
    return [
        json.dumps({"sql": text, "session": session, "user": user, "at": _time(piece, place)})
        for place, (session, user, text) in enumerate(PIECES[piece])
    ]


def _time(piece: int, place: int) -> str:
    return (AT + timedelta(hours=piece, seconds=place)).isoformat()


def land(folder: Path, pieces: Sequence[int] = range(len(PIECES))) -> Path:
    """Put pieces into a folder as files, as old as their order says, each whole."""
    folder.mkdir(exist_ok=True)
    for piece in pieces:
        part = folder / f".{piece}.part"
        part.write_text("".join(f"{line}\n" for line in lines(piece)))
        os.utime(part, (1_000_000 + piece, 1_000_000 + piece))
        part.rename(folder / f"{piece}.jsonl")
    return folder


def files_of_batches(checkpoint: Path) -> list[list[str]]:
    """Return the names of the files that each micro-batch of a stream held, by what Spark wrote down.

    Spark notes which files come next before it notes the micro-batch: one that is ended in between takes them
    together with the next ones when it goes on, whatever `--at-once` says.
    """
    [source] = (checkpoint / "spark" / "sources").iterdir()
    found, noted = [], 0
    for number in range(len(list((checkpoint / "spark" / "offsets").glob("[0-9]*")))):
        last = json.loads((checkpoint / "spark" / "offsets" / str(number)).read_text().splitlines()[-1])["logOffset"]
        entries = [(source / str(entry)).read_text().splitlines()[1:] for entry in range(noted, last + 1)]
        found.append([Path(json.loads(line)["path"]).name for lines in entries for line in lines])
        noted = last + 1
    return found


def land_together(folder: Path, batches: Sequence[Sequence[str]]) -> Path:
    """Put pieces into a folder as files of which each holds what a micro-batch held."""
    folder.mkdir(exist_ok=True)
    for number, names in enumerate(batches):
        path = folder / f"{number}.jsonl"
        path.write_text("".join(f"{line}\n" for name in names for line in lines(int(Path(name).stem))))
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return folder


def graph(path: Path) -> list[str]:
    """Return all that a store holds but when it was ingested, how long that took, and the stream's own name."""
    with open_store(path) as store:
        dump = store.dump()
    found = [*(("node", *node) for node in dump.nodes), *(("relationship", *one) for one in dump.relationships)]
    return sorted(re.sub(r"log:[0-9a-f]{12}/", "log:STREAM/", repr(_timeless(one))) for one in found)


def _timeless(found: tuple[Any, ...]) -> tuple[Any, ...]:
    *said, properties = found
    ours = {name: value for name, value in properties.items() if not _is_ours(name, value)}
    return (*said, ours)


def _is_ours(name: str, value: Any) -> bool:
    """Return whether a property tells of the ingest: all that the log itself says is of one day."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) and name in _TIMES else value
    return name == "seconds" or (isinstance(moment, datetime) and abs(moment.replace(tzinfo=AT.tzinfo) - AT).days > 2)


_TIMES = ("at", "first_seen", "last_seen")


@contextmanager
def following(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run `lineage follow log` with these arguments, in a process of its own; it is killed at the end of the block."""
    command = (sys.executable, "-m", "lineage_ingest.query_log.streaming", *map(str, (*arguments, *OPTIONS)))
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": ""}  # lines are not broken
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def batches(process: subprocess.Popen[str]) -> Iterator[str]:
    """Yield the line of each micro-batch as it is printed, after one for the beginning."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(("following ", "batch ")):
            yield line


def killed(after: int, seconds: float, *arguments: object) -> bool:
    """Follow, and kill all of it some seconds after a number of micro-batches; return whether it was still running."""
    with following(*arguments) as process:
        for number, _ in enumerate(batches(process)):
            if number == after:
                time.sleep(seconds)
                break
        return process.poll() is None


def finished(*arguments: object) -> tuple[int, str]:
    """Follow to the end; return the exit code and what was printed."""
    with following(*arguments) as process:
        out, err = process.communicate(timeout=300)
        return process.returncode, out + err
