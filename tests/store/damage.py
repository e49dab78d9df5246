"""`python -m tests.store.damage FILES [--seed S]`: change a random bit of a store, or cut it, and read it.

Each file gives the right answer or an error, and is left as it is. Exit status 1 if one does not.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from lineage.store import StoreError, open_store
from tests.store import stopped_writer


def results(folder: Path, files: int, seed: int) -> Counter[str]:
    """Return how many damaged files gave the right answer, an error, another answer, or were written to."""
    path, chance = folder / "store.db", random.Random(seed)
    with open_store(path) as store:
        stopped_writer.write_first(store)
        stopped_writer.write_second(store)
        expected = store.dump()
    whole, found = path.read_bytes(), Counter[str]()
    for _ in range(files):
        damaged = bytearray(whole)
        if chance.random() < 0.3:
            del damaged[chance.randrange(len(damaged)) :]
        else:
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            with open_store(path, read_only=True) as store:
                found["right" if store.dump() == expected else "another answer"] += 1
        except StoreError:
            found["error"] += 1
        found["written to"] += path.read_bytes() != bytes(damaged)
    return +found


def main() -> int:
    """Damage as many files as the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.store.damage", description=__doc__)
    parser.add_argument("files", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = results(Path(folder), options.files, options.seed)
    print(dict(found))
    return 1 if found.keys() - {"right", "error"} else 0


if __name__ == "__main__":
    sys.exit(main())
