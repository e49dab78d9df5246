"""The context of a GraphQL request: caller, store, limits, and data loaders that batch reads by key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Generic, Protocol, TypeVar

from strawberry.dataloader import DataLoader
from strawberry.types import Info

from lineage.governance.report.policy import Policy
from lineage.model.names import dataset_of
from lineage.model.usage import UserCounts
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore
from lineage.store.time_limit import TimeLimit, time_limit
from lineage.store.values import (
    Direction,
    FeedKey,
    FormerName,
    StoredColumn,
    StoredDataset,
    StoredDiagnostic,
    StoredEdge,
    StoredJob,
    StoredRun,
    StoredUsage,
)
from lineage.traversal import BrokenRead, FormerHolder, Namesake, Target, broken_reads, former_holders, namesakes
from lineage_graphql.access.authorize import require
from lineage_graphql.access.roles import Caller, Role, TokenProblem
from lineage_graphql.limits.reached_budget import ReachedBudget
from lineage_graphql.limits.trusted_documents import TrustedDocuments
from lineage_graphql.monitoring.telemetry import current_span, tracer
from lineage_graphql.settings import Limits

__all__ = ["Ask", "Context", "LineageInfo", "Loaders", "Work"]

T = TypeVar("T")

Work = Callable[[GraphStore], T]


class _Keyed(Protocol):
    @property
    def key(self) -> str: ...


@dataclass(frozen=True)
class Ask(Generic[T]):
    """Runs store reads in threads, so that a slow one does not block other requests."""

    store: GraphStore
    threads: ThreadPoolExecutor
    seconds: float
    answered: Callable[[], None] = lambda: None
    """Called when the store has answered."""
    _running: set[TimeLimit] = field(default_factory=set)

    async def __call__(self, work: Work[T]) -> T:
        """Return the result of `work`, called with the store.

        Raises:
            StoreError: the store could not be read.
            TimeoutError: it exceeded the time limit.
        """
        limit = TimeLimit(self.seconds)
        self._running.add(limit)
        span = tracer.start_span("store")
        try:
            async with asyncio.timeout(self.seconds):
                with current_span(span):
                    result = await asyncio.get_running_loop().run_in_executor(self.threads, self._within, limit, work)
            self.answered()
            return result
        finally:
            span.end()
            self._running.discard(limit)
            limit.end()  # what nobody waits for any more is interrupted

    def end(self) -> None:
        """Interrupt everything that runs."""
        for limit in tuple(self._running):
            limit.end()

    def _within(self, limit: TimeLimit, work: Work[T]) -> T:
        with time_limit(limit):
            limit.left()  # it may have waited for a thread until nobody waits for it
            return work(self.store)


class Loaders:
    """Data loaders of datasets, columns, jobs and their parts by key, batched per step of a query."""

    def __init__(self, ask: Ask[Any]) -> None:
        self._ask = ask
        self.datasets: DataLoader[str, StoredDataset | None] = _one_by_key(
            ask, lambda store, keys: store.datasets(keys)
        )
        self.columns: DataLoader[str, StoredColumn | None] = _one_by_key(
            ask, lambda store, keys: store.columns_by_key(keys)
        )
        self.jobs: DataLoader[str, StoredJob | None] = _one_by_key(
            ask, lambda store, keys: store.jobs(keys, runs=False)
        )
        self.job_runs: DataLoader[str, StoredJob | None] = _one_by_key(ask, lambda store, keys: store.jobs(keys))
        """Jobs with what their runs read and wrote, which takes four times as long to read."""
        self.runs: DataLoader[str, StoredRun | None] = _one_by_key(ask, lambda store, keys: store.runs_by_key(keys))
        self.users_of_job: DataLoader[str, UserCounts | None] = DataLoader(self._users)
        self.columns_of: DataLoader[str, list[StoredColumn]] = _many_by_key(
            ask, lambda store, keys: store.columns(keys), lambda column: column.dataset
        )
        self.edges_of: DataLoader[str, list[StoredEdge]] = _many_by_key(
            ask, lambda store, keys: store.edges_of(keys), lambda edge: edge.job
        )
        self.diagnostics_of: DataLoader[str, list[StoredDiagnostic]] = _many_by_key(
            ask, lambda store, keys: store.diagnostics_of(keys), lambda found: found.job or ""
        )
        self.former_names: DataLoader[str, list[FormerName]] = DataLoader(self._former_names)
        self.former_holders: DataLoader[str, list[FormerHolder]] = DataLoader(self._former_holders)
        self.namesakes: DataLoader[str, list[Namesake]] = DataLoader(self._namesakes)
        self.broken_reads: DataLoader[str, list[BrokenRead]] = DataLoader(self._broken_reads)
        self._usages: dict[tuple[date | None, date | None], DataLoader[str, list[StoredUsage]]] = {}
        self._feeds: dict[tuple[Direction, datetime | None], DataLoader[str, list[FeedKey]]] = {}
        self._neighbours: dict[tuple[Direction, datetime | None], DataLoader[str, int]] = {}
        self._job_keys: dict[JobFilter, DataLoader[str, list[str]]] = {}

    async def feeds(self, dataset: str, direction: Direction, as_of: datetime | None) -> list[FeedKey]:
        """Return the FEEDS edges from (downstream) or into (upstream) a dataset."""
        loader = self._feeds.get((direction, as_of))
        if loader is None:

            def end(feed: FeedKey) -> str:
                return feed.source if direction is Direction.DOWNSTREAM else feed.target

            loader = self._feeds[direction, as_of] = _many_by_key(
                self._ask, lambda store, keys: store.feed_keys(keys, direction, as_of=as_of), end
            )
        return await loader.load(dataset)

    async def neighbours(self, column: str, direction: Direction, as_of: datetime | None) -> int:
        """Return the number of columns and tables that edges from (downstream) or into (upstream) a column have."""
        loader = self._neighbours.get((direction, as_of))
        if loader is None:

            async def load(keys: list[str]) -> list[int]:
                hops = await self._ask(lambda store: store.expand(keys, direction, as_of=as_of))
                ends: dict[str, set[str]] = {key: set() for key in keys}
                for hop in hops:
                    ends[hop.via].add(hop.edge.target if direction is Direction.DOWNSTREAM else hop.edge.source)
                return [len(ends[key]) for key in keys]

            loader = self._neighbours[direction, as_of] = DataLoader(load)
        return await loader.load(column)

    async def _former_names(self, keys: list[str]) -> list[list[FormerName]]:
        found = await self._ask(lambda store: store.former_names(keys))
        return [found[key] for key in keys]

    async def _former_holders(self, keys: list[str]) -> list[list[FormerHolder]]:
        tables = [Target(key, key, key) for key in keys]
        found = await self._ask(lambda store: former_holders(store, tables))
        return [[one for one in found if one.start == key] for key in keys]

    async def _namesakes(self, keys: list[str]) -> list[list[Namesake]]:
        found = await self._ask(lambda store: namesakes(store, keys))
        return [[one for one in found if key in (one.key, one.short_key)] for key in keys]

    async def _broken_reads(self, keys: list[str]) -> list[list[BrokenRead]]:
        found = await self._ask(lambda store: broken_reads(store, keys))
        return [[one for one in found if key in (dataset_of(one.column), one.reader)] for key in keys]

    async def _users(self, jobs: list[str]) -> list[UserCounts | None]:
        found = {job.key: job.users for job in await self._ask(lambda store: store.jobs(jobs, users=True))}
        return [found.get(job) for job in jobs]

    async def usage(self, key: str, since: date | None, until: date | None) -> list[StoredUsage]:
        """Return the usage of a dataset or column by day."""
        loader = self._usages.get((since, until))
        if loader is None:
            loader = self._usages[since, until] = _many_by_key(
                self._ask, lambda store, keys: store.usages(keys, since=since, until=until), lambda used: used.of
            )
        return await loader.load(key)

    async def job_keys(self, dataset: str, wanted: JobFilter) -> list[str]:
        """Return the keys of the jobs that read or write a dataset."""
        loader = self._job_keys.get(wanted)
        if loader is None:

            async def load(keys: list[str]) -> list[list[str]]:
                found = await self._ask(lambda store: store.job_keys_of(keys, wanted))
                return [found[key] for key in keys]

            loader = self._job_keys[wanted] = DataLoader(load)
        return await loader.load(dataset)


@dataclass
class Context:
    """The context of one request."""

    ask: Ask[Any]
    caller: Caller | TokenProblem
    limits: Limits
    request_id: str
    read_only: bool = False
    documents: TrustedDocuments | None = None
    policy: Policy | None = None
    connection_params: dict[str, Any] | None = None
    """The first message of a WebSocket."""
    loaders: Loaders = field(init=False)
    reached: ReachedBudget = field(init=False)

    def __post_init__(self) -> None:
        """Create empty loaders: nothing is cached across requests."""
        self.loaders = Loaders(self.ask)
        self.reached = ReachedBudget(self.limits.reached)

    def require(self, role: Role) -> Caller:
        """Return the caller if they have the role.

        Raises:
            RefusedError: the caller is not authenticated or lacks the role.
        """
        return require(self.caller, role)


LineageInfo = Info[Context, None]


def _one_by_key(
    ask: Ask[Any], read: Callable[[GraphStore, list[str]], Iterable[_Keyed]]
) -> DataLoader[str, Any | None]:
    async def load(keys: list[str]) -> list[_Keyed | None]:
        found = {one.key: one for one in await ask(lambda store: read(store, keys))}
        return [found.get(key) for key in keys]

    return DataLoader(load)


def _many_by_key(
    ask: Ask[Any], read: Callable[[GraphStore, list[str]], Iterable[T]], key_of: Callable[[T], str]
) -> DataLoader[str, list[T]]:
    async def load(keys: list[str]) -> list[list[T]]:
        found: dict[str, list[T]] = {key: [] for key in keys}
        for one in await ask(lambda store: read(store, keys)):
            found[key_of(one)].append(one)
        return [found[key] for key in keys]

    return DataLoader(load)
