"""From what a statement rule found to edges."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from sqlglot import exp

from lineage.model.diagnostics import Diagnostic, Severity, Span
from lineage.model.names import column_text
from lineage.model.statement import ColumnRef, Completeness, Edge, RowReference, TableRef
from lineage.sql.effects import LIMITED_SORT, STEPS
from lineage.sql.relations import FieldPath, Mention, Sources, TableRows
from lineage.sql.spans import span_of
from lineage.sql.statements import Outcome

__all__ = ["completeness_of", "edge_count", "edges_of"]

_MOST_PLACES = 12
"""Of more places the last ones are kept, and the first two."""
_FIELDS = tuple((s.kind, s.subtype, s.masking, effect == LIMITED_SORT) for effect, s in enumerate(STEPS))


def edge_count(outcome: Outcome) -> int:
    """Return how many edges from columns an outcome makes, at the most."""
    return sum(
        type(source) is not TableRows
        for written in (outcome, *outcome.others)
        for sources in (*written.columns, written.rows)
        for source, _ in sources
    )


def edges_of(outcome: Outcome, whole: Span | None = None) -> tuple[list[Edge], tuple[RowReference, ...]]:
    """Return the edges of a statement: column by column in the target's order, then the influences on its rows.

    Beside them the tables whose rows decide its rows or columns. That a table's own rows decide them is no influence.

    `whole` is the statement's place, for an edge that no smaller place shows (MERGE … INSERT *).
    """
    edges: list[Edge] = []
    tables: dict[RowReference, None] = {}
    spans: dict[int, tuple[Span | None, tuple[Span, ...]]] = {id(None): (whole, ())}
    append, new = edges.append, tuple.__new__

    def add(sources: Sources, target: ColumnRef | TableRef) -> None:
        for (source, effect), mention in sources.items():
            place = id(mention)
            if place in spans:
                span, via = spans[place]
            else:
                span, via = spans[place] = _chain(mention, whole)
            kind, subtype, masking, limited = _FIELDS[effect]
            if type(source) is TableRows:
                if source.table != target.table:
                    tables.setdefault(RowReference(TableRef(source.table), target, subtype, span, via))
                continue
            # Past the constructor, which takes as long again as the tuple.
            append(new(Edge, (source.reference, target, kind, subtype, masking, span, limited, source.ambiguous, via)))

    for written in (outcome, *outcome.others):
        for name, sources in _by_name(written):
            add(sources, ColumnRef(written.target, name if type(name) is FieldPath else column_text(name)))
        add(written.rows, TableRef(written.target))
    return edges, tuple(tables)


def _chain(mention: Mention, whole: Span | None) -> tuple[Span | None, tuple[Span, ...]]:
    """Return where a source is read, and where what that gives is read in turn; only places within the statement."""
    if not isinstance(mention, tuple):  # nearly all
        span = span_of(mention)
        is_own = span is not None and (whole is None or whole[0] <= span[0] <= span[1] <= whole[1])
        return span if is_own else whole, ()
    last: deque[exp.Expr] = deque()
    while isinstance(mention, tuple):
        mention, then = mention
        last.appendleft(then)
        if len(last) > _MOST_PLACES:
            del last[1]
    places = [span_of(node) for node in (mention, *last)]
    # A node may come from elsewhere than the statement's own text.
    own = [p for p in places if p is not None and (whole is None or whole.start <= p.start <= p.end <= whole.end)]
    return (own[0], tuple(own[1:])) if own else (whole, ())


def _by_name(outcome: Outcome) -> Iterable[tuple[str, Sources]]:
    """Return the output columns; those of one name as one."""
    if len(set(outcome.names)) == len(outcome.names):
        return zip(outcome.names, outcome.columns, strict=True)
    merged: dict[str, Sources] = {}
    for name, sources in zip(outcome.names, outcome.columns, strict=True):
        merged[name] = {**sources, **merged.get(name, {})}
    return merged.items()


def completeness_of(diagnostics: list[Diagnostic]) -> tuple[Completeness, str | None]:
    """Return how complete a resolved statement is, and the first finding that makes it less than full."""
    for diagnostic in diagnostics:
        if diagnostic.severity is not Severity.INFO:
            return Completeness.PARTIAL, f"{diagnostic.code}: {diagnostic.message}"
    return Completeness.FULL, None
