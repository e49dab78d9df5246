"""What the store knows of the names in a document: schemas, upstream and downstream, files that write a table.

Answers are kept until the graph changes. Any thread may ask.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from lineage.catalog import Catalog
from lineage.model.dialect import Dialect
from lineage.model.files import Environment, FileKey
from lineage.model.names import dataset_of
from lineage.model.statement import Completeness, DatasetKind
from lineage.store.errors import StoreTimeoutError
from lineage.store.page_requests import DatasetFilter, JobFilter, PageRequest
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredJob
from lineage.traversal import Target, TraversalOptions, impact, root_cause
from lineage.traversal.answer import Outline

__all__ = ["GraphAnswers", "ColumnReach", "joined"]

T = TypeVar("T")
_SECONDS_KEPT = 15.0
_TIMEOUT = 1.0
_MAX_COLUMNS = 5_000
_MAX_JOBS = 500


@dataclass(frozen=True)
class ColumnReach:
    """What is up- or downstream of a column: how much, the nearest of it, and why there may be more."""

    columns: tuple[Outline, ...]
    names: dict[str, str]
    tables: int
    possibly_affected: tuple[str, ...]
    doubts: tuple[str, ...]


def joined(reaches: list[ColumnReach]) -> ColumnReach:
    """Return what several columns reach together."""
    if len(reaches) == 1:
        return reaches[0]
    columns = {one.key: one for reach in reaches for one in reversed(reach.columns)}
    names = {key: name for reach in reaches for key, name in reach.names.items()}
    affected = sorted({table for reach in reaches for table in reach.possibly_affected})
    doubts = dict.fromkeys(doubt for reach in reaches for doubt in reach.doubts)
    nearest = sorted(columns.values(), key=lambda one: (one.hops, one.references, one.key))
    tables = len({one.dataset for one in nearest})
    return ColumnReach(tuple(nearest), names, tables, tuple(affected), tuple(doubts))


class GraphAnswers:
    """Questions about names, answered from a store. A name that several datasets have means none of them."""

    def __init__(self, store: GraphStore, namespace: str = "") -> None:
        self.store = store
        self._namespace = namespace
        self._kept: dict[Any, Any] = {}
        self._version: Any = None
        self._looked_at = 0.0

    def _once(self, key: Any, ask: Callable[[], T]) -> T:
        """Return the answer to a question, kept while the graph stays the same."""
        self._forget_if_changed()
        kept = self._kept
        if key not in kept:
            kept[key] = ask()
        answer: T = kept[key]
        return answer

    def _forget_if_changed(self) -> None:
        now = time.monotonic()
        if now - self._looked_at < 1:
            return
        version = self._present_version(now)
        if version is None or version != self._version:
            self._kept = {}
        self._version, self._looked_at = version, now

    def _present_version(self, now: float) -> Any:
        ask = getattr(self.store, "graph_version", None)
        return ask() if callable(ask) else int(now / _SECONDS_KEPT)  # a service does not say

    # Datasets and their columns

    def datasets(self, name: str) -> list[StoredDataset]:
        """Return the live datasets that a table's name may mean: of the namespace, if one is set and has any."""

        def ask() -> list[StoredDataset]:
            found = [one for one in self.store.find_datasets(name) if one.dropped_at is None]
            found = [one for one in found if one.kind is not DatasetKind.EXPOSURE] or found
            return [one for one in found if one.namespace == self._namespace] or found

        return self._once(("datasets", name), ask)

    def dataset(self, name: str) -> StoredDataset | None:
        """Return the dataset that a table's name means; None without one, or with several."""
        found = self.datasets(name)
        return found[0] if len(found) == 1 else None

    def columns(self, dataset: str) -> list[StoredColumn]:
        """Return the columns of a dataset, by its key."""
        return self._once(("columns", dataset), lambda: self.store.columns([dataset]))

    def column(self, table: str, name: str) -> StoredColumn | None:
        """Return a column by the names of its table and itself, ignoring case."""
        dataset = self.dataset(table)
        if dataset is None:
            return None
        columns = self.columns(dataset.key)
        exact = [one for one in columns if one.path == name]
        return next(iter(exact or [one for one in columns if one.path.casefold() == name.casefold()]), None)

    def catalog(self, names: Iterable[str], dialect: Dialect) -> Catalog:
        """Return the schemas of the tables of these names."""
        found = {one.key: one for name in sorted(names) if (one := self.dataset(name)) is not None}

        def ask() -> Catalog:
            return Catalog.from_store(_Chosen(self.store, list(found.values())), dialect)

        return self._once(("catalog", dialect.name, tuple(found)), ask)

    def tables_like(self, word: str, limit: int = 100) -> list[str]:
        """Return the names of tables that contain a word, as people write them."""

        def ask() -> list[str]:
            if word:
                keys = [hit.key for hit in self.store.search(word, types=("Table",), limit=limit)]
                found = self.store.datasets(keys)
            else:
                found = self.store.page_of_datasets(PageRequest(limit=limit), DatasetFilter())
            return [
                one.display_name for one in found if one.dropped_at is None and one.kind is not DatasetKind.EXPOSURE
            ]

        return self._once(("tables", word, limit), ask)

    # Files

    def environment(self, paths: Collection[str]) -> Environment | None:
        """Return how the store read a file, given by the paths that it may have in its project."""

        def ask() -> Environment | None:
            for path in paths:
                for job in self.store.page_of_jobs(PageRequest(limit=1), JobFilter(file=path)):
                    if job.file_key:
                        return FileKey.parse(job.file_key).environment
            return None

        return self._once(("environment", tuple(paths)), ask)

    def common_dialect(self) -> str | None:
        """Return the dialect of most datasets."""

        def ask() -> str | None:
            found = self.store.page_of_datasets(PageRequest(limit=500), DatasetFilter())
            counts = Counter(one.dialect for one in found if one.dialect)
            return counts.most_common(1)[0][0] if counts else None

        return self._once("dialect", ask)

    def writers(self, dataset: str) -> list[StoredJob]:
        """Return the jobs that write a dataset, those with a file first."""
        jobs = [one for one in self._jobs(dataset) if dataset in one.writes]
        return sorted(jobs, key=lambda one: (one.path is None, one.source is None, one.key))

    def _jobs(self, dataset: str) -> list[StoredJob]:
        def ask() -> list[StoredJob]:
            keys = self.store.job_keys_of([dataset]).get(dataset, [])
            return [one for one in self.store.jobs(keys[:_MAX_JOBS]) if one.retired_at is None]

        return self._once(("jobs", dataset), ask)

    # Lineage

    def reach(self, column: StoredColumn, direction: Direction) -> ColumnReach:
        """Return what is up- or downstream of a column, and what makes that incomplete."""
        return self._once(("reach", column.key, direction), lambda: self._reach(column, direction))

    def _reach(self, column: StoredColumn, direction: Direction) -> ColumnReach:
        target = Target(column.key, column.path, column.dataset, column.path)
        options = TraversalOptions(limit_total=_MAX_COLUMNS, timeout=_TIMEOUT)
        ask = impact if direction is Direction.DOWNSTREAM else root_cause
        try:
            answer = ask(self.store, target, options)
            outlines = answer.outlines
            affected = tuple(sorted({one.table for one in answer.possibly_affected}))
        except StoreTimeoutError:
            return ColumnReach((), {}, 0, (), (f"the store did not answer within {_TIMEOUT:g} s",))
        doubts = [answer.truncated] if answer.truncated else []
        doubts += self._partial(column.dataset, direction)
        return ColumnReach(
            outlines, answer.names_of([one.key for one in outlines]), len(answer.by_dataset), affected, tuple(doubts)
        )

    def _partial(self, dataset: str, direction: Direction) -> list[str]:
        """Return what is not known of the jobs next to a dataset."""
        downstream = direction is Direction.DOWNSTREAM
        jobs = [one for one in self._jobs(dataset) if dataset in (one.reads if downstream else one.writes)]
        partial = [one for one in jobs if one.completeness is not Completeness.FULL]
        if not partial:
            return []
        does = "read" if downstream else "write"
        return [f"{len(partial):,} of the {len(jobs):,} jobs that {does} {_own_name(dataset)} are not fully resolved"]

    def direct_readers(self, column: StoredColumn) -> list[tuple[StoredJob, int, str]]:
        """Return the jobs that read a column, each with an offset in its SQL where it does, and what it writes there.

        The offset is -1 where no SQL proves it.
        """

        def ask() -> list[tuple[StoredJob, int, str]]:
            hops = self.store.expand([column.key], Direction.DOWNSTREAM)
            jobs = {one.key: one for one in self.store.jobs({hop.edge.job for hop in hops})}
            found: dict[tuple[str, int], tuple[StoredJob, int, str]] = {}
            for hop in hops:
                job = jobs.get(hop.edge.job)
                if job is not None:
                    at = min((chain[0] for chain in hop.edge.spans if chain), default=-1)
                    found.setdefault((job.key, at), (job, at, dataset_of(hop.edge.target)))
            return [found[key] for key in sorted(found)]

        return self._once(("readers", column.key), ask)


class _Chosen:
    """Some datasets of a store, as a catalog reads them."""

    def __init__(self, store: GraphStore, datasets: list[StoredDataset]) -> None:
        self._store = store
        self._datasets = datasets

    def datasets(self) -> list[StoredDataset]:
        """Return the datasets."""
        return self._datasets

    def column_heads(self, datasets: Collection[str]) -> Any:
        """Return their columns."""
        return self._store.column_heads(datasets)


def _own_name(dataset: str) -> str:
    return dataset.rpartition("/")[2]
