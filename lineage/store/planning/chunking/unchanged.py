"""A batch much of which was stated before: only the rest is planned, and the run notes that all of it was observed."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import replace

from lineage.model.batch import EdgeRecord, JobKind, JobRecord, LineageBatch
from lineage.model.names import dataset_of
from lineage.store.planning.chunking.chunks import BatchPart, Stage
from lineage.store.planning.chunking.dataset_references import edges_by_job, find_references, times_of_records
from lineage.store.planning.naming import NamesOverTime

__all__ = ["changed_part", "edited_part"]

_AS_NAMED = NamesOverTime.of((), ())


def changed_part(batch: LineageBatch, jobs: Container[str], datasets: Container[str]) -> BatchPart:
    """Return the part of a batch without these jobs and datasets, which are stored as it states them.

    The jobs define their outputs and the batch has the complete content of their files. Datasets that another job of
    the batch reads or writes are not left out. Applying the part has the effect of the batch if the times of what is
    left out were moved (`GraphStore.see_again`), and nothing is renamed or known from after that.
    """
    time_of = times_of_records(batch)
    edges = edges_by_job(batch)
    stated, unchanged, meant = [], [], set()
    touched = {}
    for job in batch.jobs:
        touched[job.key] = {*job.reads, *job.writes, *(key for edge in edges.get(job.key, ()) for key in _ends(edge))}
        if job.key in jobs:
            unchanged.append(job)
        else:
            stated.append(job)
            meant |= touched[job.key]
    records = [replace(one, at=time_of(one)) for one in batch.datasets]
    meant.update(one.key for one in records if one.key not in datasets)
    meant.update(key for keys in touched.values() for key in keys if key not in datasets)
    around = [job for job in batch.jobs if not meant.isdisjoint(touched[job.key])]
    described = tuple(one for one in records if one.key in meant)
    whole = replace(
        batch, jobs=tuple(around), datasets=described, edges=tuple(e for job in around for e in edges.get(job.key, ()))
    )
    references = find_references(whole, _AS_NAMED)
    return BatchPart(
        replace(
            batch,
            jobs=tuple(stated),
            datasets=described,
            edges=tuple(edge for job in stated for edge in edges.get(job.key, ())),
        ),
        references=tuple(reference for key, reference in references.items() if key in meant),
        unchanged=tuple(unchanged),
    )


def edited_part(batch: LineageBatch, unchanged: Container[str], others: Collection[str]) -> BatchPart:
    """Return the part of a batch that has the jobs of edited files, without those that are `unchanged`.

    The batch has the records of the datasets that have changed, and all jobs that name these. `others` are the keys of
    jobs that the run observed as well. Applying the part has the effect of the batch if the times of what is left out
    were moved (`GraphStore.see_again`), the datasets without a record have the columns that the edges name, and the
    files have the jobs that they had.
    """
    time_of = times_of_records(batch)
    records = tuple(replace(one, at=time_of(one)) for one in batch.datasets)
    stated = tuple(job for job in batch.jobs if job.key not in unchanged)
    kept = {job.key for job in stated}
    edges = tuple(edge for edge in batch.edges if edge.job in kept)
    meant = {one.key for one in records}.union(*((*job.reads, *job.writes) for job in stated), *map(_ends, edges))
    references = find_references(replace(batch, datasets=records), _AS_NAMED)
    at = batch.run.at
    return BatchPart(
        replace(batch, jobs=stated, datasets=records, edges=edges),
        frozenset(Stage) - {Stage.RETIREMENT},
        tuple(reference for key, reference in references.items() if key in meant),
        unchanged=tuple(JobRecord(key, JobKind.SQL_FILE, at, at) for key in others),
    )


def _ends(edge: EdgeRecord) -> tuple[str, str]:
    return dataset_of(edge.source), edge.output
