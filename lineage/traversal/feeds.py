"""Datasets that table-level lineage leads to, beside those whose columns were reached.

A feed counts where columns cannot answer: a job that was not fully resolved, or that states no edge between the
two datasets (`COUNT(*)`, a Python model). A fully resolved job whose edges do not touch what was reached shows
that it is not affected. From a dataset that is affected as a whole (the table asked about, one whose rows are
influenced, one that may itself be affected) every feed counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lineage.model.names import split_column_key
from lineage.model.statement import Completeness
from lineage.store.protocol import Direction, StoredFeed
from lineage.traversal.neighbours import columns_at, is_column
from lineage.traversal.options import TraversalOptions
from lineage.traversal.reader import LineageReader

__all__ = ["FeedStep", "follow_feeds"]


@dataclass(frozen=True, slots=True)
class FeedStep:
    """A dataset that a feed leads to, one hop farther than `neighbour`, stated by `job`."""

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
    """Return the datasets that only feeds lead to, by hops and key, and what limit cut them, if one did.

    `reached` are the datasets to begin with and their hops; `whole` those of them that are affected as a whole.
    """
    found: dict[str, FeedStep] = {}
    everything = set(whole)
    waiting: defaultdict[int, set[str]] = defaultdict(set)
    for dataset, hops in reached.items():
        waiting[hops].add(dataset)
    while waiting:
        hops = min(waiting)
        known = reached.keys() | found.keys()
        for near, far, job in _that_count(store, direction, options, waiting.pop(hops), everything, known):
            if far in found:
                continue
            if hops >= options.max_hops:
                return _sorted(found), f"max_hops={options.max_hops}: more datasets may be affected beyond"
            if len(found) == options.limit_total:
                return _sorted(found), f"limit_total={options.limit_total}: more datasets may be affected"
            found[far] = FeedStep(far, hops + 1, near, job)
            everything.add(far)
            waiting[hops + 1].add(far)
    return _sorted(found), None


def _sorted(found: Mapping[str, FeedStep]) -> list[FeedStep]:
    return sorted(found.values(), key=lambda step: (step.hops, step.dataset))


def _that_count(
    store: LineageReader,
    direction: Direction,
    options: TraversalOptions,
    datasets: Collection[str],
    whole: Collection[str],
    known: Collection[str],
) -> list[tuple[str, str, str]]:
    stored = store.feeds(sorted(datasets), direction, as_of=options.as_of)
    feeds = [feed for feed in (_oriented(each, direction) for each in stored) if feed[1] not in known]
    doubtful = {job for near, _, job in feeds if near not in whole}
    resolved = {job.key for job in store.jobs(sorted(doubtful)) if doubtful and job.completeness is Completeness.FULL}
    in_question = {near for near, _, job in feeds if near not in whole and job in resolved}
    explained = _explained(store, direction, options, in_question)
    return sorted(feed for feed in feeds if feed[0] in whole or feed[2] not in resolved or feed not in explained)


def _explained(
    store: LineageReader, direction: Direction, options: TraversalOptions, datasets: Collection[str]
) -> set[tuple[str, str, str]]:
    if not datasets:
        return set()
    keys = [column.key for column in columns_at(store, sorted(datasets), options.as_of)]
    if direction is Direction.UPSTREAM:
        keys += sorted(datasets)
    edges = (hop.edge for hop in store.expand(keys, direction, as_of=options.as_of))
    pairs = ((_dataset(edge.source), _dataset(edge.target), edge.job) for edge in edges)
    return {pair if direction is Direction.DOWNSTREAM else (pair[1], pair[0], pair[2]) for pair in pairs}


def _oriented(feed: StoredFeed, direction: Direction) -> tuple[str, str, str]:
    if direction is Direction.DOWNSTREAM:
        return feed.source, feed.target, feed.job
    return feed.target, feed.source, feed.job


def _dataset(key: str) -> str:
    return split_column_key(key)[0] if is_column(key) else key
