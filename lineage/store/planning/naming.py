"""The current name of a dataset that had a name at some time: RENAME and SWAP followed through time."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from operator import attrgetter

from lineage.frozen import frozen
from lineage.model.batch import DatasetChange, definition_job_key, event_job_key_under
from lineage.model.names import (
    ColumnPath,
    column_key,
    dataset_of,
    is_column_key,
    renamed_path,
    split_column_key,
    split_dataset_key,
)
from lineage.model.namespaces import dialect_of
from lineage.model.statement import ChangeKind
from lineage.store.planning.graph_state import change_key

__all__ = ["NamesOverTime", "as_replacements", "column_as_named"]

_at = attrgetter("at")


def _moves(change: DatasetChange) -> bool:
    """Return whether a change gives a dataset another key."""
    return change.kind in (ChangeKind.RENAME, ChangeKind.SWAP) and change.other is not None


def column_as_named(dataset: str, path: str) -> str:
    """Return a column's path in the case of the dataset's dialect: catalogs fold case, paths keep it.

    >>> column_as_named("hive://m:9083/db.t", "Id"), column_as_named("s3://lake/t", "Id")
    ('id', 'Id')
    """
    dialect = dialect_of(split_dataset_key(dataset)[0])
    if dialect is None:
        return path
    return str(ColumnPath(tuple(map(dialect.fold_column, ColumnPath.parse(path).parts))))


def as_replacements(changes: Iterable[DatasetChange]) -> list[DatasetChange]:
    """Return the changes in order of time; a RENAME before a DROP of the new name becomes a DROP.

    `RENAME x TO x_old; RENAME x_new TO x; DROP x_old` replaces `x`; it does not move `x` with everything that reads it.
    """
    ordered = sorted(changes, key=_at)
    dropped_later: set[str] = set()
    for index in reversed(range(len(ordered))):
        change = ordered[index]
        if change.kind is ChangeKind.RENAME and change.other in dropped_later:
            ordered[index] = replace(change, kind=ChangeKind.DROP, other=None)
        elif change.kind is ChangeKind.DROP:
            dropped_later.add(change.dataset)
    return ordered


@frozen
class NamesOverTime:
    """All known changes from some time on, in order; at equal times, those of the batch are last."""

    changes: tuple[DatasetChange, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    """The main key of each key that has another one."""
    renamed: frozenset[str] = field(init=False, compare=False)
    """The datasets whose key some change replaces; a quick test for all others."""
    with_changed_columns: frozenset[str] = field(init=False, compare=False)
    """The datasets (by key at the time) with renamed or dropped columns."""
    _times: list[datetime] = field(init=False, compare=False, repr=False)
    _positions: dict[DatasetChange, int] = field(init=False, compare=False, repr=False)
    _of: dict[str, list[int]] = field(init=False, compare=False, repr=False)
    """The positions of the changes of a key (at the time) that give the dataset, or its columns, another name."""
    _drops: dict[str, list[DatasetChange]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        times = [change.at for change in self.changes]
        positions = {change: place for place, change in reversed([*enumerate(self.changes)])}
        of: dict[str, list[int]] = {}
        renamed, with_changed_columns = set(), set()
        for place, change in enumerate(self.changes):
            keys = {self.key_of(change.dataset)}
            if change.kind.of_column:
                with_changed_columns |= keys
            elif _moves(change):
                if change.kind is ChangeKind.SWAP and change.other is not None:
                    keys.add(self.key_of(change.other))
                renamed |= keys
            else:
                continue
            for key in keys:
                of.setdefault(key, []).append(place)
        self._set(renamed=frozenset(renamed), with_changed_columns=frozenset(with_changed_columns))
        self._set(_times=times, _positions=positions, _of=of)
        drops: dict[str, list[DatasetChange]] = {}
        for change in self.changes:
            if change.kind is ChangeKind.DROP:
                drops.setdefault(self.after(change.dataset, change), []).append(change)
        self._set(_drops=drops)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls, known: Iterable[DatasetChange], stated: Iterable[DatasetChange], aliases: Mapping[str, str] | None = None
    ) -> NamesOverTime:
        """Return the naming for the changes of the graph and of a batch."""
        stated = list(stated)
        keys = {change_key(change) for change in stated}
        earlier = [change for change in known if change_key(change) not in keys]
        return cls(tuple(sorted([*sorted(earlier, key=change_key), *stated], key=_at)), aliases or {})

    @property
    def keeps_all(self) -> bool:
        """Whether every name is still current: nothing is known to be renamed."""
        return not (self.aliases or self.renamed or self.with_changed_columns)

    def key_of(self, dataset: str) -> str:
        """Return the main key of a dataset."""
        return self.aliases.get(dataset, dataset)

    def today(self, dataset: str, at: datetime) -> str:
        """Return the current key of the dataset that had this key at `at`."""
        dataset = self.key_of(dataset)
        if dataset not in self.renamed:
            return dataset
        return self.current_key(dataset, at)[0]

    def name_at(self, dataset: str, since: datetime, until: datetime) -> str:
        """Return the name just before `until` of the dataset that has this name at `since`."""
        end = bisect_left(self._times, until)
        return self._follow(self.key_of(dataset), since, self._first_after(since), end)[0]

    def drops_of(self, dataset: str) -> Sequence[DatasetChange]:
        """Return the DROPs of the datasets that have this key today, in order; several may have had it."""
        return self._drops.get(dataset, ())

    def drops_of_others(self, dataset: str, at: datetime) -> frozenset[datetime]:
        """Return the times of later DROPs of another dataset, whose name the one with this name at `at` has today."""
        key = self.key_of(dataset)
        if key not in self.renamed:
            return frozenset()
        return frozenset(
            drop.at
            for drop in self.drops_of(self.today(dataset, at))
            if drop.at > at and self.name_at(dataset, at, drop.at) != self.key_of(drop.dataset)
        )

    def current_key(self, dataset: str, at: datetime) -> tuple[str, datetime]:
        """Return the current key of the dataset that had this key at `at`, and since when it has that key.

        At equal times a change precedes statements: a batch uses the final names of what one script builds and renames.
        """
        return self._follow(self.key_of(dataset), at, self._first_after(at))

    def after(self, dataset: str, change: DatasetChange) -> str:
        """Return the current key of the dataset that had this key when `change` happened."""
        return self._follow(self.key_of(dataset), change.at, self._positions[change] + 1)[0]

    def _first_after(self, at: datetime) -> int:
        return bisect_right(self._times, at)

    def _changes_of(self, dataset: str, start: int, end: int) -> Iterator[DatasetChange]:
        """Yield the changes from `start` to `end` of the dataset that has a key by then, until it has another one."""
        places = self._of.get(dataset, ())
        for place in places[bisect_left(places, start) :]:
            if place >= end:
                return
            yield self.changes[place]
            if _moves(self.changes[place]):
                return

    def _follow(self, dataset: str, since: datetime, start: int, end: int = sys.maxsize) -> tuple[str, datetime]:
        while (move := next((one for one in self._changes_of(dataset, start, end) if _moves(one)), None)) is not None:
            dataset, since, start = self._moved(dataset, move), max(since, move.at), self._positions[move] + 1
        return dataset, since

    def _moved(self, dataset: str, move: DatasetChange) -> str:
        moving, other = self.key_of(move.dataset), self.key_of(move.other or "")
        return other if moving == dataset else moving

    def renames_columns(self, dataset: str) -> bool:
        """Return whether columns of the dataset with this key may have other paths later."""
        if dataset in self.aliases:
            return True
        if not self.with_changed_columns:
            return False
        return dataset in self.with_changed_columns or dataset in self.renamed

    def column_today(self, dataset: str, path: str, at: datetime) -> tuple[str, str]:
        """Return the current dataset key and path of the column that had these at `at`."""
        if not self.renames_columns(dataset):
            return self.today(dataset, at), path
        root = self.key_of(dataset)
        if root != dataset:
            dataset, path = root, column_as_named(root, path)
        return self._follow_column(dataset, path, self._first_after(at))

    def column_after(self, change: DatasetChange) -> tuple[str, str]:
        """Return the current dataset key and path of the column of `change`."""
        path = (change.column if change.other is None else change.other) or ""
        root = self.key_of(change.dataset)
        if root != change.dataset:
            path = column_as_named(root, path)
        return self._follow_column(root, path, self._positions[change] + 1)

    def _follow_column(self, dataset: str, path: str, start: int) -> tuple[str, str]:
        is_there, move = True, None
        while True:
            for change in self._changes_of(dataset, start, sys.maxsize):
                if _moves(change):
                    move = change
                elif not is_there or change.column is None:
                    continue
                elif change.kind is ChangeKind.RENAME_COLUMN and change.other is not None:
                    path = renamed_path(path, {change.column: change.other})
                elif renamed_path(path, {change.column: ""}) != path:  # another column may take the name
                    is_there = False
            if move is None:
                return dataset, path
            dataset, start, move = self._moved(dataset, move), self._positions[move] + 1, None

    def key_today(self, key: str, at: datetime) -> str:
        """Return the current key of the dataset or column that had this key at `at`."""
        dataset = dataset_of(key)
        if not self.renames_columns(dataset):
            return self.today(dataset, at) + key[len(dataset) :] if dataset in self.renamed else key
        return (
            column_key(*self.column_today(dataset, split_column_key(key)[1], at))
            if is_column_key(key)
            else (self.today(key, at))
        )

    def job_today(self, job: str, at: datetime) -> str:
        """Return the current key of a job: keys of definitions and of events contain the dataset's key."""
        prefix = definition_job_key("")
        if job.startswith(prefix):
            return definition_job_key(self.today(job.removeprefix(prefix), at))
        return event_job_key_under(job, self.aliases) if self.aliases else job
