"""Names of columns at different times of one batch: its RENAME COLUMNs, applied forward and backward."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from lineage.model.batch import DatasetChange, EdgeRecord
from lineage.model.names import column_key, is_column_key, renamed_path, split_column_key
from lineage.model.statement import ChangeKind

__all__ = ["TODAY", "ColumnNames"]

TODAY = datetime.max.replace(tzinfo=UTC)
"""After all renames: the names in a graph that has applied them."""


class ColumnNames:
    """The renames of columns in a batch, in order."""

    def __init__(self, changes: Iterable[DatasetChange]) -> None:
        self._renames: dict[str, list[tuple[datetime, str, str]]] = defaultdict(list)
        for change in changes:
            if change.kind is ChangeKind.RENAME_COLUMN and change.column is not None and change.other is not None:
                self._renames[change.dataset].append((change.at, change.column, change.other))
        for renames in self._renames.values():
            renames.sort()

    def key_at(self, key: str, since: datetime, until: datetime) -> str:
        """Return the key at `until` of the column that has this key at `since`; dataset keys do not change."""
        if not self._renames or not is_column_key(key):
            return key
        dataset, path = split_column_key(key)
        renames = self._renames.get(dataset, ())
        if since <= until:
            for at, old, new in renames:
                if since < at <= until:
                    path = renamed_path(path, {old: new})
        else:
            for at, old, new in reversed(renames):
                if until < at <= since:
                    path = renamed_path(path, {new: old})
        return column_key(dataset, path)

    def edge_at(self, edge: EdgeRecord, since: datetime, until: datetime) -> EdgeRecord:
        """Return an edge whose names are those at `since` with the names at `until`."""
        if not self._renames:
            return edge
        source, target = (self.key_at(key, since, until) for key in (edge.source, edge.target))
        return edge if (source, target) == (edge.source, edge.target) else replace(edge, source=source, target=target)
