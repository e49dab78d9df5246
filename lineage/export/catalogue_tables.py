"""Tables with their columns, tags and what leads into them: what exports to data catalogues are made from.

A few hundred tables are read at a time, so memory does not grow with the graph.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from lineage.export.dataset_chunks import chunks
from lineage.frozen import frozen
from lineage.model.influence.edge_effects import effects_of
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key, split_column_key, split_dataset_key
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredEdge, StoredTag

__all__ = ["ColumnFlow", "ExportNameError", "CatalogueTable", "Losses", "Tags", "column_flows", "exported_tables",
           "namespaces_of", "place_of"]  # fmt: skip

_AT_ONCE = 300

Tags = Mapping[str, Sequence[StoredTag]]
"""The tags of columns that count, by the key of the column."""

Losses = Counter[str]
"""What a format has no place for: how many of what."""

INFLUENCES = "edges of influence (filters, joins, CASE): only their tables are named"


class ExportNameError(ValueError):
    """Two namespaces would get one name in the other product."""


@frozen
class CatalogueTable:
    """A table, its columns by ordinal, their tags, the edges into it, and the tables that these come from, by key.

    `feeders` are the keys of all tables that it is made from, also those of which no column is known to flow.
    """

    dataset: StoredDataset
    columns: tuple[StoredColumn, ...]
    tags: Tags
    edges: tuple[StoredEdge, ...]
    feeders: tuple[str, ...]
    sources: Mapping[str, StoredDataset]


@frozen(order=True)
class ColumnFlow:
    """The columns whose values flow into a column in one way; `how` says which, and whether it masks them."""

    target: str
    how: str
    sources: tuple[tuple[str, str], ...]
    """The key of the table and the path of each column."""


def exported_tables(
    store: GraphStore, tags: Tags, *, namespace: str | None = None, edges: bool = True
) -> Iterator[CatalogueTable]:
    """Yield the tables that are there, by key; `edges`: with what leads into them.

    Raises:
        StoreError: the store could not be read.
    """
    there = sorted(set(store.dataset_keys()) - set(store.forgotten_datasets()))
    for keys in chunks(there, _AT_ONCE):
        found = [one for one in store.datasets(keys) if one.dropped_at is None and namespace in (None, one.namespace)]
        yield from _described(store, found, tags, edges=edges)


def _described(
    store: GraphStore, found: Sequence[StoredDataset], tags: Tags, *, edges: bool
) -> Iterator[CatalogueTable]:
    keys = [one.key for one in found]
    columns: defaultdict[str, list[StoredColumn]] = defaultdict(list)
    for column in store.columns(keys):
        if column.is_there():
            columns[column.dataset].append(column)
    into: defaultdict[str, list[StoredEdge]] = defaultdict(list)
    feeders: defaultdict[str, set[str]] = defaultdict(set)
    for edge in store.edges_into(keys) if edges else ():
        into[dataset_of(edge.target)].append(edge)
        feeders[dataset_of(edge.target)].add(dataset_of(edge.source))
    for feed in store.feeds(keys, Direction.UPSTREAM) if edges else ():
        feeders[feed.target].add(feed.source)
    wanted = {key for of_table in feeders.values() for key in of_table}
    sources = {one.key: one for one in store.datasets(sorted(wanted)) if one.dropped_at is None}
    for dataset in found:
        named = {column.key: tags[column.key] for column in columns[dataset.key] if column.key in tags}
        led = tuple(edge for edge in into[dataset.key] if dataset_of(edge.source) in sources)
        known = tuple(sorted(feeders[dataset.key] & sources.keys() - {dataset.key}))
        yield CatalogueTable(dataset, tuple(columns[dataset.key]), named, led, known, sources)


def column_flows(table: CatalogueTable, lost: Losses) -> list[ColumnFlow]:
    """Return the flows into the columns of a table; edges of influence are counted as lost."""
    found: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    influences = set()
    for edge in table.edges:
        if edge.kind is EdgeKind.CONTRIBUTES and is_column_key(edge.target):
            found[edge.target, _how(edge)].add(split_column_key(edge.source))
        else:
            influences.add((edge.source, edge.target))
    if influences:
        lost[INFLUENCES] += len(influences)
    return sorted(
        ColumnFlow(split_column_key(target)[1], how, tuple(sorted(sources))) for (target, how), sources in found.items()
    )


def _how(edge: StoredEdge) -> str:
    """Return how a value flows, in words: `TRANSFORMATION`, `TRANSFORMATION (masked)`."""
    return ", ".join(f"{one.subtype}{' (masked)' if one.masking else ''}" for one in effects_of(edge))


def namespaces_of(
    store: GraphStore, names: Mapping[str, str], default: Callable[[str], str], option: str
) -> dict[str, str]:
    """Return the name of each namespace in the other product: the given one, or the default.

    Raises:
        ExportNameError: two namespaces would have one name.
        StoreError: the store could not be read.
    """
    namespaces = sorted({split_dataset_key(key)[0] for key in store.dataset_keys()} | names.keys())
    found = {one: names.get(one, default(one)) for one in namespaces}
    taken: dict[str, str] = {}
    for namespace, name in found.items():
        if (other := taken.setdefault(name, namespace)) != namespace:
            raise ExportNameError(
                f"{other} and {namespace} would both be {name!r}: give one of them a name, {option} '{namespace}=NAME'"
            )
    return found


def place_of(name: str) -> list[str]:
    """Return database, schema and table of a name; `default` stands for those that it lacks."""
    parts = name.split(".")
    table = ".".join(parts[2:]) if len(parts) > 2 else parts[-1]
    above = parts[:2] if len(parts) > 2 else parts[:-1]
    return [*["default"] * (2 - len(above)), *above, table]
