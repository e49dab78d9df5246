"""Pages of ordered lists by position, so that rows added or removed elsewhere do not shift a page."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import field, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

from lineage.frozen import frozen
from lineage.model.files import beginning
from lineage.model.names import schema_of, split_name
from lineage.store.graph.backend import Transaction
from lineage.store.graph.reading.reads import datasets, jobs
from lineage.store.graph.records import diagnostic_from, run_from
from lineage.store.graph.statements import NamedStatement, query
from lineage.store.page_requests import DatasetFilter, DiagnosticFilter, JobFilter, Order, PageRequest, Position
from lineage.store.values import DatasetUsage, StoredDataset, StoredDiagnostic, StoredJob, StoredRun

__all__ = [
    "count_datasets",
    "count_diagnostics",
    "count_jobs",
    "count_runs",
    "page_of_datasets",
    "page_of_diagnostics",
    "page_of_jobs",
    "page_of_runs",
    "position_in",
    "runs_by_key",
    "usage_totals",
]

T = TypeVar("T", StoredDataset, StoredDiagnostic, StoredJob, StoredRun)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_TIMES = frozenset({Order.FIRST_SEEN, Order.LAST_SEEN, Order.AT})
_AT_LEAST = 200
"""Minimum number of rows to read at once if some are filtered out afterwards."""


@frozen(slots=False)
class _List:
    """A pattern that binds nodes to `n`, and the conditions on them."""

    pattern: NamedStatement
    conditions: tuple[NamedStatement, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    admits: Callable[[str, str], bool] | None = None
    """A condition on the key and name of a dataset that Cypher cannot express."""

    def where(self, *names: str, **parameters: Any) -> _List:
        """Return the list with more conditions: named statements and their parameters."""
        conditions = (*self.conditions, *(query(name) for name in names))
        return replace(self, conditions=conditions, parameters=self.parameters | parameters)


def position_in(order: Order, row: StoredDataset | StoredJob | StoredRun) -> Position:
    """Return the position of a row in a list of this order.

    Raises:
        AttributeError: such rows cannot be ordered like this.
    """
    if order is Order.KEY:
        return (row.key,)
    value: str | datetime = getattr(row, order)
    return ((value - _EPOCH) // _MICROSECOND if isinstance(value, datetime) else value, row.key)


def page_of_jobs(transaction: Transaction, page: PageRequest, wanted: JobFilter | None = None) -> list[StoredJob]:
    """Return a page of jobs."""
    keys = _keys(transaction, _jobs(wanted or JobFilter()), page)
    return _in_order(keys, jobs(transaction, keys, users=False))


def count_jobs(transaction: Transaction, wanted: JobFilter | None = None) -> int:
    """Return how many jobs match."""
    return _count(transaction, _jobs(wanted or JobFilter()))


def page_of_datasets(
    transaction: Transaction, page: PageRequest, wanted: DatasetFilter | None = None
) -> list[StoredDataset]:
    """Return a page of datasets."""
    keys = _keys(transaction, _datasets(transaction, wanted or DatasetFilter()), page)
    return _in_order(keys, datasets(transaction, keys))


def count_datasets(transaction: Transaction, wanted: DatasetFilter | None = None) -> int:
    """Return how many datasets match."""
    return _count(transaction, _datasets(transaction, wanted or DatasetFilter()))


def page_of_diagnostics(
    transaction: Transaction, page: PageRequest, wanted: DiagnosticFilter | None = None
) -> list[StoredDiagnostic]:
    """Return a page of diagnostics."""
    keys = _keys(transaction, _diagnostics(wanted or DiagnosticFilter()), page)
    rows = transaction.read(query("diagnostics_by_key"), [{"key": key} for key in keys])
    return _in_order(keys, (diagnostic_from(row["n"]) for row in rows))


def count_diagnostics(transaction: Transaction, wanted: DiagnosticFilter | None = None) -> int:
    """Return how many diagnostics match."""
    return _count(transaction, _diagnostics(wanted or DiagnosticFilter()))


def page_of_runs(transaction: Transaction, page: PageRequest) -> list[StoredRun]:
    """Return a page of ingests."""
    keys = _keys(transaction, _List(query("page_of_runs")), page)
    return _in_order(keys, runs_by_key(transaction, keys))


def count_runs(transaction: Transaction) -> int:
    """Return how many ingests were stored."""
    return _count(transaction, _List(query("page_of_runs")))


def runs_by_key(transaction: Transaction, keys: Collection[str]) -> list[StoredRun]:
    """Return the ingests of these keys, sorted by key."""
    rows = transaction.read(query("runs_by_key"), [{"key": key} for key in sorted(set(keys))])
    return sorted((run_from(row["n"]) for row in rows), key=lambda run: run.key)


def usage_totals(
    transaction: Transaction, *, since: date | None = None, until: date | None = None
) -> list[DatasetUsage]:
    """Return the use of each dataset from `since` to `until` inclusive, sorted by key."""
    between = {"since": since or date.min, "until": until or date.max}
    rows = transaction.read(query("usage_of_datasets"), [between])
    totals = (
        DatasetUsage(
            of=row["of"],
            reads=int(row["reads"]),
            writes=int(row["writes"]),
            first_day=_native(row["first_day"]),
            last_day=_native(row["last_day"]),
            last_read=_native(row["read_at"]),
        )
        for row in rows
    )
    return sorted(totals, key=lambda total: total.of)


def _jobs(wanted: JobFilter) -> _List:
    listing = _List(query("page_of_jobs"))
    if wanted.user is not None:
        listing = listing.where("page_where_ran_by", user=wanted.user)
    if wanted.kinds:
        listing = listing.where("page_where_kinds", kinds=[str(kind) for kind in wanted.kinds])
    if not wanted.retired:
        listing = listing.where("page_where_not_retired")
    if wanted.project is not None:
        listing = listing.where("page_where_project", project=beginning(wanted.project))
    if wanted.file is not None:
        # In a file key, the path is between the first colon and the `@` of the environment; both are escaped in it.
        path = beginning("", wanted.file.rstrip("/"))
        folder = wanted.file.rstrip("/") + "/"
        listing = listing.where("page_where_file", file=wanted.file, folder=folder, path=f"{path}@", below=f"{path}/")
    return listing


def _datasets(transaction: Transaction, wanted: DatasetFilter) -> _List:
    listing = _List(query("page_of_datasets"))
    if wanted.namespace is not None:
        listing = listing.where("page_where_namespace", namespace=wanted.namespace)
    if wanted.kinds:
        listing = listing.where("page_where_kinds", kinds=[str(kind) for kind in wanted.kinds])
    if wanted.tags:
        listing = listing.where("page_where_tags", tags=sorted(set(wanted.tags)))
    if not wanted.dropped:
        listing = listing.where("page_where_not_dropped")
    schema = None if wanted.schema is None else _fold(wanted.schema)
    read: frozenset[str] = frozenset()
    if wanted.unread_since is not None:
        totals = usage_totals(transaction, since=wanted.unread_since)
        read = frozenset(total.of for total in totals if total.reads)
    if schema is None and not read:
        return listing

    def admits(key: str, name: str) -> bool:
        if key in read:
            return False
        above = _fold(schema_of(name)) if schema is not None else ()
        return schema is None or (bool(schema) and above[-len(schema) :] == schema)

    return replace(listing, admits=admits)


def _diagnostics(wanted: DiagnosticFilter) -> _List:
    listing = _List(query("page_of_diagnostics"))
    if wanted.codes:
        listing = listing.where("page_where_codes", codes=[str(code) for code in wanted.codes])
    if wanted.severities:
        listing = listing.where("page_where_severities", severities=[str(severity) for severity in wanted.severities])
    if wanted.source is not None:
        listing = listing.where("page_where_source", source=wanted.source)
    return listing


@lru_cache(maxsize=4096)
def _fold(name: str) -> tuple[str, ...]:
    return tuple(part.casefold() for part, _ in split_name(name))


def _keys(transaction: Transaction, of: _List, page: PageRequest) -> list[str]:
    """Return the keys of a page, in the list's order."""
    limit = page.limit if of.admits is None else max(page.limit, _AT_LEAST)
    keys: list[str] = []
    while len(keys) < page.limit:
        rows = _read(transaction, of, page, limit)
        keys += [row["key"] for row in rows if of.admits is None or of.admits(row["key"], row["name"])]
        if len(rows) < limit:
            break
        last = rows[-1]
        position = (last["key"],) if page.order is Order.KEY else (_number(last["value"]), last["key"])
        page = replace(page, before=position) if page.backwards else replace(page, after=position)
    keys = keys[: page.limit]
    return keys[::-1] if page.backwards else keys


def _read(transaction: Transaction, of: _List, page: PageRequest, limit: int) -> list[dict[str, Any]]:
    values_fall, keys_fall = page.descending != page.backwards, page.backwards
    if page.order is Order.KEY:
        keys_fall = values_fall
    parameters: dict[str, Any] = {**of.parameters, "limit": limit}
    conditions = list(of.conditions)
    for side, position in (("after", page.after), ("before", page.before)):
        if position is None:
            continue
        behind = (side == "after") != page.backwards
        sign, key_sign = ("<" if falls == behind else ">" for falls in (values_fall, keys_fall))
        if page.order is Order.KEY:
            conditions.append(query("page_beyond_key", side=side, sign=sign))
        else:
            shown = _property(page.order)
            conditions.append(query("page_beyond", side=side, sign=sign, key_sign=key_sign, property=shown))
            value = position[0]
            parameters[f"{side}_value"] = _time(int(value)) if page.order in _TIMES else value
        parameters[f"{side}_key"] = position[-1]
    statement = query(
        "page",
        pattern=of.pattern,
        where=tuple(conditions),
        property=_property(page.order),
        shown="full_name" if of.admits else "key",
        direction="DESC" if values_fall else "ASC",
        key_direction="DESC" if keys_fall else "ASC",
    )
    return transaction.read(statement, [parameters])


def _property(order: Order) -> str:
    """Return the property of a node that a list is ordered by."""
    return "full_name" if order is Order.NAME else str(order)


def _count(transaction: Transaction, of: _List) -> int:
    where = of.conditions
    if of.admits is None:
        [row] = transaction.read(query("page_count", pattern=of.pattern, where=where), [of.parameters])
        return int(row["number"])
    rows = transaction.read(query("page_names", pattern=of.pattern, where=where), [of.parameters])
    return sum(of.admits(row["key"], row["name"]) for row in rows)


def _in_order(keys: list[str], found: Any) -> list[Any]:
    by_key = {one.key: one for one in found}
    return [by_key[key] for key in keys if key in by_key]


def _time(microseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return _LAST if microseconds > 0 else _FIRST


def _number(value: Any) -> str | int:
    return value if isinstance(value, str) else (_native(value) - _EPOCH) // _MICROSECOND


def _native(value: Any) -> Any:
    """Return a day or time as a Python value; only properties of nodes are converted by the backend."""
    return value.to_native() if hasattr(value, "to_native") else value
