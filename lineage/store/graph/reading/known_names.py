"""What the graph knows about the names in a batch: later changes, and further keys of the same datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from lineage.frozen import frozen
from lineage.model.names import dataset_of
from lineage.store.graph.backend import Transaction
from lineage.store.graph.records import alias_key, change_from
from lineage.store.graph.statements import query
from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.planning.graph_state import KnownChange
from lineage.store.planning.naming import NamesOverTime
from lineage.store.planning.renaming.aliases import find_main_keys

__all__ = ["KnownNames", "load_names"]


@frozen
class KnownNames:
    """The changes and aliases of the graph, and the naming that includes those of a batch."""

    changes: Sequence[KnownChange]
    aliases: Mapping[str, str]
    naming: NamesOverTime


def load_names(transaction: Transaction, part: BatchPart, since: datetime) -> KnownNames:
    """Return what is known about names from `since` on; aliases hold at all times."""
    changes = [change_from(row["n"]) for row in transaction.read(query("changes_since"), [{"at": since}])]
    stored, together = _aliases(transaction, part, changes)
    naming = NamesOverTime.of((change.stated for change in changes), part.batch.changes, together)
    return KnownNames(changes, stored, naming)


def _aliases(
    transaction: Transaction, part: BatchPart, changes: Sequence[KnownChange]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the aliases of the datasets in a part: those of the graph, and these with the part's own."""
    if not transaction.read(query("any_alias"), [{}]):
        return {}, find_main_keys({}, part.batch.aliases)
    keys = _datasets_of(part) | {key for change in changes for key in change.stated.datasets}
    rows = transaction.read(query("aliases_by_key"), [{"key": alias_key(key)} for key in sorted(keys)])
    stored = {row["dataset"]: row["other"] for row in rows}
    together = find_main_keys(stored, part.batch.aliases)
    # Aliases of a key that is now an alias itself get the new main key.
    if losing := sorted(key for key in together if key not in stored):
        rows = transaction.read(query("aliases_of"), [{"key": key} for key in losing])
        stored |= {row["dataset"]: row["other"] for row in rows}
        together = find_main_keys(stored, part.batch.aliases)
    return stored, together


def _datasets_of(part: BatchPart) -> set[str]:
    batch = part.batch
    datasets = {key for pair in batch.aliases for key in pair}
    datasets.update(reference.name_then for reference in part.references or ())
    for job in batch.jobs:
        datasets.update(job.reads)
        datasets.update(job.writes)
    for edge in batch.edges:
        datasets.add(dataset_of(edge.source))
        datasets.add(edge.output)
    datasets.update(record.key for record in batch.datasets)
    datasets.update(dataset_of(used.of) for used in batch.usage)
    datasets.update(stated.dataset for stated in batch.facts)
    datasets.update(key for change in batch.changes for key in change.datasets)
    return datasets
