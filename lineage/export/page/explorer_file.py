"""The graph as one HTML file: the explorer's page with the data in it. It needs no network and no service."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections import defaultdict
from datetime import UTC, datetime
from importlib import resources
from typing import Any

from lineage import __version__
from lineage.export.graph_part import GraphPart
from lineage.governance.held_classes import HeldClass, held_classes
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify
from lineage.model.facts import domains_in, facts_from
from lineage.model.influence.evidence import spans_of
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredDataset, StoredJob
from lineage.traversal import total_usage

__all__ = ["html_page"]

Json = dict[str, Any]
_ALL = 1_000_000_000


def html_page(store: GraphStore, part: GraphPart, at: datetime | None = None, *, cell: str | None = None) -> str:
    """Return the page of a part of the graph, as it was read from the store at a time (now by default).

    With `cell`, a number that nobody guesses, it tells the page around its frame what is chosen. Its policy forbids
    every request. SQL has its literals masked, as in the store; the names of users are left out.

    Raises:
        StoreError: the store could not be read.
    """
    data = json.dumps(_data(store, part, at or datetime.now(UTC)), ensure_ascii=False, separators=(",", ":"))
    # The page is the service's, but its files are there without the libraries of the service, too.
    folder = resources.files("lineage_graphql").joinpath("explorer")
    script = folder.joinpath("explorer.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    style = folder.joinpath("explorer.css").read_text(encoding="utf-8").replace("</style", "<\\/style")
    policy = f"default-src 'none'; img-src data:; script-src {_digest(script)}; style-src {_digest(style)}"
    safe = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"{_cell(cell)}<title>Lineage explorer</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<div id="page"><p>The explorer needs JavaScript.</p></div>\n'
        f'<script type="application/json" id="lineage-data">{safe}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _cell(cell: str | None) -> str:
    return f'<meta name="lineage-cell" content="{html.escape(cell)}">\n' if cell else ""


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(store: GraphStore, part: GraphPart, at: datetime) -> Json:
    keys = [one.key for one in part.datasets]
    usages = defaultdict(list)
    for used in store.usages(keys):
        usages[used.of].append(used)
    totals = {key: total_usage(of) for key, of in usages.items()}
    stating = {edge.job for edge in part.edges}
    about = {job for jobs in store.job_keys_of(keys).values() for job in jobs}
    jobs = [job for job in store.jobs(sorted(stating | about)) if job.key in stating or job.writes]
    held = _held(store, [one.key for one in part.columns])
    findings = defaultdict(list)
    for found in store.diagnostics_of([job.key for job in jobs]):
        findings[found.job].append(found.diagnostic)
    return {
        "version": __version__,
        "writtenAt": at.isoformat(),
        "focus": list(part.focus),
        "tables": [
            {
                **_table(dataset),
                "lastSeen": dataset.last_seen.isoformat(),
                "reads": totals[dataset.key].reads if dataset.key in totals else 0,
                "lastRead": _time(totals[dataset.key].last_read) if dataset.key in totals else None,
            }
            for dataset in part.datasets
        ],
        "columns": [_column(one, held.get(one.key, ())) for one in part.columns],
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "kind": str(edge.kind),
                "subtypes": [str(one) for one in edge.subtypes],
                "masking": edge.masking,
                "job": edge.job,
                "chains": [spans_of(chain) for chain in edge.spans],
            }
            for edge in part.edges
        ],
        "jobs": [
            {
                **_job(job, sql=job.key in stating),
                "diagnostics": [
                    {"code": str(one.code), "severity": str(one.severity), "message": one.message, "hint": one.hint}
                    for one in findings[job.key]
                ],
            }
            for job in jobs
        ],
    }


def _table(dataset: StoredDataset) -> Json:
    facts = facts_from(dataset.facts)
    return {
        "key": dataset.key,
        "id": dataset.key,
        "name": dataset.display_name,
        "namespace": dataset.namespace,
        "kind": str(dataset.kind),
        "schemaKnown": dataset.schema_known,
        "firstSeen": dataset.first_seen.isoformat(),
        "droppedAt": _time(dataset.dropped_at),
        "description": dataset.description or next((each.description for each in facts if each.description), None),
        "tags": sorted({*dataset.tags, *(tag for each in facts for tag in each.tags)}),
        "owners": sorted({each.owner for each in facts if each.owner}),
        "domains": sorted(domains_in(facts, dataset.tags)),
    }


def _held(store: GraphStore, columns: list[str]) -> dict[str, tuple[HeldClass, ...]]:
    """Return the classes of personal data that columns hold."""
    known = classify(store, default_rules())
    if not known.tags:
        return {}
    # What functions do is known to the extraction, which most exports do without.
    from lineage.sql.resolve.calls.functions import value_functions  # noqa: PLC0415

    return held_classes(store, known, value_functions(), columns, most=_ALL).by_column


def _column(column: StoredColumn, held: tuple[HeldClass, ...]) -> Json:
    facts = facts_from(column.facts)
    return {
        "key": column.key,
        "path": column.display_path,
        "table": column.dataset,
        "dataType": column.data_type,
        "tags": sorted({*column.tags, *(tag for each in facts for tag in each.tags)}),
        "inferred": column.inferred,
        "droppedAt": _time(column.dropped_at),
        "description": column.description or next((each.description for each in facts if each.description), None),
        "classes": [{"name": one.name, "exposure": str(one.exposure), "source": one.source} for one in held],
    }


def _job(job: StoredJob, *, sql: bool) -> Json:
    return {
        "key": job.key,
        "kind": str(job.kind),
        "operation": job.operation,
        "completeness": job.completeness.name,
        "sql": job.sql if sql else None,
        "file": job.path or job.source,
        "line": job.source_line,
        "reads": list(job.reads),
        "writes": list(job.writes),
        "lastSeen": job.last_seen.isoformat(),
        "observations": job.observations,
    }


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
