"""What a random warehouse does with tagged values, from what its generator meant: the product's edges are not asked.

Every statement of the warehouse is a tree whose references point at what they mean (`tests/soundness`). So it is known,
for each column, which columns its values come from, and what is done to them on the way. This walks these edges by the
rules of `docs/governance.md`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from tests.soundness.warehouse.world import World

__all__ = ["CONFIDENCE", "EXPOSURES", "Flow", "Found", "Planted", "Tag", "Truth", "columns_of"]

EXPOSURES = ("unmasked", "partial", "aggregated", "masked")
CONFIDENCE = {"unmasked": 1.0, "partial": 0.7, "aggregated": 0.4, "masked": 0.0}
_MASKED = 3
_DIRECT = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that is planted on a column, or a denial."""

    column: str
    name: str
    source: str
    confidence: float = 1.0
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Planted:
    """What people say about the columns of a warehouse, by full name."""

    tags: tuple[Tag, ...]
    broken_columns: tuple[str, ...]
    broken_edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """A value of `source` decides or is part of `target`: `rank` says how much is hidden, None: influence only."""

    source: str
    target: str
    rank: int | None
    masked: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Where the values of a column are: exposure and hops by column, whom they influence, where they are stopped."""

    reached: Mapping[str, tuple[str, int]]
    influenced: Mapping[str, bool]
    """Columns, and tables (`name (rows)`), with whether only masked values decide."""
    stopped: frozenset[str]


@dataclass(slots=True)
class Truth:
    """The edges of a warehouse without its temporary tables, and what is planted on it."""

    columns: tuple[str, ...]
    flows: Mapping[str, tuple[Flow, ...]]
    planted: Planted
    _searched: dict[str, Found] = field(default_factory=dict)

    @classmethod
    def of(cls, world: World, planted: Planted) -> Truth:
        """Return the truth about a warehouse."""
        names = _names(world)
        flows: defaultdict[str, set[Flow]] = defaultdict(set)
        for node, sources in world.flows.items():
            for source, step in sources if node in names else ():
                if source not in names or names[source].endswith(")"):
                    continue  # the rows of a table: no value
                edge = names[source], names[node]
                is_broken = edge[1] in planted.broken_columns or edge in planted.broken_edges
                rank = None if step.subtype not in _DIRECT else _MASKED if step.masking or is_broken else step.grade
                flows[edge[0]].add(Flow(*edge, rank, step.masking))
        listed = {source: tuple(sorted(found, key=str)) for source, found in flows.items()}
        return cls(columns_of(world), listed, planted)

    def classes(self, column: str) -> set[str]:
        """Return the classes of a column that count: a denial wins."""
        denied = self._denied(column)
        if "pii" in denied:
            return set()
        return {one.name for one in self.planted.tags if one.column == column and not one.denied} - denied

    def confidence(self, column: str, classes: Collection[str]) -> float:
        """Return how sure it is that a column has one of these classes, by the tags of the first source of each."""
        best: dict[str, Tag] = {}
        for one in sorted(self.planted.tags, key=lambda one: (_PLACES.index(one.source), -one.confidence)):
            if one.column == column and not one.denied and one.name in classes:
                best.setdefault(one.name, one)
        return max(one.confidence for one in best.values())

    def sources(self, asked: Collection[str]) -> dict[str, Found]:
        """Return the columns that a report about some classes (all, if none are given) starts from."""
        starts = {column: self.classes(column) for column in self.columns}
        starts = {column: names for column, names in starts.items() if (names & set(asked) if asked else names)}
        found = {column: self.spread(column, names & set(asked) or names) for column, names in starts.items()}
        return {column: one for column, one in found.items() if not self._is_explained(column, starts, found)}

    def spread(self, start: str, classes: Collection[str]) -> Found:
        """Return where the values of a column go, but for columns marked as holding none of these classes."""
        barred = {one for one in self.columns if one != start and self._is_denied(one, classes)}
        reached: dict[str, tuple[str, int]] = {}
        for rank, exposure in enumerate(EXPOSURES):
            for column, hops in self._within(start, rank, barred).items():
                reached.setdefault(column, (exposure, hops))
        holders = {start, *(one for one, (exposure, _) in reached.items() if exposure != "masked")}
        influences = [one for holder in holders for one in self.flows.get(holder, ()) if one.rank is None]
        influenced: dict[str, bool] = {}
        for one in influences:
            if one.target not in reached and one.target != start:
                influenced[one.target] = influenced.get(one.target, True) and self._only_masked(one)
        values = [one for holder in (start, *reached) for one in self.flows.get(holder, ()) if one.rank is not None]
        return Found(reached, influenced, frozenset(one.target for one in values) & barred)

    def _only_masked(self, flow: Flow) -> bool:
        """Return whether each influence of one column on another is of a masked value."""
        both = [one for one in self.flows[flow.source] if one.target == flow.target and one.rank is None]
        return all(one.masked for one in both)

    def _within(self, start: str, rank: int, barred: Collection[str]) -> dict[str, int]:
        """Return the columns that steps which hide no more lead to, with the least number of steps."""
        hops = {start: 0}
        for _ in self.columns:  # no shortest path has more steps
            for source in list(hops):
                for one in self.flows.get(source, ()):
                    if one.rank is not None and one.rank <= rank and one.target not in barred:
                        hops[one.target] = min(hops.get(one.target, len(self.columns)), hops[source] + 1)
        del hops[start]
        return hops

    def _is_explained(self, column: str, starts: Mapping[str, set[str]], found: Mapping[str, Found]) -> bool:
        """Return whether other starts account for all classes of a column that no person tagged."""
        own = [one for one in self.planted.tags if one.column == column and one.name in starts[column]]
        own = [one for one in own if not one.denied]
        first = {name: min((one for one in own if one.name == name), key=_place).source for name in starts[column]}
        if "manual" in first.values():
            return False
        explained: set[str] = set()
        for other, names in starts.items():
            exposure, _ = found[other].reached.get(column, ("", 0))
            counts = exposure == "unmasked" or (exposure and set(first.values()) == {"rules"})
            if counts and other not in found[column].reached:
                explained |= names
        return starts[column] <= explained

    def _denied(self, column: str) -> set[str]:
        return {one.name for one in self.planted.tags if one.column == column and one.denied}

    def _is_denied(self, column: str, classes: Collection[str]) -> bool:
        denied = self._denied(column)
        return "pii" in denied or set(classes) <= denied


_PLACES = ("manual", "csv", "rules")
"""The sources of tags, the first of which counts."""


def _place(tag: Tag) -> int:
    return _PLACES.index(tag.source)


def columns_of(world: World) -> tuple[str, ...]:
    """Return the full names of the columns of all tables and views that are there."""
    return tuple(sorted(name for name in _names(world).values() if not name.endswith(")")))


def _names(world: World) -> dict[str, str]:
    """Return the name of each node of the tables and views that are there."""
    found: dict[str, str] = {}
    for stored in world.tables.values():
        found[stored.rows] = f"{stored.full_name} (rows)"
        found.update((node, f"{stored.full_name}.{name}") for name, node in stored.nodes())
    return found
