"""Make faults happen to real processes on both stores, print what then happens, and write it into docs/faults.md.

After each fault the graph is that of an undisturbed run, or the tool says what to do. Exit status 1 if not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.faults.estate import Estate
from tests.faults.matrix import FAULTS, Scene, WrongError
from tests.faults.page import PAGE, Row, listed, write_table
from tests.faults.places import EMBEDDED, NEO4J, Place


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser("python -m tests.faults", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="WORD", help="faults whose group or name has one of these words")
    parser.add_argument("--store", choices=(EMBEDDED, NEO4J), help="one store only")
    parser.add_argument("--list", action="store_true", help="list the faults")
    options = parser.parse_args()
    chosen = [one for one in FAULTS if not options.only or any(w in f"{one.group} {one.name}" for w in options.only)]
    if options.list:
        print(*(f"{one.group}: {one.name} ({', '.join(one.stores)})" for one in chosen), sep="\n")
        return 0
    rows = {one: Row(one.group, one.name) for one in chosen}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lineage-faults-") as name:
        folder = Path(name)
        estate = Estate(folder / "estate")
        for kind in (EMBEDDED, NEO4J):
            of_kind = [one for one in chosen if kind in one.stores and options.store in (None, kind)]
            if not of_kind:
                continue
            place = Place.with_server(folder) if kind == NEO4J else Place(folder)
            try:
                scene = Scene(place, estate)
                for one in of_kind:
                    rows[one].happened[kind] = _happen(one.happen, scene, f"{kind}: {one.group}: {one.name}")
            finally:
                place.close()
    table = listed(rows.values())
    wrong = [text for row in rows.values() for text in row.happened.values() if text.startswith("**WRONG**")]
    tried = sum(len(row.happened) for row in rows.values())
    summary = f"{tried} faults in {(time.monotonic() - began) / 60:.0f} minutes, {len(wrong)} wrong"
    print(f"\n{table}\n\n{summary}")
    if not options.only and options.store is None and not wrong:
        write_table(PAGE, table, summary)
        print(f"written to {PAGE}")
    return bool(wrong)


def _happen(happen: Callable[[Scene], str], scene: Scene, title: str) -> str:
    began = time.monotonic()
    try:
        text = happen(scene)
    except WrongError as error:
        text = f"**WRONG**: {error}"
    except Exception as error:  # of a test's own part: the other faults are tried all the same
        traceback.print_exc()
        text = f"**WRONG**: {type(error).__name__}: {error}"
    print(f"{title} ({time.monotonic() - began:.0f} s)\n    {text}", flush=True)
    return text


if __name__ == "__main__":
    sys.exit(main())
