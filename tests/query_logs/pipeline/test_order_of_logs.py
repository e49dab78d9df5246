"""Logs of one warehouse that arrive out of order: the graph is the one that they give in order.

Run as `python -m … N [SEED]`, it checks N random histories, and prints those that differ.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.random_history import random_history
from tests.query_logs.pipeline.running import Ran, edges, ingested

MADE = "CREATE TABLE o (x int, y int); CREATE TABLE a AS SELECT x FROM o"
LOGS: dict[str, tuple[Sequence[str], Sequence[int]]] = {
    "a table that is renamed, then dropped": ([MADE, "ALTER TABLE a RENAME TO b", "DROP TABLE b"], [2, 0, 1]),
    "one that is made again under the new name": (
        [MADE, "ALTER TABLE a RENAME TO b", "DROP TABLE b; CREATE TABLE b AS SELECT y FROM o"],
        [2, 0, 1],
    ),
    "one whose old name is used again": (
        [MADE, "ALTER TABLE a RENAME TO b", "CREATE TABLE a AS SELECT y FROM o"],
        [2, 1, 0],
    ),
    "another one that takes the name of one that is dropped": (
        [
            MADE,
            "ALTER TABLE a RENAME TO b; CREATE TABLE c AS SELECT y FROM o",
            "DROP TABLE b",
            "ALTER TABLE c RENAME TO b",
        ],
        [0, 2, 3, 1],
    ),
    "a copy of what is renamed, then dropped": (
        [MADE, "CREATE TABLE c AS SELECT x FROM a; ALTER TABLE a RENAME TO b", "DROP TABLE b"],
        [1, 2, 0],
    ),
    "a table that is swapped in": (
        [f"{MADE}; CREATE TABLE a_new AS SELECT y FROM o", "DROP TABLE a; ALTER TABLE a_new RENAME TO a"],
        [1, 0],
    ),
}
UNLIKE = frozenset[int]()
"""Histories in which two tables have had the one name, and the change that tells them apart arrives last."""


def logs_of(texts: Sequence[Sequence[str]]) -> list[list[Ran]]:
    """Return a log of each list of statements; a statement a minute."""
    logs: list[list[Ran]] = []
    minute = 0
    for log in texts:
        logs.append([Ran(text, f"s{minute + at}", 60 * (minute + at)) for at, text in enumerate(log)])
        minute += len(log)
    return logs


def graph(logs: Sequence[Sequence[Ran]], order: Sequence[int]) -> set[str]:
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "s.db") as store:
        for number in order:
            ingested(store, logs[number])
        return edges(store)


@pytest.mark.parametrize("name", LOGS)
def test_the_graph_does_not_depend_on_the_order(name: str) -> None:
    texts, order = LOGS[name]
    logs = logs_of([text.split(";") for text in texts])
    assert graph(logs, order) == graph(logs, range(len(logs)))


def differs(seed: int) -> str:
    """Return a random history whose logs give another graph out of order; an empty string if they give the same."""
    rng = random.Random(seed)
    texts = random_history(rng, rng.randint(3, 8))
    cuts = sorted(rng.sample(range(1, len(texts)), min(len(texts) - 1, rng.randint(1, 4))))
    parts = [texts[start:end] for start, end in zip([0, *cuts], [*cuts, len(texts)], strict=True)]
    order = list(range(len(parts)))
    while order == sorted(order):
        rng.shuffle(order)
    logs = logs_of(parts)
    given, wanted = graph(logs, order), graph(logs, range(len(logs)))
    said = [f"{number}: {'; '.join(part)}" for number, part in enumerate(parts)]
    missing, extra = sorted(wanted - given), sorted(given - wanted)
    return "\n".join((*said, f"in the order {order}: {missing} missing, {extra} too many")) if missing or extra else ""


@pytest.mark.parametrize("seed", [seed for seed in range(20) if seed not in UNLIKE])
def test_random_histories(seed: int) -> None:
    assert not differs(seed)


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found = {seed: text for seed in range(first, first + count) if (text := differs(seed))}
    print(*(f"seed {seed}\n{text}\n" for seed, text in found.items()), f"{len(found)} of {count} differ", sep="\n")
