"""Facts of sources: which sources have stated any, and forgetting theirs."""

from __future__ import annotations

import json
from collections.abc import Collection

from lineage.store.graph.backend import Transaction
from lineage.store.graph.records import column_from, dataset_from
from lineage.store.graph.statements import query
from lineage.store.graph.writing.changes import difference
from lineage.store.planning.facts import plan_without_facts
from lineage.store.planning.graph_state import GraphState
from lineage.store.values import StoredDataset

__all__ = ["fact_sources", "forget_facts"]


def fact_sources(transaction: Transaction, beginning: str) -> list[tuple[str, str]]:
    """Return the sources of facts whose keys begin with this text, each with every dataset, sorted."""
    found = {(one.source, dataset.key) for dataset in _datasets(transaction, beginning) for one in dataset.stated_facts}
    return sorted(pair for pair in found if pair[0].startswith(beginning))


def forget_facts(transaction: Transaction, stated: Collection[tuple[str, str]]) -> int:
    """Delete facts, given by source and dataset; return the number of datasets that had any of them."""
    before = GraphState()
    wanted = frozenset(stated)
    # One read finds all datasets of a project.
    beginnings = {source.partition(":")[0] for source, _ in wanted}
    for dataset in (one for beginning in sorted(beginnings) for one in _datasets(transaction, beginning)):
        if any((one.source, dataset.key) in wanted for one in dataset.stated_facts):
            before.datasets[dataset.key] = dataset
    asked = [{"key": key} for key in sorted(before.datasets)]
    for row in transaction.read(query("columns_of_dataset"), asked) if asked else ():
        column = column_from(row["n"])
        before.columns[column.key] = column
    transaction.write(difference(before, plan_without_facts(before, wanted)))
    return len(before.datasets)


def _datasets(transaction: Transaction, beginning: str) -> list[StoredDataset]:
    # As it stands in the text: with quotes and backslashes escaped.
    text = json.dumps(beginning, ensure_ascii=False)[:-1]
    return [dataset_from(row["n"]) for row in transaction.read(query("datasets_with_facts"), [{"beginning": text}])]
