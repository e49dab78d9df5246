"""Resolve a script with several processes, with the result of one.

Workers resolve the texts, each after those that it seems to read from, and record every look-up with its answer. Then
the parent resolves the script as one process does, except that it takes a worker's result for a statement if its own
look-ups have the same answers; else it resolves the statement itself. So what workers assume of other texts decides
only how much is left to do. Parsing is most of the time, and trees stay in the workers: sending one takes longer than
parsing it again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from lineage.catalog import Catalog
from lineage.model.statement import StatementLineage
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.parallel.script_workers import ScriptInput, Task, script_workers
from lineage.sql.script.resolutions import TextResolution
from lineage.sql.script.reuse.saved_resolutions import SavedResolutions
from lineage.sql.script.script import Script
from lineage.sql.script.sources import Definers

__all__ = ["resolve_texts", "resolve_with"]

_MIN_CHARACTERS = 400_000
"""Characters per worker that are worth starting it for: half a second of work."""
_TASK_CHARACTERS = 40_000
"""Characters of the texts in a task: enough that handing it over costs little, and few enough to keep all busy."""

Progress = Callable[[int, int], None]

# What a text may read: names after these words. A name that is missed costs time, not correctness.
_READS = re.compile(
    r"\b(?:from|join|using|into|update|table|view)\s+((?:[\w$#*]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])"
    r"(?:\s*\.\s*(?:[\w$#*]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\]))*)",
    re.IGNORECASE,
)


def _ignore(_done: int, _total: int) -> None:
    pass


def resolve_texts(
    texts: Mapping[str, str],
    options: ExtractionOptions,
    catalog: Catalog | None = None,
    *,
    jobs: int = 1,
    progress: Progress = _ignore,
    seconds: dict[str, float] | None = None,
    saved: SavedResolutions | None = None,
) -> list[StatementLineage]:
    """Return the lineage of the statements of several texts, resolved against each other by up to so many processes.

    The result is that of `Script.resolve`, whatever `jobs` is, and whatever is `saved`. Small inputs are resolved in
    this process. `seconds` receives the time that each text took, in whichever process. Texts that `saved` knows are
    not resolved if nothing that they depend on has changed; then it knows the others, too.

    Raises:
        WorkerError: a worker process was killed, or crashed.
    """
    catalog = catalog.prepare(texts.values()) if catalog is not None else None
    given, script = ScriptInput(texts, options, catalog), None
    progress = _rising(progress)
    progress(0, len(texts))
    resolutions: dict[int, TextResolution] = {}
    if saved is not None:
        script = Script(texts, options, catalog, recording=True)
        resolutions = saved.find(texts, script)
        progress(len(resolutions), len(texts))
    left = [len(text) for index, text in enumerate(texts.values()) if index not in resolutions]
    jobs = min(jobs, len(left), sum(left) // _MIN_CHARACTERS)
    by_workers: set[int] = set()
    if jobs > 1:
        script, resolved = _resolve_in_workers(given, jobs, progress, script, resolutions)
        by_workers.update(resolved)
        resolutions = {**resolutions, **resolved}
    script, statements = _resolve_script(resolutions, given, script, progress, recording=saved is not None)
    if seconds is not None:
        for index, name in enumerate(texts):
            seconds[name] = script.seconds[index] + (resolutions[index].seconds if index in resolutions else 0.0)
    if saved is not None:
        saved.keep(texts, script, by_workers)
    return statements


def resolve_with(
    found: dict[int, TextResolution], given: ScriptInput, script: Script | None = None
) -> list[StatementLineage]:
    """Return the lineage of a script's statements, given what other processes resolved texts to, by index.

    `script` is a new script of the same input, if there is one.
    """
    return _resolve_script(found, given, script, _ignore)[1]


def _resolve_script(
    resolutions: Mapping[int, TextResolution],
    given: ScriptInput,
    script: Script | None,
    progress: Progress,
    *,
    recording: bool = False,
) -> tuple[Script, list[StatementLineage]]:
    """Return a script, and its statements' lineage, given what others resolved texts to, by index."""
    while True:
        script = script or Script(given.texts, given.options, given.catalog, recording=recording)
        script.adopt(resolutions)
        statements = script.resolve(_after(resolutions, progress))
        if not script.doubtful:
            return script, statements
        resolutions = {index: one for index, one in resolutions.items() if index not in script.doubtful}
        script = None


def _rising(progress: Progress) -> Progress:
    """Return the function without what was reported before: a script may be resolved several times."""
    reached = 0

    def report(done: int, total: int) -> None:
        nonlocal reached
        if done > reached:
            reached = done
            progress(done, total)

    return report


def _after(found: Mapping[int, object], progress: Progress) -> Progress:
    """Return a function that reports the progress of the texts that workers did not resolve, after those they did."""
    left = 0

    def report(done: int, total: int) -> None:
        nonlocal left
        if done - 1 not in found:
            left += 1
            progress(len(found) + left, total)

    return report


def _resolve_in_workers(
    given: ScriptInput,
    jobs: int,
    progress: Progress,
    script: Script | None,
    saved: Mapping[int, TextResolution],
) -> tuple[Script, dict[int, TextResolution]]:
    """Return a script of this process, and what workers resolved texts to, by index.

    Texts that only the parent can resolve are left out, and those whose resolutions are saved.
    """
    resolutions: dict[int, TextResolution] = dict(saved)
    with script_workers(given, jobs) as pool:
        script = script or Script(given.texts, given.options, given.catalog)  # while the workers start
        texts = list(given.texts.values())
        order = _Order(script.definers, texts, script.prepare(), saved)
        while order.waiting or pool.busy:
            while pool.idle and (indexes := order.next_task(texts)):
                needed = dict.fromkeys(need for index in indexes for need in sorted(order.needs[index]))
                pool.start(Task(indexes, {need: resolutions[need].schemas for need in needed if need in resolutions}))
            for results in pool.finished():
                resolutions.update(results)
                order.done(results)
                progress(len(resolutions), len(texts))
    return script, {index: one for index, one in resolutions.items() if not one.stays and index not in saved}


class _Order:
    """The order in which texts are resolved: after those that they read from, else that of the texts."""

    def __init__(
        self, definers: Definers, texts: Sequence[str], left_out: set[int], known: Collection[int] = ()
    ) -> None:
        self.needs: dict[int, set[int]] = {}
        """By text, the texts from which it seems to read."""
        self._readers: dict[int, list[int]] = defaultdict(list)
        self._left: dict[int, set[int]] = {}
        for index, text in enumerate(texts):
            if index in left_out or index in known:
                continue
            names = set(_READS.findall(text))
            needs = {need for name in names for need in definers.likely(name)} - {index} - left_out
            self.needs[index] = needs
            waits = needs.difference(known)
            self._left[index] = waits
            for need in waits:
                self._readers[need].append(index)
        self._ready = [index for index, left in self._left.items() if not left]
        heapify(self._ready)
        self._under_way = 0

    @property
    def waiting(self) -> bool:
        """Whether texts are left that were not handed out."""
        return bool(self._left)

    def next_task(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the next texts for one worker; none if all that are left wait for texts under way."""
        task, size = [], 0
        for index in self._next():
            task.append(index)
            size += len(texts[index])
            if size >= _TASK_CHARACTERS:
                break
        self._under_way += len(task)
        return tuple(task)

    def _next(self) -> Iterator[int]:
        while self._ready:
            index = heappop(self._ready)
            if self._left.pop(index, None) is not None:
                yield index
        if self._left and not self._under_way:  # the names form a circle, or seem to
            index = min(self._left)
            del self._left[index]
            yield index

    def done(self, indexes: Iterable[int]) -> None:
        """Note that texts are resolved."""
        for index in indexes:
            self._under_way -= 1
            for reader in self._readers[index]:
                left = self._left.get(reader)
                if left is not None:
                    left.discard(index)
                    if not left:
                        heappush(self._ready, reader)
