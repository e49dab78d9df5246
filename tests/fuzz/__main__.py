"""Fuzz the product's readers: mutated input, each target in a process of its own.

A failure is an exception that is not documented, an INTERNAL_ERROR, a literal of the input in a message, an input that
takes more than 20 seconds, and a process that dies. Each is minimised (not the last two), written to build/fuzz and
printed with the command that repeats it. The exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import sys
import time
from pathlib import Path

from tests.fuzz.child import current, repeat, run
from tests.fuzz.targets import TARGETS

FOLDER = Path("build/fuzz")
HANG = 20.0


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(TARGETS)}; by default all")
    parser.add_argument("--seconds", type=float, default=60, help="for each target (60)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="draws the same inputs again (the time)")
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="try one file of build/fuzz")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if options.repeat:
        failure = repeat(options.repeat)
        print(failure or "nothing is wrong with the answer")
        return failure is not None
    FOLDER.mkdir(parents=True, exist_ok=True)
    before = _failures()
    for name in options.targets or TARGETS:
        _fuzz(name, options.seed, options.seconds)
    return bool(_failures() - before)


def _failures() -> set[tuple[Path, float]]:
    return {(path, path.stat().st_mtime) for path in FOLDER.glob("*--*")}


def _fuzz(name: str, seed: int, seconds: float) -> None:
    """Run a target for a time; where its process hangs or dies, keep the input and go on with another seed."""
    left, first, count = seconds, seed, 0
    counted = FOLDER / f".{name}.count"
    while left > 0:
        began = time.time()
        current(FOLDER, name).unlink(missing_ok=True)
        counted.write_text("0")
        child = multiprocessing.get_context("spawn").Process(target=run, args=(name, seed, left, FOLDER))
        child.start()
        what = _watch(child, current(FOLDER, name))
        count += int(counted.read_text() or 0)
        if what is None:
            break
        if not current(FOLDER, name).exists():
            raise SystemExit(f"the target {name} does not start")
        kept = FOLDER / f"{name}--{what}--{seed}"
        shutil.move(current(FOLDER, name), kept)
        print(f"{name}: {what}\n  python -m tests.fuzz --repeat {kept}", flush=True)
        seed, left = seed + 1, left - (time.time() - began)
    counted.unlink(missing_ok=True)
    print(f"{name}: {count} inputs, seed {first}", flush=True)


def _watch(child: multiprocessing.process.BaseProcess, tried: Path) -> str | None:
    """Wait for the child; say how it failed, if it did."""
    while child.is_alive():
        child.join(0.2)
        try:
            waited = time.time() - tried.stat().st_mtime
        except FileNotFoundError:
            continue
        if waited > HANG:
            child.kill()
            child.join()
            return "hang"
    return "crash" if child.exitcode else None


if __name__ == "__main__":
    sys.exit(main())
