"""Make each seeded fault in a copy of the source, and run the tests that must find it.

`python -m tests.seeded_faults --only 3,17 -- -n 2` takes two of them, and hands `-n 2` to pytest.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.seeded_faults.seeding import Fault, copied_tree, read_faults

_ROOTS = (".", "editors", "graphql", "ingest")


def main() -> int:
    """Print for each fault whether it is found, by which test and how soon; return 1 if one is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeded_faults", description=__doc__)
    parser.add_argument("--only", metavar="N,N", help="the numbers of the faults to make")
    parser.add_argument("--list", action="store_true", help="print the faults with their numbers, and run nothing")
    parser.add_argument("pytest", nargs="*", help="options of pytest")
    given = parser.parse_args()
    chosen = {int(one) for one in given.only.split(",")} if given.only else None
    faults = [(n, one) for n, one in enumerate(read_faults(), 1) if chosen is None or n in chosen]
    if given.list:
        for number, fault in faults:
            print(f"{number:3} {fault.file}: {fault.rule}")
        return 0
    missed = 0
    with tempfile.TemporaryDirectory(prefix="lineage-faults-") as folder:
        tree = copied_tree(Path(folder))
        for number, fault in faults:
            began = time.monotonic()
            with fault.made_in(tree):
                verdict = _found(fault, tree, given.pytest)
            missed += not verdict.startswith("found")
            print(f"{number:3} {time.monotonic() - began:5.0f} s  {verdict}\n          {fault.rule}", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} faults are found")
    return 1 if missed else 0


def _found(fault: Fault, tree: Path, options: list[str]) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(tree / one) for one in _ROOTS)}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options, *fault.found_by]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if failed:
        return f"found by {failed[0]}"
    if done.returncode == 0:
        return f"NOT FOUND by {' '.join(fault.found_by)}"
    return f"NOT RUN: {(done.stdout + done.stderr).strip()[-500:]}"


if __name__ == "__main__":
    sys.exit(main())
