"""Tables that nobody reads and that nothing used is made from, in the order in which they can be dropped.

A table is used if a query that writes nothing reads it, or something of which no job is known; if a dashboard, a file
or a topic is made from it (who reads these is not known); or if something used is. What a pipeline reads is not used by
that alone: nobody may read what the pipeline writes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date, timedelta

from lineage.frozen import frozen
from lineage.governance.log_coverage import LogCoverage, log_coverage
from lineage.model.batch import JobKind
from lineage.model.names import dataset_of, is_column_key, split_dataset_key, split_name
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredJob

__all__ = ["UnusedColumn", "UnusedReport", "UnusedTable", "find_unused"]

_WORD = re.compile(r"\w+")
_OUTSIDE = frozenset((DatasetKind.EXPOSURE, DatasetKind.FILE, DatasetKind.TOPIC))


@frozen
class UnusedTable:
    """A table that can be dropped, once those before it in the list are.

    `sure` is high, medium or low, and `but` says why it is not high. `cost_us` is the logged time of the jobs that
    write it, in microseconds.
    """

    key: str
    name: str
    kind: str
    last_read: date | None
    feeds: tuple[str, ...]
    cost_us: int
    runs: int
    sure: str
    but: tuple[str, ...]


@frozen
class UnusedColumn:
    """A column of a used table that nobody reads, and that nothing used is made from.

    `star_reads` is the number of queries that read it all the same, because of `SELECT *`: none names it.
    """

    key: str
    table: str
    column: str
    star_reads: int = 0


@frozen
class UnusedReport:
    """Unused tables in the order in which they can be dropped, what the logs cover, and how many were not judged."""

    since: date
    until: date
    coverage: LogCoverage
    tables: tuple[UnusedTable, ...]
    columns: tuple[UnusedColumn, ...]
    not_judged: int
    judged: int


def find_unused(store: GraphStore, days: int, until: date, *, columns: bool = False) -> UnusedReport:
    """Return what was not used in the last `days` days up to `until`.

    Raises:
        NoLogError: no log covers that time.
        StoreError: the store could not be read.
    """
    since = until - timedelta(days=days - 1)
    coverage = log_coverage(store, since, until)
    datasets = {one.key: one for one in store.datasets() if one.dropped_at is None}
    # A policy or grant names a table, and reads nothing of it.
    jobs = [one for one in store.jobs() if one.retired_at is None and one.kind is not JobKind.POLICY]
    last_reads = {one.of: one.last_read.date() for one in store.usage_totals() if one.last_read is not None}
    read_by_jobs = {key for job in jobs for key in job.reads}
    unexplained = {key for key, day in last_reads.items() if day >= since and key not in read_by_jobs}
    used = _used(datasets, jobs, since, unexplained)
    judged = [one for one in datasets.values() if one.namespace in coverage.namespaces and one.kind not in _OUTSIDE]
    unused = {one.key for one in judged} - used
    names = store.dataset_names(unused | {key for job in jobs for key in job.writes})
    made_from = _made_from(jobs)
    costs = _costs(jobs)
    tables = tuple(
        UnusedTable(
            key,
            names[key],
            str(datasets[key].kind),
            last_reads.get(key),
            tuple(sorted(names[one] for one in made_from.get(key, ()) if one in unused)),
            *costs.get(key, (0, 0)),
            *_sureness(datasets[key], coverage, since, until),
        )
        for key in _in_order(unused, made_from, names)
    )
    found = _unused_columns(store, [one for one in judged if one.key in used], used, jobs, since) if columns else ()
    return UnusedReport(since, until, coverage, tables, tuple(found), len(datasets) - len(judged), len(judged))


def _used(
    datasets: Mapping[str, StoredDataset], jobs: Iterable[StoredJob], since: date, unexplained: Collection[str]
) -> set[str]:
    """Return what is used; what was read by no known job (`unexplained`) counts as read by a query."""
    used = {key for key, one in datasets.items() if one.kind in _OUTSIDE} | (datasets.keys() & unexplained)
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for job in jobs:
        if not job.writes and job.last_seen.date() >= since:
            used |= {*job.reads}
        for target in job.writes:
            sources[target] |= {*job.reads}
    level = set(used)
    while level:
        level = {source for key in level for source in sources.get(key, ())} - used
        used |= level
    return used


def _made_from(jobs: Iterable[StoredJob]) -> dict[str, set[str]]:
    """Return which tables are made from each table."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for job in jobs:
        for source in job.reads:
            found[source] |= {*job.writes} - {source}
    return found


def _costs(jobs: Iterable[StoredJob]) -> dict[str, tuple[int, int]]:
    """Return the logged duration and the number of runs of the jobs that write each table."""
    costs: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for job in jobs:
        for target in job.writes:
            duration, runs = costs[target]
            costs[target] = (duration + job.duration_us, runs + job.observations)
    return costs


def _in_order(unused: Collection[str], made_from: Mapping[str, Collection[str]], names: Mapping[str, str]) -> list[str]:
    """Return the tables so that each comes after those that are made from it; in a cycle, by name."""
    left = {key: {one for one in made_from.get(key, ()) if one in unused} for key in unused}
    ordered: list[str] = []
    while left:
        free = {key for key, readers in left.items() if not readers & left.keys()}
        ready = sorted(free or left, key=lambda key: (names[key], key))
        ready = ready if free else ready[:1]
        ordered += ready
        for key in ready:
            del left[key]
    return ordered


def _sureness(dataset: StoredDataset, coverage: LogCoverage, since: date, until: date) -> tuple[str, tuple[str, ...]]:
    but = []
    if coverage.first_day > since or coverage.last_day < until:
        covered = (min(coverage.last_day, until) - max(coverage.first_day, since)).days + 1
        but.append(f"the logs cover {covered} of {(until - since).days + 1} days")
    if coverage.unresolved:
        number = "1 statement was" if coverage.unresolved == 1 else f"{coverage.unresolved:,} statements were"
        but.append(f"{number} not understood, and may read it")
    if dataset.first_seen.date() > since:
        but.append(f"first seen on {dataset.first_seen.date()}: it may be new")
    return ("high", "medium", "low")[min(len(but), 2)], tuple(but)


def _unused_columns(
    store: GraphStore,
    datasets: Collection[StoredDataset],
    used: Collection[str],
    jobs: Iterable[StoredJob],
    since: date,
) -> list[UnusedColumn]:
    names = {one.key: one.display_name for one in datasets}
    columns = {one.key: one for one in store.columns(list(names)) if one.parent is None}
    reads: Counter[str] = Counter()
    for one in store.usages(sorted(columns), since=since):
        reads[one.of] += one.reads
    words = _words(jobs, since)
    named = {key for key in +reads if _is_named(columns[key], words.get(columns[key].dataset))}
    targets: defaultdict[str, set[str]] = defaultdict(set)
    for hop in store.expand(columns.keys() - named, Direction.DOWNSTREAM):
        if dataset_of(hop.edge.target) in used:
            targets[hop.edge.target].add(hop.via)
    # What leads to the rows of a used table is used, and what leads to a used column.
    level = {target for target in targets if not is_column_key(target)} | (targets.keys() & named)
    leading: set[str] = set()
    while level:
        level = {via for target in level for via in targets.get(target, ())} - leading - named
        leading |= level
    rest = sorted(columns.keys() - named - leading, key=lambda key: (names[columns[key].dataset], key))
    return [
        UnusedColumn(key, names[columns[key].dataset], columns[key].display_path, max(0, reads[key])) for key in rest
    ]


def _words(jobs: Iterable[StoredJob], since: date) -> dict[str, set[str] | None]:
    """Return the words of the SQL that reads each table; None if some of it may read columns that it does not name.

    That is what has no SQL, what does not name the table (it was read by way of a temporary one), and NATURAL joins.
    """
    words_by_table: dict[str, set[str] | None] = {}
    for job in jobs:
        if job.last_seen.date() < since:
            continue
        words = {*_WORD.findall((job.sql or "").casefold())}
        for key in job.reads:
            before = words_by_table.get(key, set())
            is_known = "natural" not in words and {*_WORD.findall(_last_part(key))} <= words
            words_by_table[key] = before | words if is_known and before is not None else None
    return words_by_table


def _last_part(key: str) -> str:
    return [part for part, _ in split_name(split_dataset_key(key)[1])][-1].casefold()


def _is_named(column: StoredColumn, words: set[str] | None) -> bool:
    """Return whether SQL with these words may name a column: if not, it is read because of `SELECT *` only."""
    return words is None or {*_WORD.findall(column.display_path.casefold())} <= words
