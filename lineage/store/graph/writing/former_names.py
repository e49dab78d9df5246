"""Former names of datasets, until when they were used, and which dataset had the name of another one before."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from lineage.model.names import dataset_key, split_dataset_key
from lineage.model.statement import ChangeKind
from lineage.store.graph.backend import Transaction
from lineage.store.graph.records import alias_key, change_from
from lineage.store.graph.statements import query
from lineage.store.planning.graph_state import change_key
from lineage.store.values import FormerName, NameHolder

__all__ = ["former_names", "name_holders"]

_Names = dict[str, datetime]


def former_names(transaction: Transaction, datasets: Collection[str]) -> dict[str, list[FormerName]]:
    """Return the former names of these datasets with the time of the RENAME, in order of time."""
    before = _names_over_time(transaction)
    return {key: _former_names(key, before.get(key, {})) for key in sorted(set(datasets))}


def name_holders(transaction: Transaction, datasets: Collection[str]) -> dict[str, list[NameHolder]]:
    """Return which datasets had the names of these before them, until a RENAME or SWAP, in order of time."""
    holders: dict[str, list[NameHolder]] = {key: [] for key in sorted(set(datasets))}
    for holder, names in _names_over_time(transaction, swapped=True).items():
        namespace = split_dataset_key(holder)[0]
        for name, until in names.items():
            key = dataset_key(namespace, name)
            if key != holder and key in holders:
                holders[key].append(NameHolder(holder, until))
    return {key: sorted(held, key=lambda one: (one.until, one.key)) for key, held in holders.items()}


def _names_over_time(transaction: Transaction, *, swapped: bool = False) -> dict[str, _Names]:
    """Return the names that datasets had until which RENAME (or SWAP), by the key that they have now."""
    moves = [change_from(row["n"]).stated for row in transaction.read(query("renames_and_swaps"), [{}])]
    moves.sort(key=lambda change: (change.at, change_key(change)))
    asked = sorted({key for change in moves for key in change.datasets})
    rows = transaction.read(query("aliases_by_key"), [{"key": alias_key(key)} for key in asked])
    roots = {row["dataset"]: row["other"] for row in rows}
    before: dict[str, _Names] = {}
    for change in moves:
        if change.other is None:
            continue
        key, other = (roots.get(one, one) for one in (change.dataset, change.other))
        if change.kind is ChangeKind.FORMER_NAME:
            before.setdefault(other, {})[split_dataset_key(change.dataset)[1]] = change.at
            continue
        moving, there = before.pop(key, {}), before.pop(other, {})
        if change.kind is ChangeKind.SWAP:
            if swapped:
                moving[split_dataset_key(change.dataset)[1]] = there[split_dataset_key(change.other)[1]] = change.at
            before[key], before[other] = there, moving
        else:
            before[other] = {**there, **moving, split_dataset_key(change.dataset)[1]: change.at}
    return before


def _former_names(key: str, names: _Names) -> list[FormerName]:
    today = split_dataset_key(key)[1]
    found = [FormerName(name, until) for name, until in names.items() if name != today]
    return sorted(found, key=lambda one: (one.until, one.name))
