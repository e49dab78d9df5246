"""Random edits of folders: what a run with saved resolutions finds after each edit is what a run without them finds.

`python -m tests.sql.random_edits 5000 --seed 3` makes as many edits, and prints the folder after which the two differ.
`--fault find` leaves the look-ups of one method out of what is saved, to see that the comparison finds that.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from unittest import mock

from lineage.garbage_collection import seldom_collecting
from lineage.model.statement import StatementLineage
from lineage.sql.script import resolutions, script
from lineage.sql.script.definitions import Definition
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.sql.script.resolutions import CatalogDigests, LookUp, RecordingTables, TextResolution
from lineage.sql.script.reuse import saved_resolutions
from lineage.sql.script.reuse.saved_resolutions import SavedResolutions
from lineage.sql.script.script import Script
from tests.sql.random_folders import Folder, edited, random_folder

__all__ = ["FAULTS", "DifferentResultError", "run_edits"]

_EDITS_OF_A_FOLDER = 25


class DifferentResultError(AssertionError):
    """The two runs differ; the message has the folder before and after the edit."""


def run_edits(count: int, seed: int, cache: Path, first: int = 0) -> Counter[str]:
    """Make so many edits, from a folder on; return the numbers of edits, texts, and texts that were resolved again.

    Raises:
        DifferentResultError: a run with saved resolutions has another result than one without.
    """
    counts: Counter[str] = Counter()
    number = first
    while counts["edits"] < count:
        rng = random.Random(f"{seed} {number}")
        number += 1
        folder = random_folder(rng)
        earlier = [folder]
        own = cache / str(number)
        for step in range(_EDITS_OF_A_FOLDER):
            before = folder
            if step:
                folder = rng.choice(earlier) if rng.random() < 0.1 else edited(folder, rng)
                earlier.append(folder)
            counts += _compare(before, folder, own, f"seed {seed}, folder {number - 1}, edit {step}")
            if counts["edits"] >= count:
                break
        shutil.rmtree(own, ignore_errors=True)
    return counts


def _compare(before: Folder, folder: Folder, cache: Path, what: str) -> Counter[str]:
    texts, options = folder.texts, folder.options()
    saved = SavedResolutions(Path("/folder"), options, cache)
    found = _shown(resolve_texts(texts, options, folder.catalog(), saved=saved))
    expected = _shown(resolve_texts(texts, options, folder.catalog()))
    if found != expected:
        differing = "\n".join(
            f"with:    {one}\nwithout: {other}\n" for one, other in zip(found, expected, strict=False) if one != other
        )
        raise DifferentResultError(f"{what} ({folder.last})\nbefore: {before}\nafter: {folder}\n{differing}")
    return Counter(edits=1, texts=len(texts), resolved=saved.resolved)


def _shown(statements: list[StatementLineage]) -> list[str]:
    return [f"{one!r} {one.to_dict()}" for one in statements]


def _forgetting(method: str) -> AbstractContextManager[object]:
    """Leave the look-ups of a method out of what is recorded."""

    class Forgetting(RecordingTables):
        def look_ups(self) -> tuple[LookUp, ...]:
            return tuple(one for one in super().look_ups() if one.method != method)

    return mock.patch.object(script, "RecordingTables", Forgetting)


FAULTS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "name": lambda: _forgetting("name"),
    "existing_name": lambda: _forgetting("existing_name"),
    "find": lambda: _forgetting("find"),
    "in_schema": lambda: _forgetting("in_schema"),
    "seen": lambda: _forgetting("seen"),
    "catalog": lambda: mock.patch.object(CatalogDigests, "of", lambda _, entry: entry.name.encode()),
    "searched": lambda: mock.patch.object(Script, "still_searches", return_value=True),
    "contents": lambda: mock.patch.object(TextResolution, "has_contents", False),
    "unsent": lambda: mock.patch.object(resolutions, "UnnamedColumn", None),
    "file name": lambda: mock.patch.object(saved_resolutions, "_key", lambda _, text: text.encode()),
    "position": lambda: mock.patch.object(Definition, "moved", lambda one, _: one),
    "options": lambda: mock.patch.object(saved_resolutions, "digest_of", return_value="0"),
}
"""Mistakes in what a saved resolution depends on, by name: each makes a run differ after some edits."""


def main() -> None:
    """Make random edits, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edits", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="FOLDER")
    parser.add_argument("--fault", choices=FAULTS)
    given = parser.parse_args()
    fault = FAULTS[given.fault]() if given.fault else nullcontext()
    with tempfile.TemporaryDirectory() as cache, seldom_collecting(), fault:
        try:
            counts = run_edits(given.edits, given.seed, Path(cache), given.first)
        except DifferentResultError as error:
            sys.exit(str(error))
    share = counts["resolved"] / counts["texts"]
    print(f"{counts['edits']:,} edits, no difference; {share:.0%} of {counts['texts']:,} texts were resolved again")


if __name__ == "__main__":
    main()
