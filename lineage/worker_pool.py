"""Worker processes that do tasks of one kind; the parent decides which tasks when.

Processes are started afresh ("spawn"): forking is not safe beside threads, and the caller may have some. A worker has
one task at a time and reads the next only after its answer was read, so neither side ever waits for a full pipe.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, NamedTuple, TypeVar

__all__ = ["WorkerError", "WorkerPool", "available_processors"]

_GC_THRESHOLD = 50_000
"""Objects between two garbage collections in a worker: parsing makes many that live on for a while."""
_SECONDS_TO_END = 5

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def available_processors() -> int:
    """Return the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


class WorkerError(RuntimeError):
    """A worker process ended before its task was done. The message names the task, `hint` says what may help."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class WorkerPool(Generic[_Task, _Result]):
    """A number of workers. As a context it ends with all of them dead, whatever happened."""

    def __init__(
        self, prepare: Callable[[], Callable[[_Task], _Result]], jobs: int, describe: Callable[[_Task], str]
    ) -> None:
        """Start the workers.

        Args:
            prepare: called once in each worker; returns the function that does a task. It is pickled, and sent with a
                worker's first task, so that this does not wait for any to start.
            jobs: the number of workers.
            describe: names a task, for errors: "resolved a.sql".
        """
        context = multiprocessing.get_context("spawn")
        self._prepare = prepare
        self._describe = describe
        self._prepared: set[Connection] = set()
        self._workers: dict[Connection, BaseProcess] = {}
        self._busy: dict[Connection, _Task] = {}
        for number in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs,), name=f"lineage-worker-{number + 1}", daemon=True)
            process.start()
            theirs.close()  # so that the end of the worker is the end of the pipe
            self._workers[ours] = process

    def __enter__(self) -> WorkerPool[_Task, _Result]:
        return self

    def __exit__(self, *_: object) -> None:
        for connection, process in self._workers.items():
            process.kill()
            connection.close()
        for process in self._workers.values():
            process.join(_SECONDS_TO_END)

    def prepare(self, prepare: Callable[[], Callable[[_Task], _Result]]) -> None:
        """Take another function that each worker calls before its next task, in place of the one given before."""
        self._prepare = prepare
        self._prepared.clear()

    @property
    def busy(self) -> bool:
        """Whether a task is under way."""
        return bool(self._busy)

    @property
    def idle(self) -> int:
        """The number of workers without a task."""
        return len(self._workers) - len(self._busy)

    def start(self, task: _Task) -> None:
        """Give a task to an idle worker.

        Raises:
            WorkerError: the worker has ended.
        """
        self._hand_out(task)

    def _hand_out(self, task: _Task) -> Connection:
        connection = next(one for one in self._workers if one not in self._busy)
        self._busy[connection] = task
        try:
            if connection not in self._prepared:
                connection.send(_Preparation(self._prepare))
                self._prepared.add(connection)
            connection.send(task)
        except OSError as error:
            raise self._ended(connection) from error
        return connection

    def finished(self) -> Iterable[_Result]:
        """Wait until a worker is done; return the results of those that are.

        Raises:
            WorkerError: a worker has ended without a result.
        """
        for _, result in self._finished():
            yield result

    def each(self, tasks: Iterable[_Task]) -> Iterator[_Result]:
        """Do all tasks; yield their results in the order of the tasks. Tasks are drawn when a worker is idle.

        Raises:
            WorkerError: a worker has ended without a result.
        """
        waiting: deque[Connection] = deque()  # the workers of the tasks whose results were not yielded yet
        results: dict[Connection, deque[_Result]] = defaultdict(deque)
        given = iter(tasks)
        while True:
            for task in islice(given, self.idle):
                waiting.append(self._hand_out(task))
            if not waiting:
                return
            for connection, result in self._finished():
                results[connection].append(result)
            while waiting and results[waiting[0]]:
                yield results[waiting.popleft()].popleft()

    def _finished(self) -> Iterator[tuple[Connection, _Result]]:
        for connection in wait(list(self._busy)):
            assert isinstance(connection, Connection)
            try:
                found: _Result = _receive(connection)
            except (EOFError, OSError) as error:
                raise self._ended(connection) from error
            del self._busy[connection]
            yield connection, found

    def _ended(self, connection: Connection) -> WorkerError:
        process = self._workers[connection]
        process.join(_SECONDS_TO_END)
        code = process.exitcode or 0
        task = self._describe(self._busy[connection]) if connection in self._prepared else ""
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"
        where = f" while it {task}" if task else " as it started"
        hint = "--jobs 1 (jobs=1) resolves everything in this process"
        if code == -signal.SIGKILL:
            hint = f"the system kills processes when memory is short: use fewer --jobs; {hint}"
        elif not task:
            hint = f"a program that uses jobs needs `if __name__ == '__main__':` around its main part; {hint}"
        return WorkerError(f"a worker process {how}{where}", hint)


class _Preparation(NamedTuple):
    """Sent to a worker before tasks of another kind."""

    prepare: Callable[[], Callable[[Any], Any]]


def _receive(connection: Connection) -> Any:
    """Return a worker's result. It has no cycles, and collecting garbage meanwhile takes longer than reading it.

    Raises:
        EOFError, OSError: the worker has ended.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return connection.recv()
    finally:
        if collects:
            gc.enable()


def _work(connection: Connection) -> None:
    """Do tasks until the pipe is closed. Ctrl-C is the parent's: it ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_GC_THRESHOLD)
    try:
        while True:
            received = connection.recv()
            if isinstance(received, _Preparation):
                do = received.prepare()
            else:
                connection.send(do(received))
    except (EOFError, BrokenPipeError):
        return
