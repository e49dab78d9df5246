"""Plan the state of the graph after a batch. The result depends on times, not on the order of batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Set
from dataclasses import replace
from datetime import datetime

from lineage.model.batch import DatasetChange
from lineage.model.names import column_key, split_dataset_key
from lineage.model.statement import ChangeKind
from lineage.store.planning.chunking.chunks import Stage
from lineage.store.planning.chunking.dataset_references import DatasetReference
from lineage.store.planning.datasets import (
    AllDrops,
    date_datasets,
    describe_datasets,
    drop_dataset,
    remade_datasets,
    remove_missing_columns,
    remove_unclaimed_columns,
    revive_made_of,
    see_dataset,
    see_datasets,
)
from lineage.store.planning.facts import state_facts
from lineage.store.planning.graph_state import GraphState, KnownChange, Prune, change_key
from lineage.store.planning.intake import Intake
from lineage.store.planning.job_outputs import Units
from lineage.store.planning.naming import NamesOverTime
from lineage.store.planning.renaming.aliases import join_aliased
from lineage.store.planning.renaming.column_renames import drop_column, rename_column
from lineage.store.planning.renaming.renames import apply_rename, spelled_by
from lineage.store.planning.runs import record_run, record_usage

__all__ = ["plan", "plan_pruning"]


def plan(before: GraphState, intake: Intake, naming: NamesOverTime) -> GraphState:
    """Return the state after the batch, or after the stages of a part; `before` is not changed."""
    after, stages = before.copy(), intake.stages
    described: Set[str] = frozenset()
    if Stage.CHANGES in stages:
        join_aliased(after, naming)
        _change_datasets(after, intake, naming)
    if Stage.NODES in stages:
        remade = remade_datasets(after, intake)
        described = see_datasets(after, intake, _drops(after, naming).into)
        _note_remade(after, intake, naming, remade)
        _name_renamed(after, intake, naming)
    if not stages.isdisjoint({Stage.JOBS, Stage.RETIREMENT}):
        units = Units(after, _drops(after, naming), _absences(after, intake))
        if Stage.JOBS in stages:
            for observation in intake.observations:
                units.observe(observation)
        if Stage.RETIREMENT in stages:
            _retire(units, intake)
    if Stage.DATASETS in stages:
        undescribed = intake.references.keys() - described
        outdated = describe_datasets(after, intake, undescribed, _drops(after, naming).into)
        remove_missing_columns(after, intake, outdated, naming)
        state_facts(after, intake)
        date_datasets(after, intake)
        record_usage(after, intake)
    if Stage.RUN in stages:
        remove_unclaimed_columns(after, intake, naming)
        record_run(after, intake)
    return after


def plan_pruning(before: GraphState, prune: Prune) -> GraphState:
    """Return the state in which a prune has retired the live edges that it applies to.

    The prune itself is stored: older observations that are ingested later end at its time.
    """
    after = before.copy()
    after.prunes[prune.key] = prune
    for pair, history in before.histories.items():
        newest = history[-1]
        if newest.live and newest.last_seen < prune.older_than:
            after.histories[pair] = (*history[:-1], newest._replace(end=prune.at))
    return after


def _change_datasets(state: GraphState, intake: Intake, naming: NamesOverTime) -> None:
    """Apply the changes that are new to the graph."""
    known = NamesOverTime.of((change.stated for change in state.changes.values()), (), naming.aliases)
    existing = state.datasets.keys() | set()
    new_changes = [change for change in intake.changes if change_key(change) not in state.changes]
    for move in new_changes:
        if move.kind is ChangeKind.RENAME_COLUMN:
            rename_column(state, move, known)
        elif move.kind in (ChangeKind.RENAME, ChangeKind.SWAP):
            apply_rename(state, move, known)
            _drop_renamed(state, move, naming)
        elif move.kind is ChangeKind.DROP_COLUMN:
            drop_column(state, move, naming)
        if move.kind is not ChangeKind.DROP:
            state.changes[change_key(move)] = KnownChange(move)
    renames: dict[str, list[DatasetChange]] = defaultdict(list)
    for move in intake.changes:
        if move.kind is ChangeKind.RENAME and move.other is not None:
            renames[naming.after(move.other, move)].append(move)
    for drop in new_changes:
        if drop.kind is ChangeKind.DROP:
            dataset = naming.after(drop.dataset, drop)
            reference = intake.references.get(dataset)
            if reference is not None:
                see_dataset(state, dataset, reference)
            replaced = _is_replaced(drop, existing, intake.references.get(dataset), renames[dataset])
            state.changes[change_key(drop)] = KnownChange(drop, replaced)
            if not replaced and drop_dataset(state, dataset, drop.at):
                state.changes[change_key(drop)] = KnownChange(drop, remade=True)


def _drop_renamed(state: GraphState, move: DatasetChange, naming: NamesOverTime) -> None:
    """Apply known DROPs of the new name to a dataset whose RENAME is ingested after them."""
    moved = {naming.after(name, move) for name in (move.dataset, move.other) if name is not None}
    if move.kind is ChangeKind.RENAME and move.other is not None:
        moved = {naming.after(move.other, move)}
    for key in sorted(moved):
        for drop in naming.drops_of(key):
            known = state.changes.get(change_key(drop)) if drop.at > move.at else None
            if known is not None and not known.replaced and drop_dataset(state, key, drop.at):
                state.changes[change_key(drop)] = replace(known, remade=True)


def _retire(units: Units, intake: Intake) -> None:
    """Retire the jobs that a complete source no longer contains."""
    observed = intake.observed_jobs
    for job in list(units.state.jobs.values()):
        if job.origin in intake.complete_sources and job.key not in observed:
            units.retire(job, intake.run.at)


def _is_replaced(
    drop: DatasetChange, existing: Container[str], reference: DatasetReference | None, renames: Iterable[DatasetChange]
) -> bool:
    """Return whether the batch creates the dropped dataset again, or renames another one to its name.

    `reference` is how the batch mentions it, `renames` are the batch's RENAMEs to its name.
    """
    written = reference is not None and reference.written is not None
    taken = any(move.at >= drop.at and (written or move.dataset in existing) for move in renames)
    return taken or (reference is not None and reference.is_made_again(drop.at))


def _note_remade(state: GraphState, intake: Intake, naming: NamesOverTime, remade: Container[str]) -> None:
    """Mark the DROPs of datasets that were re-created later: edges out of them stay valid.

    This considers the DROPs that are certainly loaded: those of `remade`, and those after the batch's first time.
    """
    drops = _drops(state, naming)
    for change in naming.changes:
        known = state.changes.get(change_key(change))
        if change.kind is not ChangeKind.DROP or known is None or known.replaced or known.remade:
            continue
        key = naming.after(change.dataset, change)
        dataset, reference = state.datasets.get(key), intake.references.get(key)
        if dataset is None or reference is None or not (key in remade or reference.first_seen <= change.at):
            continue
        if dataset.first_seen <= change.at and dataset.was_made_since(change.at):
            state.changes[change_key(change)] = replace(known, remade=True)
            revive_made_of(state, key, change.at, drops)


def _name_renamed(state: GraphState, intake: Intake, naming: NamesOverTime) -> None:
    """Add the earlier names of datasets, from known RENAMEs after the batch's first time, as aliases."""
    for change in naming.changes:
        if change.kind is ChangeKind.RENAME and change.other is not None:
            key = naming.after(change.other, change)
            reference = intake.references.get(key)
            if reference is not None and reference.first_seen <= change.at and key != change.dataset:
                dataset, earlier = state.datasets[key], split_dataset_key(change.dataset)[1]
                dataset = replace(dataset, aliases=tuple(sorted({*dataset.aliases, earlier})))
                state.datasets[key] = spelled_by(dataset, change)


def _drops(state: GraphState, naming: NamesOverTime) -> AllDrops:
    into: dict[str, list[datetime]] = defaultdict(list)
    out_of: dict[str, list[datetime]] = defaultdict(list)
    for change in naming.changes:
        if change.kind is ChangeKind.DROP_COLUMN:
            column = column_key(*naming.column_after(change))
            into[column].append(change.at)
            out_of[column].append(change.at)
        known = state.changes.get(change_key(change)) if change.kind is ChangeKind.DROP else None
        if known is not None and not known.replaced:
            key = naming.after(change.dataset, change)
            into[key].append(change.at)
            if not known.remade:
                out_of[key].append(change.at)
    return AllDrops(into, out_of)


def _absences(state: GraphState, intake: Intake) -> dict[str, tuple[datetime, ...]]:
    """Return the times at which earlier runs ingested a complete source of each job without the job."""
    absences: dict[str, tuple[datetime, ...]] = {}
    for observation in intake.observations:
        job = observation.job
        times = {
            at
            for run in state.runs.values()
            if run.key != intake.run.key
            and (job.file_key or job.source) in run.complete_sources
            and (run.key, job.key) not in state.observed
            for at in (run.at, run.last_seen)
            if at > job.last_seen
        }
        if times:
            absences[job.key] = tuple(sorted(times))
    return absences
