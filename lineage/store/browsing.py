"""Lists of what a store holds, a page at a time, and what one job or one span of time changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.store.answers import edge_from, jobs
from lineage.store.backend import Transaction
from lineage.store.planning.periods import holds_at
from lineage.store.planning.state import Relation
from lineage.store.protocol import EdgeChange, JobFilter, StoredColumn, StoredDiagnostic, StoredEdge, StoredJob
from lineage.store.queries import query
from lineage.store.records import column_from, diagnostic_from

__all__ = ["changed_edges", "columns_by_key", "diagnostics_after", "edges_of_job", "jobs_after"]

_TARGETS = {Relation.CONTRIBUTES: ("Column",), Relation.REFERENCES: ("Column", "Table")}


def columns_by_key(transaction: Transaction, keys: Collection[str]) -> list[StoredColumn]:
    """Return the columns of these keys, sorted by key."""
    rows = transaction.read(query("columns_by_key"), [{"key": key} for key in sorted(set(keys))])
    return [column_from(row["n"]) for row in rows]


def jobs_after(transaction: Transaction, after: str, limit: int, wanted: JobFilter) -> list[StoredJob]:
    """Return the next jobs by key."""
    row: dict[str, Any] = {
        "after": after,
        "limit": limit,
        "kinds": [str(kind) for kind in wanted.kinds],
        "retired": wanted.retired,
    }
    name = "jobs_after"
    if wanted.dataset is not None:
        name, row = "jobs_of_dataset_after", {**row, "dataset": wanted.dataset}
    keys = [found["key"] for found in transaction.read(query(name), [row])]
    return jobs(transaction, keys, users=False) if keys else []


def diagnostics_after(
    transaction: Transaction,
    after: str,
    limit: int,
    *,
    codes: Collection[DiagnosticCode],
    severities: Collection[Severity],
    source: str | None,
    job: str | None,
) -> list[StoredDiagnostic]:
    """Return the next diagnostics by key."""
    row: dict[str, Any] = {
        "after": after,
        "limit": limit,
        "codes": [str(code) for code in codes],
        "severities": [str(severity) for severity in severities],
    }
    if job is not None:
        rows = transaction.read(query("diagnostics_of_job_after"), [{**row, "job": job}])
    else:
        rows = transaction.read(query("diagnostics_after"), [{**row, "sources": [source] if source else []}])
    records = (diagnostic_from(found["n"]).record for found in rows)
    return [StoredDiagnostic(one.key, one.diagnostic, one.source, one.job) for one in records]


def edges_of_job(transaction: Transaction, job: str) -> list[StoredEdge]:
    """Return the live edges that a job states, sorted by target and source."""
    outputs = {row["dataset"] for row in transaction.read(query("writes_of_job"), [{"key": job}])}
    asked = [{"output": output, "jobs": [job]} for output in sorted(outputs)]
    rows = [row for name in ("edges_of_units", "row_edges_of_units") for row in transaction.read(query(name), asked)]
    edges = (edge_from(row) for row in rows)
    return sorted((edge for edge in edges if edge.live), key=lambda edge: (edge.target, edge.source, edge.kind))


def changed_edges(
    transaction: Transaction, since: datetime, until: datetime, scope: str, limit: int
) -> tuple[list[EdgeChange], bool]:
    """Return what differs between two times, by target, source, kind and job, and whether the limit cut it short."""
    stated: dict[tuple[str, str, str, str], list[StoredEdge]] = defaultdict(list)
    cut = False
    row = {"since": since, "until": until, "scope": scope, "limit": limit}
    for relation, labels in _TARGETS.items():
        for name, times in ((str(relation), ("first_seen",)), (relation.ended, ("valid_from", "valid_to"))):
            for label in labels:
                for time in times:
                    statement = query("edges_changed", type=f"`{name}`", to=label, time=time)
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
            changes.append(EdgeChange(before, after))
    return changes[:limit], cut or len(changes) > limit
