"""The report of a comparison: rows of a table, JSON, and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lineage.model.influence.evidence import spans_of
from lineage.model.text.expression_text import expression_around
from lineage.model.text.name_lists import name_list
from lineage.screen.evidence import evidence_of, location_text
from lineage.screen.listing import counted
from lineage.store.values import StoredEdge
from lineage_ingest.compare.opinions import Opinion
from lineage_ingest.compare.verdicts import ComparedEdge, Comparison, EdgeVerdict

__all__ = ["COLUMNS", "comparison_rows", "comparison_to_dict", "summary_lines"]

COLUMNS = ("verdict", "target", "source", "why", "through", "theirs", "ours")
_MAX_TEXT = 200


def comparison_rows(comparison: Comparison, edges: Iterable[ComparedEdge]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a listing of these edges."""
    for edge in edges:
        reason = f"{edge.reason}: {edge.because}" if edge.reason else edge.because
        yield (
            str(edge.verdict),
            comparison.names.get(edge.target, edge.target),
            comparison.names.get(edge.source, edge.source),
            reason,
            tuple(comparison.names.get(key, key) for key in edge.through),
            _their_proof(edge.theirs),
            _our_proof(comparison, edge.ours),
        )


def summary_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the sentences that sum a comparison up."""
    counts = comparison.counts
    compared = sum(counts.values())
    agree = counts[EdgeVerdict.AGREE] + counts[EdgeVerdict.THROUGH] + counts[EdgeVerdict.TABLES]
    share = f" ({agree / compared:.1%})" if compared else ""
    span = (
        f", {comparison.first_at:%Y-%m-%d} to {comparison.last_at:%Y-%m-%d}"
        if comparison.first_at and comparison.last_at
        else ""
    )
    tables = counted(comparison.tables, "table")
    yield f"{comparison.product}: {counted(comparison.rows, 'record')} of edges; {tables} compared{span}"
    listed = ", ".join(f"{counts[one]:,} {one}" for one in EdgeVerdict if counts[one])
    yield f"{agree:,} of {compared:,} agree{share}: {listed}" if compared else "nothing to compare"
    differing = comparison.differences
    explained = sum(edge.reason is not None and edge.reason.is_explained for edge in differing)
    if differing:
        yield f"{counted(len(differing), 'difference')}, {len(differing) - explained:,} of them unexplained"
    if comparison.unproven:
        yield (
            f"{comparison.unproven:,} of the agreeing edges are no second opinion: no SQL proves ours, they were "
            "learnt from what an engine or agent stated"
        )
    if comparison.not_compared:
        left_out = sorted(comparison.not_compared, key=lambda key: (-comparison.not_compared[key], key))
        shown = name_list([comparison.names.get(key, key) for key in left_out], 3)
        yield (
            f"not compared: {counted(comparison.not_compared_edges, 'edge')} of {counted(len(left_out), 'table')} "
            f"that the graph does not have: {shown}"
        )


def comparison_to_dict(comparison: Comparison, *, every: bool = False) -> dict[str, Any]:
    """Return a comparison as JSON values: the differences, or every edge."""
    shown = comparison.edges if every else [*comparison.differences, *_softer(comparison)]
    differing = comparison.differences
    return {
        "kind": comparison.kind,
        "product": comparison.product,
        "store": comparison.store,
        "as_of": comparison.as_of,
        "export": {
            "edges": comparison.rows,
            "from": comparison.first_at,
            "to": comparison.last_at,
            "unread": comparison.unread_count,
        },
        "tables": comparison.tables,
        "counts": {name.replace(" ", "_"): count for name, count in comparison.counts.items()},
        "unexplained": sum(edge.reason is None or not edge.reason.is_explained for edge in differing),
        "agreement_without_sql": comparison.unproven,
        "not_compared": {
            comparison.names.get(key, key): count for key, count in sorted(comparison.not_compared.items())
        },
        "edges": [_edge_to_dict(comparison, edge) for edge in shown],
        "unread": [{"place": one.place, "reason": one.reason, "hint": one.hint} for one in comparison.unread],
        "notices": list(comparison.notices),
    }


def _softer(found: Comparison) -> Iterator[ComparedEdge]:
    """Yield the edges that neither differ nor simply agree."""
    return (edge for edge in found.edges if edge.verdict in (EdgeVerdict.THROUGH, EdgeVerdict.TABLES))


def _edge_to_dict(comparison: Comparison, edge: ComparedEdge) -> dict[str, Any]:
    theirs = edge.theirs
    return {
        "verdict": str(edge.verdict),
        "source": comparison.names.get(edge.source, edge.source),
        "target": comparison.names.get(edge.target, edge.target),
        "source_key": edge.source,
        "target_key": edge.target,
        "reason": None if edge.reason is None else str(edge.reason),
        "explained": edge.reason.is_explained if edge.reason is not None else None,
        "because": edge.because or None,
        "through": [comparison.names.get(key, key) for key in edge.through],
        "theirs": None
        if theirs is None
        else {
            "influence": theirs.influence,
            "how": sorted(theirs.how),
            "run": theirs.run,
            "entity": theirs.entity,
            "first_at": theirs.first_at,
            "last_at": theirs.last_at,
            "records": theirs.count,
            "place": theirs.place,
        },
        "ours": [_ours_to_dict(comparison, one) for one in edge.ours],
    }


def _ours_to_dict(found: Comparison, edge: StoredEdge) -> dict[str, Any]:
    job = found.jobs.get(edge.job)
    return {
        "kind": str(edge.kind),
        "subtypes": [str(subtype) for subtype in edge.subtypes],
        "masking": edge.masking,
        "ambiguous": edge.ambiguous,
        "job": edge.job,
        "completeness": None if job is None else str(job.completeness),
        "statement": None if job is None else job.sql,
        "valid_from": edge.valid_from,
        "valid_to": edge.valid_to,
        "last_seen": edge.last_seen,
        "evidence": evidence_of(job, edge.spans),
    }


def _their_proof(theirs: Opinion | None) -> str | None:
    if theirs is None:
        return None
    parts = [" + ".join(sorted(theirs.how)), theirs.entity, theirs.run]
    if theirs.last_at is not None:
        parts.append(f"{theirs.last_at:%Y-%m-%d %H:%M}")
    parts += [f"{theirs.count:,} records" if theirs.count > 1 else None, theirs.place]
    return ", ".join(filter(None, parts))


def _our_proof(found: Comparison, edges: tuple[StoredEdge, ...]) -> str | None:
    """Return what proves ours in one line: the clause, where it is, the SQL (masked), and what limits it."""
    if not edges:
        return None
    edge = edges[0]
    job = found.jobs.get(edge.job)
    parts = [" + ".join(map(str, edge.subtypes)) or str(edge.kind)]
    if job is not None and job.sql and edge.spans:
        start, end = spans_of(edge.spans[0])[0]
        text = " ".join(job.sql[slice(*expression_around(job.sql, start, end))].split())
        parts += [location_text(job, start), f"`{text[:_MAX_TEXT]}`"]
    else:
        parts.append((job.source if job is not None else None) or edge.job)
        parts += ["no SQL"] if job is not None or not edge.spans else []  # else the statement is not loaded
    if job is not None:
        parts.append(str(job.completeness))
    if edge.ambiguous:
        parts.append("ambiguous")
    if len(edges) > 1:
        parts.append(f"and {len(edges) - 1:,} more")
    return ", ".join(parts)
