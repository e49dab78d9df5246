"""Changes of datasets (renames, swaps, drops) in the order of their statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from lineage.model.batch import DatasetChange
from lineage.model.spelling import own_spelling
from lineage.model.statement import TableChange

__all__ = ["changes_in_order"]


def changes_in_order(
    changes: Sequence[tuple[TableChange, datetime]], key_of: Callable[[str], str]
) -> Iterator[DatasetChange]:
    """Yield the changes; those with the same time are set one microsecond apart, to keep their order."""
    left = Counter(at for _, at in changes)
    for change, at in changes:
        left[at] -= 1
        yield _record(change, at - timedelta(microseconds=left[at]), key_of)


def _record(change: TableChange, at: datetime, key_of: Callable[[str], str]) -> DatasetChange:
    other = change.other
    spelling = own_spelling(other)
    if other is not None:
        other = str(other) if change.kind.of_column else key_of(other)
    return DatasetChange(change.kind, key_of(change.table), at, other, change.column, spelling)
