"""From what a statement rule found to edges."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import Diagnostic, Severity, Span
from lineage.model.statement import ColumnRef, Completeness, Edge, TableRef
from lineage.sql.effects import LIMITED_SORT, STEPS
from lineage.sql.relations import Source, Sources
from lineage.sql.spans import span_of
from lineage.sql.statements import Outcome

__all__ = ["completeness_of", "edges_of"]


def edges_of(outcome: Outcome, whole: Span | None = None) -> list[Edge]:
    """Return the edges of a statement: column by column in the target's order, then the influences on its rows.

    `whole` is the statement's place, for an edge that no smaller place shows (MERGE … INSERT *).
    """
    edges: list[Edge] = []
    builder = _Builder(edges, whole)
    for name, sources in zip(outcome.names, outcome.columns, strict=True):
        builder.add(sources, ColumnRef(outcome.target, name))
    builder.add(outcome.rows, TableRef(outcome.target))
    return edges


class _Builder:
    """Makes edges; a source's reference and a mention's span are made once."""

    def __init__(self, edges: list[Edge], whole: Span | None) -> None:
        self._edges = edges
        self._whole = whole
        self._references: dict[Source, ColumnRef] = {}
        self._spans: dict[int, Span | None] = {}
        self._stated: set[tuple[Source, int, ColumnRef | TableRef]] = set()

    def add(self, sources: Sources, target: ColumnRef | TableRef) -> None:
        for (source, effect), mention in sources.items():
            key = (source, effect, target)
            if key in self._stated:  # two output columns of one name
                continue
            self._stated.add(key)
            step = STEPS[effect]
            edge = Edge(
                self._reference(source),
                target,
                step.kind,
                step.subtype,
                step.masking,
                self._span(mention),
                limited=effect == LIMITED_SORT,
                ambiguous=source.ambiguous,
            )
            self._edges.append(edge)

    def _reference(self, source: Source) -> ColumnRef:
        found = self._references.get(source)
        if found is None:
            found = self._references[source] = ColumnRef(source.table, source.column)
        return found

    def _span(self, mention: exp.Expr | None) -> Span | None:
        if id(mention) not in self._spans:
            self._spans[id(mention)] = span_of(mention) or self._whole
        return self._spans[id(mention)]


def completeness_of(diagnostics: list[Diagnostic]) -> tuple[Completeness, str | None]:
    """Return how complete a resolved statement is, and the first finding that makes it less than full."""
    for diagnostic in diagnostics:
        if diagnostic.severity is not Severity.INFO:
            return Completeness.PARTIAL, f"{diagnostic.code}: {diagnostic.message}"
    return Completeness.FULL, None
