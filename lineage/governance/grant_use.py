"""Which grants on personal data nobody used, by the query logs. Where these cannot tell, a grant is `unknown`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum

from lineage.frozen import frozen
from lineage.governance.exposure import Exposure
from lineage.governance.log_coverage import LogCoverage, log_coverage
from lineage.governance.report.pii_report import Holder, PiiReport
from lineage.governance.warehouse.warehouse_policies import load_warehouse_policies
from lineage.model.names import dataset_of
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredUsage

__all__ = ["GrantAudit", "GrantState", "GrantUse", "audit_grants"]

_EVERYBODY = frozenset(("public", "account users", "users"))
_AT_ONCE = 500
"""Tables whose users are read at once."""


class GrantState(StrEnum):
    """Whether somebody read by a grant."""

    UNUSED = "unused"
    UNKNOWN = "unknown"
    USED = "used"


@frozen
class GrantUse:
    """A grant on a table, or on one of its columns, with personal data: who that has the role used it."""

    role: str
    name: str
    classes: tuple[str, ...]
    state: GrantState
    why: str
    granted: datetime | None
    users: tuple[str, ...] = ()
    queries: int = 0
    last_day: date | None = None


@frozen
class GrantAudit:
    """The grants on tables with personal data, those that nobody used first, and what the answer does not cover."""

    coverage: LogCoverage
    blind_spots: tuple[str, ...]
    grants: tuple[GrantUse, ...]


@frozen
class _UsersOf:
    """Who used a table or column, by folded name: the name, how often, and the last day; and queries without a user."""

    by: Mapping[str, tuple[str, int, date]]
    unnamed: int


def audit_grants(
    store: GraphStore, report: PiiReport, *, since: date | None = None, until: date | None = None
) -> GrantAudit:
    """Return the use of the grants on tables and columns of a report that show a value, a part or a summary of it.

    Raises:
        NoLogError: no log covers that time.
        StoreError: the store could not be read.
    """
    coverage = log_coverage(store, since, until)
    holders: dict[str, Holder] = {}
    classes: defaultdict[str, set[str]] = defaultdict(set)
    for source, holder in report.rows:
        if holder.exposure is not Exposure.MASKED:
            holders[holder.key] = holder
            for key in (holder.key, dataset_of(holder.key)):
                classes[key].update(tag.name for tag in source.tags)
    tables = {dataset_of(key): one for key, one in holders.items()}
    policies = load_warehouse_policies(store, holders)
    named = {**{key: one.table for key, one in tables.items()}, **{key: one.name for key, one in holders.items()}}
    judge = _Judge(store, coverage, since, until)
    found = []
    for key, name in named.items():
        grants = policies.grants(key)
        usages = store.usages([key]) if grants else []
        namespace = holders[key].namespace if key in holders else tables[key].namespace
        for role, at in grants.items():
            users = _users_of(role, policies.members(namespace))
            state, why, by = judge.state(users, usages, namespace, at)
            last = max((day for *_, day in by), default=None)
            names = tuple(user for user, *_ in by)
            queries = sum(number for _, number, _ in by)
            found.append(GrantUse(role, name, tuple(sorted(classes[key])), state, why, at, names, queries, last))
    ordered = sorted(found, key=lambda one: (tuple(GrantState).index(one.state), one.name, one.role))
    spots = tuple(_blind_spots(coverage, tables.values(), since, until))
    return GrantAudit(coverage, spots, tuple(ordered))


class _Judge:
    """Says of a role whether its users used something in the time that is asked about."""

    def __init__(self, store: GraphStore, coverage: LogCoverage, since: date | None, until: date | None) -> None:
        self._store = store
        self._coverage = coverage
        self._since, self._until = since or date.min, until or date.max
        self._logged: frozenset[str] | None = None

    def state(
        self, users: frozenset[str], usages: Collection[StoredUsage], namespace: str, granted: datetime | None
    ) -> tuple[GrantState, str, Sequence[tuple[str, int, date]]]:
        """Return whether a grant was used, why that is so or not known, and by whom.

        Who used the table before it was granted did so by another right.
        """
        since = self._since if granted is None else max(self._since, granted.date())
        until = min(self._until, self._coverage.last_day)
        use = _use(one for one in usages if since <= one.day <= self._until)
        everybody = not users.isdisjoint(_EVERYBODY)
        by = [found for name, found in sorted(use.by.items()) if everybody or name in users]
        if by:
            return GrantState.USED, "" if not everybody else "by somebody: all have it", by
        why = None
        if namespace not in self._coverage.namespaces:
            why = f"no log covers {namespace}"
        elif granted is not None and granted.date() > until:
            why = f"granted on {granted:%Y-%m-%d}, after the logs"
        elif use.unnamed:
            why = f"{use.unnamed:,} {'query' if use.unnamed == 1 else 'queries'} of users who are not named"
        elif not everybody and len(users) == 1 and users.isdisjoint(self.logged):
            why = "who has this role is not known"
        if why is not None:
            return GrantState.UNKNOWN, why, ()
        days = (until - max(since, self._coverage.first_day)).days + 1
        return GrantState.UNUSED, f"in {days:,} {'day' if days == 1 else 'days'} of logs", ()

    @property
    def logged(self) -> frozenset[str]:
        """The users that the logs name anywhere, in lower case."""
        if self._logged is None:
            keys = [one.of for one in self._store.usage_totals()]
            parts = (keys[at : at + _AT_ONCE] for at in range(0, len(keys), _AT_ONCE))
            uses = (one for part in parts for one in self._store.usages(part))
            self._logged = frozenset(user.casefold() for one in uses for user, _ in one.users.named)
        return self._logged


def _use(usages: Iterable[StoredUsage]) -> _UsersOf:
    """Return who used a table (also to write it: that reads, too) or read a column."""
    by: dict[str, tuple[str, int, date]] = {}
    unnamed = 0
    for usage in usages:
        for user, queries in usage.users.named:
            _, number, day = by.get(user.casefold(), (user, 0, usage.day))
            by[user.casefold()] = user, number + queries, max(day, usage.day)
        unnamed += max(usage.reads - sum(queries for _, queries in usage.users.named), 0)
    return _UsersOf(by, unnamed)


def _users_of(role: str, members: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return a role, the roles that have it, and their users, in lower case."""
    folded: defaultdict[str, set[str]] = defaultdict(set)
    for name, found in members.items():
        folded[name.casefold()] |= {one.casefold() for one in found}
    users, waiting = set[str](), [role.casefold()]
    while waiting:
        name = waiting.pop()
        if name not in users:
            users.add(name)
            waiting += folded[name]
    return frozenset(users)


def _blind_spots(
    coverage: LogCoverage, holders: Collection[Holder], since: date | None, until: date | None
) -> Iterator[str]:
    yield f"only what is in the {coverage.text}"
    if (since and coverage.first_day > since) or (until and coverage.last_day < until):
        yield f"the time asked about is not covered as a whole: {since or 'the beginning'} to {until or 'the end'}"
    if missing := sorted({one.namespace for one in holders} - coverage.namespaces):
        yield f"no log covers {', '.join(missing)}"
    yield "owners, administrators, and grants on whole schemas: they may read without any of these grants"
    yield "who has a role, beyond what GRANT statements and live databases that were ingested say, and since when"
    yield "by which of several grants a user read: each of them counts as used"
    yield "a query that reads a view uses the grant on the view, not those on the tables behind it"
