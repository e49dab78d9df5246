"""Differences of the graph between two times."""

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
from lineage_graphql.schema.fields import Long, doc_field, in_utc
from lineage_graphql.schema.objects.jobs import LineageEdge
from lineage_graphql.schema.paging import Edge, ListedRows, PageArguments, PageInfo, read_page

__all__ = ["POSITION", "LineageDiff", "difference"]

POSITION = (str, str, str, str)
"""The types of a cursor's values: target, source, kind and job."""

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

    change: ChangeOfEdge = doc_field("Whether the edge began, ended or changed.")
    before: LineageEdge | None = doc_field("The edge at the first time.")
    after: LineageEdge | None = doc_field("The edge at the second time.")

    @classmethod
    def of(cls, change: EdgeChange) -> ChangedEdge:
        """Return the GraphQL object of a change."""
        return cls(
            change=_sort_of(change),
            before=LineageEdge.of(change.before) if change.before else None,
            after=LineageEdge.of(change.after) if change.after else None,
        )


@strawberry.type(description="Differences between two times: a page of edges, and counts over all of them.")
class LineageDiff:
    """Differences between two times."""

    as_of_a: datetime = doc_field("The first time.")
    as_of_b: datetime = doc_field("The second time.")
    scope: str | None = doc_field("Table or key prefix of the targets; null for the whole graph.")
    edges: list[Edge[ChangedEdge]] = doc_field("Edges that differ, ordered by target and source, with cursors.")
    nodes: list[ChangedEdge] = doc_field("Edges that differ, ordered by target and source.")
    page_info: PageInfo = doc_field("Position of the page.")
    total_count: Long = doc_field("Number of edges that differ.")
    began: Long = doc_field("Number of edges that began.")
    ended: Long = doc_field("Number of edges that ended.")
    changed: Long = doc_field("Number of edges that changed.")
    truncated: bool = doc_field("Whether a limit was reached, so that the counts are lower bounds.")


async def difference(
    info: LineageInfo, first_time: datetime, second_time: datetime, scope: str | None, asked: PageArguments
) -> LineageDiff:
    """Return what differs between two times, within a scope: a table's name or key, or `namespace/schema.` and so on.

    Raises:
        RefusedError: the first time is after the second.
        StoreError: the store could not be read.
    """
    since, until = (in_utc(at).astimezone(UTC) for at in (first_time, second_time))
    if since > until:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "asOfA is after asOfB", "give the earlier time first")

    def ask(store: GraphStore) -> tuple[list[EdgeChange], bool]:
        prefix = "" if not scope else scope if "/" in scope else resolve_table(store, scope).key
        return store.changed_edges(since, until, scope=prefix, limit=_MAX_CHANGES)

    changes, cut = await info.context.ask(ask)
    page = await read_page(ListedRows(changes, _position), asked)
    sorts = Counter(map(_sort_of, changes))
    return LineageDiff(
        as_of_a=since,
        as_of_b=until,
        scope=scope,
        **page.fields(ChangedEdge.of),
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


def _position(change: EdgeChange) -> tuple[str, str, str, str]:
    edge = change.after or change.before
    return (edge.target, edge.source, str(edge.kind), edge.job) if edge else ("", "", "", "")
