"""One sequence of batches leaves one graph, whichever store it is told to."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from tests.contract.random_batches import random_batch
from tests.contract.telling import day


def test_a_random_sequence_leaves_equal_graphs(both_stores: tuple[GraphStore, GraphStore]) -> None:
    embedded, server = both_stores
    chance = random.Random(7)
    for step in range(40):
        told = random_batch(chance)
        assert embedded.apply(told) == server.apply(told), (step, told)
        if step % 10 == 5:
            assert embedded.prune(day(step / 2)) == server.prune(day(step / 2))
    one, other = embedded.dump(), server.dump()
    assert one.nodes == other.nodes
    assert one.relationships == other.relationships
    assert len(one.relationships) > 100


def test_a_batch_applied_twice_in_a_row_is_as_once(store: GraphStore) -> None:
    chance = random.Random(11)
    for _ in range(30):
        told = random_batch(chance)
        store.apply(told)
        once = store.dump()
        store.apply(told)
        assert store.dump() == once, told


def test_what_is_copied_into_the_embedded_store_is_what_would_be_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = []
    for copy_from in (1, 20_000):
        monkeypatch.setattr("lineage.store.embedded.transaction.COPY_FROM", copy_from)
        chance = random.Random(3)
        with open_store(tmp_path / f"{copy_from}.lbug") as embedded:
            for _ in range(10):
                embedded.apply(random_batch(chance))
            dumps.append(embedded.dump())
    assert dumps[0] == dumps[1]
    assert {"Usage", "Job", "Diagnostic"} <= {label for label, _, _ in dumps[0].nodes}
