"""Datasets: created, described, dropped and re-created."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime

from lineage.frozen import frozen
from lineage.model.batch import DatasetChange
from lineage.model.names import column_key, split_dataset_key
from lineage.model.spelling import spelling_of
from lineage.model.statement import ChangeKind, DatasetKind
from lineage.store.planning.chunking.chunks import Stage
from lineage.store.planning.chunking.dataset_references import DatasetReference, latest
from lineage.store.planning.columns import (
    complete_column,
    ensure_column,
    is_unsupported,
    remove_columns,
    with_parents,
)
from lineage.store.planning.graph_state import GraphState, KnownChange, change_key
from lineage.store.planning.intake import DatasetNews, Intake
from lineage.store.planning.naming import NamesOverTime
from lineage.store.planning.observations import UNOBSERVED
from lineage.store.planning.rival_definitions import columns_of_other_files
from lineage.store.planning.validity import merge_periods, retire_at
from lineage.store.values import StoredColumn, StoredDataset

__all__ = [
    "AllDrops",
    "Drops",
    "date_datasets",
    "describe_datasets",
    "drop_dataset",
    "remove_missing_columns",
    "remove_unclaimed_columns",
    "remade_datasets",
    "remade_since",
    "revive_made_of",
    "see_dataset",
    "see_datasets",
    "unclaimed_since",
]

Drops = Mapping[str, Sequence[datetime]]
"""The times at which each dataset and column was dropped, in order."""


@frozen
class AllDrops:
    """The DROPs that retire edges into a dataset, and those that retire edges out of it."""

    into: Drops
    out_of: Drops


def see_datasets(state: GraphState, intake: Intake, drops: Drops) -> Set[str]:
    """Create the datasets and columns that the batch refers to; a dataset written or described since its DROP is live.

    The times of existing datasets are extended into the past only (see `date_datasets`). Return the new datasets with a
    single record in the batch: describing them again would change nothing.
    """
    unknown = intake.references.keys() - state.datasets.keys()
    for key, reference in intake.references.items():
        see_dataset(state, key, reference, drops.get(key, ()))
    # New datasets are created in one step; they are the majority of a first ingest.
    describe_datasets(state, intake, unknown, drops)
    schemas = {(news.key, news.at) for news in intake.datasets if news.record.schema_known}
    for key, reference in intake.references.items():
        for path, (first, last) in reference.columns.items():
            known = state.columns.get(named := column_key(key, path))
            ensure_column(state, key, path, last, first, reference.spellings, used=True)
            if known is None:
                if ended := [drop for drop in drops.get(named, ()) if drop > last]:
                    state.columns[named] = replace(state.columns[named], dropped_at=min(ended))
            elif known.dropped_at == last and (key, last) in schemas:
                # The schema of this moment, stated again, decides whether it is there: it stays what it was.
                state.columns[named] = replace(state.columns[named], inferred=known.inferred)
    records = Counter(news.key for news in intake.datasets)
    return {key for key in unknown if records[key] == 1}


def see_dataset(state: GraphState, key: str, reference: DatasetReference, drops: Sequence[datetime] = ()) -> None:
    """Create a dataset unless it exists; `drops` are its known DROPs."""
    dataset = state.datasets.get(key) or _new_dataset(key, reference)
    if dataset.spelled_at is None and reference.first_seen < dataset.first_seen:
        dataset = replace(dataset, spelling=spelling_of(dataset.name, reference.spelling))
    dataset = replace(
        dataset.seen(reference.first_seen, dataset.last_seen),
        written_at=latest(dataset.written_at, reference.written),
        schema_at=latest(dataset.schema_at, reference.described),
    )
    state.datasets[key] = _drop(dataset, drops)


def _drop(dataset: StoredDataset, drops: Sequence[datetime]) -> StoredDataset:
    """Return the dataset as dropped by the first of these DROPs after which it was not created again."""
    known = (at for at in (*drops, dataset.dropped_at) if at is not None)
    at = min((at for at in known if dataset.first_seen <= at and not dataset.was_made_since(at)), default=None)
    return dataset if at == dataset.dropped_at else replace(dataset, dropped_at=at)


def date_datasets(state: GraphState, intake: Intake) -> None:
    """Update the time at which each dataset was last seen. Earlier stages compare records with the old time."""
    for key, reference in intake.references.items():
        state.datasets[key] = state.datasets[key].seen(reference.first_seen, reference.last_seen)


def describe_datasets(state: GraphState, intake: Intake, wanted: Container[str], drops: Drops) -> set[str]:
    """Update datasets and their columns from the batch's records.

    A record older than what is known only fills in what is missing; `drops` are known DROPs, also of columns. Return
    the columns of older complete schemas that the newest one does not have.
    """
    outdated: set[str] = set()
    for news in intake.datasets:
        if news.key not in wanted:
            continue
        before = state.datasets[news.key]
        late = news.at < before.last_seen
        is_named = intake.references[news.key].defined
        state.datasets[news.key] = _described(before, news, late=late, is_named=is_named)
        outdated |= _describe_columns(state, news, before, late, drops)
    return outdated


def _described(dataset: StoredDataset, news: DatasetNews, *, late: bool, is_named: bool) -> StoredDataset:
    """Return a dataset with what a record says of it; `is_named`: the batch defines it, so that its kind is known."""
    record = news.record
    is_kind_known = record.kind is not DatasetKind.TABLE or is_named or record.is_kind_stated
    if is_kind_known and (dataset.kind_at is None or news.at >= dataset.kind_at):
        dataset = replace(dataset, kind=record.kind, kind_at=news.at)
    if record.is_spelled and (dataset.spelled_at is None or news.at >= dataset.spelled_at):
        dataset = replace(dataset, spelling=spelling_of(dataset.name, record.spelling), spelled_at=news.at)
    return replace(
        dataset,
        dialect=(dataset.dialect or record.dialect) if late else (record.dialect or dataset.dialect),
        schema_known=dataset.schema_known or record.schema_known,
        aliases=tuple(sorted({*dataset.aliases, *record.aliases})),
    )


def _describe_columns(
    state: GraphState, news: DatasetNews, dataset: StoredDataset, late: bool, drops: Drops
) -> set[str]:
    """Update the columns of a record; return those that only an older schema has. `dataset` is as it was before."""
    record = news.record
    outdated: set[str] = set()
    before_schema = record.schema_known and dataset.schema_at is not None and news.at < dataset.schema_at
    dropped = 0
    for position, column in enumerate(record.columns):
        placed = column
        if before_schema:
            # The newest schema has the ordinals of all its columns; others have none.
            placed = replace(column, ordinal=None)
        elif record.schema_known and column.ordinal is None and not column.inferred:
            placed = replace(column, ordinal=position)
        key = column_key(news.key, column.path)
        known = state.columns.get(key)
        if dataset.schema_at is not None and is_unsupported(state, news.key, column, news.at):
            continue
        if dropped and placed.ordinal is not None:
            placed = replace(placed, ordinal=placed.ordinal - dropped)
        complete_column(state, news.key, placed, news.at, late=before_schema if record.schema_known else late)
        if not column.is_only_used and (ended := _dropped_after(news.at, known, drops.get(key, ()))) is not None:
            dropped += 1
            state.columns[key] = replace(state.columns[key].without_ordinal(), dropped_at=ended)
        if before_schema and (known is None or known.inferred or known.ordinal is None):
            if state.columns[key].last_ordinal is None:
                state.columns[key] = replace(state.columns[key], last_ordinal=position)
            outdated.add(key)
    return outdated


def _dropped_after(at: datetime, known: StoredColumn | None, drops: Sequence[datetime]) -> datetime | None:
    """Return when a column that a schema had at `at` was dropped, if its DROP was known first; None if it was not.

    `known` is the column before. One that is known and there may have been added again since.
    """
    if known is not None and known.dropped_at is None:
        return None
    return min((drop for drop in drops if drop > at), default=None)


def remove_missing_columns(state: GraphState, intake: Intake, outdated: Set[str], naming: NamesOverTime) -> None:
    """Remove the columns that the newest complete schemas do not have; columns with usage in the batch stay.

    `outdated` are columns that the batch knows from older schemas only. Each removal is recorded as a DROP COLUMN,
    which also ends older lineage that is ingested later.
    """
    state.bound_columns |= {used.of for used in intake.usage}
    described: dict[str, DatasetNews] = {}
    present: set[str] = set()
    for news in intake.datasets:
        if news.record.schema_known and news.at == state.datasets[news.key].schema_at:
            described[news.key] = news
            paths = (path for column in news.record.schema_columns for path in with_parents(column.path))
            present.update(column_key(news.key, path) for path in paths)
    absent = {
        key: described[column.dataset].at
        for key, column in state.columns.items()
        if column.dataset in described and key not in present
    }
    parents = {column.parent for column in state.columns.values() if column.ordinal is not None}
    for key in outdated - present - parents:
        schema_at = state.datasets[state.columns[key].dataset].schema_at
        assert schema_at is not None  # a newer schema made the column outdated
        absent.setdefault(key, schema_at)
    for key in columns_of_other_files(state, absent):
        del absent[key]
        if state.columns[key].ordinal is not None:
            state.columns[key] = replace(state.columns[key], ordinal=None)
    # An inferred column may have an ordinal, too, although no schema had it.
    known = {key: state.columns[key] for key in absent}
    placed = {key for key, one in known.items() if not one.inferred and one.ordinal is not None}
    had = {key for key in known if key in outdated or (key in placed and known[key].dropped_at is None)}
    remove_columns(state, absent)
    _record_drops(state, [known[key] for key in had], absent, naming)


def remove_unclaimed_columns(state: GraphState, intake: Intake, naming: NamesOverTime) -> None:
    """Remove the columns that complete schemas lack and that no other file's definition keeps any more.

    Those that the batch adds to a table stay; a part with the run has the records that do so.
    """
    parents = {column.parent for column in state.columns.values()}
    added = {column_key(one.key, c.path) for one in intake.datasets for c in one.record.columns if c.is_added}
    absent: dict[str, datetime] = {}
    for key in sorted((state.unplaced & state.columns.keys()) - added):
        column = state.columns[key]
        at = state.datasets[column.dataset].schema_at
        is_unplaced = column.ordinal is None and column.parent is None and key not in parents
        if at is not None and is_unplaced and column.dropped_at is None:
            absent[key] = at
    for key in columns_of_other_files(state, absent):
        del absent[key]
    known = {key: state.columns[key] for key in absent}
    remove_columns(state, absent)
    # A column that stays, because lineage uses it, lost its place in the schema earlier: that is recorded.
    _record_drops(state, [one for key, one in known.items() if _is_gone(state, key)], absent, naming)


def _is_gone(state: GraphState, column: str) -> bool:
    known = state.columns.get(column)
    return known is None or known.dropped_at is not None


def _record_drops(
    state: GraphState, dropped: Iterable[StoredColumn], absent: Mapping[str, datetime], naming: NamesOverTime
) -> None:
    """Record columns as dropped, at the time (by key) of the schema that lacks them."""
    for column in dropped:
        key, dataset, path = column.key, column.dataset, column.path
        # A change is stored with the names of its time, but these are current names.
        if naming.column_today(dataset, path, absent[key]) == (dataset, path):
            change = DatasetChange(ChangeKind.DROP_COLUMN, dataset, absent[key], column=path)
            state.changes[change_key(change)] = KnownChange(change)


def drop_dataset(state: GraphState, dataset: str, at: datetime) -> bool:
    """Mark a dataset as dropped, and retire its lineage in both directions until it is observed again.

    If it was re-created since, it is not marked as dropped, and edges out of it stay. Return whether it was re-created.
    """
    known = state.datasets.get(dataset)
    if known is not None:
        state.datasets[dataset] = _drop(known, [at])
    remade = known is not None and known.first_seen <= at and known.was_made_since(at)
    for pair, history in state.histories.items():
        if dataset == pair.output or (dataset == pair.from_dataset and not remade):
            unit = state.units.get((pair.job, pair.output))
            state.histories[pair] = retire_at(history, at, unit.timeline if unit else UNOBSERVED)
    return remade


def remade_since(state: GraphState, intake: Intake) -> datetime | None:
    """Return the time from which changes must be loaded: the batch may re-create a dataset dropped before it."""
    if Stage.NODES not in intake.stages:
        return None
    return min((state.datasets[key].first_seen for key in remade_datasets(state, intake)), default=None)


def unclaimed_since(state: GraphState) -> datetime | None:
    """Return the time from which changes must be loaded: a column may be dropped as of a schema before the batch.

    It may have been dropped as of that schema before, and be there again by a definition that is gone.
    """
    owners = {column.dataset for key in state.unplaced if (column := state.columns.get(key)) is not None}
    return min((at for key in owners if (at := state.datasets[key].schema_at) is not None), default=None)


def remade_datasets(state: GraphState, intake: Intake) -> frozenset[str]:
    """Return the dropped datasets that the batch re-creates, after their last DROP or an earlier one."""
    known = ((state.datasets.get(key), reference) for key, reference in intake.references.items())
    return frozenset(
        dataset.key
        for dataset, reference in known
        if dataset is not None and dataset.dropped_at is not None and reference.is_made_again(dataset.first_seen)
    )


def revive_made_of(state: GraphState, dataset: str, dropped_at: datetime, drops: AllDrops) -> None:
    """Extend edges out of a dataset beyond a DROP after which the dataset was re-created."""
    later = [at for at in drops.out_of.get(dataset, ()) if at > dropped_at]
    for pair, history in state.histories.items():
        if pair.from_dataset != dataset or pair.output == dataset:
            continue
        for period in history:
            if period.end != dropped_at:
                continue
            unit, job = state.units.get((pair.job, pair.output)), state.jobs.get(pair.job)
            ends = {pair.output, pair.target, pair.source} - {dataset}
            bounds = [at for key in ends for at in drops.into.get(key, ()) if at > period.last_seen] + later
            if unit is not None and unit.timeline.points:
                bounds += [at for at in (unit.timeline.next_after(dropped_at),) if at is not None]
            elif job is not None and job.retired_at is not None:
                bounds.append(job.retired_at)
            longer = period._replace(end=min(bounds, default=None))
            others = tuple(one for one in history if one is not period)
            state.histories[pair] = merge_periods((*others, longer))


def _new_dataset(key: str, reference: DatasetReference) -> StoredDataset:
    namespace, name = reference.names or split_dataset_key(key)
    seen = reference.first_seen
    spelling = spelling_of(name, reference.spelling)
    return StoredDataset(key, namespace, name, DatasetKind.TABLE, None, False, (), seen, seen, spelling=spelling)
