"""Datasets: seen, described, dropped and made again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime

from lineage.model.names import column_key
from lineage.model.statement import DatasetKind
from lineage.store.planning.columns import complete_column, ensure_column, let_go, with_parents
from lineage.store.planning.intake import DatasetNews, Intake, split_dataset_key
from lineage.store.planning.periods import end_at
from lineage.store.planning.state import Dataset, Relation, State
from lineage.store.planning.timeline import UNOBSERVED

__all__ = [
    "Drops",
    "describe_datasets",
    "end_dropped",
    "is_made_again",
    "part_with_columns",
    "see_columns",
    "see_datasets",
]

Drops = dict[str, list[datetime]]
"""When each dataset was dropped, in order."""


def see_datasets(state: State, intake: Intake) -> None:
    """Make the datasets that the batch names, and move their times; what it writes or describes is not dropped."""
    times: dict[str, list[datetime]] = defaultdict(list)
    for observation in intake.observations:
        job = observation.job
        touched = {*job.reads, *job.writes}
        touched.update(pair.from_dataset for stated in observation.outputs.values() for pair in stated)
        for key in touched:
            times[key] += (job.first_seen, job.last_seen)
    for news in intake.datasets:
        times[news.key].append(news.at)
    for used in intake.usage:
        times[intake.column_owner(used.of)].append(datetime.combine(used.day, datetime.min.time(), UTC))
    for key, seen in times.items():
        dataset = state.datasets.get(key) or _new_dataset(key, min(seen))
        dataset = dataset.seen(min(seen), max(seen))
        if dataset.dropped_at is not None and is_made_again(intake, key, dataset.dropped_at):
            dataset = replace(dataset, dropped_at=None)
        state.datasets[key] = dataset


def is_made_again(intake: Intake, dataset: str, dropped_at: datetime) -> bool:
    """Return whether the batch writes the dataset at the time of its DROP or later, or describes it later."""
    return any(
        job.last_seen >= dropped_at and dataset in job.writes
        for job in (observation.job for observation in intake.observations)
    ) or any(news.at > dropped_at and news.key == dataset and news.record.schema_known for news in intake.datasets)


def describe_datasets(state: State, before: State, intake: Intake) -> None:
    """Bring in what the batch's records say of datasets and their columns.

    A record from before what is known of the dataset only fills in what is missing.
    """
    defined = {
        output
        for observation in intake.observations
        if observation.job.kind.defines_output
        for output in observation.outputs
    }
    for news in intake.datasets:
        known = before.datasets.get(news.key)
        late = known is not None and news.at < known.last_seen
        dataset, record = state.datasets[news.key], news.record
        namespace, name = (known.namespace, known.name) if known else _names(news)
        if known is None or (not late and (record.kind is not DatasetKind.TABLE or news.key in defined)):
            dataset = replace(dataset, kind=record.kind)
        state.datasets[news.key] = replace(
            dataset,
            namespace=namespace,
            name=name,
            dialect=(dataset.dialect or record.dialect) if late else (record.dialect or dataset.dialect),
            schema_known=dataset.schema_known or record.schema_known,
        )
        for position, column in enumerate(record.columns):
            placed = column
            if record.schema_known and column.ordinal is None:
                placed = replace(column, ordinal=position)
            complete_column(state, news.key, placed, news.at, late=late)


def see_columns(state: State, intake: Intake) -> None:
    """Make the columns that edges and counts of use name."""
    for observation in intake.observations:
        at = observation.job.last_seen
        for stated in observation.outputs.values():
            for pair in stated:
                if pair.relation is Relation.FEEDS:
                    continue
                ensure_column(state, pair.from_dataset, pair.source[len(pair.from_dataset) + 1 :], at)
                if pair.target != pair.output:
                    ensure_column(state, pair.output, pair.target[len(pair.output) + 1 :], at)
    for used in intake.usage:
        dataset = intake.column_owner(used.of)
        if dataset != used.of:
            midnight = datetime.combine(used.day, datetime.min.time(), UTC)
            ensure_column(state, dataset, used.of[len(dataset) + 1 :], midnight)


def part_with_columns(state: State, before: State, intake: Intake) -> None:
    """Part with the columns that known schemas have no more."""
    described: dict[str, datetime] = {}
    present: set[str] = set()
    for news in intake.datasets:
        known = before.datasets.get(news.key)
        if news.record.schema_known and (known is None or news.at >= known.last_seen):
            described[news.key] = news.at
            paths = (path for column in news.record.columns for path in with_parents(column.path))
            present.update(column_key(news.key, path) for path in paths)
    absent = {
        key: described[column.dataset]
        for key, column in state.columns.items()
        if column.dataset in described and key not in present
    }
    let_go(state, absent)


def end_dropped(state: State, dataset: str, at: datetime) -> None:
    """Mark a dataset dropped, unless a job wrote it since, and end its lineage both ways until that is stated again."""
    written = [unit.last_seen for (_, output), unit in state.units.items() if output == dataset]
    known = state.datasets.get(dataset)
    if known is not None and known.first_seen <= at and all(last_seen < at for last_seen in written):
        state.datasets[dataset] = replace(known, dropped_at=max(at, known.dropped_at or at))
    for pair, history in state.histories.items():
        if dataset in (pair.from_dataset, pair.output):
            unit = state.units.get((pair.job, pair.output))
            state.histories[pair] = end_at(history, at, unit.timeline if unit else UNOBSERVED)


def _new_dataset(key: str, first_seen: datetime) -> Dataset:
    namespace, name = split_dataset_key(key)
    return Dataset(key, namespace, name, DatasetKind.TABLE, None, False, first_seen, first_seen)


def _names(news: DatasetNews) -> tuple[str, str]:
    # A record that was moved since has the name of its time; its key is of today.
    if news.key == news.record.key:
        return news.record.namespace, news.record.name
    return split_dataset_key(news.key)
