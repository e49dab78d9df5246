"""What other dbt projects of a store make a project state again, although nothing of its own has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from lineage.frozen import frozen
from lineage.model.batch import JobKind
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore

__all__ = ["StoredNode", "nodes_to_state_again"]


@frozen
class StoredNode:
    """A node as it is stored: its job, its dataset if it has one, and the datasets that were looked up for it."""

    job: str
    dataset: str | None
    looked_up: frozenset[str]


def nodes_to_state_again(store: GraphStore, nodes: Mapping[str, StoredNode], at: datetime) -> frozenset[str]:
    """Return the nodes, stated at `at`, that name a table which was seen since, or whose table may lose columns.

    Columns without a place in their table's schema stay as long as others use or define them, and that is decided each
    time that the table is stated.

    Raises:
        StoreError: the store could not be read.
    """
    named = {key for node in nodes.values() for key in (node.dataset, *node.looked_up) if key is not None}
    stored = store.datasets(sorted(named))
    seen = {one.key for one in stored if one.last_seen > at}
    jobs = {job for listed in store.job_keys_of(seen, JobFilter(kinds=(JobKind.DBT,))).values() for job in listed}
    concerned = seen | _unsettled(store, [one.key for one in stored if one.schema_at is not None])
    return frozenset(key for key, node in nodes.items() if node.job in jobs or node.dataset in concerned)


def _unsettled(store: GraphStore, datasets: Collection[str]) -> set[str]:
    return {one.dataset for one in store.column_heads(datasets) if one.ordinal is None and not one.nested}
