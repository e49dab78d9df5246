"""Logged definitions of tables that a dbt project builds: observations of the models, not jobs of their own."""

from __future__ import annotations

from dataclasses import replace

from lineage.model.batch import JobKind, JobRecord, LineageBatch
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredJob

__all__ = ["as_observed_models"]


def as_observed_models(store: GraphStore, batch: LineageBatch) -> LineageBatch:
    """Return the batch with the definitions of tables of dbt models as observations of these models.

    A table that models of several projects build keeps a job of its own: the log does not say which of them ran. A
    model that no longer builds the table counts if the log begins before that, unless there is another one by now.

    Raises:
        StoreError: the store could not be read.
    """
    definitions = [job for job in batch.jobs if job.kind is JobKind.DEFINITION and len(job.writes) == 1]
    models = JobFilter(kinds=(JobKind.DBT,), retired=True)
    if not definitions or not store.jobs_after("dbt:", 1, models):
        return batch
    tables = {job.writes[0] for job in definitions}
    writers = store.writers_of(tables, (JobKind.DBT,))
    known = {model.key: model for model in store.jobs({one.job for found in writers.values() for one in found})}
    model_of: dict[str, StoredJob] = {}
    for job in definitions:
        building = [one for one in writers[job.writes[0]] if one.until is None]
        counting = building or [one for one in writers[job.writes[0]] if one.until and one.until >= job.first_seen]
        if len(counting) == 1:
            model_of[job.key] = known[counting[0].job]
    if not model_of:
        return batch
    keys = {key: model.key for key, model in model_of.items()}
    return replace(
        batch,
        jobs=tuple(_observation(job, model_of[job.key]) if job.key in model_of else job for job in batch.jobs),
        edges=tuple(replace(edge, job=keys[edge.job]) if edge.job in keys else edge for edge in batch.edges),
        diagnostics=tuple(
            replace(record, job=keys[record.job]) if record.job in keys else record for record in batch.diagnostics
        ),
    )


def _observation(job: JobRecord, model: StoredJob) -> JobRecord:
    return replace(
        job,
        key=model.key,
        kind=JobKind.DBT,
        source=model.source,
        source_line=None,  # of the text that was observed, not of the model's file
        positions=(),
        file_key=model.file_key,
        operation=model.operation,
    )
