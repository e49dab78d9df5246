"""Select, retire, prune and rekey jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from lineage.model.batch import JobKind
from lineage.model.files import FileKey, beginning
from lineage.store.graph.backend import Row, Transaction
from lineage.store.graph.statements import query
from lineage.store.graph.writing.changes import count_changes, difference
from lineage.store.graph.writing.loading import load_jobs, load_units_that_only_add
from lineage.store.planning.forgetting import plan_rekeying, plan_retirement
from lineage.store.planning.graph_state import Prune
from lineage.store.planning.plan import plan_pruning
from lineage.store.values import JobHead, JobIdentity, JobSelection, RetiredJobs

__all__ = ["diagnosed_files", "prune", "rekey_jobs", "retire_jobs", "select_jobs"]


def select_jobs(transaction: Transaction, wanted: JobSelection) -> list[JobHead]:
    """Return the jobs that match a selection, sorted by key."""
    rows = [{"retired": wanted.retired, "kinds": [str(kind) for kind in wanted.kinds]}]
    name = "job_heads"
    begins = wanted.files
    if wanted.project is not None:
        begins = begins or (beginning(wanted.project),)
    if begins:
        name, rows = "job_heads_of_files", [{**rows[0], "beginning": text} for text in begins]
    found = {head.key: head for head in map(_head, transaction.read(query(name), rows))}
    if wanted.namespace is not None:
        within = _keys_within(transaction, wanted.namespace)
        found = {key: head for key, head in found.items() if key in within}
    return sorted((head for head in found.values() if _is_meant(head, wanted)), key=lambda head: head.key)


def diagnosed_files(transaction: Transaction, beginnings: Collection[str]) -> list[str]:
    """Return the keys that begin with one of these and belong to SQL files with diagnostics, sorted."""
    rows = [{"beginning": text} for text in beginnings]
    return sorted({row["file_key"] for row in transaction.read(query("diagnosed_files"), rows)})


def prune(transaction: Transaction, older_than: datetime, *, at: datetime | None = None) -> int:
    """Retire the live edges of ad-hoc jobs last seen before `older_than`; return how many."""
    ended_at = datetime.now(UTC) if at is None else at
    bounds = Prune(min(older_than, ended_at), ended_at)
    before = load_units_that_only_add(transaction, bounds)
    changes = difference(before, plan_pruning(before, bounds))
    transaction.write(changes)
    return count_changes(changes).edges_ended


def retire_jobs(transaction: Transaction, keys: Collection[str], at: datetime) -> RetiredJobs:
    """Retire the lineage of these jobs from `at` on; delete their diagnostics and those of their files."""
    before = load_jobs(transaction, keys)
    after = plan_retirement(before, at)
    changes = difference(before, after)
    transaction.write(changes)
    ended = sum(job.retired_at is None and after.jobs[key].retired_at is not None for key, job in before.jobs.items())
    return RetiredJobs(ended, count_changes(changes).edges_ended)


def rekey_jobs(transaction: Transaction, identities: Mapping[str, JobIdentity]) -> int:
    """Change the keys of jobs, with their history; return how many existed."""
    before = load_jobs(transaction, {*identities, *(one.key for one in identities.values())})
    transaction.write(difference(before, plan_rekeying(before, identities)))
    return sum(key in before.jobs for key in identities)


def _is_meant(head: JobHead, wanted: JobSelection) -> bool:
    file = FileKey.parse(head.file_key) if head.file_key is not None else None
    if wanted.environment is not None and (file is None or str(file.environment) != wanted.environment):
        return False
    if wanted.job is not None and head.key != wanted.job:
        return False
    if wanted.source is not None:
        named = {head.source, file.path if file else None} - {None}
        folder = wanted.source.rstrip("/") + "/"
        return any(name == wanted.source or str(name).startswith(folder) for name in named)
    return True


def _keys_within(transaction: Transaction, namespace: str) -> set[str]:
    """Return the jobs that write datasets of a namespace, and those that only read them."""
    writers = {row["job"] for row in transaction.read(query("jobs_writing_namespace"), [{"namespace": namespace}])}
    readers = {row["job"] for row in transaction.read(query("jobs_reading_namespace"), [{"namespace": namespace}])}
    rest = [{"key": key} for key in sorted(readers - writers)]
    return writers | (readers - {row["job"] for row in transaction.read(query("writes_of_job"), rest)})


def _head(row: Row) -> JobHead:
    return JobHead(
        key=row["key"],
        kind=JobKind(row["kind"]),
        source=row["source"],
        file_key=row["file_key"],
        dialect=row["dialect"],
        first_seen=row["first_seen"],
        retired_at=row["retired_at"],
    )
