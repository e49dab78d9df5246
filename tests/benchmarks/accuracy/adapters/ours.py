"""This project, statement by statement, with the schema given: `extract`, edges, spans, references and all."""

from __future__ import annotations

from typing import Any

from lineage import Catalog, extract
from lineage.model.statement import ColumnRef

WANTS = "sql"


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    return Catalog.from_dict(schema, dialect), dialect


def answer(prepared: Any, sql: str) -> dict[str, Any]:
    catalog, dialect = prepared
    statements = extract(sql, dialect, catalog)
    values: dict[str, list[str]] = {}
    references: dict[str, list[str]] = {}
    for statement in statements:
        prefix = f"{statement.target}." if statement.target else ""
        values.update({f"{prefix}{name}": [] for name in statement.output_columns})
    for edge in (edge for statement in statements for edge in statement.edges):
        if isinstance(edge.target, ColumnRef):
            kept = values if edge.kind == "CONTRIBUTES" else references
            kept.setdefault(str(edge.target), []).append(f"{edge.source.table}.{edge.source.column}")
    full = {str(statement.completeness) for statement in statements} == {"full"}
    return {"columns": values, "references": references, "full": full}
