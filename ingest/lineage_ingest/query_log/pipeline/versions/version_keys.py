"""Maps versions of tables to their keys in the graph, and finds the versions that are not in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lineage.model.batch import DatasetChange, EdgeRecord, definition_job_key
from lineage.model.names import dataset_key, dataset_of, plain_name, split_dataset_key, versioned_name
from lineage.model.spelling import Spelled, own_spelling
from lineage.model.statement import ChangeKind
from lineage_ingest.query_log.pipeline.extraction import microseconds, moment
from lineage_ingest.query_log.pipeline.versions.versions import Moment, Renaming, Versions

__all__ = ["VersionKeys"]

_DEFINITION = definition_job_key("")
_MOMENT = timedelta(microseconds=1)
_SHORTLY = timedelta(microseconds=900)


class VersionKeys:
    """The keys in the graph of versions of tables.

    `gone` has the keys of versions that do not exist at the end of the log. `unseen` has those of them that the log
    created, and whose name no version has at the end, or one from before the log, which has an older definition: they
    are not in the graph, and edges lead past them.
    """

    def __init__(self, versions: Versions, undated_at: datetime) -> None:
        self._undated_at = undated_at
        self._versions = versions
        self._last: dict[str, str] = {}
        self._moves: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
        self._renamings: list[DatasetChange] = []
        self._spellings: dict[str, str] = {}
        self._gone_at: dict[str, datetime] = {}
        self._since: dict[str, datetime] = {}
        self._named: dict[str, datetime] = {}
        self._replaced: dict[str, str] = {}
        self._left: list[tuple[str, str, datetime]] = []
        """Versions that exist at the end of the log, with former names that other versions have then."""
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
            else:
                self._left += ((key, dataset_key(namespace, name), self._time(at)) for name, at in end.left)
        self.before = frozenset(self._last) - made
        """The versions that existed before the log."""
        self._held = {self._last[key]: key for key in self._last.keys() - self._gone_at.keys()}
        self.gone = frozenset(self._gone_at)
        taken = self._held.keys() - {name for name, holder in self._held.items() if holder in self.before}
        self.unseen = frozenset(key for key in self.gone & made if self._last[key] not in taken)
        self._rename(versions.renamings)
        self._read_by_views: dict[str, dict[str, None]] = defaultdict(dict)
        """The names that views read, by the view's key when it was created."""
        for part in versions.parts.values():
            for step, view, _ in part.steps if part.late else ():
                if step.makes:
                    read = (dataset_key(part.namespace, name) for name in part.reads)
                    self._read_by_views[dataset_key(part.namespace, view)].update(dict.fromkeys(read))
        self.plain = not self._last
        """Whether all keys are those in the graph."""

    def _rename(self, renamings: Sequence[Renaming]) -> None:
        """Note the renames, in order; the two of a SWAP are one change."""
        before: Renaming | None = None
        for renaming in renamings:
            is_second = before is not None and renaming.swaps and renaming[:2] == before[:2]
            time = self._time(renaming.at)
            old, new = (dataset_key(renaming.namespace, name) for name in (renaming.table, renaming.other))
            self._moves[dataset_key(renaming.namespace, renaming.version)].append((time, new))
            if is_second:
                self._renamings[-1] = DatasetChange(ChangeKind.SWAP, new, time, old)
            else:
                spelling = own_spelling(renaming.other)
                self._renamings.append(DatasetChange(ChangeKind.RENAME, old, time, new, spelling=spelling))
            before = renaming if renaming.swaps and not is_second else None

    def version_at(self, dataset: str, at: datetime | None) -> str:
        """Return the version that a dataset's key refers to at a time; for None, at the end of the log."""
        if dataset in self._replaced:
            return self._replaced[dataset] if at is not None and at < self._since[dataset] else dataset
        namespace, name = split_dataset_key(dataset)
        if (namespace, name) not in self._versions.timelines:
            return dataset
        moment = None if at is None else (microseconds(at), "", 0)
        return dataset_key(namespace, self._versions.version_at(namespace, name, moment))

    def read_as(self, view: str, source: str) -> str:
        """Return the key of the name by which a view reads a version: one that it had before, or else its last."""
        last = self.key(source)
        namespace, version = split_dataset_key(source)
        names = self._read_by_views.get(plain_name(view), {})
        for name in names if last not in names else ():
            _, states = self._versions.timelines.get((namespace, split_dataset_key(name)[1]), ((), ()))
            if version in states:
                return name
        return last

    def _time(self, at: Moment | None) -> datetime:
        return moment(None if at is None or at[0] < 0 else at[0], self._undated_at)

    def key(self, key: str, at: datetime | None = None) -> str:
        """Return the key in the graph of a dataset or a column at a time; for None, its last key."""
        dataset = dataset_of(key)
        new = self._last.get(dataset)
        if new is None:
            return key
        if at is not None and dataset in self._moves:
            passed = [name for time, name in self._moves[dataset] if time <= at]
            new = passed[-1] if passed else plain_name(dataset)
        return new + key[len(dataset) :]

    def spelling(self, key: str) -> str | None:
        """Return the spelling of a dataset's name in its last RENAME; `key` is its key in the graph."""
        return self._spellings.get(key)

    def replace(self, key: str, at: datetime) -> None:
        """Record that the log replaced a dataset at a time: before that, another dataset had its key."""
        old = _before(key)
        self._last |= {old: key, key: key}
        self._held[key] = key
        self._gone_at[old] = self._since[key] = at
        self.gone |= {old}
        self.before |= {old}
        self._replaced[key] = old
        self.plain = False

    def then(self, edges: Iterable[EdgeRecord]) -> Iterator[EdgeRecord]:
        """Yield edges from before the log with the keys of the versions of that time."""
        for edge in edges:
            source, target = dataset_of(edge.source), dataset_of(edge.target)
            if source in self._replaced or target in self._replaced:
                new_source, new_target = self._replaced.get(source, source), self._replaced.get(target, target)
                yield replace(
                    edge,
                    source=new_source + edge.source[len(source) :],
                    target=new_target + edge.target[len(target) :],
                    output=new_target,
                )
            else:
                yield edge

    def names_before(self) -> frozenset[str]:
        """Return the keys in the graph before the log of versions that existed then and no longer do."""
        return frozenset(self._last[key] if key in self._replaced.values() else key for key in self.gone & self.before)

    def show(self, keys: Iterable[str]) -> None:
        """Record that versions which the log made and dropped are in the graph: until then, others came from them."""
        self.unseen -= frozenset(keys)

    def go_on(self, key: str) -> None:
        """Record that a version from before the log is the same as the one that has its name at the end."""
        self.gone -= {key}
        self.unseen -= {key}
        del self._gone_at[key]

    def since(self, key: str, at: datetime) -> datetime:
        """Return the time of a version's CREATE or ALTER; if it took its name later, a time just after that.

        The order of these times is kept. A version whose renames the graph records keeps `at`, under its name then.
        What one that another replaced did under later names was no longer done to the table of its name.
        """
        gone = self._gone_at.get(key)
        if gone is not None and key not in self._moves and self.holder(key) not in (None, key):
            at = min(at, gone)
        named = self._named.get(key)
        if key in self._moves or named is None or at >= named:
            return at
        made = self._since.get(key, at)
        return named if at <= made else named + _MOMENT + _SHORTLY * ((at - made) / (named - made))

    def moves(self, dataset: str) -> bool:
        """Return whether the graph records renames of a version."""
        return dataset in self._moves

    def job(self, key: str, at: datetime | None = None) -> str:
        """Return the key in the graph of a job."""
        if not key.startswith(_DEFINITION):
            return key
        return definition_job_key(self.key(key.removeprefix(_DEFINITION), at))

    def is_gone(self, key: str) -> bool:
        """Return whether a key is that of a version that no longer exists, or of a column of one."""
        return dataset_of(key) in self.gone

    def is_unseen(self, key: str) -> bool:
        """Return whether a key is that of a version that is not in the graph, or of a column of one."""
        return dataset_of(key) in self.unseen

    def holder(self, dataset: str) -> str | None:
        """Return the version that now has the last name of a version that no longer exists, if any."""
        return self._held.get(self._last.get(dataset, dataset))

    def is_last(self, dataset: str) -> bool:
        """Return whether no other version has the last name of this one at the end of the log."""
        return not self.is_gone(dataset) and self.holder(dataset) in (None, dataset)

    def is_one_table(self, version: str, last: str) -> bool:
        """Return whether a version is `last`, which exists at the end of the log, or was recreated unchanged as it."""
        return version == last or (not self.is_gone(version) and self.key(version) == self.key(last))

    def successor(self, version: str) -> str:
        """Return the version that took the last name of a version after it, or else the one that has it in the end."""
        return self._taking(self._last.get(version, version), version)

    def first(self, name: str) -> str:
        """Return the version that first took the name of a table from before the log."""
        return self._taking(name, name if name in self.before else "")

    def _taking(self, name: str, version: str) -> str:
        namespace, plain = split_dataset_key(name)
        found = self._versions.successor(namespace, plain, split_dataset_key(version)[1] if version else "")
        return self._held.get(name, name) if found is None else dataset_key(namespace, found)

    @property
    def passed(self) -> frozenset[str]:
        """The versions that are not in the graph, or whose name refers to another version there."""
        return self.unseen | {key for key in self.gone if self._last[key] in self._held}

    def changes(self, defined: Container[str]) -> Iterator[DatasetChange]:
        """Yield the log's changes to datasets of the graph; `defined` are the keys of those with definitions."""
        yield from self._renamings
        for key, name, at in self._left:
            if key not in self._moves:
                yield DatasetChange(ChangeKind.FORMER_NAME, name, at, self._last[key])
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


def _before(key: str) -> str:
    """Return the key of the version that had a dataset's key before the log."""
    namespace, name = split_dataset_key(key)
    return dataset_key(namespace, versioned_name(name, 0))
