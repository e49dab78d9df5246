"""Table-level lineage of a table, upstream and downstream."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import strawberry

from lineage.store.values import Direction, FeedKey
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, doc_field
from lineage_graphql.schema.objects.datasets import Table, table_of
from lineage_graphql.schema.paging import Edge, ListedRows, PageArguments, PageInfo, read_page

__all__ = ["FoundTables", "RelatedTables", "find_tables", "related_tables"]


@dataclass(frozen=True, slots=True)
class FoundTables:
    """Tables with their distance in hops, the FEEDS edges followed, and the limit that was reached, if any."""

    hops: dict[str, int]
    feeds: list[FeedKey]
    cut: str | None


async def find_tables(
    info: LineageInfo,
    starts: Collection[str],
    direction: Direction,
    max_hops: int,
    as_of: datetime | None,
    limit: int,
) -> FoundTables:
    """Follow table-level lineage from some tables, hop by hop, to at most `limit` others.

    Raises:
        RefusedError: `max_hops` is below 1 or above the limit.
        StoreError: the store could not be read.
    """
    allowed = info.context.limits.hops
    if max_hops < 1:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"maxHops is {max_hops}; it must be at least 1")
    if max_hops > allowed:
        raise RefusedError.over_limit("hops", allowed, max_hops, "request fewer hops")
    hops = dict.fromkeys(starts, 0)
    feeds: list[FeedKey] = []
    frontier = sorted(hops)
    for hop in range(1, max_hops + 2):
        loaded = await asyncio.gather(*(info.context.loaders.feeds(key, direction, as_of) for key in frontier))
        followed = sorted({feed for some in loaded for feed in some})
        ends = [feed.target if direction is Direction.DOWNSTREAM else feed.source for feed in followed]
        new = list(dict.fromkeys(sorted(end for end in ends if end not in hops)))
        if hop > max_hops:
            cut = f"max_hops={max_hops}: more tables lie beyond" if new else None
            return FoundTables(hops, feeds + _between(followed, hops), cut)
        room = limit - (len(hops) - len(starts))
        hops |= dict.fromkeys(new[:room], hop)
        feeds += _between(followed, hops)
        if len(new) > room:
            return FoundTables(hops, feeds, f"limit={limit}: at least {len(new) - room} more tables were found")
        frontier = new
        if not frontier:
            break
    return FoundTables(hops, feeds, None)


def _between(feeds: Collection[FeedKey], tables: Collection[str]) -> list[FeedKey]:
    return [feed for feed in feeds if feed.source in tables and feed.target in tables]


@strawberry.type(description="A table reached by table-level lineage.")
class RelatedTable:
    """A table reached by table-level lineage."""

    key: strawberry.ID = doc_field("Key of the table.")
    hops: int = doc_field("Distance in hops.")
    job_keys: list[strawberry.ID] = doc_field("Keys of the jobs that connect it to tables one hop nearer.")

    @strawberry.field(description="The table.")
    async def table(self, info: LineageInfo) -> Table:
        """Return the table."""
        return await table_of(info, self.key)


@strawberry.type(description="A page of the tables reached by table-level lineage.")
class RelatedTables:
    """A page of the tables reached by table-level lineage."""

    edges: list[Edge[RelatedTable]] = doc_field("Tables ordered by hops and key, with cursors.")
    nodes: list[RelatedTable] = doc_field("Tables ordered by hops and key.")
    page_info: PageInfo = doc_field("Position of the page.")
    total_count: Long = doc_field("Number of tables found.")
    truncated: str | None = doc_field("The limit that truncated the answer; null if it is complete.")


async def related_tables(
    info: LineageInfo, key: str, direction: Direction, max_hops: int, as_of: datetime | None, asked: PageArguments
) -> RelatedTables:
    """Return a page of the tables downstream or upstream of a table.

    Raises:
        RefusedError: `max_hops` is below 1 or above the limit.
        StoreError: the store could not be read.
    """
    traversal = await find_tables(info, [key], direction, max_hops, as_of, info.context.limits.reached)
    jobs: dict[str, set[str]] = {}
    for feed in traversal.feeds:
        near, far = (feed.source, feed.target) if direction is Direction.DOWNSTREAM else (feed.target, feed.source)
        if traversal.hops[near] == traversal.hops[far] - 1:
            jobs.setdefault(far, set()).add(feed.job)
    rows = ListedRows(sorted((hops, one) for one, hops in traversal.hops.items() if hops), lambda row: row)
    page = await read_page(rows, asked)

    def node(row: tuple[int, str]) -> RelatedTable:
        hops, one = row
        by = [strawberry.ID(job) for job in sorted(jobs.get(one, ()))]
        return RelatedTable(key=strawberry.ID(one), hops=hops, job_keys=by)

    return RelatedTables(
        **page.fields(node),
        total_count=Long(len(rows.rows)),
        truncated=traversal.cut,
    )
