"""A graph in memory that batches are planned on, without a database."""

from __future__ import annotations

from dataclasses import replace

from lineage.model.batch import LineageBatch
from lineage.store.planning.intake import take_in
from lineage.store.planning.naming import Naming, as_replacements
from lineage.store.planning.plan import earliest, plan
from lineage.store.planning.state import State, change_key
from lineage.store.planning.timeline import Timeline
from tests.contract.telling import day, key


class MemoryGraph:
    """The whole graph as one state. Timelines go through the texts that a store would keep."""

    def __init__(self) -> None:
        self.state = State()

    def apply(self, batch: LineageBatch) -> None:
        batch = replace(batch, changes=tuple(as_replacements(batch.changes)))
        known = [change for change in self.state.changes.values() if change.told.at >= earliest(batch)]
        naming = Naming.of((change.told for change in known), batch.changes)
        before = self.state.copy()
        before.changes = {change_key(change.told): change for change in known}
        after = plan(before, take_in(batch, naming), naming)
        after.changes = {**self.state.changes, **after.changes}
        for link, unit in after.units.items():
            kept = Timeline.from_texts(unit.timeline.to_texts(), unit.last_seen)
            after.units[link] = replace(unit, timeline=kept)
        self.state = after

    def history(self) -> list[str]:
        """Return all lineage, as `telling.history` does, and when each was last seen."""
        return sorted(
            f"{pair.source} {pair.relation} {pair.target} by {pair.job} {'masked ' * period.meaning.masking}"
            f"{period.start:%d}..{f'{period.end:%d}' if period.end else ''} seen {period.last_seen:%d}"
            for pair, history in self.state.histories.items()
            for period in history
        )


__all__ = ["MemoryGraph", "day", "key"]
