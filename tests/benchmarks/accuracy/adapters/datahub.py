"""DataHub's SQL parser: `sqlglot_lineage` with a schema resolver that knows every table."""

from __future__ import annotations

import re
from typing import Any

from datahub.metadata.urns import DatasetUrn
from datahub.sql_parsing.schema_resolver import SchemaResolver
from datahub.sql_parsing.sqlglot_lineage import sqlglot_lineage

WANTS = "write"
_NAME = re.compile(r"urn:li:dataset:\(urn:li:dataPlatform:\w+,([^,]+),")


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    resolver = SchemaResolver(platform=dialect)
    two_parts = dialect == "hive"
    for name, columns in schema.items():
        full = name if "." in name else f"main.{name}"
        full = full if two_parts or full.count(".") > 1 else f"db.{full}"
        resolver.add_raw_schema_info(str(DatasetUrn(dialect, full)), columns)
    return resolver, None if two_parts else "db"


def answer(prepared: Any, sql: str) -> dict[str, Any]:
    resolver, database = prepared
    result = sqlglot_lineage(sql, resolver, default_db=database, default_schema="main")
    if result.debug_info.error is not None:
        raise result.debug_info.error
    found: dict[str, list[str]] = {}
    for one in result.column_lineage or ():
        sources = found.setdefault(one.downstream.column, [])
        for upstream in one.upstreams:
            match = _NAME.match(upstream.table)
            name = match.group(1) if match else upstream.table
            sources.append(f"{name.removeprefix('db.').removeprefix('main.')}.{upstream.column}")
    return {"columns": found, "full": True}
