"""A graph in memory that batches are planned on, without a database."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime

from lineage.model.batch import LineageBatch
from lineage.store.graph.records import writes_from, writes_relationship
from lineage.store.planning.chunking.chunks import BatchPart, split_batch, whole_batch
from lineage.store.planning.datasets import remade_since
from lineage.store.planning.graph_state import GraphState, KnownChange, change_key
from lineage.store.planning.intake import resolve_intake
from lineage.store.planning.naming import NamesOverTime, as_replacements
from lineage.store.planning.plan import plan
from lineage.store.planning.renaming.aliases import find_main_keys
from tests.store.batch_builders import day, key


class MemoryGraph:
    """The whole graph as one state. Timelines go through the texts that a store would keep."""

    def __init__(self) -> None:
        self.state = GraphState()

    def apply(self, batch: LineageBatch) -> None:
        self.apply_part(whole_batch(replace(batch, changes=tuple(as_replacements(batch.changes)))))

    def parts(self, batch: LineageBatch) -> list[list[BatchPart]]:
        batch = replace(batch, changes=tuple(as_replacements(batch.changes)))
        return split_batch(batch, self._naming(whole_batch(batch)))

    def apply_in_parts(self, batch: LineageBatch, chance: random.Random, *, until: float = 1) -> None:
        """Apply the parts, those of a round in any order, some twice; only the first of them if `until` is below 1."""
        rounds = self.parts(batch)
        for parts in rounds:
            chance.shuffle(parts)
        ordered = [part for parts in rounds for part in parts]
        for part in ordered[: round(until * len(ordered))]:
            self.apply_part(part)
            if chance.random() < 0.2:
                self.apply_part(part)

    def apply_part(self, part: BatchPart) -> None:
        naming = self._naming(part)
        before = self.state.copy()
        since = remade_since(before, resolve_intake(part, naming))
        if since is not None:
            naming = self._naming(part, since)
        before.changes = {change_key(change.stated): change for change in self._known(part, since)}
        after = plan(before, resolve_intake(part, naming), naming)
        after.changes = {**self.state.changes, **after.changes}
        for link, unit in after.units.items():
            job = after.jobs[link[0]]
            after.units[link] = writes_from(writes_relationship(job, link[1], unit).properties, job)
        self.state = after

    def _known(self, part: BatchPart, since: datetime | None = None) -> list[KnownChange]:
        begins = min(part.begins, since or part.begins)
        return [change for change in self.state.changes.values() if change.stated.at >= begins]

    def _naming(self, part: BatchPart, since: datetime | None = None) -> NamesOverTime:
        known = (change.stated for change in self._known(part, since))
        return NamesOverTime.of(known, part.batch.changes, find_main_keys(self.state.aliases, part.batch.aliases))

    def history(self) -> list[str]:
        """Return all lineage, as `batch_builders.history` does, and when each was last seen."""
        return sorted(
            f"{pair.source} {pair.relation} {pair.target} by {pair.job} {period.meaning} "
            f"{period.start:%d}..{f'{period.end:%d}' if period.end else ''} seen {period.last_seen:%d}"
            for pair, history in self.state.histories.items()
            for period in history
        )


__all__ = ["MemoryGraph", "day", "key"]
