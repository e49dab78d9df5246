"""One set operation of two relations: which columns are paired, and what determines the remaining rows.

As in the keyword table of the LineageX paper, the columns of every branch are references, except for UNION ALL, where
no row depends on the other branch. The right branch of EXCEPT contributes no value.
"""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import STAR, Composite, Relation, RowSources, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.structs.struct_fields import fields_of
from lineage.sql.resolve.structs.value_fields import merged
from lineage.sql.resolve.transformation_codes import IDENTITY, SET_OPERATION

__all__ = ["combine"]


def combine(resolver: Resolver, operation: exp.Expr, left: Relation, right: Relation) -> Relation:
    """Return the result of one set operation of two relations."""
    rows = RowSources()
    rows.inputs.extend(side.rows for side in (left, right) if side.rows is not None)
    keeps_all = isinstance(operation, exp.Union) and not operation.args.get("distinct")
    if not keeps_all or resolver.paper_set_operations:
        for side in (left, right):
            for sources in side.sources:
                absorb(rows.own, sources, SET_OPERATION, None)
    pairs = _pair(resolver, operation, left, right)
    names = [name for name, _, _ in pairs]
    if isinstance(operation, exp.Except):
        return Relation(names, [ours for _, ours, _ in pairs], rows, left.opens)
    columns: list[Sources] = []
    for _, ours, theirs in pairs:
        columns.append(_one_of(resolver, ours, theirs))
    return Relation(names, columns, rows, [*left.opens, *right.opens])


def _one_of(resolver: Resolver, ours: Sources, theirs: Sources) -> Sources:
    """Return the sources of a column of both sides."""
    if isinstance(ours, Composite) or isinstance(theirs, Composite):
        names = fields_of(resolver, ours) or fields_of(resolver, theirs) or None
        return merged(resolver.field, [(ours, IDENTITY), (theirs, IDENTITY)], {}, names)
    sources = dict(ours)
    absorb(sources, theirs, IDENTITY, None)
    return sources


def _pair(
    resolver: Resolver, operation: exp.Expr, left: Relation, right: Relation
) -> list[tuple[str, Sources, Sources]]:
    """Return the pairs of columns: by name if the statement has BY NAME, else by position."""
    ours, theirs = list(left.columns()), list(right.columns())
    if operation.args.get("by_name"):
        return _pair_by_name(resolver, operation, dict(ours), dict(theirs))
    if len(ours) == len(theirs):
        return [(name, a, b) for (name, a), (_, b) in zip(ours, theirs, strict=True)]
    if left.is_open or right.is_open or STAR in left.names or STAR in right.names:
        # After a star the positions are unknown; named columns are paired by name.
        others = dict(theirs)
        met = [(name, sources, others.pop(name, {})) for name, sources in ours]
        return met + [(name, {}, sources) for name, sources in others.items() if left.is_open]
    resolver.report(
        DiagnosticCode.COLUMN_COUNT_MISMATCH,
        Severity.ERROR,
        f"the sides of {operation.key.upper()} have {len(ours)} and {len(theirs)} columns",
        operation.expression,
    )
    padded = theirs + [("", {})] * (len(ours) - len(theirs))
    return [(name, a, b) for (name, a), (_, b) in zip(ours, padded, strict=False)]


def _pair_by_name(
    resolver: Resolver, operation: exp.Expr, ours: dict[str, Sources], theirs: dict[str, Sources]
) -> list[tuple[str, Sources, Sources]]:
    """Return the pairs of BY NAME: of the columns listed, of both sides (INNER), of the left side (LEFT), or all.

    https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax#set_operators
    """
    args = operation.args
    names = [*ours, *(name for name in theirs if name not in ours)]
    if listed := args.get("on"):
        names = [resolver.identifiers.column(column.this) for column in listed]
    elif (args.get("kind") or "").upper() == "INNER":
        names = [name for name in ours if name in theirs or STAR in theirs]
    elif (args.get("side") or "").upper() == "LEFT":
        names = list(ours)
    return [(name, ours.get(name) or {}, theirs.get(name) or {}) for name in names]
