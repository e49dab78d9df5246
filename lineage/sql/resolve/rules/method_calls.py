"""Calls after a dot: methods of values, chained functions, and functions qualified by a schema or package.

`doc.value('…')` (T-SQL), `name.upper().lower()` (DuckDB), `(name).UPPER()` (BigQuery), `dbo.f(x)`, `package.f(x)`.
https://duckdb.org/docs/stable/sql/functions/overview#function-chaining-via-the-dot-operator
https://cloud.google.com/bigquery/docs/reference/standard-sql/function-call#chained_function_calls
"""

from __future__ import annotations

import re

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import COMPOSE, TRANSFORMATION

__all__ = ["call_method", "operand_before"]


def call_method(resolver: Resolver, node: exp.Expr, scope: Scope, effect: int, stack: Stack) -> None:
    """Push the operands of `x.f(y)`: x and y where x is a value, else y alone."""
    call = node.expression
    if isinstance(call, exp.Star):  # `f(x).*` as one value
        stack.append((node.this, COMPOSE[effect][TRANSFORMATION]))
    elif (value := _value_with_methods(resolver, node, scope)) is not None:
        below = COMPOSE[effect][TRANSFORMATION]
        stack.extend((argument, below) for argument in reversed(call.expressions))
        stack.append((value, below))
    elif (value := _chained_value(resolver, node, scope)) is None:
        _qualified_call(resolver, node, effect, stack)
    elif isinstance(call, exp.Anonymous):
        stack.append((exp.Anonymous(this=call.this, expressions=[value, *call.expressions]), effect))
    else:
        stack.append((call, effect))
        stack.append((value, COMPOSE[effect][resolver.functions.of_type(type(call))]))


def _chained_value(resolver: Resolver, node: exp.Expr, scope: Scope) -> exp.Expr | None:
    """Return the first argument of a chained function call; None if the dot follows a schema or a package.

    The parser takes the columns before such a call for names, so they are made columns again.
    """
    before = node.this
    path = _names(before)
    if path is None:
        return _with_columns(before)
    is_main = path[-1].name.lower() == _MAIN and node.expression.args.get("expressions", True)
    if is_main and (len(path) == 1 or scope.item(resolver.identifiers.alias(path[0])) is None):
        return None
    if not resolver.naming.dialect.chains_functions:
        return None
    names = [resolver.identifiers.column(name) for name in path]
    begin = next((i for i in range(1, len(names) - 1) if scope.item(names[i]) is not None), 0)  # behind a schema
    if scope.value(names if scope.item(names[0]) is not None else names[begin:]) is None:
        return None
    if len(path) == 1 and not any(scope.having(names[0]) for scope in scope.chain()):
        resolver.report(
            DiagnosticCode.AMBIGUOUS_COLUMN,
            Severity.WARNING,
            f"`{before.name}` is a column or a schema: no schema of the tables in FROM tells; a column is assumed",
            before,
            hint="give the tables' DDL or a JSON schema with --catalog",
            lasts=True,
        )
    return _column(path)


_MAIN = "main"
"""DuckDB's schema of its own functions: it looks for a function there before it takes the name for a column."""


def operand_before(call: exp.Expr) -> exp.Expr:
    """Return what is before the dot of a call as an operand: its names are columns."""
    path = _names(call.this)
    return _column(path) if path is not None else _with_columns(call.this)


def _names(node: exp.Expr) -> list[exp.Expr] | None:
    """Return the identifiers of `a.b.c`; None for any other expression."""
    if isinstance(node, exp.Identifier):
        return [node]
    if not isinstance(node, exp.Dot) or not isinstance(node.expression, exp.Identifier):
        return None
    before = _names(node.this)
    return None if before is None else [*before, node.expression]


def _column(path: list[exp.Expr]) -> exp.Column:
    return exp.Column(**dict(zip(("this", "table", "db", "catalog"), reversed(path), strict=False)))


def _with_columns(node: exp.Expr) -> exp.Expr:
    """Return a copy of an expression whose operands are columns where they are names, but for a lambda's parameters."""
    copy = node.copy()
    stack: list[tuple[exp.Expr, frozenset[str]]] = [(copy, frozenset())]
    while stack:
        below, bound = stack.pop()
        if isinstance(below, exp.Lambda):
            bound |= {parameter.name for parameter in below.expressions}
        for key, value in list(below.args.items()):
            items = value if isinstance(value, list) else [value]
            for item in items:
                path = _names(item) if isinstance(item, exp.Expr) else None
                is_operand = not (isinstance(below, exp.Column | exp.Alias | exp.Table | exp.Kwarg | exp.PropertyEQ))
                if path is not None and is_operand and not (isinstance(below, exp.Dot) and key == "expression"):
                    if path[0].name not in bound:
                        item.replace(_column([name.copy() for name in path]))
                elif isinstance(item, exp.Expr):
                    stack.append((item, bound))
    return copy


_METHODS = re.compile(r"value|query|exist|nodes|modify|ToString|GetAncestor|GetLevel|IsDescendantOf|ST[A-Z]\w+")
"""Methods of T-SQL's types xml, hierarchyid and geography, which are case-sensitive."""
_FUNCTION_SCHEMAS = frozenset(("dbo", "sys"))


def _value_with_methods(resolver: Resolver, node: exp.Expr, scope: Scope) -> exp.Expr | None:
    """Return the value on which T-SQL calls a method (`t.doc.value('…', 'int')`); None for `dbo.f(…)`."""
    if not resolver.naming.dialect.has_type_methods or not isinstance(node.expression, exp.Anonymous):
        return None
    before = node.this
    if isinstance(before, exp.Dot):
        if not isinstance(before.expression, exp.Identifier):  # a method of a method's result
            return before
        table = before.this
        if not isinstance(table, exp.Identifier) or scope.item(resolver.identifiers.alias(table)) is None:
            return None
        return exp.Column(this=before.expression, table=table)
    if not isinstance(before, exp.Identifier) or before.name.lower() in _FUNCTION_SCHEMAS:
        return None
    return exp.Column(this=before) if _METHODS.fullmatch(node.expression.name) else None


def _qualified_call(resolver: Resolver, node: exp.Expr, effect: int, stack: Stack) -> None:
    """`package.f(x)`: the effect listed for the full name, else for the function's own name."""
    call = node.expression
    if resolver.naming.dialect.has_column_patterns and call.name.upper() == "COLUMNS":
        message = "COLUMNS qualified by a table alias is not supported: its columns are missing"
        resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.ERROR, message, node.this)
        return
    name = f"{node.this.name if not isinstance(node.this, exp.Dot) else node.this.expression.name}.{call.name}"
    if isinstance(call, exp.Anonymous) and resolver.functions.knows(name):
        below = COMPOSE[effect][resolver.functions.of_name(name)]
        stack.extend((argument, below) for argument in reversed(call.expressions))
    else:
        stack.append((call, effect))


@expression_rule(exp.ModelAttribute)
def model_method(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """Snowflake's `model!method(a)`: the arguments; the model is no column.

    https://docs.snowflake.com/en/sql-reference/snowflake-db-classes
    """
    stack.append((node.expression, COMPOSE[effect][TRANSFORMATION]))
