"""From what a statement rule found to edges."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeAlias

from sqlglot import exp

from lineage.model.diagnostics import Diagnostic, Severity, Span
from lineage.model.names import column_text
from lineage.model.statement import ColumnRef, Completeness, Edge, RowReference, TableRef
from lineage.sql.effects import LIMITED_SORT, STEPS
from lineage.sql.relations import FieldPath, Mention, Sources, TableRows
from lineage.sql.spans import span_of
from lineage.sql.statements import Outcome

__all__ = ["completeness_of", "edge_count", "edges_of"]

_Place: TypeAlias = tuple[Span | None, tuple[Span, ...]]
_Places: TypeAlias = dict[int, _Place]
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
    known: _Places = {id(None): (whole, ())}
    append, new = edges.append, tuple.__new__
    first, last = (whole.start, whole.end) if whole is not None else (0, sys.maxsize)

    def add(sources: Sources, target: ColumnRef | TableRef) -> None:
        for (source, effect), mention in sources.items():
            place = known.get(id(mention))
            if place is None:
                if type(mention) is exp.Column and (span := span_of(mention)) is not None and first <= span[0] <= last:
                    place = known[id(mention)] = (span, ())
                else:
                    place = _read_at(mention, whole, known)
            span, via = place
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


def _read_at(mention: Mention, whole: Span | None, known: _Places) -> _Place:
    """Return where a source is read, and where what that gives is read in turn; only places within the statement.

    `known` are those that were asked for already, by what tells a mention from all others.
    """
    pairs: list[tuple[Mention, exp.Expr]] = []
    while (found := known.get(id(mention))) is None:
        if isinstance(mention, tuple):
            pairs.append(mention)
            mention = mention[0]
            continue
        span = span_of(mention)
        # A node may come from elsewhere than the statement's own text.
        is_own = span is not None and (whole is None or whole[0] <= span[0] <= whole[1])
        found = known[id(mention)] = (span if is_own else whole, ())
    for pair in reversed(pairs):
        then = (known.get(id(pair[1])) or _read_at(pair[1], whole, known))[0]
        if then is not whole and then is not None:
            span, via = found
            if span is whole:
                found = (then, ())
            else:
                found = (span, (*via, then) if len(via) < _MOST_PLACES else (via[0], *via[2:], then))
        known[id(pair)] = found
    return found


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
