"""Apply RENAME and SWAP to the graph: everything about a dataset moves to its new key."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from lineage.frozen import frozen
from lineage.model.batch import DatasetChange, definition_job_key, event_job_key_under
from lineage.model.names import column_key, dataset_of, is_column_key, split_column_key, split_dataset_key
from lineage.model.spelling import spelling_of
from lineage.model.statement import ChangeKind
from lineage.store.planning.chunking.dataset_references import latest
from lineage.store.planning.columns import remove_columns
from lineage.store.planning.facts import joined_facts
from lineage.store.planning.graph_state import GraphState, JobEdge, JobOutput, RunUsage, Seen
from lineage.store.planning.naming import NamesOverTime
from lineage.store.planning.observations import UNOBSERVED, latest_times
from lineage.store.planning.validity import join, retire_at
from lineage.store.values import StoredColumn, StoredDataset, StoredJob

__all__ = ["Rekeying", "apply_rename", "join_jobs", "join_units", "rekey_items", "spelled_by"]

_NEVER = datetime.min.replace(tzinfo=UTC)
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def apply_rename(state: GraphState, change: DatasetChange, known: NamesOverTime) -> None:
    """Apply a RENAME or SWAP that is new to the graph; `known` are the changes that the graph has.

    If it is ingested late and the old name was seen after the change, another dataset took the name in between. The two
    cannot be distinguished, so nothing is moved.
    """
    if change.other is None:
        return
    target = known.today(change.other, change.at)
    keys = {known.key_of(change.dataset): target}
    if change.kind is ChangeKind.SWAP:
        keys[target] = known.key_of(change.dataset)
    keys = {old: new for old, new in keys.items() if old != new and old in state.datasets}
    if keys and all(state.datasets[old].last_seen <= change.at for old in keys):
        _end_replaced_definitions(state, keys, change)
        _end_before_later_definitions(state, keys, change)
        _remove_replaced_columns(state, keys, change)
        Rekeying(keys, _described_since(state, keys, change)).apply(state)
    if change.kind is ChangeKind.RENAME and (dataset := state.datasets.get(target)) is not None:
        alias = split_dataset_key(change.dataset)[1]
        dataset = replace(dataset, aliases=tuple(sorted({*dataset.aliases, alias})))
        state.datasets[target] = spelled_by(dataset, change)


def spelled_by(dataset: StoredDataset, change: DatasetChange) -> StoredDataset:
    """Return a renamed dataset with the spelling of the RENAME, unless a later definition has another."""
    spelling = spelling_of(dataset.name, change.spelling)
    if spelling is None or (dataset.spelled_at is not None and dataset.spelled_at > change.at):
        return dataset
    return replace(dataset, spelling=spelling, spelled_at=change.at)


def _end_replaced_definitions(state: GraphState, keys: dict[str, str], change: DatasetChange) -> None:
    """Retire the lineage of a definition whose dataset is replaced by one with another definition."""
    replaced = {
        definition_job_key(new)
        for old, new in keys.items()
        if new not in keys and definition_job_key(old) in state.jobs
    }
    for pair, history in state.histories.items():
        if pair.job in replaced:
            state.histories[pair] = retire_at(history, change.at, UNOBSERVED)


def _end_before_later_definitions(state: GraphState, keys: dict[str, str], change: DatasetChange) -> None:
    """End the lineage of a definition whose new name has, since the change, been defined otherwise."""
    for old, new in keys.items():
        known = state.units.get((definition_job_key(new), new)) if new not in keys else None
        at = None if known is None else known.timeline.next_after(change.at)
        if at is None:
            continue
        for pair, history in state.histories.items():
            if pair.job == definition_job_key(old) and pair.output == old:
                state.histories[pair] = retire_at(history, at, UNOBSERVED)


def _described_since(state: GraphState, keys: dict[str, str], change: DatasetChange) -> frozenset[str]:
    """Return the replaced datasets whose complete schema is newer than the change."""
    there = ((new, state.datasets.get(new)) for new in keys.values() if new not in keys)
    return frozenset(
        new for new, known in there if known is not None and known.schema_at is not None and known.schema_at > change.at
    )


def _remove_replaced_columns(state: GraphState, keys: dict[str, str], change: DatasetChange) -> None:
    """Remove the columns of a replaced dataset that the replacing one does not have."""
    arriving = {(keys[column.dataset], column.path) for column in state.columns.values() if column.dataset in keys}
    newer = _described_since(state, keys, change)
    replaced = {
        new for old, new in keys.items() if new not in keys | dict.fromkeys(newer) and state.datasets[old].schema_known
    }
    gone = {
        key: change.at
        for key, column in state.columns.items()
        if column.dataset in replaced and (column.dataset, column.path) not in arriving
    }
    remove_columns(state, gone)


def rekey_items(items: dict[K, V], rekey: Callable[[K, V], tuple[K, V]], joined: Callable[[V, V], V]) -> dict[K, V]:
    """Return the items under their new keys, merged by `joined(arriving, there)` with items that already have them."""
    result: dict[K, V] = {}
    arriving: dict[K, V] = {}
    for key, value in items.items():
        new_key, new_value = rekey(key, value)
        if new_key == key:
            result[key] = new_value
        else:
            arriving[new_key] = joined(new_value, arriving[new_key]) if new_key in arriving else new_value
    for key, value in arriving.items():
        result[key] = joined(value, result[key]) if key in result else value
    return result


@frozen
class Rekeying:
    """New keys of datasets, applied to everything whose key contains them; items with equal keys are merged.

    For `described_since`, the existing dataset has the newest schema. With `column_as_named`, which gives the spelling
    of columns, the new keys are further keys of the same datasets, and jobs of events are renamed as well.
    """

    keys: dict[str, str]
    described_since: frozenset[str] = frozenset()
    column_as_named: Callable[[str, str], str] | None = None

    def apply(self, state: GraphState) -> None:
        """Apply the new keys to a state."""
        state.datasets = rekey_items(state.datasets, self._dataset, _join_datasets)
        state.columns = rekey_items(state.columns, self._column, self._join_columns)
        state.jobs = rekey_items(state.jobs, self._job, join_jobs)
        state.reads = rekey_items(state.reads, self._link, Seen.joined)
        state.units = rekey_items(state.units, self._link, join_units)
        state.histories = rekey_items(state.histories, self._pair, lambda arriving, there: join(there, arriving))
        state.observed = rekey_items(state.observed, self._observed, max)
        for pair in [pair for pair in state.histories if _feeds_itself(pair)]:
            del state.histories[pair]
        state.usage = rekey_items(state.usage, self._usage, RunUsage.joined)
        state.bound_columns = frozenset(map(self._node_key, state.bound_columns))
        for key, found in state.diagnostics.items():
            if found.job is not None:
                state.diagnostics[key] = replace(found, job=self._job_key(found.job))

    def _node_key(self, key: str) -> str:
        """Return the new key of a dataset or column."""
        old = dataset_of(key)
        new = self.keys.get(old, old)
        if self.column_as_named is not None and is_column_key(key) and new != old:
            return column_key(new, self.column_as_named(new, split_column_key(key)[1]))
        return new + key[len(old) :]

    def _job_key(self, key: str) -> str:
        """Return the new key of a job; the key of a definition contains the dataset's key."""
        for old, new in self.keys.items():
            if key == definition_job_key(old):
                return definition_job_key(new)
        return key if self.column_as_named is None else event_job_key_under(key, self.keys)

    def _dataset(self, key: str, dataset: StoredDataset) -> tuple[str, StoredDataset]:
        new = self.keys.get(key, key)
        if new == key:
            return key, dataset
        namespace, name = split_dataset_key(new, dataset.namespace)
        spelling = spelling_of(name, dataset.spelling)
        spelled_at = dataset.spelled_at if name.casefold() == dataset.name.casefold() else None
        return new, replace(dataset, key=new, namespace=namespace, name=name, spelling=spelling, spelled_at=spelled_at)

    def _column(self, key: str, column: StoredColumn) -> tuple[str, StoredColumn]:
        dataset = self.keys.get(column.dataset)
        if dataset is None:
            return key, column
        new = self._node_key(key)
        parent = self._node_key(column.parent) if column.parent else None
        path = split_column_key(new)[1]
        spelling = spelling_of(path, column.spelling)
        return new, replace(column, key=new, dataset=dataset, path=path, parent=parent, spelling=spelling)

    def _join_columns(self, arriving: StoredColumn, there: StoredColumn) -> StoredColumn:
        first, second = (there, arriving) if there.dataset in self.described_since else (arriving, there)
        if first.inferred and not second.inferred:
            first, second = second, first
        return replace(
            first,
            data_type=first.data_type or second.data_type,
            ordinal=second.ordinal if first.ordinal is None and first.dropped_at is None else first.ordinal,
            last_ordinal=second.last_ordinal if first.last_ordinal is None else first.last_ordinal,
            description=first.description or second.description,
            tags=tuple(dict.fromkeys((*first.tags, *second.tags))),
            facts=joined_facts(first.facts, second.facts),
            spelling=first.spelling if first.inferred <= second.inferred else second.spelling,
        )

    def _job(self, key: str, job: StoredJob) -> tuple[str, StoredJob]:
        new = self._job_key(key)
        return new, replace(job, key=new)

    def link(self, key: tuple[str, str]) -> tuple[str, str]:
        """Return the new key of a relationship between a job and a dataset."""
        job, dataset = key
        return self._job_key(job), self.keys.get(dataset, dataset)

    def _link(self, key: tuple[str, str], value: V) -> tuple[tuple[str, str], V]:
        return self.link(key), value

    def _observed(self, key: tuple[str, str], value: V) -> tuple[tuple[str, str], V]:
        run, job = key
        return (run, self._job_key(job)), value

    def _usage(self, _: str, used: RunUsage) -> tuple[str, RunUsage]:
        rekey_items = replace(used, of=self._node_key(used.of))
        return rekey_items.key, rekey_items

    def pair(self, pair: JobEdge) -> JobEdge:
        """Return a pair under its new keys."""
        return JobEdge(
            source=self._node_key(pair.source) if pair.from_dataset in self.keys else pair.source,
            target=self._node_key(pair.target) if pair.output in self.keys else pair.target,
            relation=pair.relation,
            job=self._job_key(pair.job),
            from_dataset=self.keys.get(pair.from_dataset, pair.from_dataset),
            output=self.keys.get(pair.output, pair.output),
        )

    def _pair(self, pair: JobEdge, value: V) -> tuple[JobEdge, V]:
        return self.pair(pair), value


def _feeds_itself(pair: JobEdge) -> bool:
    """Return whether an edge leads from a table to itself; such an edge has no meaning."""
    return pair.source == pair.from_dataset == pair.output


def _join_datasets(arriving: StoredDataset, there: StoredDataset) -> StoredDataset:
    kind_of = max((there, arriving), key=lambda one: one.kind_at or _NEVER)
    written = max((there, arriving), key=lambda one: one.spelled_at or _NEVER)
    joined = replace(
        arriving,
        kind=kind_of.kind,
        dialect=arriving.dialect or there.dialect,
        schema_known=arriving.schema_known or there.schema_known,
        description=arriving.description or there.description,
        tags=tuple(dict.fromkeys((*there.tags, *arriving.tags))),
        facts=joined_facts(there.facts, arriving.facts),
        namespace=there.namespace,
        name=there.name,
        aliases=tuple(sorted({*there.aliases, *arriving.aliases})),
        written_at=latest(there.written_at, arriving.written_at),
        schema_at=latest(there.schema_at, arriving.schema_at),
        kind_at=latest(there.kind_at, arriving.kind_at),
        spelling=spelling_of(there.name, written.spelling),
        spelled_at=latest(there.spelled_at, arriving.spelled_at),
    )
    return joined.seen(there.first_seen, there.last_seen)


def join_jobs(arriving: StoredJob, there: StoredJob) -> StoredJob:
    """Return two jobs merged into one."""
    newest = arriving if arriving.last_seen >= there.last_seen else there
    return replace(
        newest,
        first_seen=min(arriving.first_seen, there.first_seen),
        observed_at=latest_times(arriving.observed_at, there.observed_at),
    )


def join_units(arriving: JobOutput, there: JobOutput) -> JobOutput:
    """Return two units merged into one, with the observations of both."""
    timeline = there.timeline
    for at, content in arriving.timeline.points:
        timeline = timeline.observe(at, content)
    return JobOutput(min(arriving.first_seen, there.first_seen), max(arriving.last_seen, there.last_seen), timeline)
