"""sqlglot's lineage module: the query is qualified once, its scope is handed to `lineage` for each output column.

The module knows queries only. Of a statement that writes, its query is taken, and the target's columns by position.
"""

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


def answer(prepared: Any, sql: str) -> dict[str, Any]:
    schema, dialect = prepared
    statement = sqlglot.parse_one(sql, dialect=dialect)
    targets: list[str] = []
    if isinstance(statement, exp.Insert | exp.Create):
        target = statement.this
        if isinstance(target, exp.Schema):
            targets, target = [column.name for column in target.expressions], target.this
        elif isinstance(statement, exp.Insert):
            targets = list(schema.column_names(target))
        statement = statement.expression
    tree = qualify(
        statement,
        schema=schema,
        dialect=dialect,
        validate_qualify_columns=False,
        identify=False,
    )
    scope = build_scope(tree)
    found: dict[str, list[str]] = {}
    for position, name in enumerate(tree.named_selects):
        leaves = found[targets[position] if position < len(targets) else name] = []
        for node in lineage(name, tree, schema, scope=scope, dialect=dialect, trim_selects=False, copy=False).walk():
            table = node.expression
            if isinstance(table, exp.Table):
                parts = [part.name for part in table.parts]
                leaves.append(".".join([*parts, node.name.rpartition(".")[2].strip('"`')]))
    return {"columns": found, "full": True}
