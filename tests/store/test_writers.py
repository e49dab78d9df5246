"""Concurrent writers: each batch sees the result of the previous ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from lineage.store import GraphStore
from tests.store.batch_builders import batch, history, view


def test_writers_take_turns(store: GraphStore) -> None:
    batches = [batch(view("v", f"a.c{number} -> v.x", "a.key ~> v", at=number)) for number in range(1, 9)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(store.apply, batches))
    assert history(store) == sorted(
        ["a.key ~> v 1..", "a.c8 -> v.x 8..", *(f"a.c{number} -> v.x {number}..{number + 1}" for number in range(1, 8))]
    )


def test_readers_and_a_writer_share_a_store(store: GraphStore) -> None:
    def seen(_: int) -> int:
        return len(store.columns(["pg/v"]))

    with ThreadPoolExecutor(max_workers=4) as pool:
        reads = [pool.submit(seen, number) for number in range(20)]
        store.apply(batch(view("v", *(f"a.c{number} -> v.c{number}" for number in range(30)), at=1)))
        assert {read.result() for read in reads} <= {0, 30}
    assert seen(0) == 30
