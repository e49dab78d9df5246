"""When live edges of files and dbt models were last seen: at their job's latest observation of the output.

What is unchanged is seen again without writing to its edges (`seen_again`), so that what they have themselves is older.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

from lineage.model.names import dataset_of
from lineage.store.graph.backend import Transaction
from lineage.store.graph.statements import query
from lineage.store.planning.rival_definitions import FILE_JOBS
from lineage.store.values import StoredEdge, StoredFeed

__all__ = ["date_live"]

T = TypeVar("T", StoredEdge, StoredFeed)


def date_live(transaction: Transaction, found: Collection[T]) -> list[T]:
    """Return edges or feeds, in their order; the live ones of files are as old as the observation of their output."""
    jobs = {one.job for one in found if one.valid_to is None and one.job.startswith(FILE_JOBS)}
    rows = transaction.read(query("times_of_outputs"), [{"key": key} for key in sorted(jobs)]) if jobs else ()
    seen = {(row["job"], row["dataset"]): row["last_seen"] for row in rows}
    dated = []
    for one in found:
        at = seen.get((one.job, dataset_of(one.target))) if one.valid_to is None else None
        dated.append(one if at is None or at <= one.last_seen else replace(one, last_seen=at))
    return dated
