"""A batch in parts leaves what the whole batch leaves: in any order within a round, after a crash, twice."""

from __future__ import annotations

import pickle
import random
from dataclasses import fields, replace

import pytest

from lineage.store.planning.chunking import chunks as parts
from tests.store.planning.memory import MemoryGraph
from tests.store.random_batches import random_batch


@pytest.fixture(autouse=True)
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a handful of jobs and datasets make many parts."""
    monkeypatch.setattr(parts, "EDGES_IN_A_PART", 3)
    monkeypatch.setattr(parts, "COLUMNS_IN_A_PART", 3)


@pytest.mark.parametrize("seed", range(60))
def test_parts_leave_what_the_batch_leaves(seed: int) -> None:
    chance = random.Random(seed)
    once, parted, crashed = MemoryGraph(), MemoryGraph(), MemoryGraph()
    for step in range(12):
        new_batch = random_batch(chance, at_most=chance.choice([3, 12]))
        once.apply(new_batch)
        parted.apply_in_parts(new_batch, chance)
        crashed.apply_in_parts(new_batch, chance, until=chance.random())
        crashed.apply_in_parts(new_batch, chance)
        for name in (field.name for field in fields(once.state) if field.name != "bound_columns"):
            assert getattr(parted.state, name) == getattr(once.state, name), (step, name, new_batch)
            assert getattr(crashed.state, name) == getattr(once.state, name), (step, name, new_batch)


def test_a_part_can_be_sent_to_another_process() -> None:
    new_batch = random_batch(random.Random(1), at_most=12)
    sent = MemoryGraph().parts(new_batch)
    assert pickle.loads(pickle.dumps(sent)) == sent


def test_parts_of_one_round_and_stripe_have_different_jobs_and_datasets() -> None:
    new_batch = replace(random_batch(random.Random(2), at_most=30), changes=())
    for same_round in MemoryGraph().parts(new_batch):
        jobs = [job.key for part in same_round for job in part.batch.jobs]
        assert len(jobs) == len(set(jobs))
        datasets = [reference.name_then for part in same_round for reference in part.references or ()]
        assert len(datasets) == len(set(datasets))
        assert len({part.stripes for part in same_round}) > 1 or len(same_round) == 1


def test_a_small_batch_is_few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    new_batch = random_batch(random.Random(2), at_most=30)
    rounds = MemoryGraph().parts(new_batch)
    assert max(map(len, rounds)) == 1
    assert {part.stripes for same_round in rounds for part in same_round} <= {(), tuple(range(parts.LOCK_STRIPES))}
