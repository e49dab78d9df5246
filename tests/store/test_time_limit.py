"""A read with a time limit stops when the limit is reached, in the database as well."""

from __future__ import annotations

import time

import pytest

from lineage.store import GraphStore
from lineage.store.errors import StoreTimeoutError
from lineage.store.time_limit import seconds_left, time_limit
from tests.store.batch_builders import batch, job


def test_reading_ends_with_the_time_limit(store: GraphStore) -> None:
    jobs = [job(f"j{number}", f"a{number}.x -> b{number}.x", at=1) for number in range(400)]
    store.apply(batch(*jobs, run="many"))
    with time_limit(60):
        assert len(store.jobs()) == 400
    began = time.monotonic()

    def for_ever() -> None:
        while True:
            store.jobs()

    with time_limit(0.5), pytest.raises(StoreTimeoutError):
        for_ever()
    assert time.monotonic() - began < 5
    assert len(store.jobs()) == 400


def test_limits_end_with_their_blocks() -> None:
    assert seconds_left() is None
    with time_limit(10):
        inner = seconds_left()
        assert inner is not None
        assert 9 < inner <= 10
    assert seconds_left() is None
    with time_limit(0), pytest.raises(StoreTimeoutError):
        seconds_left()
