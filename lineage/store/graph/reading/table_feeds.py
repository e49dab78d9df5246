"""Read table-level lineage: which tables feed which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from lineage.store.graph.backend import Transaction
from lineage.store.graph.reading.edge_rows import at_time, edge_rows, edge_types, when_valid
from lineage.store.graph.reading.live_edges import date_live
from lineage.store.graph.records import period_from
from lineage.store.graph.statements import query
from lineage.store.planning.graph_state import EdgeType
from lineage.store.values import Direction, FeedKey, StoredFeed

__all__ = ["fed_tables", "feed_keys", "feeds", "feeds_by_columns"]


def feeds(
    transaction: Transaction, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
) -> list[StoredFeed]:
    """Return one hop of table-level lineage out of or into these datasets."""
    name = "feeds_out_of" if direction is Direction.DOWNSTREAM else "feeds_into"
    found = []
    for row in edge_rows(transaction, name, set(datasets), [EdgeType.FEEDS], as_of):
        period = period_from(row["e"])
        found.append(
            StoredFeed(row["source"], row["target"], row["e"]["job"], period.start, period.last_seen, period.end)
        )
    return sorted(date_live(transaction, found), key=lambda feed: (feed.source, feed.target, feed.job, feed.valid_from))


def feed_keys(
    transaction: Transaction, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
) -> list[FeedKey]:
    """Return the keys of one hop of table-level lineage out of or into these datasets, sorted."""
    name = "feed_keys_out_of" if direction is Direction.DOWNSTREAM else "feed_keys_into"
    statement = query(name, types=edge_types([EdgeType.FEEDS], as_of), when=when_valid(as_of))
    rows = transaction.read(statement, [{"key": key, **at_time(as_of)} for key in sorted(set(datasets))])
    return sorted({FeedKey(row["source"], row["target"], row["job"]) for row in rows})


def fed_tables(transaction: Transaction) -> list[tuple[str, str]]:
    """Return the pairs of tables of which the first feeds the second, each once, in any order."""
    statement = query("fed_tables", types=edge_types([EdgeType.FEEDS], None))
    return [
        pair for row in transaction.read(statement, [{}]) for pair in zip(row["sources"], row["targets"], strict=True)
    ]


def feeds_by_columns(
    transaction: Transaction, feeds: Collection[FeedKey], *, as_of: datetime | None = None
) -> frozenset[FeedKey]:
    """Return the feeds whose job was fully resolved and has an edge between columns of the two datasets."""
    rows = transaction.read(query("jobs_resolved"), [{"key": key} for key in sorted({feed.job for feed in feeds})])
    resolved = {row["job"] for row in rows}
    jobs_into: dict[str, set[str]] = defaultdict(set)
    for feed in feeds:
        if feed.job in resolved:
            jobs_into[feed.target].add(feed.job)
    asked = [{"target": target, "jobs": sorted(jobs), **at_time(as_of)} for target, jobs in sorted(jobs_into.items())]
    found: set[FeedKey] = set()
    for name, relations in (
        ("stated_between_columns", [EdgeType.CONTRIBUTES, EdgeType.REFERENCES]),
        ("stated_of_rows", [EdgeType.REFERENCES]),
    ):
        statement = query(name, types=edge_types(relations, as_of), when=when_valid(as_of))
        found |= {FeedKey(row["source"], row["target"], row["job"]) for row in transaction.read(statement, asked)}
    return frozenset(found.intersection(feeds))
