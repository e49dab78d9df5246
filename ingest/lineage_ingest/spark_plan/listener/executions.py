"""From what ended in Spark to events: each write once, however many executions Spark runs for it.

Spark runs a command inside another one: CREATE TABLE AS writes files, saveAsTable creates a table, MERGE runs joins.
Executions inside another wait for the outermost one, which is the write if it is one. The writes inside a stream's
batch are the job's own.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from lineage.frozen import frozen
from lineage.model.statement import Completeness
from lineage_ingest.spark_plan.frames import KnownFrames
from lineage_ingest.spark_plan.listener.events import Application, Moments, change_events, failure_events, write_events
from lineage_ingest.spark_plan.plan_lineage import PlanLineage, WriteLineage, read_lineage, read_loop
from lineage_ingest.spark_plan.plan_reader import output_of
from lineage_ingest.spark_plan.session_variables import SessionVariables
from lineage_ingest.spark_plan.tables.datasets import Catalogs

__all__ = ["CHECKPOINTS", "ExecutionCounts", "Executions"]

_LOG = logging.getLogger("lineage.spark_plan")
_FILE_WRITE = "file source write"
"""What Spark calls the execution that writes the files of a table that another execution creates."""
CHECKPOINTS = frozenset({"checkpoint", "localCheckpoint"})
"""What Spark calls the executions that cut a frame's plan."""
_CONFIRM_EVERY = timedelta(minutes=10)
"""How often a stream that goes on is confirmed."""
_MAX_WAITING = 1_000
_MAX_REMEMBERED = 10_000

Json = dict[str, Any]


@dataclass(slots=True)
class ExecutionCounts:
    """What became of the executions that the listener saw."""

    plans: int = 0
    writes: int = 0
    repeated: int = 0
    """Batches of a stream that wrote as the one before."""
    reduced: int = 0
    failed: int = 0
    unknown: int = 0
    """Commands that wrote to what is not known."""
    lost: int = 0


@frozen
class _Waiting:
    """An execution inside another one, until that ends."""

    frame: Mapping[str, Any]
    lineage: PlanLineage
    path: str | None
    """Where the table is stored that it creates, if that was seen."""


@dataclass(slots=True)
class _Streamed:
    """What a stream writes, with the time of its first batch and of its last one, and when that was sent."""

    write: WriteLineage
    last: Moments
    sent_at: datetime


@dataclass(slots=True)
class Executions:
    """Takes the frames of the listener in order, and hands events on."""

    application: Application
    catalogs: Catalogs
    send: Callable[[list[Json]], None]
    counts: ExecutionCounts = field(default_factory=ExecutionCounts)
    frames: KnownFrames = field(default_factory=KnownFrames)
    variables: SessionVariables = field(default_factory=SessionVariables)
    _waiting: OrderedDict[int, list[_Waiting]] = field(default_factory=OrderedDict)
    _paths: OrderedDict[int, tuple[str, list[int]]] = field(default_factory=OrderedDict)
    """By root: where files were last written inside it, and the ids of the columns that they have."""
    _streamed: OrderedDict[str, _Streamed] = field(default_factory=OrderedDict)
    _streams: OrderedDict[str, list[WriteLineage]] = field(default_factory=OrderedDict)
    _views: set[str] = field(default_factory=set)
    _unknown: set[str] = field(default_factory=set)

    def finish(self) -> None:
        """Tell the last batch of each stream; the job ends."""
        for one in self._streamed.values():
            self._send_streamed(one, "COMPLETE")
        self._streamed.clear()

    def take(self, frame: Mapping[str, Any]) -> None:
        """Take one frame. Nothing that it holds can stop the job: a frame that cannot be read is counted and logged."""
        self._count_lost(int(frame.get("lost", 0)))
        if "id" not in frame:
            return
        try:
            self._take(frame)
        except Exception:  # noqa: BLE001  a plan must not stop those after it
            self.counts.lost += 1
            _LOG.exception("the lineage of execution %s is lost: its plan could not be read", frame.get("id"))

    def _take(self, frame: Mapping[str, Any]) -> None:
        number, root = int(frame["id"]), int(frame["root"])
        if frame.get("stream") is not None and "nodes" not in frame:
            self._repeat(str(frame["stream"]), frame)
        path = self._path_of(frame)
        lineage = self._read(frame, path)
        if lineage is not None and number != root and (written := lineage.root.properties.get("outputPath")):
            _remember(self._paths, root, (str(written), output_of(lineage.root)))
        if lineage is not None and frame.get("function") == _FILE_WRITE:
            return
        if number != root:
            if lineage is not None:
                listed = self._waiting.setdefault(root, [])
                listed.append(_Waiting(frame, lineage, path))
                if len(self._waiting) > _MAX_WAITING:
                    _, forgotten = self._waiting.popitem(last=False)
                    self._count_lost(len(forgotten))
            return
        waiting = self._waiting.pop(number, [])
        self._paths.pop(number, None)
        is_stream = frame.get("stream") is not None
        if lineage is not None:
            if is_stream:
                waiting = [self._read_again(one) for one in waiting]
            _locate(lineage, waiting)
            self._note_unknown(lineage)
            self._report(frame, lineage, is_batch=is_stream)
            if is_stream:
                _remember(self._streams, str(frame["stream"]), lineage.writes)
        if lineage is None or is_stream or not (lineage.writes or lineage.change):
            for one in _outermost(waiting):
                self._note_unknown(one.lineage)
                self._report(one.frame, one.lineage, is_batch=is_stream)

    def _path_of(self, frame: Mapping[str, Any]) -> str | None:
        """Return where a table is stored that a command creates: an execution inside it has written the files."""
        found = self._paths.get(int(frame["root"]))
        nodes = frame.get("nodes")
        if found is None or not nodes:
            return None
        ids = [int(one[0]) for one in nodes[-1][1].get("columns") or ()]
        return found[0] if ids == found[1] else None

    def _read(self, frame: Mapping[str, Any], path: str | None) -> PlanLineage | None:
        if frame.get("collected"):
            self.frames.has_collected = True
        if "nodes" not in frame:
            if frame.get("unreadable"):
                self._count_lost(1)
            return None
        if (columns := frame.get("output")) is not None:
            read_loop(frame["nodes"], columns, self.catalogs, self.frames, self.variables)
            return None
        self.counts.plans += 1
        self.counts.reduced += "reduced" in frame
        return read_lineage(
            frame["nodes"],
            self.catalogs,
            self.frames,
            variables=self.variables,
            sql=frame.get("sql"),
            reduced=frame.get("reduced"),
            path=path,
            keep=frame.get("stream") is not None or frame.get("function") in CHECKPOINTS,
        )

    def _read_again(self, execution: _Waiting) -> _Waiting:
        """Return what a stream's batch wrote, now that the stream's own columns are known."""
        if execution.lineage.writes and all(
            write.completeness is Completeness.FULL for write in execution.lineage.writes
        ):
            return execution
        self.counts.plans -= 1
        return replace(execution, lineage=self._read(execution.frame, execution.path) or execution.lineage)

    def _report(self, frame: Mapping[str, Any], lineage: PlanLineage, *, is_batch: bool) -> None:
        moments = Moments.of_millis(int(frame["begin"]), int(frame["end"]))
        execution = f"{frame['id']}"
        if is_batch and frame.get("interrupted"):
            return  # the stream was stopped: it runs the batch again when it starts
        if (failure := frame.get("failure")) is not None:
            self.counts.failed += len(lineage.writes)
            for write in lineage.writes:
                self.send(
                    failure_events(self.application, write.operation, write.target, execution, moments, str(failure))
                )
            return
        if lineage.change is not None:
            self.send(change_events(self.application, lineage.change, execution, moments))
        for view in lineage.views:
            if view.digest not in self._views and len(self._views) < _MAX_REMEMBERED:
                self._views.add(view.digest)
                self._send(view, f"view/{view.target.key}/{view.digest}", moments, None)
        for number, write in enumerate(lineage.writes):
            if write.operation == "CREATE_VIEW":
                self._views.add(write.digest)
            if is_batch:
                self._add_batch(write, moments)
            else:
                self._send(write, f"{execution}/{number}" if number else execution, moments, frame.get("sql"))

    def _repeat(self, stream: str, frame: Mapping[str, Any]) -> None:
        """Count another batch of a stream whose plan was read."""
        for write in self._streams.get(stream, ()):
            self._add_batch(write, Moments.of_millis(int(frame["begin"]), int(frame["end"])))

    def _add_batch(self, write: WriteLineage, moments: Moments) -> None:
        """Send what a stream writes once; a batch that writes the same only makes it last longer."""
        key = f"{write.target.key} {write.digest}"
        known = self._streamed.get(key)
        if known is None:
            known = _Streamed(write, moments, moments.end)
            _remember(self._streamed, key, known)
            self.counts.writes += 1
            self._send_streamed(known, "RUNNING")
            return
        self.counts.repeated += 1
        known.last = Moments(known.last.begin, moments.end)
        if moments.end - known.sent_at >= _CONFIRM_EVERY:
            self._send_streamed(known, "RUNNING")

    def _send_streamed(self, stream: _Streamed, kind: str) -> None:
        stream.sent_at = stream.last.end
        execution = f"stream/{stream.write.target.key}/{stream.write.digest}"
        self.send(write_events(self.application, stream.write, execution, stream.last, None, streaming=kind))

    def _send(self, write: WriteLineage, execution: str, moments: Moments, sql: str | None) -> None:
        self.counts.writes += 1
        self.send(write_events(self.application, write, execution, moments, sql))

    def _note_unknown(self, lineage: PlanLineage) -> None:
        """Count a command that writes a query to what is not known, and log each class of them once."""
        root = lineage.root
        if lineage.writes or lineage.change or lineage.is_silent or not root.properties.get("writes"):
            return
        self.counts.unknown += 1
        kind = " ".join(str(one) for one in (root.name, root.properties.get("dataSource")) if one)
        if kind not in self._unknown:
            self._unknown.add(kind)
            _LOG.warning(
                "no lineage of what %s writes: it is not known to what. A package can add a rule: entry-point group "
                "lineage.spark_plan",
                kind,
            )

    def _count_lost(self, count: int) -> None:
        if count:
            self.counts.lost += count
            _LOG.warning("the lineage of %d executions is lost: more ended than could be read", count)


def _outermost(waiting: list[_Waiting]) -> list[_Waiting]:
    """Return the executions that are not the inner part of another one: the same query, written to the same dataset."""
    executions: list[_Waiting] = []
    for execution in sorted(waiting, key=lambda each: int(each.frame["id"])):
        names = {name for write in execution.lineage.writes for name in _names(write)}
        is_inner = any(
            execution.lineage.output == other.lineage.output
            and not names.isdisjoint(name for write in other.lineage.writes for name in _names(write))
            for other in executions
        )
        if not is_inner:
            executions.append(execution)
    return executions


def _locate(lineage: PlanLineage, waiting: list[_Waiting]) -> None:
    """Name a table that is created as the writes to it are: the execution inside that writes it has its path."""
    located = {name: write.target for one in waiting for write in one.lineage.writes for name in write.target.symlinks}
    for index, write in enumerate(lineage.writes):
        inner = located.get((write.target.namespace, write.target.name))
        if inner is not None:
            target = replace(inner, columns=write.target.columns)
            lineage.writes[index] = replace(write, target=target)


def _names(write: WriteLineage) -> list[tuple[str, str]]:
    return [(write.target.namespace, write.target.name), *write.target.symlinks]


def _remember(known: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > _MAX_REMEMBERED:
        known.popitem(last=False)
