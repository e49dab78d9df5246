"""The domain model as frozen values: names, edges, transformations, diagnostics, jobs, batches. No I/O."""

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.statement import (
    ColumnRef,
    ColumnSchema,
    Completeness,
    DatasetKind,
    Edge,
    RowReference,
    StatementLineage,
    TableChange,
    TableRef,
    UnresolvedReference,
)

__all__ = [
    "ColumnRef",
    "ColumnSchema",
    "Completeness",
    "DatasetKind",
    "Diagnostic",
    "DiagnosticCode",
    "Edge",
    "EdgeKind",
    "RowReference",
    "Severity",
    "Span",
    "StatementLineage",
    "Subtype",
    "TableChange",
    "TableRef",
    "UnresolvedReference",
]
