"""What an event's SQL adds to its columnLineage facet.

The engine's facet counts: it knows the names. But agents leave out what they do not model: columns of a MERGE, what
decides rows, datasets of which no column is used. Our reading of the same SQL adds that. Edges that it adds or confirms
have places in the SQL; those of the facet alone have none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from lineage.model.batch import EdgeRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import split_column_key
from lineage.model.statement import Completeness
from lineage.model.transformations import EdgeKind
from lineage_ingest.openlineage.sql_text import SqlLineage

__all__ = ["Completed", "complete_by_sql", "speaks_of_all"]


@dataclass(frozen=True, slots=True)
class Completed:
    """The edges of a facet and of the SQL together, how complete they are, and where the two differ."""

    edges: list[EdgeRecord]
    completeness: Completeness
    diagnostics: list[Diagnostic]


def complete_by_sql(
    facet: Iterable[EdgeRecord], by_sql: SqlLineage, output: str, columns: Collection[str], job: str
) -> Completed:
    """Return a facet's edges with what the SQL says besides. `columns` are those of the output, if they are known.

    Of a column that the facet speaks of, its value sources are the facet's. Where the SQL was read in full and has all
    of them and more, it adds the rest; where it has others, a diagnostic names both, and it is not full.
    """
    is_read = by_sql.completeness is Completeness.FULL
    stated = {(edge.source, edge.target, edge.kind): edge for edge in facet}
    values: dict[str, set[str]] = defaultdict(set)
    for source, target, kind in stated:
        if kind is EdgeKind.CONTRIBUTES:
            values[target].add(source)
    read: dict[str, set[str]] = defaultdict(set)
    for edge in by_sql.edges:
        if edge.kind is EdgeKind.CONTRIBUTES:
            read[edge.target].add(edge.source)
    for edge in by_sql.edges:
        key = (edge.source, edge.target, edge.kind)
        if key in stated:
            stated[key] = replace(stated[key], spans=edge.spans)
        elif edge.kind is EdgeKind.REFERENCES or (
            edge.target not in values or (is_read and values[edge.target] < read[edge.target])
        ):
            stated[key] = replace(edge, job=job)
    differing = [column for column in sorted(values) if is_read and read[column] and not values[column] <= read[column]]
    is_all = not differing and (is_read or speaks_of_all(stated.values(), output, columns))
    completeness = Completeness.FULL if is_all else Completeness.PARTIAL
    return Completed(
        list(stated.values()),
        completeness,
        [_difference(column, values[column], read[column]) for column in differing],
    )


def speaks_of_all(edges: Iterable[EdgeRecord], output: str, columns: Collection[str]) -> bool:
    """Whether edges lead to each of an output's columns; of columns that no schema names it cannot be known."""
    named = {split_column_key(edge.target)[1] for edge in edges if edge.target != output}
    return bool(columns) and named.issuperset(columns)


def _difference(column: str, facet: Iterable[str], sql: Iterable[str]) -> Diagnostic:
    one, other = (", ".join(sorted(names)) for names in (facet, sql))
    return Diagnostic(
        DiagnosticCode.FACET_DIFFERS,
        Severity.WARNING,
        f"the facet says that {column} comes from {one}; the SQL reads as {other}",
        hint="what the engine says is taken; check its version, and the schemas in the event",
    )
