"""Make faults happen to real processes on both stores, print what then happens, and write it into docs/faults.md.

After each fault the graph is that of an undisturbed run, or the tool says what to do. Exit status 1 if not. The two
stores are tried at the same time, each in a process of its own. What happened is kept in build/faults, a file for each:
the page is written once all of it is known, also from several runs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor

from tests.faults.matrix import FAULTS, Fault
from tests.faults.page import PAGE, Row, listed, write_table
from tests.faults.places import EMBEDDED, NEO4J
from tests.faults.trying import KEPT, WRONG, kept, try_all


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser("python -m tests.faults", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="WORD", help="faults whose group or name has one of these words")
    parser.add_argument("--store", choices=(EMBEDDED, NEO4J), help="one store only")
    parser.add_argument("--list", action="store_true", help="list the faults")
    parser.add_argument("--missing", action="store_true", help="those only of which it is not known what happens")
    options = parser.parse_args()
    chosen = {
        number: one
        for number, one in enumerate(FAULTS)
        if not options.only or any(word in f"{one.group} {one.name}" for word in options.only)
    }
    if options.list:
        print(*(f"{one.group}: {one.name} ({', '.join(one.stores)})" for one in chosen.values()), sep="\n")
        return 0
    KEPT.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        tried = {
            kind: pool.submit(try_all, kind, _of_store(kind, chosen, options.missing))
            for kind in ((options.store,) if options.store else (EMBEDDED, NEO4J))
        }
        texts = [text for one in tried.values() for text in one.result().values()]
    wrong = sum(text.startswith(WRONG) for text in texts)
    print(f"{len(texts)} faults in {(time.monotonic() - began) / 60:.0f} minutes, {wrong} wrong")
    rows = [_row(one) for one in FAULTS]
    missing = [f"{row.name} ({kind})" for row, one in zip(rows, FAULTS, strict=True) for kind in one.stores
               if row.happened.get(kind, WRONG).startswith(WRONG)]  # fmt: skip
    print("\n" + listed(row for row in rows if row.happened))
    if missing:
        print(f"\n{PAGE} is not written: not known, or wrong: {', '.join(missing)}")
    else:
        write_table(PAGE, listed(rows))
        print(f"\nwritten to {PAGE}")
    return bool(wrong)


def _of_store(kind: str, chosen: Mapping[int, Fault], missing: bool) -> list[int]:
    """Return the numbers of the faults of a store; with `missing`, of those that are not known, or were wrong."""
    own = {number: kept(kind, one) for number, one in chosen.items() if kind in one.stores}
    return [
        number
        for number, path in own.items()
        if not (missing and path.exists() and not path.read_text().startswith(WRONG))
    ]


def _row(fault: Fault) -> Row:
    """Return a fault with what is known of it."""
    known = {kind: kept(kind, fault) for kind in fault.stores}
    return Row(fault.group, fault.name, {kind: one.read_text() for kind, one in known.items() if one.exists()})


if __name__ == "__main__":
    sys.exit(main())
