"""Group commit of OpenLineage events: requests that arrive during a write are written together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lineage.store.errors import StoreTimeoutError, StoreUnreachableError
from lineage_graphql.admission import overloaded

if TYPE_CHECKING:
    from lineage_ingest.openlineage import EventOutcome

__all__ = ["EventWriter"]

MAX_EVENTS = 1_000
"""Maximum number of events that are written at once: of several requests, or a part of a larger one."""
MAX_WAITING = 20_000
"""Maximum number of events that wait; beyond it requests are refused at once."""
MAX_PAUSE = 0.1
"""Maximum seconds that a group waits for clients that were just answered; at most half the duration of the last
write."""
MAX_PASSED_OVER = 32
"""Maximum number of groups written without a pause after pauses without effect."""
EVENTS_IN_TIME = 25
"""The time limit of a write with more events grows in proportion."""


@dataclass(frozen=True, slots=True)
class _Request:
    events: Sequence[object]
    answer: asyncio.Future[list[EventOutcome]]


class EventWriter:
    """Writes the events of requests in order of arrival, one group at a time.

    While a group is written, requests queue; all queued requests form the next group, planned as one batch. Each is
    answered when the group is durable, or when nothing was written for as long as a write may take: a slow store is
    waited for, one that hangs is not. A large request is written in parts, and what is written stays.

    Clients that send one event at a time would otherwise alternate between two half-size groups. A group therefore
    waits briefly for as many requests as the last one had, as long as such pauses have an effect.
    """

    def __init__(
        self,
        take: Callable[[Sequence[object]], list[EventOutcome]],
        threads: Executor,
        seconds: float,
        note_written: Callable[[], None] = lambda: None,
    ) -> None:
        """Write with `take` in a thread; a write of a few events takes at most `seconds`."""
        self._take = take
        self._note_written = note_written
        self._threads = threads
        self._seconds = seconds
        self._waiting: list[_Request] = []
        self._writing: asyncio.Task[None] | None = None
        self._arrived = asyncio.Event()
        self._expected = 1
        self._pause_ends = 0.0
        self._pass_over = 0
        self._pass_over_next = 1
        self._written_at = float("-inf")
        self._patience = seconds

    async def take(self, events: Sequence[object]) -> list[EventOutcome]:
        """Return the outcome of each event once all accepted events are durable.

        Raises:
            RefusedError: too many events wait already.
            StoreError: the store could not be written. Send the events again.
            StoreTimeoutError: it took too long. The events may be stored or not; send them again.
        """
        if self._waiting and len(events) + sum(len(one.events) for one in self._waiting) > MAX_WAITING:
            raise overloaded()
        loop = asyncio.get_running_loop()
        request, arrived = _Request(events, loop.create_future()), loop.time()
        self._waiting.append(request)
        self._arrived.set()
        if self._writing is None:
            self._writing = loop.create_task(self._write_waiting())
        if await self._is_done({request.answer}, arrived):
            return request.answer.result()
        if request in self._waiting:
            self._waiting.remove(request)
        request.answer.cancel()
        raise StoreTimeoutError

    async def _is_done(self, waited_for: set[asyncio.Future[Any]], since: float) -> bool:
        """Wait for this as long as parts are written in time; return whether it is done."""
        loop = asyncio.get_running_loop()
        done: set[asyncio.Future[Any]] = set()
        while not done and (left := max(self._written_at, since) + self._patience - loop.time()) > 0:
            done, _ = await asyncio.wait(waited_for, timeout=left)
        return bool(done)

    async def _write_waiting(self) -> None:
        try:
            while self._waiting:
                await self._wait_for_more()
                group = self._next_group()
                if not group:  # all requests timed out
                    break
                loop = asyncio.get_running_loop()
                began = loop.time()
                # A thread that the database blocks is abandoned: the next group uses another.
                await self._is_done({asyncio.create_task(self._write(group))}, began)
                self._expected = len(group) + len(self._waiting)
                self._pause_ends = loop.time() + min(MAX_PAUSE, (loop.time() - began) / 2)
        finally:
            self._writing = None

    async def _wait_for_more(self) -> None:
        """Wait until the expected number of requests has arrived, or the pause is over."""
        missing = self._expected - len(self._waiting)
        loop = asyncio.get_running_loop()
        is_full = sum(len(request.events) for request in self._waiting) >= MAX_EVENTS
        if missing <= 0 or is_full or self._pause_ends <= loop.time():
            return
        if self._pass_over > 0:
            self._pass_over -= 1
            return
        before = len(self._waiting)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._pause_ends):
                while len(self._waiting) < self._expected:
                    self._arrived.clear()
                    await self._arrived.wait()
        if 2 * (len(self._waiting) - before) >= missing:
            self._pass_over_next = 1
        else:
            self._pass_over = self._pass_over_next
            self._pass_over_next = min(2 * self._pass_over_next, MAX_PASSED_OVER)

    def _next_group(self) -> list[_Request]:
        group: list[_Request] = []
        number = 0
        while self._waiting and (not group or number + len(self._waiting[0].events) <= MAX_EVENTS):
            number += len(self._waiting[0].events)
            group.append(self._waiting.pop(0))
        return group

    async def _write(self, group: Sequence[_Request]) -> None:
        """Write a group and answer its requests; if it cannot be written as a whole, write each request on its own."""
        events = [event for request in group for event in request.events]
        outcomes: list[EventOutcome] = []
        try:
            for start in range(0, max(len(events), 1), MAX_EVENTS):
                if all(request.answer.done() for request in group):
                    return  # nobody waits for the rest
                written = await self._write_part(events[start : start + MAX_EVENTS])
                outcomes += (one.moved_to(start + index) for index, one in enumerate(written))
        except Exception as error:  # noqa: BLE001  passed on to the waiting requests
            if len(group) > 1 and not isinstance(error, StoreUnreachableError):
                for request in group:
                    await self._write([request])
                return
            for request in group:
                if not request.answer.done():
                    request.answer.set_exception(error)
            return
        start = 0
        for request in group:
            end = start + len(request.events)
            # Indexes are relative to the request.
            mine = [outcome.moved_to(index) for index, outcome in enumerate(outcomes[start:end])]
            if not request.answer.done():
                request.answer.set_result(mine)
            start = end

    async def _write_part(self, events: Sequence[object]) -> list[EventOutcome]:
        loop = asyncio.get_running_loop()
        self._patience = self._seconds * max(1.0, len(events) / EVENTS_IN_TIME)
        self._written_at = loop.time()
        outcomes = await loop.run_in_executor(self._threads, self._take, events)
        self._patience, self._written_at = self._seconds, loop.time()
        self._note_written()
        return outcomes
