"""Applies a view that says the same again, with a checkpoint each time; prints the number of each once it is stored.

python -m tests.store.checkpointing_writer STORE FIRST
"""

from __future__ import annotations

import sys
from itertools import count

from lineage.model.batch import LineageBatch
from lineage.store import open_store
from lineage.store.embedded import backend
from tests.store.telling import batch, view

COLUMNS = 20


def seen(number: int) -> LineageBatch:
    """Return the batch of a number, at the second of that number."""
    lines = (f"a.c{column} -> v.c{column}" for column in range(COLUMNS))
    return batch(view("v", *lines, at=1 + number / 86_400), view(f"new{number}", f"a.c0 -> new{number}.x", at=1))


def main() -> None:
    """Apply them until killed."""
    backend.CHECKPOINT_AFTER = 1
    with open_store(sys.argv[1]) as store:
        for number in count(int(sys.argv[2])):
            store.apply(seen(number))
            print(number, flush=True)


if __name__ == "__main__":
    main()
