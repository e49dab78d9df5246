"""Apply RENAME COLUMN and DROP COLUMN to the graph: a column's lineage moves with it, or is retired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from lineage.model.batch import DatasetChange
from lineage.model.names import ColumnPath, column_key, renamed_path, split_dataset_key
from lineage.model.spelling import spelling_of
from lineage.model.statement import DatasetKind
from lineage.store.planning.columns import ensure_column, with_parents
from lineage.store.planning.facts import joined_facts
from lineage.store.planning.graph_state import GraphState, JobOutput
from lineage.store.planning.naming import NamesOverTime
from lineage.store.planning.observations import UNOBSERVED
from lineage.store.planning.validity import History, Period, join, retire_at
from lineage.store.values import StoredColumn, StoredDataset

__all__ = ["drop_column", "rename_column"]

_MOMENT = timedelta(microseconds=1)


def rename_column(state: GraphState, change: DatasetChange, known: NamesOverTime) -> None:
    """Apply a RENAME COLUMN that is new to the graph; `known` are the changes that the graph has.

    Lineage of the old name after the change belongs to another column of that name and is not moved.
    """
    if change.column is None or change.other is None:
        return
    dataset, old = known.column_today(change.dataset, change.column, change.at)
    _, new = known.column_today(change.dataset, change.other, change.at)
    if old == new:
        return
    _see(state, dataset, change.at)
    paths = {
        column.path: renamed_path(column.path, {old: new})
        for column in state.columns.values()
        if column.dataset == dataset and old in with_parents(column.path)
    }
    keys = {column_key(dataset, path): column_key(dataset, moved) for path, moved in paths.items()}
    _move_lineage(state, keys, change.at)
    _move_usage(state, keys, change.at)
    staying = _columns_in_use(state)
    for path in sorted(paths, key=lambda path: len(ColumnPath.parse(path).parts)):
        _move_column(state, dataset, path, paths[path], stays=column_key(dataset, path) in staying)
    ensure_column(state, dataset, new, change.at)
    if (spelling := spelling_of(new, change.spelling)) is not None:
        key = column_key(dataset, new)
        state.columns[key] = replace(state.columns[key], spelling=spelling)
    _add_alias(state, column_key(dataset, new), change.column)


def drop_column(state: GraphState, change: DatasetChange, naming: NamesOverTime) -> None:
    """Retire the lineage of a column and its fields in both directions, until it is observed again."""
    dataset, path = naming.column_after(change)
    gone = {
        column.key
        for column in state.columns.values()
        if column.dataset == dataset and path in with_parents(column.path)
    }
    used = dict.fromkeys(gone, False)
    for pair, history in state.histories.items():
        ends = gone & {pair.source, pair.target}
        if not ends:
            continue
        unit = state.units.get((pair.job, pair.output))
        state.histories[pair] = retire_at(history, change.at, unit.timeline if unit else UNOBSERVED)
        for key in ends:
            used[key] = used[key] or state.histories[pair][-1].last_seen >= change.at
    for key in gone:
        column = state.columns[key]
        if not used[key] and column.dropped_at is None:
            state.columns[key] = replace(column.without_ordinal(), dropped_at=change.at)


def _see(state: GraphState, dataset: str, at: datetime) -> None:
    """Create a dataset that is known from this change only."""
    if dataset not in state.datasets:
        namespace, name = split_dataset_key(dataset)
        state.datasets[dataset] = StoredDataset(dataset, namespace, name, DatasetKind.TABLE, None, False, (), at, at)


def _move_lineage(state: GraphState, keys: Mapping[str, str], at: datetime) -> None:
    for pair in list(state.histories):
        if pair.source not in keys and pair.target not in keys:
            continue
        unit = state.units.get((pair.job, pair.output))
        before, since = _split_history(state.histories[pair], unit, at)
        if not before:
            continue
        if since:
            state.histories[pair] = since
        else:
            del state.histories[pair]
        moved = pair._replace(source=keys.get(pair.source, pair.source), target=keys.get(pair.target, pair.target))
        state.histories[moved] = join(state.histories.get(moved, ()), before)


def _split_history(history: History, unit: JobOutput | None, at: datetime) -> tuple[History, History]:
    """Return the history until a time and after it; a period across that time is split at the next observation."""
    before: list[Period] = []
    since: list[Period] = []
    for period in history:
        again = unit.timeline.first_from(at + _MOMENT) if unit is not None and unit.timeline.points else None
        if period.last_seen <= at:
            before.append(period)
        elif period.start > at or again is None or again <= period.start:
            since.append(period)
        else:
            assert unit is not None
            seen = unit.timeline.last_before(again)
            before.append(period._replace(end=again, last_seen=max(period.start, seen or period.start)))
            since.append(period._replace(start=again))
    return tuple(before), tuple(since)


def _move_usage(state: GraphState, keys: Mapping[str, str], at: datetime) -> None:
    for key, used in list(state.usage.items()):
        midnight = datetime.combine(used.day, datetime.min.time(), UTC)
        last = max((one for one in (used.last_read, used.last_write) if one is not None), default=midnight)
        if used.of in keys and last <= at:
            del state.usage[key]
            moved = replace(used, of=keys[used.of])
            there = state.usage.get(moved.key)
            state.usage[moved.key] = moved if there is None else moved.joined(there)


def _columns_in_use(state: GraphState) -> set[str]:
    """Return the columns that lineage or usage counts still refer to."""
    named = {key for pair in state.histories for key in (pair.source, pair.target)}
    named.update(used.of for used in state.usage.values())
    return named


def _move_column(state: GraphState, dataset: str, path: str, new: str, *, stays: bool) -> None:
    key, target = column_key(dataset, path), column_key(dataset, new)
    column = state.columns[key]
    parent = ColumnPath.parse(new).parent
    moved = replace(
        column,
        key=target,
        path=new,
        parent=column_key(dataset, str(parent)) if parent else None,
        spelling=spelling_of(new, column.spelling),
    )
    there = state.columns.get(target)
    state.columns[target] = moved if there is None else _both(moved, there)
    if stays:
        state.columns[key] = replace(column, aliases=(), description=None, tags=(), facts=None)
    else:
        del state.columns[key]
    _add_alias(state, target, path)


def _both(arriving: StoredColumn, there: StoredColumn) -> StoredColumn:
    """Merge two columns; the one that moves fills in unknown values of the other."""
    return replace(
        arriving,
        data_type=there.data_type or arriving.data_type,
        ordinal=there.ordinal if there.ordinal is not None else arriving.ordinal,
        last_ordinal=there.last_ordinal if there.last_ordinal is not None else arriving.last_ordinal,
        inferred=there.inferred and arriving.inferred,
        description=there.description or arriving.description,
        tags=tuple(dict.fromkeys((*there.tags, *arriving.tags))),
        facts=joined_facts(there.facts, arriving.facts),
        aliases=tuple(dict.fromkeys((*there.aliases, *arriving.aliases))),
        first_seen=min(arriving.first_seen, there.first_seen) if arriving.first_seen and there.first_seen else None,
        spelling=there.spelling or arriving.spelling,
    )


def _add_alias(state: GraphState, key: str, alias: str) -> None:
    column = state.columns[key]
    aliases = tuple(one for one in dict.fromkeys((*column.aliases, alias)) if one != column.path)
    if aliases != column.aliases:
        state.columns[key] = replace(column, aliases=aliases)
