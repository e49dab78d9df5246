"""OpenLineage's SQL parser (Rust): `parse`; it takes no schema."""

from __future__ import annotations

from typing import Any

from openlineage_sql import parse

WANTS = "write"
DIALECTS = {"spark": "databricks"}


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    return DIALECTS.get(dialect, dialect)


def answer(prepared: Any, sql: str) -> dict[str, Any]:
    meta = parse([sql], prepared, None)
    if meta is None:
        raise ValueError("no statement was parsed")
    if meta.errors:
        raise ValueError(meta.errors[0].message)
    found: dict[str, list[str]] = {}
    for one in meta.column_lineage:
        sources = found.setdefault(one.descendant.name, [])
        for source in one.lineage:
            owner = source.origin.qualified_name if source.origin is not None else "?"
            sources.append(f"{owner}.{source.name}")
    return {"columns": found, "full": True}
