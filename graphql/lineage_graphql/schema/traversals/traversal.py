"""Impact and root cause: their arguments and resolvers, within the limits of the service."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

import strawberry

from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import columns_tagged
from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage.traversal import (
    Answer,
    Outline,
    Reached,
    Target,
    TraversalOptions,
)
from lineage.traversal import impact as find_impact
from lineage.traversal import root_cause as find_root_cause
from lineage_graphql.access.roles import Role
from lineage_graphql.context import Context, LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.monitoring.metrics import REACHED, TRAVERSAL_SECONDS
from lineage_graphql.schema.fields import Long, argument, doc_field, in_utc, some_of
from lineage_graphql.schema.objects.datasets import AsOf
from lineage_graphql.schema.paging import (
    After,
    Before,
    First,
    Last,
    PageArguments,
    page_arguments,
    page_of,
)
from lineage_graphql.schema.traversals.starts import ColumnName, ColumnNames, TableName, TableNames, Tag, find_starts
from lineage_graphql.schema.traversals.traversal_types import (
    CountedTable,
    Feeds,
    HopCount,
    ReachedColumn,
    ReachedColumns,
)

__all__ = [
    "RANK",
    "AsOf",
    "Kinds",
    "MaxHops",
    "MaxReferences",
    "Question",
    "ReachedFilter",
    "ThroughMasking",
    "with_service_limits",
    "reach",
    "reaching",
]

RANK = (int, int, str)
"""The types of a cursor's values: hops, references and key."""

MaxHops = Annotated[int, argument("Maximum number of edges to follow.")]
MaxReferences = Annotated[
    int | None, argument("Maximum number of references (joins, filters, …) on a path; unlimited if omitted.")
]
Kinds = Annotated[list[EdgeKind] | None, argument("Follow only these kinds of edge.")]
ThroughMasking = Annotated[bool, argument("Whether to follow edges that mask the value, such as hashes and counts.")]


@strawberry.input(description="Filter on the reached columns, for lists and counts.")
class ReachedFilter:
    """Filter on the reached columns, for lists and counts."""

    namespace: str | None = doc_field("Only columns of tables in this namespace.", default=None)
    table: str | None = doc_field(
        "Only columns of tables whose name contains this text, case-insensitive.", default=None
    )
    table_kinds: list[DatasetKind] | None = doc_field(
        "Only columns of tables of these kinds, such as EXPOSURE for dashboards.", default=None
    )
    influence: EdgeKind | None = doc_field("Only columns reached by paths of this kind.", default=None)
    masked: bool | None = doc_field(
        "Only columns where every flow of the value is masked (true), or where one is not (false).", default=None
    )
    min_hops: int | None = doc_field("Minimum distance in hops.", default=None)
    max_hops: int | None = doc_field("Maximum distance in hops.", default=None)
    roots: bool | None = doc_field(
        "Upstream: only columns without contributions (true), or with some (false).", default=None
    )

    tags: list[str] | None = doc_field(
        "Only columns that have one of these tags now, such as email; what only flows into a column is no tag of it.",
        default=None,
    )

    def tagged(self, store: GraphStore) -> Collection[str] | None:
        """Return the keys of the columns with the wanted tags; None if any will do."""
        tags = some_of("tags", self.tags)
        return columns_tagged(store, tags, default_rules()) if tags else None

    def tables_of(self, store: GraphStore, reached: Collection[str]) -> Collection[str]:
        """Return those of the reached tables that are of the wanted kinds."""
        kinds = some_of("tableKinds", self.table_kinds)
        return [one.key for one in store.datasets(reached) if one.kind in kinds] if kinds else reached

    def admits(self, reached: Outline) -> bool:
        """Return whether a column passes the filter, apart from the kind of its table and its tags."""
        return (
            (self.namespace is None or reached.dataset.startswith(f"{self.namespace}/"))
            and (self.table is None or self.table.casefold() in reached.table.casefold())
            and (self.influence is None or self.influence in reached.influence)
            and (self.masked is None or reached.masked == self.masked)
            and (self.min_hops is None or reached.hops >= self.min_hops)
            and (self.max_hops is None or reached.hops <= self.max_hops)
            and (self.roots is None or reached.root == self.roots)
        )


@dataclass(frozen=True, slots=True)
class Question:
    """The options of a traversal, without its start."""

    max_hops: int
    max_references: int | None
    kinds: list[EdgeKind] | None
    through_masking: bool
    as_of: datetime | None
    wanted: ReachedFilter | None = None


def with_service_limits(context: Context, question: Question) -> TraversalOptions:
    """Return the traversal's options, within the service's limits.

    Raises:
        RefusedError: an option is above a limit, or invalid.
    """
    if question.max_hops > context.limits.hops:
        raise RefusedError.over_limit("hops", context.limits.hops, question.max_hops, "request fewer hops")
    as_of = question.as_of
    try:
        return TraversalOptions(
            max_hops=question.max_hops,
            max_references=question.max_references,
            kinds=frozenset(EdgeKind) if question.kinds is None else frozenset(question.kinds),
            through_masking=question.through_masking,
            limit_total=context.limits.reached,
            timeout=context.limits.seconds,
            as_of=in_utc(as_of) if as_of else None,
        )
    except ValueError as error:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, str(error)) from error


def reaching(direction: Direction) -> Callable[..., Awaitable[ReachedColumns]]:
    """Return the resolver of `impact` (downstream) or `rootCause` (upstream), which take the same arguments."""

    async def resolve(
        info: LineageInfo,
        column: ColumnName = None,
        table: TableName = None,
        columns: ColumnNames = None,
        tables: TableNames = None,
        tag: Tag = None,
        max_hops: MaxHops = 20,
        max_references: MaxReferences = None,
        kinds: Kinds = None,
        through_masking: ThroughMasking = True,
        as_of: AsOf = None,
        filter: Annotated[ReachedFilter | None, argument("Filter on the reached columns.")] = None,  # noqa: A002
        first: First = 100,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> ReachedColumns:
        info.context.require(Role.READER)
        question = Question(max_hops, max_references, kinds, through_masking, as_of, filter)
        if column is not None and table is not None:
            raise RefusedError(
                ErrorCode.BAD_ARGUMENT,
                "column and table are mutually exclusive",
                "give one of them, or `columns` and `tables`",
            )
        some = columns if column is None else [column, *(columns or ())]
        others = tables if table is None else [table, *(tables or ())]
        find = find_starts(info.context, some, others, tag)
        scope = (direction, some, others, tag)
        asked = page_arguments(info, "reached", RANK, first, after, last, before, scope=scope)
        return await reach(info, direction, find, question, asked)

    return resolve


async def reach(
    info: LineageInfo,
    direction: Direction,
    find: Callable[[GraphStore], Sequence[Target]],
    question: Question,
    asked: PageArguments,
) -> ReachedColumns:
    """Return the columns reached from the nodes that `find` returns.

    Raises:
        RefusedError: an option is invalid.
        NameLookupError: a name is unknown or ambiguous.
        StoreError: the store could not be read.
    """
    options = with_service_limits(info.context, question)
    traverse = find_impact if direction is Direction.DOWNSTREAM else find_root_cause

    def work(store: GraphStore) -> _Found:
        answer = traverse(store, find(store), options)
        return _find(store, answer, question.wanted, asked)

    async with info.context.reached.turn() as left:
        options = replace(options, limit_total=left)
        with TRAVERSAL_SECONDS.labels(str(direction)).time():
            selection: _Found = await info.context.ask(work)
        info.context.reached.spend(selection.answer.total)
    answer = selection.answer
    REACHED.labels(str(direction)).observe(answer.total)
    page = page_of(
        asked,
        selection.rows,
        [(row.hops, row.references, row.key) for row in selection.rows],
        rows_after=selection.start + len(selection.rows) < selection.total,
        rows_before=selection.start > 0,
    )
    return ReachedColumns(
        **page.fields(ReachedColumn.of),
        total_count=Long(selection.total),
        total_count_is_lower_bound=answer.is_lower_bound,
        counts_by_hop=[HopCount(hops=hops, columns=Long(count)) for hops, count in selection.by_hop.items()],
        table_count=Long(len(selection.tables)),
        as_of=options.as_of,
        direction=direction,
        start_keys=[one.key for one in answer.starts],
        all_tables=selection.tables,
        feeds=Feeds(answer),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What a traversal found and the filter passes, with one page of it: `start` rows precede the page."""

    answer: Answer
    rows: tuple[Reached, ...]
    start: int
    total: int
    by_hop: dict[int, int]
    tables: list[CountedTable]


def _find(store: GraphStore, answer: Answer, wanted: ReachedFilter | None, asked: PageArguments) -> _Found:
    if wanted is None:
        tables = sorted(CountedTable(hops, key, count) for key, (count, hops) in answer.by_dataset.items())
        start, size = _slice(answer.total, asked, answer.index_of)
        return _Found(answer, answer.page(start, size), start, answer.total, answer.by_hop, tables)
    among = frozenset(wanted.tables_of(store, answer.by_dataset.keys()))
    tagged = wanted.tagged(store)
    admitted = [
        one
        for one in answer.outlines
        if one.dataset in among and wanted.admits(one) and (tagged is None or one.key in tagged)
    ]
    ranks = [(one.hops, one.references, one.key) for one in admitted]
    start, size = _slice(len(admitted), asked, lambda rank: bisect_left(ranks, rank))
    counts = Counter(one.dataset for one in admitted)
    nearest = {one.dataset: one for one in reversed(admitted)}
    return _Found(
        answer,
        answer.shown(one.node for one in admitted[start : start + size]),
        start,
        len(admitted),
        dict(sorted(Counter(one.hops for one in admitted).items())),
        sorted(CountedTable(one.hops, key, counts[key]) for key, one in nearest.items()),
    )


def _slice(total: int, asked: PageArguments, index_of: Callable[[Any], int]) -> tuple[int, int]:
    """Return the start and the size of a page among `total` rows; `index_of` counts the rows before a rank."""
    start, end = 0, total
    if asked.after is not None:
        *near, key = asked.after
        start = index_of((*near, f"{key}\0"))  # the first rank after it
    if asked.before is not None:
        end = max(start, index_of(asked.before))
    if asked.backwards:
        return max(start, end - asked.size), min(asked.size, end - start)
    return start, min(asked.size, end - start)
