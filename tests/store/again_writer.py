"""Apply the same view repeatedly; print the number of each batch once it is stored.

python -m tests.store.again_writer STORE FIRST
"""

from __future__ import annotations

import sys
from itertools import count

from lineage.model.batch import LineageBatch
from lineage.store import open_store
from tests.store.batch_builders import batch, view

COLUMNS = 20


def seen(number: int) -> LineageBatch:
    """Return the batch with this number, timed at that second."""
    lines = (f"a.c{column} -> v.c{column}" for column in range(COLUMNS))
    return batch(view("v", *lines, at=1 + number / 86_400), view(f"new{number}", f"a.c0 -> new{number}.x", at=1))


def main() -> None:
    """Apply the batches until killed."""
    with open_store(sys.argv[1]) as store:
        for number in count(int(sys.argv[2])):
            store.apply(seen(number))
            print(number, flush=True)


if __name__ == "__main__":
    main()
