"""Datasets: seen, described, dropped and made again."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from datetime import datetime

from lineage.model.names import column_key, split_dataset_key
from lineage.model.statement import DatasetKind
from lineage.store.planning.columns import complete_column, ensure_column, let_go, with_parents
from lineage.store.planning.intake import Intake
from lineage.store.planning.mentions import Mention
from lineage.store.planning.periods import end_at
from lineage.store.planning.state import Dataset, State
from lineage.store.planning.timeline import UNOBSERVED

__all__ = [
    "Drops",
    "date_datasets",
    "describe_datasets",
    "end_dropped",
    "part_with_columns",
    "see_dataset",
    "see_datasets",
]

Drops = dict[str, list[datetime]]
"""When each dataset and column was dropped, in order."""


def see_datasets(state: State, intake: Intake) -> None:
    """Make the datasets that the batch names, with their columns; what it writes or describes is not dropped.

    Times of datasets that are known are widened to the past only (see `date_datasets`).
    """
    unknown = intake.mentions.keys() - state.datasets.keys()
    for key, mention in intake.mentions.items():
        see_dataset(state, key, mention)
    # What is not known yet is written as it will stay: most of a first ingest.
    describe_datasets(state, intake, unknown)
    for key, mention in intake.mentions.items():
        for path, at in mention.columns.items():
            ensure_column(state, key, path, at)


def see_dataset(state: State, key: str, mention: Mention) -> None:
    """Make a dataset where it is not known."""
    dataset = state.datasets.get(key) or _new_dataset(key, mention)
    dataset = dataset.seen(mention.first_seen, dataset.last_seen)
    if dataset.dropped_at is not None and mention.made_again(dataset.dropped_at):
        dataset = replace(dataset, dropped_at=None)
    state.datasets[key] = dataset


def date_datasets(state: State, intake: Intake) -> None:
    """Move the time at which each dataset was last seen. Until then it says what is older than what was known."""
    for key, mention in intake.mentions.items():
        state.datasets[key] = state.datasets[key].seen(mention.first_seen, mention.last_seen)


def describe_datasets(state: State, intake: Intake, wanted: Container[str]) -> None:
    """Bring in what the batch's records say of datasets and their columns.

    A record from before what is known of the dataset only fills in what is missing.
    """
    for news in intake.datasets:
        if news.key not in wanted:
            continue
        dataset, record = state.datasets[news.key], news.record
        late = news.at < dataset.last_seen
        if not late and (record.kind is not DatasetKind.TABLE or intake.mentions[news.key].defined):
            dataset = replace(dataset, kind=record.kind)
        state.datasets[news.key] = replace(
            dataset,
            dialect=(dataset.dialect or record.dialect) if late else (record.dialect or dataset.dialect),
            schema_known=dataset.schema_known or record.schema_known,
            aliases=(*dataset.aliases, *(one for one in record.aliases if one not in dataset.aliases)),
        )
        for position, column in enumerate(record.columns):
            placed = column
            if record.schema_known and column.ordinal is None:
                placed = replace(column, ordinal=position)
            complete_column(state, news.key, placed, news.at, late=late)


def part_with_columns(state: State, intake: Intake) -> None:
    """Part with the columns that known schemas have no more; those that the batch counts use of stay."""
    state.bound_columns |= {used.of for used in intake.usage}
    described: dict[str, datetime] = {}
    present: set[str] = set()
    for news in intake.datasets:
        if news.record.schema_known and news.at >= state.datasets[news.key].last_seen:
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


def _new_dataset(key: str, mention: Mention) -> Dataset:
    namespace, name = mention.names or split_dataset_key(key)
    return Dataset(key, namespace, name, DatasetKind.TABLE, None, False, mention.first_seen, mention.first_seen)
