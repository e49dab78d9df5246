"""What the last ingest of SQL files stated, kept beside the store, so that the next one stores only what has changed.

Two batches are compared, not their files: a job or a table is unchanged if the batch states the same of it, for
whatever reason. The files hold digests, names and diagnostics, no SQL. They are valid for one store, and only as long
as no other session has written to that store than ingests that are remembered here, and the product is the same. Each
project has a file, so that projects that take turns find their own; one more lists those that are valid.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path

from lineage.frozen import frozen
from lineage.model.batch import DatasetRecord, DiagnosticRecord, EdgeRecord, JobRecord, LineageBatch
from lineage.model.names import dataset_of
from lineage.product_digest import product_digest
from lineage.saved_file import SavedFile, digest_of, saved_files_folder
from lineage.saved_values import UnexpectedClassError, from_saved, to_saved
from lineage.store.protocol import GraphStore
from lineage_ingest.sql_files.saved.known_files import KnownFiles

__all__ = [
    "BatchState",
    "BatchStateFiles",
    "StatedJobState",
    "Unchanged",
    "can_be_seen_again",
    "is_newest",
    "state_of",
    "unchanged_since",
]

_FORMAT = 3
_MAX_FILES = 200
"""Number of projects and stores that are remembered; the least recently used are forgotten."""
_MOMENT = timedelta(microseconds=1)
_FIELD, _END = "\x1f", "\x1e"
_CLASSES = ("lineage.model.", "lineage.sql.script.reuse.known_text", "lineage_ingest.sql_files.saved.known_files")


@frozen
class StatedJobState:
    """A job as it was stated: the digest of all that was said of it, and the datasets that this names."""

    digest: str
    datasets: tuple[str, ...]


@frozen
class BatchState:
    """What an ingest stated, and when: its jobs, and the digests of its datasets, by key.

    `files` is what is kept of the files, if one can be resolved without the others. `is_last`: nobody has
    written to the store since.
    """

    at: datetime
    jobs: Mapping[str, StatedJobState]
    records: Mapping[str, str]
    files: KnownFiles | None = None
    is_last: bool = True


@frozen
class Unchanged:
    """The jobs and datasets that a batch states as an ingest at `since` did."""

    jobs: frozenset[str]
    datasets: frozenset[str]
    since: datetime

    def without(self, datasets: Container[str], stated: BatchState) -> Unchanged:
        """Return what is left without some datasets, the jobs that name any of them, and all that these jobs name."""
        jobs = {key for key in self.jobs if any(name in datasets for name in stated.jobs[key].datasets)}
        named = {name for key in jobs for name in stated.jobs[key].datasets}
        kept = frozenset(key for key in self.datasets - named if key not in datasets)
        return Unchanged(self.jobs - jobs, kept, self.since)


class BatchStateFiles:
    """The files of one store, given by its absolute path: what the ingests that wrote to it last have stated."""

    def __init__(self, store: str, folder: Path | None = None) -> None:
        self._store = store
        self._folder = folder or saved_files_folder("sql-stores")
        self._basis = digest_of(_FORMAT, store, product_digest(Path(__file__).parents[1]))
        self._valid: dict[str, str] = {}
        """The digest of each project's file, in order of writing, as long as no other session wrote to the store."""

    def read(self, session: int | None, project: str) -> BatchState | None:
        """Return what the last ingest of a project has stated; None if others have written since, or it is not known.

        `session` is the one that wrote last.
        """
        self._valid = {}
        listed = self._file().read()
        if listed is None or session is None:
            return None
        index = json.loads(listed)
        if index["session"] != session:
            return None
        self._valid = index["projects"]
        content = self._file(project).read()
        if content is None or _digest(content) != self._valid.get(project):
            return None
        try:
            at, jobs, names, records, files = from_saved(content, _CLASSES)
        except UnexpectedClassError:  # it refers to a class that is not expected
            return None
        stated = {
            key: StatedJobState(digest, tuple([names[number] for number in numbers]))
            for key, (digest, numbers) in jobs.items()
        }
        is_last = next(reversed(self._valid)) == project
        return BatchState(datetime.fromisoformat(at), stated, records, files, is_last)

    def write(self, session: int | None, project: str, state: BatchState) -> None:
        """Replace a project's file; those of the projects that were valid when it was read stay so.

        What cannot be written is left out: the next ingest then states everything.
        """
        if session is None:
            return
        numbers: dict[str, int] = {}
        jobs = {
            key: (job.digest, [numbers.setdefault(name, len(numbers)) for name in job.datasets])
            for key, job in state.jobs.items()
        }
        content = to_saved((state.at.isoformat(), jobs, list(numbers), state.records, state.files))
        self._file(project).write(content)
        self._valid.pop(project, None)
        self._valid[project] = _digest(content)
        self._file().write(json.dumps({"session": session, "projects": self._valid}).encode())

    def forget(self) -> None:
        """Make the files of all projects invalid, until one is written."""
        self._file().forget()

    def _file(self, *project: str) -> SavedFile:
        path = self._folder / f"{digest_of(self._store, *project)}.json"
        return SavedFile(path, self._basis, max_files=_MAX_FILES)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def state_of(batch: LineageBatch) -> BatchState:
    """Return what a batch states of each job and dataset, apart from when."""
    edges: dict[str, list[EdgeRecord]] = defaultdict(list)
    for edge in batch.edges:
        edges[edge.job].append(edge)
    problems: dict[str, list[DiagnosticRecord]] = defaultdict(list)
    for found in batch.diagnostics:
        if found.job is not None:
            problems[found.job].append(found)
    jobs = {job.key: _state_of_job(job, edges[job.key], problems[job.key]) for job in batch.jobs}
    return BatchState(batch.run.at, jobs, {one.key: _digest_of_record(one, batch.run.at) for one in batch.datasets})


def unchanged_since(before: BatchState, now: BatchState) -> Unchanged:
    """Return the jobs that are stated as before, and the datasets of which neither a job nor a record has changed."""
    jobs = {key for key, job in now.jobs.items() if (was := before.jobs.get(key)) is not None and was == job}
    others = (job for state in (before, now) for key, job in state.jobs.items() if key not in jobs)
    changed = {name for job in others for name in job.datasets}
    changed.update(key for key in (*before.records, *now.records) if before.records.get(key) != now.records.get(key))
    named = {name for job in now.jobs.values() for name in job.datasets} | now.records.keys()
    return Unchanged(frozenset(jobs), frozenset(named - changed), before.at)


def is_newest(store: GraphStore, batch: LineageBatch) -> bool:
    """Return, before a batch is applied, whether it is newer than all that is known of its jobs and datasets.

    If it is not, stating the same again may say more: what is of the same moment or later counts only against older.

    Raises:
        StoreError: the store could not be read.
    """
    datasets = {record.key for record in batch.datasets}
    return not store.is_seen_after([job.key for job in batch.jobs], datasets, batch.run.at - _MOMENT)


def can_be_seen_again(store: GraphStore, unchanged: Unchanged) -> bool:
    """Return whether stating again what is unchanged would only be an observation of the same.

    The store must not know of anything later, and must know the datasets by the same keys.

    Raises:
        StoreError: the store could not be read.
    """
    if not unchanged.datasets.issubset(store.dataset_keys()):
        return False
    return not store.is_seen_after(unchanged.jobs, unchanged.datasets, unchanged.since)


def _state_of_job(job: JobRecord, edges: Iterable[EdgeRecord], problems: Iterable[DiagnosticRecord]) -> StatedJobState:
    datasets = {*job.reads, *job.writes}
    own = (
        job.kind, job.reads, job.writes, job.sql, job.dialect, job.source, job.source_line, job.operation,
        job.completeness, job.observations, job.users, job.duration_us, job.file_key, job.ties, job.positions,
        job.first_seen == job.last_seen,
    )  # fmt: skip
    digest = blake2b(repr(own).encode(errors="surrogatepass"), digest_size=12)
    for edge in edges:
        datasets |= {dataset_of(edge.source), edge.output}
        flags = repr((edge.masking, edge.limited, edge.ambiguous, edge.spans))
        names = (
            edge.source,
            edge.target,
            edge.kind,
            edge.output,
            flags,
            *edge.subtypes,
            _END,
            *edge.partly_masking,
            _END,
        )
        digest.update(_FIELD.join(names).encode(errors="surrogatepass"))
    digest.update(repr(list(problems)).encode(errors="surrogatepass"))
    return StatedJobState(digest.hexdigest(), tuple(sorted(datasets)))


def _digest_of_record(record: DatasetRecord, at: datetime) -> str:
    return digest_of(replace(record, at=None), None if record.at == at else record.at, record.at is None)
