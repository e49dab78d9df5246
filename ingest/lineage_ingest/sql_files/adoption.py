"""Migration of jobs stored before files had projects: the file that matches takes them over, with their history."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from lineage.model.batch import JobKind, JobRecord, target_of_file_job
from lineage.model.files import BEFORE_PROJECTS
from lineage.store.protocol import GraphStore
from lineage.store.values import JobIdentity, JobSelection

__all__ = ["adopt_earlier_jobs"]


def adopt_earlier_jobs(store: GraphStore, jobs: Collection[JobRecord], paths: Mapping[str, str]) -> int:
    """Rekey jobs stored before files had projects to the files that match them; return their number.

    Such a job's key has no project, only its target and the end of its file's path. A file matches if target and
    dialect are the same and its path ends with that name. `paths` are the absolute paths by file key.
    """
    heads = store.select_jobs(JobSelection(project=BEFORE_PROJECTS, kinds=(JobKind.SQL_FILE,), retired=True))
    if not heads:
        return 0
    earlier = {(head.key, head.dialect): head for head in heads}
    identities: dict[str, JobIdentity] = {}
    for job in jobs:
        if job.file_key is None or job.file_key not in paths:
            continue
        target = target_of_file_job(job.key)
        for name in _earlier_names(paths[job.file_key]):
            key = f"file:{name}>{target}" if target else f"file:{name}"
            if (key, job.dialect) in earlier and key not in identities:
                identities[key] = JobIdentity(job.key, job.file_key, job.source or "")
    sources = {name for path in paths.values() for name in _earlier_names(path)}
    return store.rekey_jobs(identities, sorted(sources)) if identities else 0


def _earlier_names(path: str) -> Iterator[str]:
    """Yield the names that a file may have had: they were relative to the ingested folder."""
    parts = PurePosixPath(path).parts
    for length in range(len(parts), 0, -1):
        yield "/".join(parts[-length:]).lstrip("/")
