"""sqlglot's lineage module: the query is qualified once, its scope is handed to `lineage` for each output column."""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.lineage import lineage
from sqlglot.optimizer import build_scope
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

WANTS = "query"


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    nested: dict[str, Any] = {}
    for name, columns in schema.items():
        *parts, last = name.split(".")
        level = nested
        for part in parts:
            level = level.setdefault(part, {})
        level[last] = columns
    return MappingSchema(nested, dialect=dialect), dialect


def columns(prepared: Any, sql: str) -> dict[str, list[str]]:
    schema, dialect = prepared
    tree = qualify(
        sqlglot.parse_one(sql, dialect=dialect),
        schema=schema,
        dialect=dialect,
        validate_qualify_columns=False,
        identify=False,
    )
    scope = build_scope(tree)
    found: dict[str, list[str]] = {}
    for name in tree.named_selects:
        leaves = found[name] = []
        for node in lineage(name, tree, schema, scope=scope, dialect=dialect, trim_selects=False, copy=False).walk():
            table = node.expression
            if isinstance(table, exp.Table):
                parts = [part.name for part in table.parts]
                leaves.append(".".join([*parts, node.name.rpartition(".")[2].strip('"`')]))
    return found
