"""What versions of tables are in the graph: the keys that they have there, and which of them are not there at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from datetime import datetime, timedelta

from lineage.model.batch import DatasetChange, definition_job_key
from lineage.model.names import dataset_key, dataset_of
from lineage.model.spelling import Spelled
from lineage.model.statement import ChangeKind
from lineage_ingest.query_log.pipeline.extraction import moment
from lineage_ingest.query_log.pipeline.versions import Moment, Versions

__all__ = ["VersionKeys"]

_DEFINITION = definition_job_key("")
_MOMENT = timedelta(microseconds=1)


class VersionKeys:
    """Keys in the graph, by the keys that tell versions apart.

    `gone` are the keys of versions that have no name in the end, `unseen` those of them that the log made itself and
    whose name nothing else has: what is made of them comes from what they were made of.
    """

    def __init__(self, versions: Versions, undated_at: datetime) -> None:
        self._undated_at = undated_at
        self._last: dict[str, str] = {}
        self._moves: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
        self._renamings: list[DatasetChange] = []
        self._spellings: dict[str, str] = {}
        self._gone_at: dict[str, datetime] = {}
        self._since: dict[str, datetime] = {}
        self._named: dict[str, datetime] = {}
        made: set[str] = set()
        for (namespace, own), end in versions.ends.items():
            key = dataset_key(namespace, own)
            self._last[key] = dataset_key(namespace, end.name)
            if isinstance(end.name, Spelled):
                self._spellings[self._last[key]] = end.name.spelling
            if end.made:
                made.add(key)
                self._since[key] = self._time(end.since)
                if end.named is not None:
                    self._named[key] = self._time(end.named)
            if not end.lasts:
                self._gone_at[key] = self._time(end.at)
        self.gone = frozenset(self._gone_at)
        self.before = frozenset(self._last) - made
        """What was there before the log."""
        self._held = {self._last[key]: key for key in self._last.keys() - self.gone}
        self.unseen = frozenset(key for key in self.gone & made if self._last[key] not in self._held)
        for namespace, version, table, other, at in (
            (one.namespace, one.version, one.table, one.other, one.at) for one in versions.renamings
        ):
            time, new = self._time(at), dataset_key(namespace, other)
            self._moves[dataset_key(namespace, version)].append((time, new))
            spelling = other.spelling if isinstance(other, Spelled) else None
            renaming = DatasetChange(ChangeKind.RENAME, dataset_key(namespace, table), time, new, spelling=spelling)
            self._renamings.append(renaming)
        self.plain = not self._last
        """Whether all keys are those in the graph."""

    def _time(self, at: Moment | None) -> datetime:
        return moment(None if at is None or at[0] < 0 else at[0], self._undated_at)

    def key(self, key: str, at: datetime | None = None) -> str:
        """Return the key in the graph of a dataset or a column: that of a time, else the last."""
        dataset = dataset_of(key)
        new = self._last.get(dataset)
        if new is None:
            return key
        if at is not None and dataset in self._moves:
            passed = [name for time, name in self._moves[dataset] if time <= at]
            new = passed[-1] if passed else dataset
        return new + key[len(dataset) :]

    def spelling(self, key: str) -> str | None:
        """Return how the RENAME that gave a dataset its last name (`key` is its key in the graph) writes it."""
        return self._spellings.get(key)

    def since(self, key: str, at: datetime) -> datetime:
        """Return a time at which a version was made, or when it took its name from another one, if that was later.

        One whose renamings the graph follows is stated under the name that it had when it was made.
        """
        return at if key in self._moves else max(at, self._named.get(key, at))

    def job(self, key: str, at: datetime | None = None) -> str:
        """Return the key in the graph of a job."""
        if not key.startswith(_DEFINITION):
            return key
        return definition_job_key(self.key(key.removeprefix(_DEFINITION), at))

    def is_gone(self, key: str) -> bool:
        """Return whether a key is that of a version which has no name in the end, or of a column of one."""
        return dataset_of(key) in self.gone

    def is_unseen(self, key: str) -> bool:
        """Return whether a key is that of a version which is not in the graph, or of a column of one."""
        return dataset_of(key) in self.unseen

    def changes(self, defined: Container[str]) -> Iterator[DatasetChange]:
        """Yield what the log does to datasets of the graph; `defined` are the keys of those that have definitions."""
        yield from self._renamings
        left = {self._last[key] for key in self.gone & self.before}
        ended: dict[str, datetime] = {}
        for key, at in self._gone_at.items():
            if key not in self.unseen:
                ended[self._last[key]] = max(at, ended.get(self._last[key], at))
        for name, at in sorted(ended.items()):
            holder = self._held.get(name)
            if holder is None:
                yield DatasetChange(ChangeKind.DROP, name, at)
            elif name in left or (name not in defined and not self._renamings):
                since = self._since.get(holder)
                yield DatasetChange(ChangeKind.DROP, name, at if since is None else min(at, since - _MOMENT))
