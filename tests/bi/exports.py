"""Ingests exports into a store of their own, and reads back what they state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lineage.model.batch import JobKind
from lineage.model.names import dataset_of
from lineage.model.statement import Completeness
from lineage.store import GraphStore
from lineage.store.page_requests import JobFilter
from lineage_ingest import BiOptions, BiSummary, ingest_bi

DATA = Path(__file__).parent.parent / "data" / "bi"


def ingest(
    store: GraphStore, kind: str, paths: Path | Iterable[Path], server: str = "bi.test", **options: Any
) -> BiSummary:
    """Ingest files as an export of a server."""
    listed = [paths] if isinstance(paths, Path) else list(paths)
    return ingest_bi(kind, listed, store=store, options=BiOptions(server=server, **options))


def write_json(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write JSON files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return folder


def edges_of(store: GraphStore, rows: bool = False) -> set[str]:
    """Return the edges that exports state, as `source -> target [subtypes]`, without namespaces of exports."""
    jobs = {job.key: job for job in store.jobs(_job_keys(store))}
    found = set()
    for edge in store.edges_of(list(jobs)):
        if "#" in edge.source and ("#" in edge.target or rows):
            arrow = "->" if edge.kind == "CONTRIBUTES" else "~>"
            subtypes = " ".join(sorted(map(str, edge.subtypes)))
            found.add(f"{_plain(edge.source)} {arrow} {_plain(edge.target)} [{subtypes}]")
    return found


def into(store: GraphStore, key: str, rows: bool = False) -> set[str]:
    """Return the edges into a query or dashboard."""
    return {one for one in edges_of(store, rows) if one.partition("> ")[2].startswith(key)}


def columns_of(store: GraphStore, key: str) -> list[str]:
    """Return the columns of a dataset of an export, in order."""
    listed = [one for one in store.columns([key]) if one.dropped_at is None]
    return [one.spelled_name for one in sorted(listed, key=lambda one: one.ordinal if one.ordinal is not None else 999)]


def completeness(store: GraphStore) -> dict[str, Completeness]:
    """Return the completeness of the queries and dashboards of exports, by what they write."""
    return {_plain(job.writes[0]): job.completeness for job in store.jobs(_job_keys(store)) if job.writes}


def codes(summary: BiSummary) -> set[str]:
    """Return the codes of the diagnostics."""
    return {str(one.diagnostic.code) for one in summary.diagnostics}


def _job_keys(store: GraphStore) -> list[str]:
    written = [one.key for one in store.datasets() if one.kind == "exposure" and one.dropped_at is None]
    by_dataset = store.job_keys_of(written, JobFilter(kinds=(JobKind.DASHBOARD,)))
    return sorted({key for keys in by_dataset.values() for key in keys})


def _plain(key: str) -> str:
    dataset = dataset_of(key)
    scheme, mark, rest = key.partition("://")
    plain = (
        rest.partition("/")[2]
        if mark and scheme in ("metabase", "superset", "lookml", "tableau", "powerbi", "plain")
        else key
    )
    return plain.replace("#", ".") if dataset else plain
