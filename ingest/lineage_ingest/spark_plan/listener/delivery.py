"""Delivers events in a thread of its own: retried with growing pauses, on disk while the destination is away.

What could not be delivered is there after a restart: the next job with the same destination delivers it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from lineage_ingest.spark_plan.listener.destinations import Destination, EventRefusedError, UnavailableError

__all__ = ["Delivery", "DeliveryCounts"]

_LOG = logging.getLogger("lineage.spark_plan")
_BATCH = 100
_IDLE_SECONDS = 2.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0

Json = dict[str, Any]


@dataclass(slots=True)
class DeliveryCounts:
    """What became of events: delivered, refused by the destination, and those that went to disk in between."""

    delivered: int = 0
    refused: int = 0
    spilled: int = 0
    retries: int = 0

    def to_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


class Delivery:
    """A bounded queue in front of a destination. `put` never waits for the destination, and never raises."""

    def __init__(self, destination: Destination, spool: Path, *, capacity: int = 5_000) -> None:
        """Start the thread. `spool` is the folder for events that cannot be delivered now."""
        self.counts = DeliveryCounts()
        self._destination = destination
        name = hashlib.sha256(destination.name.encode()).hexdigest()[:12]
        self._folder = spool / name
        self._capacity = capacity
        self._queue: deque[Json] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._is_busy = False
        self._is_away = False
        self._numbers = count()
        self._thread = threading.Thread(target=self._run, name="lineage-delivery", daemon=True)
        self._thread.start()

    def put(self, events: Sequence[Json]) -> None:
        """Add events to the queue, or to disk if it is full."""
        with self._changed:
            if len(self._queue) + len(events) <= self._capacity and not self._closing:
                self._queue.extend(events)
                self._changed.notify_all()
                return
        self._spill(events)

    def flush(self, seconds: float) -> bool:
        """Wait until everything is delivered, or on disk while the destination is away; return whether it is."""
        until = time.monotonic() + seconds
        with self._changed:
            self._changed.notify_all()
            while (self._queue or self._is_busy) and time.monotonic() < until:
                self._changed.wait(max(0.0, min(0.05, until - time.monotonic())))
            return not self._queue and not self._is_busy

    def close(self, seconds: float) -> None:
        """Deliver what is left, on disk too, at most so long; a destination that was away is tried once more."""
        self.flush(seconds)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(seconds)
        with self._changed:
            left = list(self._queue)
            self._queue.clear()
        if left:
            self._spill(left)
        if self._thread.is_alive():
            _LOG.warning("%s does not answer: events that were being sent may arrive twice", self._destination.name)
        waiting = sum(1 for _ in self._spooled())
        if waiting:
            _LOG.warning(
                "lineage for %s waits in %s (%d files): the next job with this destination delivers it",
                self._destination.name, self._folder, waiting,
            )  # fmt: skip

    # The thread

    def _run(self) -> None:
        pause, retry_at, idle = _FIRST_PAUSE, 0.0, False
        while True:
            batch = self._next(retry_at, idle=idle)
            if batch is None:
                break
            if not batch and not idle and time.monotonic() >= retry_at and not self._has_spool():
                self._destination.rest()
                idle = True
            if batch:
                idle = False
            try:
                if time.monotonic() >= retry_at:
                    self._deliver_spool()
                    self._deliver(batch)
                    batch = []
                    pause, self._is_away = _FIRST_PAUSE, False
            except UnavailableError as error:
                if not self._is_away:
                    _LOG.warning("%s; lineage goes to %s until it answers", error, self._folder)
                self._is_away = True
                self.counts.retries += 1
                retry_at, pause = time.monotonic() + pause, min(pause * 2, _LONGEST_PAUSE)
            except Exception:  # noqa: BLE001  the thread must go on
                _LOG.exception(
                    "an error while sending lineage to %s: it goes to %s", self._destination.name, self._folder
                )
                retry_at, pause = time.monotonic() + pause, min(pause * 2, _LONGEST_PAUSE)
            if batch:
                self._spill(batch)
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
        self._try_once_more()
        self._destination.close()

    def _try_once_more(self) -> None:
        """Deliver what is on disk, if the destination is back by now."""
        try:
            self._deliver_spool()
        except UnavailableError:
            self.counts.retries += 1
        except Exception:  # noqa: BLE001  the events stay on disk
            _LOG.exception("an error while sending lineage to %s: it stays in %s", self._destination.name, self._folder)

    def _next(self, retry_at: float, *, idle: bool) -> list[Json] | None:
        """Wait for events; return them, nothing if it is time to try again or to rest, None at the end."""
        with self._changed:
            while not self._queue:
                if self._closing:
                    return None
                left = retry_at - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    if not self._queue and time.monotonic() >= retry_at:
                        self._is_busy = True
                        return []
                elif self._changed.wait(None if idle and not self._is_away else _IDLE_SECONDS) is False:
                    self._is_busy = True
                    return []
            self._is_busy = True
            return [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]

    def _deliver(self, events: Sequence[Json]) -> None:
        left = list(events)
        while left:
            try:
                self._destination.send(left)
            except EventRefusedError as error:
                self.counts.delivered += error.index
                self.counts.refused += 1
                _LOG.error("an event was refused and is not delivered: %s", error)
                left = left[error.index + 1 :]
            else:
                self.counts.delivered += len(left)
                return

    # The spool

    def _has_spool(self) -> bool:
        return next(self._spooled(), None) is not None

    def _spooled(self) -> Any:
        """Yield the files of the spool, oldest first; those of a process that runs are its own."""
        if not self._folder.is_dir():
            return
        for path in sorted(self._folder.glob("*.ndjson*")):
            owner = path.name.partition(".ndjson.")[2]
            if not owner or owner == str(os.getpid()) or not _is_running(owner):
                yield path

    def _deliver_spool(self) -> None:
        for path in list(self._spooled()):
            claimed = path.with_name(f"{path.name.partition('.ndjson')[0]}.ndjson.{os.getpid()}")
            try:
                path.rename(claimed)
                lines = claimed.read_text(encoding="utf-8").splitlines()
            except OSError:  # another process was faster
                continue
            events = [event for line in lines if (event := _event(line)) is not None]
            try:
                for start in range(0, len(events), _BATCH):
                    self._deliver(events[start : start + _BATCH])
            except UnavailableError:
                claimed.rename(path.with_name(f"{path.name.partition('.ndjson')[0]}.ndjson"))
                raise
            claimed.unlink()

    def _spill(self, events: Sequence[Json]) -> None:
        name = f"{time.time_ns():020d}-{os.getpid()}-{next(self._numbers)}.ndjson"
        text = "".join(f"{json.dumps(event, separators=(',', ':'))}\n" for event in events)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            written = self._folder / name.replace(".ndjson", ".part")
            with written.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            written.rename(self._folder / name)
        except OSError as error:
            self.counts.refused += len(events)
            _LOG.error(
                "%d events are lost: they cannot be sent, nor written to %s: %s", len(events), self._folder, error
            )
            return
        self.counts.spilled += len(events)


def _event(line: str) -> Json | None:
    try:
        found = json.loads(line)
    except ValueError:
        _LOG.warning("a line of the spool is not JSON and is left out")
        return None
    return found if isinstance(found, dict) else None


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError, OverflowError):
        return True
    return True
