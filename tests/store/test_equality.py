"""The same sequence of batches yields the same graph in every store."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from lineage.store.planning.chunking import chunks as parts
from tests.store.batch_builders import day, history, table_history
from tests.store.random_batches import random_batch, random_queries


def test_a_random_sequence_leaves_equal_graphs(both_stores: tuple[GraphStore, GraphStore]) -> None:
    embedded, server = both_stores
    chance = random.Random(7)
    for step in range(40):
        new_batch = random_batch(chance)
        assert embedded.apply(new_batch) == server.apply(new_batch), (step, new_batch)
        if step % 10 == 5:
            assert embedded.prune(day(step / 2), at=day(40)) == server.prune(day(step / 2), at=day(40))
    one, other = embedded.dump(), server.dump()
    assert one.nodes == other.nodes
    assert one.relationships == other.relationships
    assert len(one.relationships) > 100


def test_when_a_store_is_pruned_does_not_show(tmp_path: Path) -> None:
    """A prune may be at any step in a sequence of random batches about earlier times."""
    chance = random.Random(13)
    for trial in range(8):
        batches, cut = [random_batch(chance) for _ in range(8)], day(chance.randrange(5, 30))
        found = []
        for step in (0, chance.randrange(1, 8), 8):
            with open_store(tmp_path / f"{trial}-{step}.db") as store:
                for one in batches[:step]:
                    store.apply(one)
                store.prune(cut, at=day(40))
                for one in batches[step:]:
                    store.apply(one)
                found.append((history(store), table_history(store)))
        assert found == found[:1] * 3, (trial, batches)


@pytest.mark.parametrize("in_parts", [False, True])
def test_what_was_pruned_is_not_revived_by_reading_it_again(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch, *, in_parts: bool
) -> None:
    monkeypatch.setattr(parts, "EDGES_IN_A_PART", 3)
    chance = random.Random(17)
    batches = [random_queries(chance) for _ in range(6)]
    for one in batches:
        store.apply(one)
    assert store.prune(day(15), at=day(40))
    once = (history(store), table_history(store))
    for one in chance.sample(batches, len(batches)):
        for part in [part for each in store.parts(one) for part in each] if in_parts else [one]:
            store.apply(part)
    assert (history(store), table_history(store)) == once
    assert any(line.endswith("..40") for line in once[0])
    assert any(line.endswith("..") for line in once[0])


def test_a_batch_applied_twice_in_a_row_is_as_once(store: GraphStore) -> None:
    chance = random.Random(11)
    for _ in range(30 if store.is_file else 10):
        new_batch = random_batch(chance)
        store.apply(new_batch)
        once = store.dump()
        store.apply(new_batch)
        assert store.dump() == once, new_batch
