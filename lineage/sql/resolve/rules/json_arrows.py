"""`f(a -> 'k')`: the parser takes an arrow in an argument for a lambda; in many dialects it reads a JSON document."""

from __future__ import annotations

import re

from sqlglot import exp

from lineage.model.dialect import Dialect

__all__ = ["read_arrow"]

_TAKES_LAMBDA = re.compile(r"(?:list|array|map|apply|transform|filter|reduce|any|all|none|exists)", re.IGNORECASE)
"""How names of functions begin that take a lambda, behind their first argument (DuckDB, StarRocks)."""


def read_arrow(dialect: Dialect, node: exp.Lambda) -> exp.Expr | None:
    """Return `a -> 'k' = 'x'` as it is computed: `(a -> 'k') = 'x'`. None for a lambda.

    The tree is changed once, so that its nodes stay what spans and reports refer to.
    """
    if not node.expressions:
        return node.this if isinstance(node.this, exp.Expr) else None
    if not _reads_json(dialect, node):
        return None
    [document] = node.expressions
    key, above = node.this, node
    while isinstance(key, exp.Binary):
        key, above = key.this, key
    above.set("this", exp.JSONExtract(this=exp.Column(this=document), expression=_path(key)))
    node.set("expressions", [])
    return node.this if isinstance(node.this, exp.Expr) else None


def _reads_json(dialect: Dialect, node: exp.Lambda) -> bool:
    first_parameter = node.expressions[0]
    if not dialect.arrow_reads_json or len(node.expressions) != 1 or not isinstance(first_parameter, exp.Identifier):
        return False
    if not dialect.has_lambdas:
        return True
    parameter = first_parameter.name.lower()
    if any(name.name.lower() == parameter for name in node.this.find_all(exp.Identifier)):
        return False
    call = node.parent
    name = call.name if isinstance(call, exp.Anonymous) else call.sql_name() if isinstance(call, exp.Func) else ""
    first = next(call.iter_expressions(), None) if call is not None else None
    return first is node or _TAKES_LAMBDA.match(name) is None


def _path(key: exp.Expr) -> exp.Expr:
    """Return `'k'` and `'$.k'` as the path that they are."""
    if isinstance(key, exp.Literal) and key.is_string and not str(key.this).startswith("$"):
        return exp.JSONPath(expressions=[exp.JSONPathRoot(), exp.JSONPathKey(this=key.this)])
    return key
