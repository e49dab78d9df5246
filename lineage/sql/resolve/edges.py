"""Build the edges of a statement from the outcome of its rule."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeAlias

from sqlglot import exp

from lineage.model.diagnostics import Diagnostic, Severity, Span
from lineage.model.influence.evidence import MAX_READS
from lineage.model.names import column_text
from lineage.model.statement import ColumnRef, Completeness, EarlierStatement, Edge, Place, RowReference, TableRef
from lineage.sql.resolve.relations import (
    Composite,
    FieldPath,
    Mention,
    Relation,
    RowSources,
    SeveralMentions,
    Sources,
    TableRows,
    absorb,
    absorb_rows,
)
from lineage.sql.resolve.spans import span_of
from lineage.sql.resolve.statements import Outcome
from lineage.sql.resolve.transformation_codes import IDENTITY, LIMITED_SORTS, STEPS

__all__ = ["completeness_of", "edge_count", "edges_of", "with_source"]

_Places: TypeAlias = dict[int, tuple[Place, ...]]
_new = tuple.__new__  # bypasses the slower constructors
_OFTEN = frozenset((exp.Column, exp.Table))
_MAX_SPANS = 12
"""Maximum number of spans of an edge: of more spans, the first two and the last ones are kept."""
_FIELDS = tuple((s.kind, s.subtype, s.masking, effect in LIMITED_SORTS) for effect, s in enumerate(STEPS))


def edge_count(outcome: Outcome, allowed: int) -> int:
    """Return an upper bound on the number of column edges of an outcome; counting stops beyond `allowed`."""
    most = sum(map(len, outcome.columns)) + len(outcome.rows)
    for written in outcome.others:
        most += sum(map(len, written.columns)) + len(written.rows)
    if most <= allowed:
        return most
    return sum(
        type(source) is not TableRows
        for written in (outcome, *outcome.others)
        for sources in (*written.columns, written.rows)
        for source, _ in sources
    )


def edges_of(outcome: Outcome, whole: Span | None = None) -> tuple[list[Edge], tuple[RowReference, ...]]:
    """Return the edges of a statement: column by column in the target's order, then the influences on its rows.

    Also return the tables whose rows determine its rows or columns. A target's own rows are not an influence on it.

    `whole` is the statement's span, for edges without a narrower one (MERGE … INSERT *).
    """
    edges: list[Edge] = []
    tables: dict[RowReference, None] = {}
    known: _Places = {id(None): ((whole, (), None),)}
    append, new, fields = edges.append, _new, _FIELDS
    first, last = (whole.start, whole.end) if whole is not None else (0, sys.maxsize)

    def add(sources: Sources, target: ColumnRef | TableRef) -> None:
        latest: Any = None
        others: tuple[Place, ...] = ()
        [(span, via, before)] = known[id(None)]
        for (source, effect), mention in sources.items():
            if mention is not latest:
                latest = mention
                # Nearly all mentions are columns and tables with distinct spans, which need no cache.
                if type(mention) not in _OFTEN or (span := span_of(latest)) is None or not first <= span[0] <= last:
                    places = known.get(id(mention)) or _read_at(mention, whole, known)
                    (span, via, before), others = places[0], places[1:]
                else:
                    via, before, others = (), None, ()
            kind, subtype, masking, limited = fields[effect]
            # Bypasses the constructors, which would double the time.
            if type(source) is not TableRows:
                doubt = source.ambiguous
                said = source.reference, target, kind, subtype, masking, span, limited, doubt, via, before
                append(new(Edge, (*said, others)))
            elif source.table != target.table:
                tables.setdefault(new(RowReference, (source.reference, target, subtype, span, via, before, masking)))

    for written in (outcome, *outcome.others):
        table = written.target
        for name, sources in _by_name(written):
            path = name if type(name) is FieldPath else column_text(name)
            add(sources, new(ColumnRef, (table, path)))
        add(written.rows, TableRef(table))
    return edges, tuple(tables)


def _read_at(mention: Mention, whole: Span | None, known: _Places) -> tuple[Place, ...]:
    """Return where a source is read: each time the span, and those where the result is read again, in the statement.

    `known` caches results by the mention's identity.
    """
    waiting = [mention]
    while waiting:
        current = waiting[-1]
        if id(current) in known:
            waiting.pop()
        elif isinstance(current, SeveralMentions):
            if missing := [each for each in current if id(each) not in known]:
                waiting += missing
                continue
            places = dict.fromkeys(place for each in current for place in known[id(each)])
            known[id(current)] = tuple(islice(places, MAX_READS))
        elif isinstance(current, tuple):
            inner, node = current
            inner_places = known.get(id(inner))
            if inner_places is None:
                waiting.append(inner)
                continue
            own = known.get(id(node))
            if own is None:
                own = known[id(node)] = ((_span_within(node, whole), (), None),)
            then = own[0][0]
            if then is not whole and then is not None:
                inner_places = tuple([_read_again(place, then, whole) for place in inner_places])
            known[id(current)] = inner_places
        elif type(current) is EarlierStatement:
            known[id(current)] = ((whole, (), current),)
        else:
            known[id(current)] = ((_span_within(current, whole), (), None),)
    return known[id(mention)]


def _read_again(place: Place, then: Span, whole: Span | None) -> Place:
    """Return where a source is read whose result is read again at a span."""
    span, via, before = place
    if span is whole:
        return then, (), before
    if len(via) >= _MAX_SPANS:
        return span, (via[0], *via[2:], then), before
    return span, (*via, then), before


def _span_within(node: Any, whole: Span | None) -> Span | None:
    """Return the span of a node; the whole statement's for a node that is not from its text."""
    span = span_of(node)
    return span if span is not None and (whole is None or whole[0] <= span[0] <= whole[1]) else whole


def with_source(relation: Relation, source: str, whole: Span | None) -> Relation:
    """Return a temporary table's relation for later statements: its mentions refer to the statement that wrote it.

    `source` is the name of the text, `whole` the statement's span in it.
    """
    if whole is None or type(relation) is not Relation:
        return relation
    known: _Places = {id(None): ((whole, (), None),)}
    made: dict[int, EarlierStatement] = {}

    def marked(sources: Sources) -> Sources:
        if isinstance(sources, Composite):
            return sources
        return {key: statement(mention) for key, mention in sources.items()}

    def statement(mention: Mention) -> Mention:
        places = known.get(id(mention)) or _read_at(mention, whole, known)
        found = [one(place) for place in places]
        return found[0] if len(found) == 1 else SeveralMentions(found)

    def one(place: Place) -> EarlierStatement:
        span, via, before = place
        if id(place) not in made:
            made[id(place)] = EarlierStatement(source, whole, () if span is None else (span, *via), before)
        return made[id(place)]

    rows: RowSources | None = None
    if relation.rows is not None:
        rows = RowSources()
        absorb_rows(rows.own, relation.rows)
        rows.own = marked(rows.own)
    sources = [marked(one) for one in relation.sources]
    return Relation(list(relation.names), sources, rows, relation.opens)


def _by_name(outcome: Outcome) -> Iterable[tuple[str, Sources]]:
    """Return the output columns, with columns of the same name merged."""
    if len(set(outcome.names)) == len(outcome.names):
        return zip(outcome.names, outcome.columns, strict=True)
    merged: dict[str, Sources] = {}
    for name, sources in zip(outcome.names, outcome.columns, strict=True):
        absorb(merged.setdefault(name, {}), sources, IDENTITY, None)
    return merged.items()


def completeness_of(diagnostics: list[Diagnostic]) -> tuple[Completeness, str | None]:
    """Return how complete a resolved statement is, and the first finding that makes it incomplete."""
    for diagnostic in diagnostics:
        if diagnostic.severity is not Severity.INFO:
            return Completeness.PARTIAL, f"{diagnostic.code}: {diagnostic.message}"
    return Completeness.FULL, None
