"""Tables that are not dropped, by a name that their sources state: how many have it, and a page of those that do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from lineage.store.protocol import GraphStore
from lineage.store.values import LiveDataset, StoredDataset
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.objects.datasets import Table
from lineage_graphql.schema.paging import Connection, ListedRows, PageArguments, connection

__all__ = ["count_tables", "page_of_tables"]


def count_tables(store: GraphStore, names_of: Callable[[LiveDataset], set[str]]) -> tuple[list[tuple[str, int]], int]:
    """Return names with the number of their tables, most first, and the number of tables without a name.

    Raises:
        StoreError: the store could not be read.
    """
    counts: Counter[str] = Counter()
    without = 0
    for dataset in store.live_datasets():
        names = names_of(dataset)
        counts.update(names)
        without += not names
    return sorted(counts.items(), key=lambda one: (-one[1], one[0])), without


async def page_of_tables(
    info: LineageInfo, asked: PageArguments, has_name: Callable[[LiveDataset], bool]
) -> Connection[Table]:
    """Return a page of the tables with a name, ordered by key."""
    found: list[StoredDataset] = await info.context.ask(
        lambda store: store.datasets([one.key for one in store.live_datasets() if has_name(one)])
    )
    return await connection(ListedRows(found, lambda one: (one.key,)), asked, Table.of)
