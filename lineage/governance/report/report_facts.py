"""What a report says of columns and tables besides where values go, read at once: names, use, policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from lineage.governance.exposure import Exposure
from lineage.governance.propagation import Spread, ValueGraph, ValueStep
from lineage.governance.warehouse.masked_views import masks_through_views
from lineage.governance.warehouse.warehouse_policies import Mask, load_warehouse_policies
from lineage.model.batch import JobKind
from lineage.model.names import dataset_of, split_dataset_key
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredDataset
from lineage.traversal import UsageTotal, total_usage
from lineage.traversal.lookup import names_of

__all__ = ["ReportFacts"]


class ReportFacts:
    """What the report says of columns and tables, read at once."""

    def __init__(self, store: GraphStore, graph: ValueGraph, spreads: Iterable[Spread]) -> None:
        all_spreads = list(spreads)
        self.jobs = graph.jobs
        self.proven: dict[int, Any] = {}
        """The steps with their SQL by the identity of the graph's: one object, on however many paths it is."""
        self._kept = all_spreads  # as long as identities are asked for
        holders = {key for one in all_spreads for key in (one.start, *one.reached)}
        ends = {influence.target for one in all_spreads for influence in one.influences}
        stopped = {key for one in all_spreads for key in one.stopped}
        self.names = names_of(store, holders | ends | stopped | {dataset_of(key) for key in holders})
        self.datasets: dict[str, StoredDataset] = {
            one.key: one for one in store.datasets({dataset_of(key) for key in holders})
        }
        days: dict[str, list[Any]] = {}
        for one in store.usages(sorted(holders)):
            days.setdefault(one.of, []).append(one)
        self.policies = load_warehouse_policies(store, holders)
        self.usage: Callable[[str], UsageTotal] = lambda key: total_usage(days.get(key, ()))
        self.masks_behind = {one.start: self._masks_behind(one, graph) for one in all_spreads}
        self.possibly = {one.start: _possibly(store, one) for one in all_spreads}
        self.names |= store.dataset_names({key for keys in self.possibly.values() for key in keys})
        self.totals = store.usage_totals()
        jobs = {key for keys in store.job_keys_of(list(self.datasets)).values() for key in keys}
        self.read_jobs = {
            one.key: one
            for one in store.jobs(jobs)
            if one.kind is not JobKind.POLICY and any(key in self.datasets for key in one.reads)
        }

    def _masks_behind(self, found: Spread, graph: ValueGraph) -> dict[str, tuple[Mask, ...]]:
        """Return the masks that come with the value through views, by column."""

        def own(key: str) -> list[Mask]:
            return [replace(one, behind=self.names[key]) for one in self.policies.protection(key).masks]

        def is_live(step: ValueStep) -> bool:
            dataset, job = self.datasets.get(dataset_of(step.target)), self.jobs.get(step.job)
            is_stored = job is not None and "MATERIALIZED" in (job.operation or "")
            same = split_dataset_key(dataset_of(step.source))[0] == split_dataset_key(dataset_of(step.target))[0]
            return dataset is not None and dataset.kind is DatasetKind.VIEW and same and not is_stored

        return {} if self.policies.is_empty else masks_through_views(found, graph.steps, own, is_live)


def _possibly(store: GraphStore, spread: Spread) -> list[str]:
    """Return the tables that are written from tables with the value by SQL whose columns are not known."""
    held = {
        dataset_of(spread.start),
        *(dataset_of(key) for key, reach in spread.reached.items() if reach.exposure is not Exposure.MASKED),
    }
    known = {dataset_of(one.target) for one in spread.influences} | {dataset_of(key) for key in spread.reached}
    known |= held
    feeds = {one for one in store.feed_keys(sorted(held), Direction.DOWNSTREAM) if one.target not in known}
    return sorted({one.target for one in feeds - store.feeds_by_columns(feeds)})
