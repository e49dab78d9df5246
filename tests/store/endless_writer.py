"""Apply batches until killed; print the number of each once it is stored."""

from __future__ import annotations

import sys
from itertools import count

from lineage.store import open_store
from tests.store.batch_builders import batch, view


def main() -> None:
    with open_store(sys.argv[1]) as store:
        for number in count():
            views = [
                view(f"t{number}_{one}", *(f"a.c{column} -> t{number}_{one}.c{column}" for column in range(20)), at=1)
                for one in range(100)
            ]
            store.apply(batch(*views))
            print(number, flush=True)


if __name__ == "__main__":
    main()
