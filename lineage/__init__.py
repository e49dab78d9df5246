"""Column-level data lineage: SQL in, a typed column graph out, impact and root cause back."""

from typing import TYPE_CHECKING

from lineage.lazy_names import lazy_names

if TYPE_CHECKING:
    from lineage.catalog import Catalog
    from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
    from lineage.model.influence.transformations import EdgeKind, Subtype
    from lineage.model.statement import (
        ColumnRef,
        ColumnSchema,
        Completeness,
        Edge,
        RowReference,
        StatementLineage,
        TableRef,
        UnresolvedReference,
    )
    from lineage.sql import Budget, TableTrace, extract, extract_script, trace_tables
    from lineage.traversal import Answer, PathStep, Reached

__all__ = [
    "Answer",
    "Budget",
    "Catalog",
    "ColumnRef",
    "ColumnSchema",
    "Completeness",
    "Diagnostic",
    "DiagnosticCode",
    "Edge",
    "EdgeKind",
    "PathStep",
    "Reached",
    "RowReference",
    "Severity",
    "Span",
    "StatementLineage",
    "Subtype",
    "TableRef",
    "TableTrace",
    "UnresolvedReference",
    "extract",
    "extract_script",
    "trace_tables",
]
__version__ = "0.1.0"

_MODULES = {
    "Catalog": "catalog",
    **dict.fromkeys(("Budget", "TableTrace", "extract", "extract_script", "trace_tables"), "sql"),
    **dict.fromkeys(("Answer", "PathStep", "Reached"), "traversal"),
    **dict.fromkeys(("Diagnostic", "DiagnosticCode", "Severity", "Span"), "model.diagnostics"),
    **dict.fromkeys(("EdgeKind", "Subtype"), "model.influence.transformations"),
}
_MODULES |= {name: "model.statement" for name in __all__ if name not in _MODULES}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
