"""The lineage of a rename that makes room for another table: a copy of the table, under its new name.

This is for the stage "extract"; `columns_of_copies.py` adds the columns that no schema lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lineage.catalog import Catalog
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.names import plain_name
from lineage.model.statement import (
    ColumnRef,
    ColumnSchema,
    Edge,
    RowReference,
    StatementLineage,
    TableRef,
)
from lineage.model.transformations import EdgeKind, Subtype

__all__ = ["COPYING", "with_copies"]

COPYING = "RENAME_TABLE"
"""The operation of the statement that copies."""
_STAR = "*"


def with_copies(
    statements: Sequence[StatementLineage], source: str, copied: Iterable[tuple[str, str]], catalog: Catalog
) -> list[StatementLineage]:
    """Return a unit's statements with those that copy tables in one part (`source`), which renames them.

    `copied` are pairs of the table and its copy. The columns are those that the catalog knows of the table.
    """
    renaming = [one for one in statements if one.source == source and one.changes]
    span = renaming[0].span if renaming else None
    return [*statements, *(_copy(table, to, catalog, span, source) for table, to in copied)]


def _copy(table: str, to: str, catalog: Catalog, span: Span | None, source: str) -> StatementLineage:
    known = catalog.find(table)
    columns: tuple[ColumnSchema, ...] = () if known is None or known.inferred else known.columns
    names = [column.name for column in columns] or [_STAR]
    edges = [
        Edge(ColumnRef(table, name), ColumnRef(to, name), EdgeKind.CONTRIBUTES, Subtype.IDENTITY, span=span)
        for name in names
    ]
    found = StatementLineage(
        COPYING,
        target=to,
        sources=[table],
        output_columns=names,
        edges=edges,
        span=span,
        source=source,
        defines=True,
        schema=columns,
        row_references=(RowReference(TableRef(table), TableRef(to), Subtype.ROWS, span),),
    )
    if columns:
        return found
    plain = plain_name(table)
    problem = Diagnostic(
        DiagnosticCode.UNRESOLVED_STAR,
        Severity.WARNING,
        f"the columns of {plain}, which is kept as {plain_name(to)}, are unknown",
        span,
        "give the table's DDL or a JSON schema with --catalog, or ingest what creates it",
    )
    return found.in_doubt(problem)
