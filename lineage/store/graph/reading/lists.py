"""Lists by key, the edges of jobs and datasets, and changes between two times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from lineage.model.batch import DatasetChange, JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import ChangeKind
from lineage.store.graph.backend import Transaction
from lineage.store.graph.reading.live_edges import date_live
from lineage.store.graph.reading.reads import edge_from, jobs
from lineage.store.graph.records import change_from, column_from, diagnostic_from, still_writes, written_until
from lineage.store.graph.statements import query
from lineage.store.page_requests import JobFilter
from lineage.store.planning.graph_state import EdgeType
from lineage.store.planning.validity import holds_at
from lineage.store.values import DatasetWriter, EdgeChange, StoredColumn, StoredDiagnostic, StoredEdge, StoredJob

__all__ = [
    "changed_edges",
    "dataset_changes",
    "columns_by_key",
    "diagnostics_after",
    "diagnostics_of",
    "edges_into",
    "edges_of",
    "job_keys_of",
    "jobs_after",
    "writers_of",
]

_TARGETS = {EdgeType.CONTRIBUTES: ("Column",), EdgeType.REFERENCES: ("Column", "Table")}


def columns_by_key(transaction: Transaction, keys: Collection[str]) -> list[StoredColumn]:
    """Return the columns of these keys, sorted by key."""
    rows = transaction.read(query("columns_by_key"), [{"key": key} for key in sorted(set(keys))])
    return [column_from(row["n"]) for row in rows]


def jobs_after(
    transaction: Transaction, after: str = "", limit: int = 100, wanted: JobFilter | None = None
) -> list[StoredJob]:
    """Return the next jobs by key."""
    wanted = wanted or JobFilter()
    row = {"after": after, "limit": limit, "kinds": [str(kind) for kind in wanted.kinds], "retired": wanted.retired}
    keys = [found["key"] for found in transaction.read(query("jobs_after"), [row])]
    return jobs(transaction, keys, users=False) if keys else []


def job_keys_of(
    transaction: Transaction, datasets: Collection[str], wanted: JobFilter | None = None
) -> dict[str, list[str]]:
    """Return the keys of the jobs that read or write each dataset, sorted.

    Of a job that defines its output the latest version counts, as it does in `jobs`.
    """
    wanted = wanted or JobFilter()
    jobs_by_dataset: dict[str, set[str]] = {dataset: set() for dataset in datasets}
    asked = [{"key": key} for key in sorted(jobs_by_dataset)]
    rows = [(row, row["still"]) for row in transaction.read(query("readers_of_dataset"), asked)]
    written = transaction.read(query("writers_of_dataset"), asked)
    rows += ((row, still_writes(row["e"])) for row in written)
    for row, in_latest in rows:
        kind, retired = JobKind(row["kind"]), row["retired"]
        is_wanted = (not wanted.kinds or kind in wanted.kinds) and (wanted.retired or not retired)
        if is_wanted and (in_latest or retired or not kind.defines_output):
            jobs_by_dataset[row["dataset"]].add(row["job"])
    return {dataset: sorted(keys) for dataset, keys in jobs_by_dataset.items()}


def writers_of(
    transaction: Transaction, datasets: Collection[str], kinds: Collection[JobKind]
) -> dict[str, list[DatasetWriter]]:
    """Return the jobs of these kinds (that define their outputs) which write each dataset, or did, sorted by key."""
    writers_by_dataset: dict[str, list[DatasetWriter]] = {dataset: [] for dataset in datasets}
    for row in transaction.read(query("writers_of_dataset"), [{"key": key} for key in sorted(writers_by_dataset)]):
        if JobKind(row["kind"]) in kinds:
            writers_by_dataset[row["dataset"]].append(DatasetWriter(row["job"], written_until(row["e"])))
    return {dataset: sorted(writers, key=lambda one: one.job) for dataset, writers in writers_by_dataset.items()}


def diagnostics_after(
    transaction: Transaction,
    after: str = "",
    limit: int = 100,
    *,
    codes: Collection[DiagnosticCode] = (),
    severities: Collection[Severity] = (),
    source: str | None = None,
) -> list[StoredDiagnostic]:
    """Return the next diagnostics by key."""
    row = {
        "after": after,
        "limit": limit,
        "codes": [str(code) for code in codes],
        "severities": [str(severity) for severity in severities],
        "sources": [source] if source else [],
    }
    return [diagnostic_from(found["n"]) for found in transaction.read(query("diagnostics_after"), [row])]


def diagnostics_of(transaction: Transaction, jobs: Collection[str]) -> list[StoredDiagnostic]:
    """Return the diagnostics about these jobs, sorted by key."""
    rows = transaction.read(query("diagnostics_of_job"), [{"key": key} for key in sorted(set(jobs))])
    return sorted((diagnostic_from(row["n"]) for row in rows), key=lambda one: one.key)


def edges_of(transaction: Transaction, jobs: Collection[str]) -> list[StoredEdge]:
    """Return the live edges that these jobs state, sorted by job, target and source."""
    outputs: dict[str, list[str]] = defaultdict(list)
    for row in transaction.read(query("writes_of_job"), [{"key": key} for key in sorted(set(jobs))]):
        outputs[row["dataset"]].append(row["job"])
    asked = [{"output": output, "jobs": writers} for output, writers in sorted(outputs.items())]
    rows = [row for name in ("edges_of_units", "row_edges_of_units") for row in transaction.read(query(name), asked)]
    return sorted(date_live(transaction, [edge for edge in map(edge_from, rows) if edge.live]), key=_by_job)


def edges_into(
    transaction: Transaction, datasets: Collection[str], *, as_of: datetime | None = None
) -> list[StoredEdge]:
    """Return the edges into these datasets and their columns that are live, or valid at `as_of`."""
    asked = [{"key": key} for key in sorted(set(datasets))]
    names = ("edges_into_dataset", "row_edges_into_dataset")
    edges = (edge_from(row) for name in names for row in transaction.read(query(name), asked))
    return sorted(date_live(transaction, [edge for edge in edges if _holds(edge, as_of)]), key=_by_job)


def _holds(edge: StoredEdge, as_of: datetime | None) -> bool:
    return edge.live if as_of is None else holds_at(edge.valid_from, edge.valid_to, as_of)


def _by_job(edge: StoredEdge) -> tuple[str, str, str, str]:
    return edge.job, edge.target, edge.source, edge.kind


def dataset_changes(transaction: Transaction, since: datetime, until: datetime) -> list[DatasetChange]:
    """Return the DROPs and renames after `since` and up to `until`, in order."""
    found = (change_from(row["n"]).stated for row in transaction.read(query("changes_since"), [{"at": since}]))
    return sorted(
        (change for change in found if since < change.at <= until and change.kind is not ChangeKind.FORMER_NAME),
        key=lambda change: (change.at, change.kind, change.dataset, change.column or ""),
    )


def changed_edges(
    transaction: Transaction, since: datetime, until: datetime, *, scope: str = "", limit: int = 10_000
) -> tuple[list[EdgeChange], bool]:
    """Return the edges that differ between two times, sorted, and whether `limit` truncated the list."""
    stated: dict[tuple[str, str, str, str], list[StoredEdge]] = defaultdict(list)
    cut = False
    row = {"since": since, "until": until, "scope": scope, "limit": limit}
    for relation, labels in _TARGETS.items():
        for name, times in ((str(relation), ("first_seen",)), (relation.retired, ("valid_from", "valid_to"))):
            for label in labels:
                for time in times:
                    statement = query("edges_changed", type=(name,), to=(label,), time=time)
                    rows = transaction.read(statement, [row])
                    cut |= len(rows) == limit
                    for edge in map(edge_from, rows):
                        periods = stated[edge.target, edge.source, edge.kind, edge.job]
                        if edge not in periods:
                            periods.append(edge)
    changes = []
    for _, periods in sorted(stated.items()):
        before = next((one for one in periods if holds_at(one.valid_from, one.valid_to, since)), None)
        after = next((one for one in periods if holds_at(one.valid_from, one.valid_to, until)), None)
        if before is not None or after is not None:
            changes.append((before, after))
    shown = changes[:limit]
    dated = iter(date_live(transaction, [one for pair in shown for one in pair if one is not None]))
    answer = [EdgeChange(*(next(dated) if one is not None else None for one in pair)) for pair in shown]
    return answer, cut or len(changes) > limit
