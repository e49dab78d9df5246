"""Whether an ingest of a project is newer than what the store knows: then a later one may skip what is the same."""

from __future__ import annotations

from datetime import datetime, timedelta

from lineage.model.batch import LineageBatch
from lineage.store.protocol import GraphStore
from lineage_ingest.dbt.request import ProjectRequest

__all__ = ["OlderManifestError", "is_known_by_its_keys", "is_newest", "refuse_older"]

_MOMENT = timedelta(microseconds=1)
_RUNS = 1_000
"""Number of latest runs among which a later ingest of the project is looked for."""


class OlderManifestError(ValueError):
    """The store has the project as of a later time."""


def refuse_older(store: GraphStore, label: str, request: ProjectRequest) -> None:
    """Refuse a manifest from before the last ingest: that one did not state again what had not changed.

    Raises:
        OlderManifestError: there is a later ingest.
    """
    at = request.at
    for run in store.runs(_RUNS):
        if run.kind == "dbt" and run.source == label and run.last_seen > at:
            raise OlderManifestError(
                f"the manifest is of {at:%Y-%m-%d %H:%M:%S}; the store has {request.names.project} as of "
                f"{run.last_seen:%Y-%m-%d %H:%M:%S}"
            )


def is_newest(store: GraphStore, batch: LineageBatch, at: datetime) -> bool:
    """Return, before a batch of this time is applied, whether the store knows nothing later of what it states.

    If it does, stating the same again later may say more: what is of the same moment counts only against older.
    """
    return not store.is_seen_after([job.key for job in batch.jobs], _datasets_of(batch), at - _MOMENT)


def is_known_by_its_keys(store: GraphStore, batch: LineageBatch) -> bool:
    """Return, after a batch is applied, whether the store knows its datasets by the keys that it gives them.

    It may know another key as the main one: what is seen again by the project's key would not be found.
    """
    datasets = _datasets_of(batch)
    return not datasets or datasets.issubset(store.dataset_keys())


def _datasets_of(batch: LineageBatch) -> set[str]:
    """Return the datasets that a batch describes, reads or writes."""
    named = (key for job in batch.jobs for key in (*job.reads, *job.writes))
    return {*named, *(record.key for record in batch.datasets)}
