"""sqllineage: LineageRunner with its sqlfluff parser and a metadata provider; it needs a statement that writes."""

from __future__ import annotations

from typing import Any

from sqllineage.core.metadata.dummy import DummyMetaDataProvider
from sqllineage.runner import LineageRunner

WANTS = "statement"
DIALECTS = {"postgres": "postgres", "spark": "sparksql"}
DEFAULT_SCHEMA = "main"


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    named = {name if "." in name else f"<default>.{name}": list(columns) for name, columns in schema.items()}
    return DummyMetaDataProvider(named), DIALECTS[dialect]


def columns(prepared: Any, sql: str) -> dict[str, list[str]]:
    provider, dialect = prepared
    found: dict[str, list[str]] = {}
    for path in LineageRunner(sql, dialect=dialect, metadata_provider=provider).get_column_lineage():
        source, target = path[0], path[-1]
        owner = str(source.parent).removeprefix("<default>.")
        found.setdefault(target.raw_name, []).append(f"{owner}.{source.raw_name}")
    return found
