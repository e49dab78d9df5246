"""What changed between two times."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from enum import StrEnum

import strawberry

from lineage.store.protocol import GraphStore
from lineage.store.values import EdgeChange
from lineage.traversal import resolve_table
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, described
from lineage_graphql.schema.jobs import LineageEdge
from lineage_graphql.schema.paging import Edge, ListedRows, PageArguments, PageInfo, read_page

__all__ = ["PLACE", "LineageDiff", "difference"]

PLACE = (str, str, str, str)
"""What a cursor of these edges holds: target, source, kind and job."""

_MAX_CHANGES = 10_000


@strawberry.enum(description="How an edge differs between two times.")
class ChangeOfEdge(StrEnum):
    """How an edge differs between two times."""

    BEGAN = "BEGAN"
    ENDED = "ENDED"
    CHANGED = "CHANGED"


@strawberry.type(description="An edge that differs between two times.")
class ChangedEdge:
    """An edge that differs between two times."""

    change: ChangeOfEdge = described("It began, it ended, or it has another meaning.")
    before: LineageEdge | None = described("The edge at the first time.")
    after: LineageEdge | None = described("The edge at the second time.")

    @classmethod
    def of(cls, change: EdgeChange) -> ChangedEdge:
        """Return a change as the schema has it."""
        return cls(
            change=_sort_of(change),
            before=LineageEdge.of(change.before) if change.before else None,
            after=LineageEdge.of(change.after) if change.after else None,
        )


@strawberry.type(description="What differs between two times: a page of edges, and counts of all of them.")
class LineageDiff:
    """What differs between two times."""

    as_of_a: datetime = described("The first time.")
    as_of_b: datetime = described("The second time.")
    scope: str | None = described(
        "What the edges lead into: a table, or all whose key begins so; null for the whole graph."
    )
    edges: list[Edge[ChangedEdge]] = described("The edges that differ, by target and source, with their cursors.")
    nodes: list[ChangedEdge] = described("The edges that differ, by target and source.")
    page_info: PageInfo = described("Where the page lies.")
    total_count: Long = described("How many edges differ.")
    began: Long = described("How many began.")
    ended: Long = described("How many ended.")
    changed: Long = described("How many have another meaning.")
    truncated: bool = described("Whether there are more than are counted here.")


async def difference(
    info: LineageInfo, first_time: datetime, second_time: datetime, scope: str | None, asked: PageArguments
) -> LineageDiff:
    """Return what differs between two times, within a scope: a table's name or key, or `namespace/schema.` and so on.

    Raises:
        RefusedError: the times are the wrong way round.
        StoreError: the store could not be read.
    """
    since, until = _in_utc(first_time), _in_utc(second_time)
    if since > until:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "asOfA is after asOfB", "give the earlier time first")

    def ask(store: GraphStore) -> tuple[list[EdgeChange], bool]:
        prefix = "" if not scope else scope if "/" in scope else resolve_table(store, scope).key
        return store.changed_edges(since, until, scope=prefix, limit=_MAX_CHANGES)

    changes, cut = await info.context.ask(ask)
    page = await read_page(ListedRows(changes, _place), asked)
    nodes = [ChangedEdge.of(one) for one in page.rows]
    sorts = Counter(map(_sort_of, changes))
    return LineageDiff(
        as_of_a=since,
        as_of_b=until,
        scope=scope,
        edges=[Edge(cursor=cursor, node=node) for cursor, node in zip(page.cursors, nodes, strict=True)],
        nodes=nodes,
        page_info=page.info,
        total_count=Long(len(changes)),
        began=Long(sorts[ChangeOfEdge.BEGAN]),
        ended=Long(sorts[ChangeOfEdge.ENDED]),
        changed=Long(sorts[ChangeOfEdge.CHANGED]),
        truncated=cut,
    )


def _sort_of(change: EdgeChange) -> ChangeOfEdge:
    if change.before is None:
        return ChangeOfEdge.BEGAN
    return ChangeOfEdge.ENDED if change.after is None else ChangeOfEdge.CHANGED


def _place(change: EdgeChange) -> tuple[str, str, str, str]:
    edge = change.after or change.before
    return (edge.target, edge.source, str(edge.kind), edge.job) if edge else ("", "", "", "")


def _in_utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
