"""Impact (what depends on this?) and root cause (what does this depend on?) of a column or table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from lineage.model.influence.transformations import EdgeKind
from lineage.store.exploring import Explorer, Leads
from lineage.store.values import Direction
from lineage.traversal.answer import Answer, Feeds, PossiblyAffected
from lineage.traversal.breadth_first import Search, SearchingExplorer
from lineage.traversal.cautions.feeds import follow_feeds
from lineage.traversal.lineage_reader import LineageReader, columns_at
from lineage.traversal.options import TraversalOptions
from lineage.traversal.target import Target

__all__ = ["impact", "root_cause"]

_CONTRIBUTIONS = (Leads.FLOW, Leads.MASKED_FLOW)


def impact(store: LineageReader, target: Target | Sequence[Target], options: TraversalOptions | None = None) -> Answer:
    """Return every column that the target's value flows to or influences, and the datasets that may be affected.

    For a table: the columns reached from any of its columns, without its own. For several targets: the columns reached
    from any of them, without the targets and their columns.

    Raises:
        StoreTimeoutError: it took longer than the timeout in the options.
        StoreError: the store could not be read.
    """
    return _traverse(store, target, Direction.DOWNSTREAM, options or TraversalOptions())


def root_cause(
    store: LineageReader, target: Target | Sequence[Target], options: TraversalOptions | None = None
) -> Answer:
    """Return every column that the target's value comes from or is influenced by; `root` marks the first ones.

    Raises:
        StoreTimeoutError: it took longer than the timeout in the options.
        StoreError: the store could not be read.
    """
    return _traverse(store, target, Direction.UPSTREAM, options or TraversalOptions())


def _traverse(
    store: LineageReader, target: Target | Sequence[Target], direction: Direction, options: TraversalOptions
) -> Answer:
    deadline = None if options.timeout is None else time.monotonic() + options.timeout
    targets = (target,) if isinstance(target, Target) else tuple(target)
    datasets = sorted({one.key for one in targets if one.is_table})
    columns = {one.key for one in targets if not one.is_table}
    if direction is Direction.UPSTREAM and columns:  # what decides the rows decides nothing of a column that is gone
        tables = {one.dataset for one in targets if not one.is_table}
        columns -= {one.key for one in store.columns(tables, dropped=True) if not one.is_there(options.as_of)}
    if datasets:
        columns |= {column.key for column in columns_at(store, datasets, options.as_of)}

    def search(explorer: Explorer) -> tuple[Search, frozenset[int]]:
        traversal = explorer.search(options) if isinstance(explorer, SearchingExplorer) else Search(explorer, options)
        traversal.run(columns, datasets)
        roots: Iterable[int] = ()
        if direction is Direction.UPSTREAM and EdgeKind.CONTRIBUTES in options.kinds:
            roots = explorer.without(traversal.reached, _CONTRIBUTIONS)
        return traversal, frozenset(roots)

    found, roots = store.explore(
        search, direction, kinds=options.kinds, as_of=options.as_of, hops=options.max_hops, deadline=deadline
    )
    if direction is Direction.UPSTREAM and EdgeKind.CONTRIBUTES not in options.kinds:
        roots = _roots(store, found, options, deadline)

    def find_feeds(reached: Mapping[str, int], whole: frozenset[str]) -> Feeds:
        whole |= frozenset(datasets)
        feeds, cut = follow_feeds(store, direction, options, reached, whole)
        names = store.dataset_names({feed.dataset for feed in feeds})
        affected = (
            PossiblyAffected(feed.dataset, names.get(feed.dataset, feed.dataset), feed.hops, feed.neighbour, feed.job)
            for feed in feeds
        )
        return tuple(affected), cut

    return Answer(store, targets, options, found, roots, find_feeds)


def _roots(store: LineageReader, found: Search, options: TraversalOptions, deadline: float | None) -> frozenset[int]:
    """Return the columns that nothing contributes to, for a search that did not follow contributions."""
    by_key = {found.explorer.keys[column]: column for column in found.reached}

    def look(explorer: Explorer) -> frozenset[int]:
        numbers = explorer.begin(list(by_key))
        keys = {number: key for key, number in numbers.items()}
        return frozenset(by_key[keys[column]] for column in explorer.without(numbers.values(), _CONTRIBUTIONS))

    kinds = {EdgeKind.CONTRIBUTES}
    return store.explore(look, Direction.UPSTREAM, kinds=kinds, as_of=options.as_of, deadline=deadline)
