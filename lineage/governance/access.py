"""Who read personal data: by the query logs, through which columns, masked or not, how often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import date

from lineage.frozen import frozen
from lineage.governance.exposure import Exposure
from lineage.governance.log_coverage import LogCoverage, log_coverage
from lineage.governance.report.pii_report import UNRESOLVED, Holder, PiiReport, ProvenStep
from lineage.governance.warehouse.warehouse_policies import Protection
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredUsage

__all__ = ["Access", "AccessAudit", "audit_access", "pseudonyms"]

_NEW_DAYS = 30
_NAMED_TABLES = 5


@frozen
class Access:
    """The reads of one column with values of a class, by one user (None: the log does not name the user)."""

    user: str | None
    classes: tuple[str, ...]
    column: str
    sources: tuple[str, ...]
    exposure: Exposure
    protection: Protection
    queries: int
    first_day: date
    last_day: date
    is_new: bool
    path: tuple[ProvenStep, ...] = ()
    key: str = ""
    """The column's key."""


@frozen
class AccessAudit:
    """Who read what, and, before that, what the logs do not show.

    `new_readers` are, by class, the users who read values of it for the first time in the last 30 days of the logs,
    in whatever column; hashes do not count. None: the logs cover no more than that.
    """

    coverage: LogCoverage
    blind_spots: tuple[str, ...]
    accesses: tuple[Access, ...]
    new_readers: Mapping[str, tuple[str, ...]] | None = None


def audit_access(
    store: GraphStore, report: PiiReport, *, since: date | None = None, until: date | None = None,
    users: Collection[str] = (),
) -> AccessAudit:  # fmt: skip
    """Return who read the columns of a report.

    A read is new if the user had not read the column before the last 30 days of the logs.

    Raises:
        NoLogError: no log covers that time.
        StoreError: the store could not be read.
    """
    coverage = log_coverage(store, since, until)
    holders: defaultdict[str, list[tuple[Holder, str, tuple[str, ...]]]] = defaultdict(list)
    for source in report.sources:
        classes = tuple(one.name for one in source.tags)
        for holder in (source.own, *source.holders):
            holders[holder.key].append((holder, source.name, classes))
    days: defaultdict[str, list[StoredUsage]] = defaultdict(list)
    for one in store.usages(sorted(holders)):
        days[one.of].append(one)
    accesses: list[Access] = []
    begun: dict[tuple[str, str], date] = {}
    for key, usage in days.items():
        # Of several sources the one that shows most: a value that no mask is on, before one that a mask is on.
        shown = min((one for one, *_ in holders[key]), key=lambda one: (one.exposure.rank, one.protection.is_masked))
        sources = tuple(sorted({name for _, name, _ in holders[key]}))
        classes = tuple(sorted({name for *_, names in holders[key] for name in names}))
        for user, read in _by_user(usage).items():
            if user is not None and shown.exposure is not Exposure.MASKED:
                for name in classes:
                    begun[name, user] = min(begun.get((name, user), date.max), *read)
            asked = {
                day: number
                for day, number in read.items()
                if (not since or day >= since) and (not until or day <= until)
            }
            if asked and (not users or user in users):
                new = (coverage.last_day - min(read)).days < _NEW_DAYS < coverage.days
                total = sum(asked.values())
                accesses.append(
                    Access(
                        user,
                        classes,
                        shown.name,
                        sources,
                        shown.exposure,
                        shown.protection,
                        total,
                        min(asked),
                        max(asked),
                        new,
                        shown.path,
                        key,
                    )
                )
    ordered = sorted(accesses, key=lambda one: (one.exposure.rank, -one.queries, one.user or "", one.column))
    spots = tuple(_blind_spots(report, coverage, accesses, since, until))
    asked_users = {user: day for user, day in begun.items() if not users or user[1] in users}
    return AccessAudit(coverage, spots, tuple(ordered), _new_readers(asked_users, coverage))


def _new_readers(begun: Mapping[tuple[str, str], date], coverage: LogCoverage) -> dict[str, tuple[str, ...]] | None:
    """Return the users by class whose first read of it (`begun`) is in the last days of the logs."""
    if coverage.days <= _NEW_DAYS:
        return None
    found: defaultdict[str, list[str]] = defaultdict(list)
    for (name, user), day in sorted(begun.items()):
        if (coverage.last_day - day).days < _NEW_DAYS:
            found[name].append(user)
    return {name: tuple(users) for name, users in found.items()}


def pseudonyms(audit: AccessAudit) -> dict[str, str]:
    """Return another name for each user: `user 1` and so on, by the order of the list."""
    users = dict.fromkeys(one.user for one in audit.accesses if one.user is not None)
    users |= dict.fromkeys(user for named in (audit.new_readers or {}).values() for user in named)
    return {user: f"user {number}" for number, user in enumerate(users, start=1)}


def _by_user(usage: list[StoredUsage]) -> dict[str | None, dict[date, int]]:
    """Return the number of queries of each user by day; None are those of whom the log has no name."""
    queries_by_user: defaultdict[str | None, dict[date, int]] = defaultdict(dict)
    for stored_usage in usage:
        if not stored_usage.reads:
            continue
        for user, queries in stored_usage.users.named:
            queries_by_user[user][stored_usage.day] = queries
        unnamed = stored_usage.reads - sum(queries for _, queries in stored_usage.users.named)
        if unnamed > 0:
            queries_by_user[None][stored_usage.day] = unnamed
    return dict(queries_by_user)


def _blind_spots(
    report: PiiReport, coverage: LogCoverage, found: list[Access], since: date | None, until: date | None
) -> Iterator[str]:
    yield f"only what is in the {coverage.text}"
    if (since and coverage.first_day > since) or (until and coverage.last_day < until):
        yield f"the time asked about is not covered as a whole: {since or 'the beginning'} to {until or 'the end'}"
    missing = {holder.namespace for _, holder in report.rows} - coverage.namespaces
    if missing:
        yield f"no log covers {', '.join(sorted(missing))}"
    tables = sorted({name for source in report.sources for name in source.possibly})
    if tables:
        shown = ", ".join(tables[:_NAMED_TABLES]) + (" and others" if len(tables) > _NAMED_TABLES else "")
        yield f"tables that may hold the values, written by SQL whose columns are not known: {shown} ({len(tables):,})"
    yield from (f"{one.what}: {one.why}" for one in report.blind_spots if one.what == UNRESOLVED)
    if any(one.user is None for one in found):
        yield "the users of some queries are not known"
    yield "a query that reads a view counts as a read of the view, not of the tables behind it"
    if any(one.protection.is_masked for one in found):
        yield "whether a user saw the value or its mask: logs name users, policies name roles"
    yield "copies outside these systems (exports, dashboards, backups) are not seen"
