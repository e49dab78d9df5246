"""A campaign in parts, each in one of several processes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tests.soundness.warehouse.campaign import Campaign, Plan

__all__ = ["run_parts"]

_SIZE = 5


def run_parts(plan: Plan, numbers: range, jobs: int) -> Iterator[Campaign]:
    """Yield the campaigns over parts of the numbers, each as it ends."""
    parts = [range(start, min(start + _SIZE, numbers.stop)) for start in range(numbers.start, numbers.stop, _SIZE)]
    if jobs == 1:
        yield from (_run(plan, part) for part in parts)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_run, plan, part) for part in parts]):
            yield done.result()


def _run(plan: Plan, numbers: range) -> Campaign:
    campaign = Campaign(plan)
    campaign.run(numbers)
    return campaign
