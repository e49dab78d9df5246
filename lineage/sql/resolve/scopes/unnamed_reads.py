"""Reads of a column by the name that its engine made of its expression, where only a masked name is known.

A view of an earlier ingest has the column `(a + ?)`: a query reads it as `"(a + 1)"`. Where the engine's name is not
known at all (`_col1` stands for it), a quoted name that no column has may be that one.
"""

from __future__ import annotations

import re

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.column_names.unnamed_column import UnnamedColumn, may_be_named
from lineage.sql.resolve.relations import Relation, Sources, TableRows
from lineage.sql.resolve.scopes.query_block import QueryBlock

__all__ = ["read_unnamed"]

_UNCERTAIN = re.compile(r"_col\d+")


def read_unnamed(block: QueryBlock, relations: list[Relation], name: str, column: exp.Expr) -> Sources | None:
    """Return the sources of the columns that a quoted name may be the engine's name of; None if there is none.

    More than one is ambiguous, as is a column whose name is not known: that is reported.
    """
    resolver = block.resolver
    if resolver.naming.dialect.unnamed_column_text is None or not column.this.args.get("quoted"):
        return None
    listed = [(own, sources) for relation in relations for own, sources in relation.columns()]
    candidates = [(own, sources) for own, sources in listed if may_be_named(own, name)]
    exact: list[tuple[str, Sources]] = [
        (own, sources) for own, sources in candidates if isinstance(own, UnnamedColumn) and own.text == name
    ]
    candidates = exact[:1] or candidates
    if candidates and all(sources.keys() == candidates[0][1].keys() for _, sources in candidates):
        resolver.unnamed[name] = candidates[0][0]
        return candidates[0][1]
    if not candidates and not name.isidentifier():
        candidates = [(own, sources) for own, sources in listed if _UNCERTAIN.fullmatch(own)]
    if not candidates:
        return None
    resolver.unnamed[name] = candidates[0][0]
    resolver.report(
        DiagnosticCode.AMBIGUOUS_COLUMN,
        Severity.WARNING,
        "a name that the engine made of an expression may be that of "
        + " or ".join(f"`{own}`" for own, _ in candidates),
        column,
        hint="name the column where it is computed: … AS name",
    )
    return {
        (source if type(source) is TableRows else resolver.source(source.table, source.column, True), effect): place
        for _, sources in candidates
        for (source, effect), place in sources.items()
    }
