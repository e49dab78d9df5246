"""Group commit of events: who waits is written together, in order, and answered apart."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lineage.store.errors import StoreTimeoutError, StoreUnreachableError, StoreWriteError
from lineage_graphql import event_writer
from lineage_graphql.errors import RefusedError
from lineage_graphql.event_writer import MAX_EVENTS, EventWriter
from lineage_ingest.openlineage import EventOutcome


class Store:
    """Takes events as a store does that is busy until it is let go on."""

    def __init__(self) -> None:
        self.pause = 0.0
        self.groups: list[list[object]] = []
        self.goes_on = threading.Event()
        self.began = threading.Event()

    def take(self, events: Sequence[object]) -> list[EventOutcome]:
        self.groups.append(list(events))
        self.began.set()
        self.goes_on.wait(20)
        time.sleep(self.pause)
        if "away" in events:
            raise StoreUnreachableError("no store")
        if "unwritable" in events:
            raise StoreWriteError("cannot be written")
        return [EventOutcome(index, event != "bad", str(event)) for index, event in enumerate(events)]


def together(store: Store, *requests: Sequence[object], seconds: float = 20) -> list[Any]:
    """Return what requests are answered that come while a first one is written."""

    async def work() -> list[Any]:
        with ThreadPoolExecutor(2) as threads:
            writer = EventWriter(store.take, threads, seconds)
            first = asyncio.create_task(writer.take(["first"]))
            await asyncio.to_thread(store.began.wait)
            waiting: list[Coroutine[Any, Any, Any]] = [writer.take(request) for request in requests]
            asked = asyncio.gather(*waiting, return_exceptions=True)
            await asyncio.sleep(0)
            store.goes_on.set()
            assert [one.accepted for one in await first] == [True]
            return await asked

    return asyncio.run(work())


def test_what_waits_is_written_at_once_and_in_order() -> None:
    store = Store()
    answers = together(store, ["a", "b"], ["c"], ["bad", "d"])
    assert store.groups == [["first"], ["a", "b", "c", "bad", "d"]]
    assert [[(one.index, one.accepted, one.reason) for one in answer] for answer in answers] == [
        [(0, True, "a"), (1, True, "b")],
        [(0, True, "c")],
        [(0, False, "bad"), (1, True, "d")],
    ]


def test_what_cannot_be_written_fails_alone() -> None:
    store = Store()
    one, bad, other = together(store, ["a"], ["unwritable"], ["b"])
    assert [one[0].accepted, other[0].accepted] == [True, True]
    assert isinstance(bad, StoreWriteError)
    assert store.groups[1:] == [["a", "unwritable", "b"], ["a"], ["unwritable"], ["b"]]


def test_a_store_that_is_away_is_asked_once() -> None:
    store = Store()
    assert all(isinstance(one, StoreUnreachableError) for one in together(store, ["a"], ["away"]))
    assert len(store.groups) == 2


def test_clients_that_take_turns_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_writer, "MAX_PAUSE", 10)
    store = Store()
    store.pause = 0.3

    async def client(writer: EventWriter, name: str) -> None:
        for number in range(4):
            assert [one.accepted for one in await writer.take([f"{name}{number}"])] == [True]
            await asyncio.sleep(0.001)  # until the answer is there, and the next event

    async def work() -> None:
        with ThreadPoolExecutor(2) as threads:
            writer = EventWriter(store.take, threads, 20)
            first = asyncio.create_task(client(writer, "a"))
            await asyncio.to_thread(store.began.wait)
            others = [asyncio.create_task(client(writer, name)) for name in "bcd"]
            await asyncio.sleep(0)
            store.goes_on.set()
            await asyncio.gather(first, *others)
            # Nobody comes with it, or ever again.
            assert len(await writer.take(["last"])) == 1
            assert len(await writer.take(["very last"])) == 1

    asyncio.run(work())
    assert [sorted(map(str, group)) for group in store.groups] == [
        ["a0"],
        ["a1", "b0", "c0", "d0"],
        ["a2", "b1", "c1", "d1"],
        ["a3", "b2", "c2", "d2"],
        ["b3", "c3", "d3"],
        ["last"],
        ["very last"],
    ]


def test_a_group_has_a_size() -> None:
    store = Store()
    large = ["x"] * (MAX_EVENTS - 1)
    together(store, large, ["y", "z"], ["w"])
    assert [len(group) for group in store.groups] == [1, MAX_EVENTS - 1, 3]


def test_a_request_waits_no_longer_than_it_may() -> None:
    store, seconds = Store(), 0.5

    async def work() -> list[Any]:
        with ThreadPoolExecutor(2) as threads:
            writer = EventWriter(store.take, threads, seconds)
            late = await asyncio.gather(writer.take(["a"]), writer.take(["b"]), return_exceptions=True)
            store.goes_on.set()
            return [*late, await writer.take(["c"])]

    first, second, third = asyncio.run(work())
    assert isinstance(first, StoreTimeoutError)
    assert isinstance(second, StoreTimeoutError)
    assert third[0].accepted


def test_a_large_request_is_written_in_parts() -> None:
    store = Store()
    store.goes_on.set()
    events = [f"event {number}" for number in range(2 * MAX_EVENTS + 5)]
    events[MAX_EVENTS + 1] = "bad"

    async def work() -> list[EventOutcome]:
        with ThreadPoolExecutor(2) as threads:
            return await EventWriter(store.take, threads, 20).take(events)

    outcomes = asyncio.run(work())
    assert [len(group) for group in store.groups] == [MAX_EVENTS, MAX_EVENTS, 5]
    assert [one.index for one in outcomes] == list(range(len(events)))
    assert [one.index for one in outcomes if not one.accepted] == [MAX_EVENTS + 1]


def test_a_slow_store_is_waited_for_while_it_writes() -> None:
    """Each part takes most of its time limit, and the whole several times as long as one."""
    store, seconds = Store(), 0.5
    store.goes_on.set()
    store.pause = 1.0

    async def work() -> list[Any]:
        with ThreadPoolExecutor(2) as threads:
            writer = EventWriter(store.take, threads, seconds)
            large = asyncio.create_task(writer.take(["x"] * (4 * MAX_EVENTS)))
            await asyncio.sleep(0.1)
            store.pause = 0.3
            return list(await asyncio.gather(large, writer.take(["behind"])))

    large, behind = asyncio.run(work())
    assert (len(large), len(behind)) == (4 * MAX_EVENTS, 1)


def test_nothing_more_is_written_for_who_has_given_up() -> None:
    store = Store()

    async def work() -> None:
        with ThreadPoolExecutor(2) as threads:
            writer = EventWriter(store.take, threads, 0.1)
            with pytest.raises(StoreTimeoutError):
                await writer.take(["x"] * (3 * MAX_EVENTS))
            store.goes_on.set()
            assert len(await writer.take(["next"])) == 1

    asyncio.run(work())
    assert [len(group) for group in store.groups] == [MAX_EVENTS, 1]


def test_too_many_waiting_events_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_writer, "MAX_WAITING", 3)
    answers = together(Store(), ["a", "b"], ["c", "d"], ["e"])
    assert [isinstance(answer, RefusedError) for answer in answers] == [False, True, False]
