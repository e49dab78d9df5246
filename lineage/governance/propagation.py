"""Where values go: from a column along every edge on which its value flows, and what is left of it there.

A path shows as little as the step that hides most; a column shows as much as the path that hides least. So for each
exposure in turn, the most first, a breadth-first search over the steps that hide no more finds the columns that are
reached like that, each by a shortest path. What is decrypted on its way is followed from there once more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from lineage.frozen import frozen
from lineage.garbage_collection import seldom_collecting
from lineage.governance.exposure import EXPOSURES, Exposure, ValueEffects, exposure_of, reveals
from lineage.model.influence.evidence import Chain
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import dataset_of
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredEdge, StoredJob

__all__ = ["Influence", "Reach", "Spread", "ValueGraph", "ValueStep", "load_value_graph", "spread"]


@frozen(order=True)
class ValueStep:
    """One edge along which a value flows: of a job, with what it leaves of the value, and since when."""

    source: str
    target: str
    job: str
    exposure: Exposure
    subtypes: tuple[Subtype, ...] = ()
    spans: tuple[Chain, ...] = ()
    since: datetime | None = None
    reveals: bool = False
    """Whether it decrypts: a value that was masked before is readable again."""


@frozen(order=True)
class Influence:
    """A column, or the rows of a table, that a value decides about without flowing there."""

    source: str
    target: str
    job: str
    subtypes: tuple[Subtype, ...] = ()
    masked: bool = False
    spans: tuple[Chain, ...] = ()


@frozen
class ValueGraph:
    """The steps and influences out of each column, by its key."""

    steps: Mapping[str, Sequence[ValueStep]]
    """Those out of each column are sorted."""
    influences: Mapping[str, Sequence[Influence]]
    jobs: Mapping[str, StoredJob]


@frozen
class Reach:
    """How the value arrives in a column: the exposure, and the steps that prove it, from the source on."""

    exposure: Exposure
    path: tuple[ValueStep, ...]

    @property
    def hops(self) -> int:
        """Number of steps."""
        return len(self.path)


@frozen
class Spread:
    """Where the value of a column goes: reached columns by key, influences, and columns at which it is stopped."""

    start: str
    reached: Mapping[str, Reach]
    influences: tuple[Influence, ...]
    stopped: tuple[str, ...] = ()


@seldom_collecting()  # all that is read here is kept
def load_value_graph(
    store: GraphStore,
    starts: Collection[str],
    functions: ValueEffects,
    *,
    tables: Collection[str] | None = None,
    as_of: datetime | None = None,
) -> ValueGraph:
    """Return all steps downstream of some columns, read level by level: the live ones, or those of a time.

    With `tables`, these are the steps that go on in one of them.

    Raises:
        StoreError: the store could not be read.
    """
    edges_from: defaultdict[str, list[StoredEdge]] = defaultdict(list)
    seen, level = set(starts), sorted(set(starts))
    while level:
        for hop in store.expand(level, Direction.DOWNSTREAM, as_of=as_of):
            if tables is not None and dataset_of(hop.edge.target) not in tables:
                continue
            edges_from[hop.via].append(hop.edge)
        ends = {edge.target for via in level for edge in edges_from.get(via, ()) if edge.kind is EdgeKind.CONTRIBUTES}
        level = sorted(ends - seen)
        seen |= ends
    jobs = {
        job.key: job for job in store.jobs({edge.job for edges in edges_from.values() for edge in edges}, runs=False)
    }
    steps: dict[str, list[ValueStep]] = {}
    influences: dict[str, list[Influence]] = {}
    for via, edges in edges_from.items():
        steps[via] = sorted({_step(via, one, jobs, functions) for one in edges if one.kind is EdgeKind.CONTRIBUTES})
        influences[via] = sorted({_influence(via, one) for one in edges if one.kind is EdgeKind.REFERENCES})
    return ValueGraph(steps, influences, jobs)


def spread(graph: ValueGraph, start: str, stops: Collection[str] = ()) -> Spread:
    """Return where the value of a column goes. At `stops` it is not shown, and does not go on."""
    reached: dict[str, Reach] = {}
    stopped: set[str] = set()
    shown: set[Exposure] = {Exposure.UNMASKED}
    for exposure in EXPOSURES:
        if exposure not in shown:  # no step that was seen hides so much, and no more
            continue
        into = _search(graph.steps, start, exposure, stops, stopped, shown)
        for node in into:
            if node not in reached:
                reached[node] = Reach(exposure, _path(into, start, node))
    _reveal(graph, start, reached, stops, stopped)
    holders = [start, *(one for one, reach in reached.items() if reach.exposure is not Exposure.MASKED)]
    influences = {one for holder in holders for one in graph.influences.get(holder, ())}
    outside = (one for one in influences if one.target not in reached and one.target != start)
    return Spread(start, reached, _first_of_each(outside), tuple(sorted(stopped)))


def _reveal(
    graph: ValueGraph, start: str, reached: dict[str, Reach], stops: Collection[str], stopped: set[str]
) -> None:
    """Follow the values that are masked, and decrypted later, from where they are decrypted."""
    waiting = [one for one, reach in reached.items() if reach.exposure is Exposure.MASKED]
    for node in waiting:
        for step in graph.steps.get(node, ()):
            if not step.reveals or step.target == start or step.target in stops:
                continue
            whole = (*reached[node].path, step)
            for exposure in EXPOSURES[step.exposure.rank : Exposure.MASKED.rank]:
                onward = _search(graph.steps, step.target, exposure, stops, stopped, set())
                for one in (step.target, *onward):
                    known = reached.get(one)
                    if one != start and (known is None or known.exposure.rank > exposure.rank):
                        reached[one] = Reach(exposure, (*whole, *_path(onward, step.target, one)))


def _search(
    steps: Mapping[str, Sequence[ValueStep]],
    start: str,
    most: Exposure,
    stops: Collection[str],
    stopped: set[str],
    shown: set[Exposure],
) -> dict[str, ValueStep]:
    """Return the last step of a shortest path to each column, over steps that hide no more than `most`.

    The exposures of all steps out of these columns are added to `shown`.
    """
    allowed = frozenset(EXPOSURES[: most.rank + 1])
    into: dict[str, ValueStep] = {}
    level = [start]
    while level:
        following: list[str] = []
        for node in sorted(level):
            for step in steps.get(node, ()):
                shown.add(step.exposure)
                if step.exposure not in allowed:
                    continue
                if step.target in stops:
                    stopped.add(step.target)
                elif step.target != start and step.target not in into:
                    into[step.target] = step
                    following.append(step.target)
        level = following
    return into


def _path(into: Mapping[str, ValueStep], start: str, node: str) -> tuple[ValueStep, ...]:
    steps: list[ValueStep] = []
    while node != start:
        steps.append(into[node])
        node = into[node].source
    return tuple(reversed(steps))


def _first_of_each(influences: Iterable[Influence]) -> tuple[Influence, ...]:
    """Return one influence of each target: one that is not masked, if there is any."""
    found: dict[str, Influence] = {}
    for one in sorted(influences, key=lambda one: (one.masked, one)):
        found.setdefault(one.target, one)
    return tuple(found[target] for target in sorted(found))


def _step(via: str, edge: StoredEdge, jobs: Mapping[str, StoredJob], functions: ValueEffects) -> ValueStep:
    job = jobs.get(edge.job)
    exposure = exposure_of(edge, job.sql if job else None, functions, job.dialect if job else None)
    shows = reveals(edge, job.sql if job else None)
    return ValueStep(via, edge.target, edge.job, exposure, edge.subtypes, edge.spans, edge.valid_from, shows)


def _influence(via: str, edge: StoredEdge) -> Influence:
    return Influence(via, edge.target, edge.job, edge.subtypes, edge.masking, edge.spans)
