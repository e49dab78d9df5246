"""Content of a temporary table after a statement that changes its rows."""

from __future__ import annotations

from lineage.sql.resolve.relations import Relation, RowSources, Sources, absorb, absorb_rows
from lineage.sql.resolve.transformation_codes import IDENTITY

__all__ = ["after_change"]


def after_change(relation: Relation, more: Relation) -> Relation:
    """Return a temporary table's relation after a change of its rows: the rows of both, with columns by name."""
    rows = RowSources()  # flat, because a thousand statements may each read and fill one table
    absorb_rows(rows.own, relation.rows)
    absorb_rows(rows.own, more.rows)
    sources: list[Sources] = []
    for name, ours in relation.columns():
        merged = dict(ours)
        absorb(merged, more.find(name) or {}, IDENTITY, None)
        sources.append(merged)
    names = list(relation.names)
    for name, theirs in more.columns():
        if name not in names and (not relation.names or relation.is_open):
            names.append(name)
            sources.append({**(relation.infer(name) or {}), **theirs} if relation.is_open else theirs)
    return Relation(names, sources, rows, [*relation.opens, *more.opens])
