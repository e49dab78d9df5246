"""Views of earlier logs that stay bound to a table which a log renames to make room for another one.

Where views follow renames, they read the table under its new name from then on. Within a log, `pipeline/versions.py`
does this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from lineage import extract
from lineage.model.batch import JobRecord, LineageBatch, RunRecord
from lineage.model.dialects import UnknownDialectError, dialect_named
from lineage.model.names import dataset_of, split_dataset_key
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage_ingest.query_log.earlier_graph import record_of
from lineage_ingest.query_log.pipeline.copied_by_rename import COPYING
from lineage_ingest.query_log.pipeline.names_of_parts import last_part
from lineage_ingest.restated_jobs import observe_again, stated_outputs

__all__ = ["views_that_follow"]

_MOMENT = timedelta(microseconds=1)


def views_that_follow(store: GraphStore, batch: LineageBatch) -> Iterator[LineageBatch]:
    """Yield the definitions of stored views that read a table which the batch renames and copies, under its new name.

    Raises:
        StoreError: the store could not be read.
    """
    own = {job.key for job in batch.jobs}
    for job in sorted(batch.jobs, key=lambda one: (one.first_seen, one.key)):
        if job.operation == COPYING and _follows(job) and (table := _copied(job)) is not None:
            yield from _following(store, table, job, own)


def _follows(job: JobRecord) -> bool:
    try:
        return job.dialect is not None and dialect_named(job.dialect).views_follow_renames
    except UnknownDialectError:
        return False


def _copied(job: JobRecord) -> str | None:
    """Return the table that a job copies: its reads are the sources of that table, too."""
    to = last_part(split_dataset_key(job.writes[0])[1])
    changes = (one for statement in extract(job.sql or "", job.dialect or "") for one in statement.changes)
    named = {last_part(one.table) for one in changes if one.other is not None and last_part(one.other) == to}
    found = [key for key in job.reads if last_part(split_dataset_key(key)[1]) in named]
    return found[0] if len(found) == 1 else None


def _following(store: GraphStore, table: str, copying: JobRecord, own: set[str]) -> Iterator[LineageBatch]:
    to, at = copying.writes[0], copying.first_seen
    keys = [table, *(column.key for column in store.columns([table], dropped=True))]
    reading = [
        one for one in stated_outputs(store, keys, at - _MOMENT) if one.job.last_seen <= at and one.job.key not in own
    ]
    views = {one.key for one in store.datasets([one.output for one in reading]) if one.kind is DatasetKind.VIEW}
    for said in reading:
        if said.output in views:
            edges = tuple(
                replace(edge, source=to + edge.source[len(table) :]) if dataset_of(edge.source) == table else edge
                for edge in map(record_of, said.edges)
            )
            seen = observe_again(said.job, at)
            job = replace(seen, reads=tuple(sorted({to if key == table else key for key in seen.reads})))
            digest = hashlib.sha256(f"{job.key} {to} {at}".encode()).hexdigest()[:24]
            counts = {"jobs": 1, "edges": len(edges)}
            yield LineageBatch(RunRecord(f"followed:{digest}", "copies", to, at, counts), jobs=(job,), edges=edges)
