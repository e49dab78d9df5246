"""Datasets reached by table-level lineage, in addition to those with reached columns.

A feed counts if column lineage is unknown: its job was not fully resolved, or has no edge between the two datasets
(`COUNT(*)`, a Python model). A fully resolved job whose edges do not touch a reached column proves that its output is
not affected. From a dataset that is affected as a whole (the start, one whose rows are influenced, one that is itself
possibly affected) every feed counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from lineage.frozen import frozen
from lineage.store.values import Direction, FeedKey
from lineage.traversal.lineage_reader import LineageReader
from lineage.traversal.options import TraversalOptions

__all__ = ["FeedStep", "follow_feeds"]


_Feed = tuple[str, str, str]
"""The dataset nearer the start, the dataset that the feed leads to, and the job."""


@frozen
class FeedStep:
    """A dataset that a feed of `job` leads to, one hop farther than `neighbour`."""

    dataset: str
    hops: int
    neighbour: str
    job: str


def follow_feeds(
    store: LineageReader,
    direction: Direction,
    options: TraversalOptions,
    reached: Mapping[str, int],
    whole: Collection[str],
) -> tuple[list[FeedStep], str | None]:
    """Return the datasets reached by feeds only, by hops and key, and a description of the limit that was hit, if any.

    `reached` maps the starting datasets to their hops; `whole` are those of them that are affected as a whole.
    """
    steps: dict[str, FeedStep] = {}
    waiting: defaultdict[int, set[str]] = defaultdict(set)
    for dataset, hops in reached.items():
        waiting[hops].add(dataset)
    leading_on = _group(_that_count(store, direction, options, reached, whole))
    while waiting:
        hops = min(waiting)
        datasets = waiting.pop(hops)
        leading_on |= _group(_feeds(store, direction, options, datasets & steps.keys()))
        for near, far, job in sorted(feed for dataset in datasets for feed in leading_on.get(dataset, ())):
            if far in reached or far in steps:
                continue
            if hops >= options.max_hops:
                return _sort(steps), f"max_hops={options.max_hops}: more datasets may be affected beyond"
            if len(steps) == options.limit_total:
                return _sort(steps), f"limit_total={options.limit_total}: more datasets may be affected"
            steps[far] = FeedStep(far, hops + 1, near, job)
            waiting[hops + 1].add(far)
    return _sort(steps), None


def _sort(found: Mapping[str, FeedStep]) -> list[FeedStep]:
    return sorted(found.values(), key=lambda step: (step.hops, step.dataset))


def _group(feeds: Iterable[_Feed]) -> dict[str, list[_Feed]]:
    groups: defaultdict[str, list[_Feed]] = defaultdict(list)
    for feed in feeds:
        groups[feed[0]].append(feed)
    return groups


def _feeds(
    store: LineageReader, direction: Direction, options: TraversalOptions, datasets: Collection[str]
) -> list[_Feed]:
    if not datasets:
        return []
    return [_orient(feed, direction) for feed in store.feed_keys(sorted(datasets), direction, as_of=options.as_of)]


def _that_count(
    store: LineageReader,
    direction: Direction,
    options: TraversalOptions,
    reached: Mapping[str, int],
    whole: Collection[str],
) -> list[_Feed]:
    feeds = {feed for feed in _feeds(store, direction, options, reached) if feed[1] not in reached}
    # Orienting a feed twice restores the stored order.
    doubtful = [FeedKey(*_orient(feed, direction)) for feed in feeds if feed[0] not in whole]
    if doubtful:
        explained = store.feeds_by_columns(doubtful, as_of=options.as_of)
        feeds -= {_orient(feed, direction) for feed in explained}
    return sorted(feeds)


def _orient(feed: tuple[str, str, str], direction: Direction) -> _Feed:
    source, target, job = feed
    return (source, target, job) if direction is Direction.DOWNSTREAM else (target, source, job)
