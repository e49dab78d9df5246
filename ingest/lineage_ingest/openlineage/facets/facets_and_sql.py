"""Complete an event's columnLineage facet with the lineage of its SQL.

The facet takes precedence: the engine has resolved the names. But agents omit what they do not model: columns of a
MERGE, columns that decide rows, datasets without any used column. Extraction from the SQL adds these. Edges that it
adds or confirms have spans in the SQL; edges only in the facet have none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace

from lineage.frozen import frozen
from lineage.model.batch import EdgeRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import split_column_key
from lineage.model.statement import Completeness
from lineage.model.text.name_lists import name_list
from lineage_ingest.openlineage.facets.sql_text import SqlLineage

__all__ = ["Completed", "complete_by_sql", "incomplete_facet", "speaks_of_all"]

_MAX_NAMED = 5
"""Maximum number of columns that a diagnostic names."""


@frozen
class Completed:
    """The edges of a facet and of the SQL, merged; their completeness; diagnostics where the two differ."""

    edges: list[EdgeRecord]
    completeness: Completeness
    diagnostics: list[Diagnostic]


def complete_by_sql(
    facet: Iterable[EdgeRecord], by_sql: SqlLineage, output: str, columns: Collection[str], job: str
) -> Completed:
    """Return a facet's edges merged with those of the SQL. `columns` are the columns of the output, if known.

    The sources of a column's value are the facet's. If the SQL was fully resolved and has a superset of them, it adds
    the rest; if it has different ones, a diagnostic lists both and the result is partial.
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
    """Return whether each of an output's columns has an edge; False if its columns are unknown."""
    return bool(columns) and not _left_out(edges, output, columns)


def incomplete_facet(edges: Iterable[EdgeRecord], output: str, columns: Collection[str]) -> Diagnostic:
    """Return a diagnostic that names the columns of an output without an edge, or says that they are unknown."""
    if columns:
        text = f"the facets of {output} name no source of {name_list(_left_out(edges, output, columns), _MAX_NAMED)}"
    else:
        text = f"the facets name sources of {output}, and no schema says which columns it has"
    return Diagnostic(
        DiagnosticCode.FACET_INCOMPLETE,
        Severity.WARNING,
        text,
        hint="an agent that sends the facet `schema` and the sources of every column makes the job full",
    )


def _left_out(edges: Iterable[EdgeRecord], output: str, columns: Collection[str]) -> list[str]:
    named = {split_column_key(edge.target)[1] for edge in edges if edge.target != output}
    return [column for column in columns if column not in named]


def _difference(column: str, facet: Iterable[str], sql: Iterable[str]) -> Diagnostic:
    one, other = (", ".join(sorted(names)) for names in (facet, sql))
    return Diagnostic(
        DiagnosticCode.FACET_DIFFERS,
        Severity.WARNING,
        f"the facet says that {column} comes from {one}; the SQL reads as {other}",
        hint="the facet takes precedence; check the version of the engine, and the schemas in the event",
    )
