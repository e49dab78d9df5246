"""sqllineage: LineageRunner with its sqlfluff parser and a metadata provider; it needs a statement that writes."""

from __future__ import annotations

from typing import Any

from sqllineage.config import SQLLineageConfig
from sqllineage.core.metadata.dummy import DummyMetaDataProvider
from sqllineage.runner import LineageRunner

WANTS = "write"
DIALECTS = {"spark": "sparksql"}


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    named = {name if "." in name else f"main.{name}": list(columns) for name, columns in schema.items()}
    return DummyMetaDataProvider(named), DIALECTS.get(dialect, dialect)


def answer(prepared: Any, sql: str) -> dict[str, Any]:
    provider, dialect = prepared
    found: dict[str, list[str]] = {}
    with SQLLineageConfig(DEFAULT_SCHEMA="main"):
        paths = LineageRunner(sql, dialect=dialect, metadata_provider=provider).get_column_lineage()
    for path in paths:
        source, target = path[0], path[-1]
        owner = str(source.parent).removeprefix("main.")
        table = str(target.parent).removeprefix("main.")
        found.setdefault(f"{table}.{target.raw_name}", []).append(f"{owner}.{source.raw_name}")
    return {"columns": found, "full": True}
