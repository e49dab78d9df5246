"""This project, statement by statement, with the schema given: `extract`, edges, spans, references and all."""

from __future__ import annotations

from typing import Any

from lineage import Catalog, extract
from lineage.model.statement import ColumnRef

WANTS = "sql"


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    return Catalog.from_dict(schema, dialect), dialect


def columns(prepared: Any, sql: str) -> dict[str, list[str]]:
    catalog, dialect = prepared
    [statement] = extract(sql, dialect, catalog)
    found: dict[str, list[str]] = {name: [] for name in statement.output_columns}
    for edge in statement.edges:
        # The truth counts the test of a CASE as a source; it may be reported as a reference.
        if isinstance(edge.target, ColumnRef) and (edge.kind == "CONTRIBUTES" or edge.subtype == "CONDITIONAL"):
            found[edge.target.column].append(f"{edge.source.table}.{edge.source.column}")
    return found
