"""sqlglot's lineage module: the query is qualified once, its scope is handed to `lineage` for each output column.

The module knows queries only. Of a statement that writes, its query is taken, and the target's columns by position.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        *parts, last = name.lower().split(".")
        level = nested
        for part in parts:
            level = level.setdefault(part, {})
        level[last] = {column.lower(): data_type for column, data_type in columns.items()}
    return MappingSchema(nested, dialect=dialect, normalize=False), dialect


def answer(prepared: Any, sql: str) -> dict[str, Any]:
    schema, dialect = prepared
    found: dict[str, list[str]] = {}
    for query, targets in _queries(sqlglot.parse_one(sql, dialect=dialect), schema):
        tree = qualify(query, schema=schema, dialect=dialect, validate_qualify_columns=False, identify=False)
        scope = build_scope(tree)
        for position, name in enumerate(tree.named_selects):
            leaves = found[targets[position] if position < len(targets) else name] = []
            made = lineage(name, tree, schema, scope=scope, dialect=dialect, trim_selects=False, copy=False)
            for node in made.walk():
                table = node.expression
                if isinstance(table, exp.Table):
                    parts = [part.name for part in table.parts]
                    leaves.append(".".join([*parts, node.name.rpartition(".")[2].strip('"`')]))
    return {"columns": found, "full": True}


def _queries(statement: Any, schema: Any) -> Iterator[tuple[Any, list[str]]]:
    """Yield the queries of a statement, each with the columns of its target, by position."""
    if isinstance(statement, exp.MultitableInserts):  # FROM t INSERT … INSERT …
        source = statement.args["source"]
        for insert in statement.expressions:
            query = insert.expression
            if query.args.get("from_") is None:
                query.set("from_", exp.From(this=source.copy()))
            yield query, _targets(insert, schema)
    elif isinstance(statement, exp.Insert):
        yield statement.expression, _targets(statement, schema)
    elif isinstance(statement, exp.Create):
        yield statement.expression, []
    else:
        yield statement, []


def _targets(insert: Any, schema: Any) -> list[str]:
    target = insert.this
    if isinstance(target, exp.Schema):
        names, target = [column.name for column in target.expressions], target.this
    else:
        names = list(schema.column_names(target)) if isinstance(target, exp.Table) else []
    return [f"{target.name}.{name}" for name in names]
