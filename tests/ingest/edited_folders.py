"""Ingest random projects of SQL files again and again while they are edited, and compare two ways of doing so.

python -m tests.ingest.edited_folders [HISTORIES] [--seed N] [--only NUMBER] [--steps N] [--open]
    [--again] [--turns]

One store is ingested into as a user does, the other without using anything that an earlier ingest saved. After every
step both must contain the same: nodes, edges, proofs, all times, diagnostics, changes, runs. Two projects read each
other's tables; between their ingests come logs, files and prunes of any time. Prints a line for each history that
differs, and how much was spared; ends with code 1 if any differ. `--only` repeats one history and prints its steps;
with `--open`, stores are not opened anew for each step, which is five times as fast. With `--again`, what is ingested
is ingested twice more, unchanged: the last time must change times only. (Before that, SQL is resolved against what the
store has learnt from the first time.) With `--turns`, two projects are mostly ingested in turn.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from lineage import saved_file
from lineage.store import GraphStore, open_store
from lineage.store.sqlite import SqliteBackend
from lineage.store.values import GraphDump
from tests.ingest.folder_histories import AGAIN, Ingested, Way, random_history
from tests.store.dumped_times import with_own_times

__all__ = ["Outcome", "content_but_for_times", "difference", "run_history", "stored_content"]

_LINEAGE = frozenset(("CONTRIBUTES", "REFERENCES", "FEEDS"))
_DEFINING = ("file:", "dbt:")
_OF_RUNS = ("OBSERVED", "REPORTED")
_EVERY = 25
_TIMES = re.compile(r"datetime\.datetime\([^()]*\)|\d{4}-\d\d-\d\dT[\d:.]+\+00:00")
_SHOWN = 6
"""Number of differing values that are printed."""


@dataclass
class Outcome:
    """What a history came to: how it differs, and counts of its steps and of what was spared."""

    differs: str = ""
    steps: Counter[str] = field(default_factory=Counter)
    spared: Counter[str] = field(default_factory=Counter)


def stored_content(store: GraphStore) -> list[str]:
    """Return everything that a store contains, but for what an ingest took.

    A live edge of a job that defines its output is as old as the job's observation of it, wherever that is stored.
    """
    dump = with_own_times(store.dump())
    nodes = [(label, key, _fixed(properties)) for label, key, properties in dump.nodes]
    return sorted(map(repr, [*nodes, *_relationships(dump), *store.datasets()]))


def content_but_for_times(store: GraphStore) -> list[str]:
    """Return everything that a store contains, but for when it was seen, and by which runs."""
    dump = with_own_times(store.dump())
    found: list[object] = [(label, key, _untimed(props)) for label, key, props in dump.nodes if label != "Run"]
    found += ((name, *ends, _untimed(props)) for name, *ends, props in dump.relationships if name not in _OF_RUNS)
    return sorted(_TIMES.sub("-", repr(one)) for one in found)


def _untimed(properties: dict[str, object]) -> list[tuple[str, object]]:
    """Return properties in order, without what an ingest took; equal observations in a row are one."""
    fixed = dict(_fixed(properties))
    fixed.pop("run", None)
    fixed.pop("observed_at", None)
    if isinstance(observed := fixed.get("observations"), list):
        contents = [str(one).partition(" ")[2] for one in observed]
        fixed["observations"] = [one for number, one in enumerate(contents) if contents[number - 1 : number] != [one]]
    return [(key, value is not None if isinstance(value, datetime) else value) for key, value in fixed.items()]


def _relationships(dump: GraphDump) -> Iterator[tuple[object, ...]]:
    seen = {
        (source, target): properties["last_seen"]
        for name, source, target, properties in dump.relationships
        if name == "WRITES" and source.startswith(_DEFINING)
    }
    for name, source, target, properties in dump.relationships:
        unit = seen.get((properties.get("job", ""), target.partition("#")[0])) if name in _LINEAGE else None
        last_seen = {"last_seen": max(unit, properties["last_seen"])} if unit is not None else {}
        yield name, source, target, _fixed({**properties, **last_seen})


def _fixed(properties: dict[str, object]) -> list[tuple[str, object]]:
    """Return properties in order, without what an ingest took."""
    return [(key, properties[key]) for key in sorted(properties) if key != "seconds"]


def run_history(
    seed: str,
    steps: int,
    folder: Path,
    say: Callable[[str], object] = lambda _: None,
    *,
    stay_open: bool = False,
    again: bool = False,
    turns: bool = False,
) -> Outcome:
    """Run a history in a new folder; return its outcome, after the first step that differs if one does.

    Stores that `stay_open` are not opened anew for each step, as a command does, which takes most of the time. With
    `again`, each ingest of files is repeated twice, unchanged; the last one must change times only. With `turns`, two
    projects are ingested in turn.
    """
    outcome = Outcome()
    sessions = Counter({"last": 1})
    saved = SimpleNamespace(user_cache_path=lambda *_, **__: folder / "saved")
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(saved_file, "platformdirs", saved))
        stores: dict[Way, GraphStore | Path] = {way: folder / f"{way}.db" for way in Way}
        if stay_open:
            number_of = property(lambda _: sessions["last"])
            stack.enter_context(mock.patch.object(SqliteBackend, "last_session", number_of))
            stores = {way: stack.enter_context(open_store(folder / f"{way}.db")) for way in Way}
        before: list[str] = []
        is_repeated = False
        for number, step in enumerate(random_history(seed, steps, folder, again=again, turns=turns)):
            say(f"{number}: {step}")
            outcome.steps[step.kind] += 1
            found = {way: step.run(stores[way], way) for way in Way}
            if (ours := found[Way.SAVED]) is not None:
                outcome.spared.update(ours.spared)
            else:
                sessions["last"] += 1
            saved_content, content = (_content(store) for store in stores.values())
            outcome.differs = _results_differ(found) or difference(saved_content, content)
            if again and not outcome.differs:
                after = _content(stores[Way.ANEW], content_but_for_times)
                if is_repeated and step.kind == AGAIN and ours is not None and not ours.changes:
                    outcome.differs = difference(before, after, ("before", "after"))
                before, is_repeated = after, step.kind == AGAIN
            if outcome.differs:
                outcome.differs = f"step {number} ({step}): {outcome.differs}"
                break
    return outcome


def _content(store: GraphStore | Path, content: Callable[[GraphStore], list[str]] = stored_content) -> list[str]:
    if not isinstance(store, Path):
        return content(store)
    with open_store(store) as opened:
        return content(opened)


def _results_differ(found: dict[Way, Ingested | None]) -> str:
    """Return how what the ingests said of themselves differs, empty if it does not."""
    one, other = ([] if one is None else [repr(one.figures), repr(one.diagnostics)] for one in found.values())
    return difference(one, other)


def difference(saved: list[str], anew: list[str], names: tuple[str, str] = ("saved", "anew")) -> str:
    """Return the values that only one has, empty if there are none."""
    if saved == anew:
        return ""
    one, other = Counter(saved), Counter(anew)
    lines = [f"  only {names[0]}: {text}" for text in (one - other).elements()][:_SHOWN]
    lines += [f"  only {names[1]}: {text}" for text in (other - one).elements()][:_SHOWN]
    return "\n".join(("", *lines))


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", nargs="?", type=int, default=200, help="number of histories (default: 200)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--steps", type=int, default=10, help="steps of a history (default: 10)")
    parser.add_argument("--only", type=int, help="the number of one history, which is then printed")
    parser.add_argument("--open", action="store_true", help="leave the stores open")
    parser.add_argument("--again", action="store_true", help="repeat each ingest, which must change times only")
    parser.add_argument("--turns", action="store_true", help="two projects, mostly in turn")
    given = parser.parse_args()
    numbers = range(given.histories) if given.only is None else [given.only]
    differing, began = 0, time.perf_counter()
    steps: Counter[str] = Counter()
    spared: Counter[str] = Counter()
    for number in numbers:
        folder = Path(tempfile.mkdtemp())
        say = print if given.only is not None else str
        name = f"{given.seed}/{number}"
        outcome = run_history(
            name, given.steps, folder, say, stay_open=given.open, again=given.again, turns=given.turns
        )
        shutil.rmtree(folder, ignore_errors=True)
        steps.update(outcome.steps)
        spared.update(outcome.spared)
        if outcome.differs:
            differing += 1
            print(f"history {number} differs at {outcome.differs}", flush=True)
        elif number % _EVERY == _EVERY - 1:
            print(f"{number + 1:,} histories, {time.perf_counter() - began:.0f} s", flush=True)
    print(f"{len(numbers):,} histories, {differing:,} differ, {time.perf_counter() - began:.0f} s")
    print(", ".join(f"{count:,} {kind}" for kind, count in sorted(steps.items())))
    print(", ".join(f"{count:,} {what}" for what, count in sorted(spared.items())))
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
