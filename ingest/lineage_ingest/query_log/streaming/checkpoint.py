"""The checkpoint folder of a stream: Spark's offsets, the lineage of a micro-batch, open sessions.

A micro-batch is written to the checkpoint completely before any of it is stored, and is stored from that file: a
restart after a crash stores the same lineage. Files are written atomically.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import platformdirs
import pyarrow as pa
from filelock import FileLock, Timeout

from lineage import __version__
from lineage.frozen import frozen
from lineage.model.batch import LineageBatch
from lineage.saved_values import UnexpectedClassError, read_saved, write_saved

__all__ = ["Checkpoint", "CheckpointError", "default_checkpoint"]

_STATED, _SESSIONS = ".stated", ".sessions"
_CLASSES = ("lineage.model.", "lineage_ingest.query_log.streaming.micro_batches")


class CheckpointError(ValueError):
    """The folder is the checkpoint of another stream, is in use by another process, is not writable, or has a file of
    another program."""


def default_checkpoint(store: str, source: str, inputs: Iterable[str]) -> Path:
    """Return the default checkpoint folder: beside an embedded store, otherwise in the user's state folder."""
    digest = hashlib.sha256("\x1f".join((store, source, *inputs)).encode()).hexdigest()[:16]
    if "://" in store:
        return platformdirs.user_state_path("lineage-graph", appauthor=False) / "streams" / digest
    return Path(f"{store}.streams") / digest


@frozen
class Checkpoint:
    """A checkpoint that this process has locked."""

    folder: Path
    stream: str
    """Id of the stream, created with the checkpoint; a new checkpoint is a new stream."""

    @classmethod
    @contextmanager
    def open(cls, folder: Path, store: str, source: str, inputs: Iterable[str]) -> Iterator[Checkpoint]:
        """Yield the checkpoint in a folder, locked against other processes; create it if it does not exist.

        Raises:
            CheckpointError: it belongs to another stream or store, another process uses it, or it is not writable.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            held = FileLock(folder / "lock").acquire(blocking=False)
        except Timeout as error:
            raise CheckpointError(f"another process follows this stream, with the checkpoint {folder}") from error
        except OSError as error:
            raise CheckpointError(f"{folder} cannot be written: {error.strerror}") from error
        with held:
            yield cls(folder, _stream_id(folder, {"store": store, "source": source, "inputs": list(inputs)}))

    @property
    def spark(self) -> Path:
        """The folder of Spark's own checkpoint, with its offsets."""
        return self.folder / "spark"

    def is_committed(self, batch: int) -> bool:
        """Return whether Spark has committed this micro-batch."""
        return (self.spark / "commits" / str(batch)).exists()

    def settle(self, batch: int) -> None:
        """Delete files of earlier, committed micro-batches that this one does not need."""
        before = self._latest_sessions(batch)
        for path in (*self.folder.glob(f"*{_STATED}"), *self.folder.glob(f"*{_SESSIONS}")):
            number = int(path.stem)
            if number < batch and (path.suffix == _STATED or number != before):
                path.unlink()

    def write_stated(self, batch: int, header: Any, batches: Iterable[LineageBatch]) -> None:
        """Write the lineage of a micro-batch."""

        def write(file: BinaryIO) -> None:
            for one in (__version__, header):
                write_saved(one, file)
            for stated in batches:
                write_saved(stated, file)

        _write(self.folder / f"{batch}{_STATED}", write)

    def header(self, batch: int) -> Any | None:
        """Return the header of a micro-batch's lineage; None if there is none, or another release wrote it."""
        return next(self._read(batch), None)

    def stated(self, batch: int) -> Iterator[LineageBatch]:
        """Yield the lineage of a micro-batch."""
        read = self._read(batch)
        next(read)
        yield from read

    def _read(self, batch: int) -> Iterator[Any]:
        path = self.folder / f"{batch}{_STATED}"
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return
        with file:
            try:
                if read_saved(file, _CLASSES) != __version__:
                    return
                while file.peek(1):
                    yield read_saved(file, _CLASSES)
            except UnexpectedClassError as error:
                raise CheckpointError(f"{path} was not written by this program: {error}; delete it") from error

    def write_sessions(self, batch: int, sessions: Any) -> None:
        """Write the sessions that are open after a micro-batch."""

        def write(file: BinaryIO) -> None:
            with pa.ipc.new_file(file, sessions.schema) as writer:
                writer.write_table(sessions)

        _write(self.folder / f"{batch}{_SESSIONS}", write)

    def sessions_before(self, batch: int) -> Any | None:
        """Return the sessions that were open before a micro-batch; None if there is no earlier one."""
        latest = self._latest_sessions(batch)
        if latest is None:
            return None
        with pa.OSFile(str(self.folder / f"{latest}{_SESSIONS}")) as file:
            return pa.ipc.open_file(file).read_all()

    def _latest_sessions(self, batch: int) -> int | None:
        numbers = (int(path.stem) for path in self.folder.glob(f"*{_SESSIONS}"))
        return max((number for number in numbers if number < batch), default=None)


def _stream_id(folder: Path, identity: dict[str, Any]) -> str:
    """Return the id of the stream of this checkpoint; check that its identity is the given one."""
    path = folder / "stream.json"
    # Without Spark's folder, nothing was read yet or the user deleted it to start over: begin a new stream.
    if path.exists() and (folder / "spark" / "metadata").exists():
        known = json.loads(path.read_text(encoding="utf-8"))
        for name, value in identity.items():
            if known[name] != value:
                raise CheckpointError(
                    f"{folder} is the checkpoint of a stream with the {name} {_value_text(known[name])}, "
                    f"and this one has {_value_text(value)}; give each stream a folder of its own"
                )
        return str(known["stream"])
    shutil.rmtree(folder / "spark", ignore_errors=True)
    for left in (*folder.glob(f"*{_STATED}"), *folder.glob(f"*{_SESSIONS}")):
        left.unlink()
    stream = uuid.uuid4().hex[:12]
    text = json.dumps({"stream": stream, **identity}, indent=2) + "\n"
    _write(path, lambda file: file.write(text.encode()))
    return stream


def _value_text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _write(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file atomically, readable by its owner only."""
    part = path.with_name(f"{path.name}.part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
