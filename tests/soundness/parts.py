"""A campaign in parts, each in one of several processes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tests.soundness.campaign import QUERIES_PER_LABORATORY, Campaign

__all__ = ["run_parts"]


def run_parts(seed: int, ways: int | None, numbers: range, jobs: int, dialect: str = "duckdb") -> Iterator[Campaign]:
    """Yield the campaigns over parts of the numbers, each as it ends."""
    starts = range(numbers.start, numbers.stop, QUERIES_PER_LABORATORY)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _prepare) as pool:
        parts = [
            pool.submit(_run, seed, ways, dialect, range(start, min(start + QUERIES_PER_LABORATORY, numbers.stop)))
            for start in starts
        ]
        for part in as_completed(parts):
            yield part.result()


def _prepare() -> None:
    gc.freeze()
    gc.set_threshold(50_000)


def _run(seed: int, ways: int | None, dialect: str, numbers: range) -> Campaign:
    campaign = Campaign(seed, ways, dialect)
    campaign.run(numbers)
    campaign.close()
    return campaign
