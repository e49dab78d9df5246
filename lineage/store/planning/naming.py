"""What a dataset that was named at some time is called today: RENAME and SWAP, followed through time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter

from lineage.model.batch import DatasetChange, definition_job_key
from lineage.model.statement import ChangeKind
from lineage.store.planning.state import change_key

__all__ = ["Naming", "as_replacements"]

_at = attrgetter("at")


def as_replacements(changes: Iterable[DatasetChange]) -> list[DatasetChange]:
    """Return the changes in order of time, those that put a dataset aside to drop it told as its DROP.

    `RENAME x TO x_old; RENAME x_new TO x; DROP x_old` replaces `x`; it does not move `x` and all that reads it.
    """
    ordered = sorted(changes, key=_at)
    for index, change in enumerate(ordered):
        dropped_later = any(
            later.kind is ChangeKind.DROP and later.dataset == change.other for later in ordered[index + 1 :]
        )
        if change.kind is ChangeKind.RENAME and dropped_later:
            ordered[index] = replace(change, kind=ChangeKind.DROP, other=None)
    return ordered


@dataclass(frozen=True, slots=True)
class Naming:
    """All changes that are known from some time on, in order; those of the batch after earlier known ones."""

    changes: tuple[DatasetChange, ...] = ()
    renamed: frozenset[str] = field(init=False, compare=False)
    """The datasets that some change gives another key; there may be very many others to ask for."""

    def __post_init__(self) -> None:
        moves = [change for change in self.changes if change.kind is not ChangeKind.DROP and change.other is not None]
        names = {change.dataset for change in moves}
        names.update(change.other for change in moves if change.kind is ChangeKind.SWAP and change.other is not None)
        object.__setattr__(self, "renamed", frozenset(names))

    @classmethod
    def of(cls, known: Iterable[DatasetChange], told: Iterable[DatasetChange]) -> Naming:
        """Return the naming by the changes that the graph knows and those that a batch tells."""
        told = list(told)
        keys = {change_key(change) for change in told}
        earlier = [change for change in known if change_key(change) not in keys]
        return cls(tuple(sorted([*sorted(earlier, key=change_key), *told], key=_at)))

    def today(self, dataset: str, at: datetime) -> str:
        """Return the key today of the dataset that had this key then."""
        if dataset not in self.renamed:
            return dataset
        return self.followed(dataset, at)[0]

    def followed(self, dataset: str, at: datetime) -> tuple[str, datetime]:
        """Return the key today of the dataset that had this key then, and since when it has it.

        At equal times a change comes before statements: a batch names what one script builds and then renames
        as it is called after it.
        """
        return self._follow(dataset, at, (change for change in self.changes if change.at > at))

    def after(self, dataset: str, change: DatasetChange) -> str:
        """Return the key today of the dataset that had this key when `change`, one of these, happened."""
        rest = self.changes[self.changes.index(change) + 1 :]
        return self._follow(dataset, change.at, rest)[0]

    @staticmethod
    def _follow(dataset: str, since: datetime, changes: Iterable[DatasetChange]) -> tuple[str, datetime]:
        for change in changes:
            if change.kind is ChangeKind.DROP or change.other is None:
                continue
            if change.dataset == dataset:
                dataset, since = change.other, max(since, change.at)
            elif change.kind is ChangeKind.SWAP and change.other == dataset:
                dataset, since = change.dataset, max(since, change.at)
        return dataset, since

    def job_today(self, job: str, at: datetime) -> str:
        """Return the key today of a job: a definition's is named after its dataset."""
        prefix = definition_job_key("")
        return definition_job_key(self.today(job.removeprefix(prefix), at)) if job.startswith(prefix) else job
