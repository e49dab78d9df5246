"""Impact (what depends on this?) and root cause (what does this depend on?), of a column or of a table."""

from __future__ import annotations

from collections.abc import Mapping

from lineage.model.names import split_column_key
from lineage.model.transformations import EdgeKind
from lineage.store.protocol import Direction
from lineage.traversal.answer import Answer, PossiblyAffected, Reached
from lineage.traversal.feeds import follow_feeds
from lineage.traversal.neighbours import Neighbours, columns_at
from lineage.traversal.options import TraversalOptions
from lineage.traversal.reader import LineageReader
from lineage.traversal.search import Label, Search
from lineage.traversal.target import Target

__all__ = ["impact", "root_cause"]


def impact(store: LineageReader, target: Target, options: TraversalOptions | None = None) -> Answer:
    """Return every column that the target's value flows to or influences, and the datasets that may be affected.

    Of a table: what its columns together reach; its own columns are not part of that.

    Raises:
        StoreError: the store could not be read.
    """
    return _traverse(store, target, Direction.DOWNSTREAM, options or TraversalOptions())


def root_cause(store: LineageReader, target: Target, options: TraversalOptions | None = None) -> Answer:
    """Return every column that the target's value comes from or is influenced by; `root` marks the first ones.

    Raises:
        StoreError: the store could not be read.
    """
    return _traverse(store, target, Direction.UPSTREAM, options or TraversalOptions())


def _traverse(store: LineageReader, target: Target, direction: Direction, options: TraversalOptions) -> Answer:
    neighbours = Neighbours(store, direction, options.kinds, options.as_of)
    search = Search(neighbours, direction, options)
    if target.is_table:
        search.run([column.key for column in columns_at(store, [target.key], options.as_of)], target.key)
    else:
        search.run([target.key])

    reached = _datasets_with_hops(search.labels)
    reached[target.dataset] = 0
    whole = search.row_datasets | ({target.dataset} if target.is_table else set())
    feeds, cut = follow_feeds(store, direction, options, reached, whole)

    keys = {*reached, *(feed.dataset for feed in feeds)}
    names = {dataset.key: dataset.name for dataset in store.datasets(sorted(keys))}
    roots = _roots(store, search.labels, options) if direction is Direction.UPSTREAM else frozenset()
    columns = [_reached(key, labels, direction, names, key in roots) for key, labels in search.labels.items()]
    return Answer(
        start=target,
        direction=direction,
        columns=tuple(sorted(columns, key=lambda column: (column.hops, column.references, column.key))),
        possibly_affected=tuple(
            PossiblyAffected(feed.dataset, names.get(feed.dataset, feed.dataset), feed.hops, feed.neighbour, feed.job)
            for feed in feeds
        ),
        truncated="; ".join([*search.cuts, *([cut] if cut else [])]) or None,
    )


def _reached(key: str, labels: list[Label], direction: Direction, names: Mapping[str, str], root: bool) -> Reached:
    dataset, column = split_column_key(key)
    flows = [label for label in labels if label.references == 0]
    contribution = min(flows, key=lambda label: (label.masked, label.hops), default=None)
    influence = {EdgeKind.CONTRIBUTES} if flows else set()
    if len(flows) < len(labels):
        influence.add(EdgeKind.REFERENCES)
    return Reached(
        key=key,
        dataset=dataset,
        table=names.get(dataset, dataset),
        column=column,
        route=labels[0].route(direction),
        contribution=contribution.route(direction) if contribution else None,
        influence=frozenset(influence),
        root=root,
    )


def _datasets_with_hops(labels: Mapping[str, list[Label]]) -> dict[str, int]:
    hops: dict[str, int] = {}
    for key, (first, *_) in labels.items():
        dataset = split_column_key(key)[0]
        hops[dataset] = min(first.hops, hops.get(dataset, first.hops))
    return hops


def _roots(store: LineageReader, columns: Mapping[str, list[Label]], options: TraversalOptions) -> frozenset[str]:
    contributions = Neighbours(store, Direction.UPSTREAM, frozenset({EdgeKind.CONTRIBUTES}), options.as_of)
    contributions.load(columns)
    return frozenset(column for column in columns if not contributions.around(column))
