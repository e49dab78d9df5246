"""Worker processes that resolve texts of a script, each with a script of its own; the parent decides which texts when.

Processes are started afresh ("spawn"): forking is not safe beside threads, and the caller may have some. A worker has
one task at a time and reads the next only after its answer was read, so neither side ever waits for a full pipe.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Iterable, Mapping
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.text.name_lists import name_list
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.resolutions import TextResolution, TextSchemas
from lineage.sql.script.script import Script

__all__ = ["ScriptInput", "Task", "WorkerError", "WorkerPool"]

_GC_THRESHOLD = 50_000
"""Objects between two garbage collections in a worker: parsing makes many that live on for a while."""
_SECONDS_TO_END = 5


class WorkerError(RuntimeError):
    """A worker process ended before it had resolved its texts. The message names them, `hint` says what may help."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@frozen
class ScriptInput:
    """What a script is made of: the same in every process."""

    texts: Mapping[str, str]
    options: ExtractionOptions
    catalog: Catalog | None


class Task(NamedTuple):
    """Texts to resolve, by index, in this order; and what is known of tables that they may read, by text."""

    indexes: tuple[int, ...]
    known: dict[int, TextSchemas]


class WorkerPool:
    """A number of workers. As a context it ends with all of them dead, whatever happened."""

    def __init__(self, given: ScriptInput, jobs: int) -> None:
        """Start the workers; each gets the script with its first task, so that this does not wait for any to start."""
        context = multiprocessing.get_context("spawn")
        self._given = given
        self._names = tuple(given.texts)
        self._started: set[Connection] = set()
        self._workers: dict[Connection, BaseProcess] = {}
        self._busy: dict[Connection, Task] = {}
        for number in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs,), name=f"lineage-worker-{number + 1}", daemon=True)
            process.start()
            theirs.close()  # so that the end of the worker is the end of the pipe
            self._workers[ours] = process

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        for connection, process in self._workers.items():
            process.kill()
            connection.close()
        for process in self._workers.values():
            process.join(_SECONDS_TO_END)

    @property
    def busy(self) -> bool:
        """Whether a task is under way."""
        return bool(self._busy)

    @property
    def idle(self) -> int:
        """The number of workers without a task."""
        return len(self._workers) - len(self._busy)

    def start(self, task: Task) -> None:
        """Give a task to an idle worker.

        Raises:
            WorkerError: the worker has ended.
        """
        connection = next(one for one in self._workers if one not in self._busy)
        self._busy[connection] = task
        try:
            if connection not in self._started:
                connection.send(self._given)
                self._started.add(connection)
            connection.send(task)
        except OSError as error:
            raise self._ended(connection) from error

    def finished(self) -> Iterable[dict[int, TextResolution]]:
        """Wait until a worker is done; return the results of those that are, by text.

        Raises:
            WorkerError: a worker has ended without a result.
        """
        for connection in wait(list(self._busy)):
            assert isinstance(connection, Connection)
            try:
                found = _receive(connection)
            except (EOFError, OSError) as error:
                raise self._ended(connection) from error
            del self._busy[connection]
            yield found

    def _ended(self, connection: Connection) -> WorkerError:
        process = self._workers[connection]
        process.join(_SECONDS_TO_END)
        code = process.exitcode or 0
        indexes = self._busy[connection].indexes if connection in self._started else ()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"
        texts = name_list([self._names[index] for index in indexes], 3)
        where = f" while it resolved {texts}" if texts else " as it started"
        hint = "--jobs 1 (jobs=1) resolves everything in this process"
        if code == -signal.SIGKILL:
            hint = f"the system kills processes when memory is short: use fewer --jobs; {hint}"
        elif not texts:
            hint = f"a program that uses jobs needs `if __name__ == '__main__':` around its main part; {hint}"
        return WorkerError(f"a worker process {how}{where}", hint)


def _receive(connection: Connection) -> dict[int, TextResolution]:
    """Return a worker's results. They have no cycles, and collecting garbage meanwhile takes longer than reading them.

    Raises:
        EOFError, OSError: the worker has ended.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        found: dict[int, TextResolution] = connection.recv()
    finally:
        if collects:
            gc.enable()
    return found


def _work(connection: Connection) -> None:
    """Resolve texts until the pipe is closed. Ctrl-C is the parent's: it ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_GC_THRESHOLD)
    try:
        given: ScriptInput = connection.recv()
        script = Script(given.texts, given.options, given.catalog, recording=True)
        while True:
            task: Task = connection.recv()
            for index, schemas in task.known.items():
                script.learn(index, schemas)
            connection.send({index: script.record(index) for index in task.indexes})
    except (EOFError, BrokenPipeError):
        return
