"""From the state that a batch touches to the state after it. Times decide; the order in which batches come does not."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from lineage.model.batch import DatasetChange, LineageBatch
from lineage.model.statement import ChangeKind
from lineage.store.planning.datasets import (
    Drops,
    describe_datasets,
    end_dropped,
    is_made_again,
    part_with_columns,
    see_columns,
    see_datasets,
)
from lineage.store.planning.intake import Intake
from lineage.store.planning.moves import apply_move
from lineage.store.planning.naming import Naming
from lineage.store.planning.runs import record_run
from lineage.store.planning.state import KnownChange, State, change_key
from lineage.store.planning.units import Units

__all__ = ["earliest", "plan", "plan_pruning"]


def earliest(batch: LineageBatch) -> datetime:
    """Return the earliest time that the batch speaks of."""
    times = chain(
        (job.first_seen for job in batch.jobs),
        (change.at for change in batch.changes),
        (record.at for record in batch.datasets if record.at is not None),
        (datetime.combine(used.day, datetime.min.time(), UTC) for used in batch.usage),
    )
    return min(times, default=batch.run.at)


def plan(before: State, intake: Intake, naming: Naming) -> State:
    """Return the state after the batch; `before` is left as it is."""
    after = before.copy()
    told = [change for change in intake.changes if change_key(change) not in before.changes]
    known = Naming.of((change.told for change in before.changes.values()), ())
    for move in told:
        if move.kind is not ChangeKind.DROP:
            apply_move(after, move, known)
            after.changes[change_key(move)] = KnownChange(move)
    moved = after.copy()
    see_datasets(after, intake)
    for drop in told:
        if drop.kind is ChangeKind.DROP:
            dataset = naming.after(drop.dataset, drop)
            replaced = _is_replaced(dataset, drop, before, intake, naming)
            after.changes[change_key(drop)] = KnownChange(drop, replaced)
            if not replaced:
                end_dropped(after, dataset, drop.at)
    describe_datasets(after, moved, intake)
    units = Units(after, _drops(after, naming), _absences(before, intake))
    observed = {observation.job.key for observation in intake.observations}
    for observation in intake.observations:
        units.observe(observation)
    for job in list(after.jobs.values()):
        if job.source in intake.complete_sources and job.key not in observed:
            units.retire(job, intake.run.at)
    see_columns(after, intake)
    part_with_columns(after, moved, intake)
    record_run(after, moved, intake)
    return after


def plan_pruning(before: State, older_than: datetime) -> State:
    """Return the state with the live edges ended that were last seen before; they held until then."""
    after = before.copy()
    for pair, history in before.histories.items():
        newest = history[-1]
        if newest.live and newest.last_seen < older_than:
            after.histories[pair] = (*history[:-1], replace(newest, end=newest.last_seen))
    return after


def _is_replaced(dataset: str, drop: DatasetChange, before: State, intake: Intake, naming: Naming) -> bool:
    """Return whether the dropped dataset is made again in the batch, or one that was made takes its name."""
    written = any(dataset in observation.outputs for observation in intake.observations)
    taken = any(
        move.kind is ChangeKind.RENAME
        and move.at >= drop.at
        and move.other is not None
        and naming.after(move.other, move) == dataset
        and (written or move.dataset in before.datasets)
        for move in intake.changes
    )
    return taken or is_made_again(intake, dataset, drop.at)


def _drops(state: State, naming: Naming) -> Drops:
    drops: Drops = defaultdict(list)
    for change in naming.changes:
        if change.kind is ChangeKind.DROP and not state.changes[change_key(change)].replaced:
            drops[naming.after(change.dataset, change)].append(change.at)
    return drops


def _absences(before: State, intake: Intake) -> dict[str, tuple[datetime, ...]]:
    """Return when a source of each job was stated whole, without the job, by runs that came before this batch."""
    absences: dict[str, tuple[datetime, ...]] = {}
    for observation in intake.observations:
        job = observation.job
        times = {
            at
            for run in before.runs.values()
            if run.key != intake.run.key
            and job.source in run.complete_sources
            and (run.key, job.key) not in before.observed
            for at in (run.at, run.last_seen)
            if at > job.last_seen
        }
        if times:
            absences[job.key] = tuple(sorted(times))
    return absences
