"""The columns that `explode`, `posexplode`, `inline` and DuckDB's `unnest` make without aliases.

https://spark.apache.org/docs/latest/api/sql/#explode
https://duckdb.org/docs/stable/sql/query_syntax/unnest
"""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.nested import element_of, nested_or_plain
from lineage.sql.resolve.scope import Scope
from lineage.sql.resolve.struct_fields import fields_of, type_of
from lineage.sql.resolve.struct_types import is_map

__all__ = ["generated_columns", "inlined_fields"]

_MAPS = (exp.Map, exp.VarMap, exp.ToMap, exp.StrToMap, exp.MapFromEntries)
_EXPLODE = (exp.Explode, exp.ExplodeOuter)
_POSEXPLODE = (exp.Posexplode, exp.PosexplodeOuter)
_GENERATORS = frozenset(("json_tuple", "variant_explode", "variant_explode_outer", "parse_url_tuple"))


def generated_columns(resolver: Resolver, item: exp.Expr, scope: Scope, value: Sources) -> list[tuple[str, Sources]]:
    """Return the columns that a generator makes, given the sources of its call; none for any other expression.

    Of a generator whose columns depend on its arguments in a way that is not known, that is reported.
    """
    dialect = resolver.naming.dialect
    if dialect.unnests_structs and isinstance(item, exp.Explode):
        return _unnested(resolver, item, scope)
    if dialect.exploded_columns is None:
        return []
    if isinstance(item, _EXPLODE + _POSEXPLODE):
        position, element = dialect.exploded_columns
        names = ("key", "value") if _is_map(resolver, item.this, scope) else (element,)
        if isinstance(item, _POSEXPLODE):
            names = (position, *names)
        elif len(names) == 1:
            names = ("col",)
        return [(name, value) for name in names]
    function = item.name.lower() if isinstance(item, exp.Anonymous) else item.key
    if fields := inlined_fields(resolver, item, scope):
        return fields
    if isinstance(item, exp.Inline | exp.Stack) or function in _GENERATORS or function == "inline_outer":
        _report(resolver, item, function, f"name them: {function}(…) AS (a, b)")
    return []


def inlined_fields(resolver: Resolver, call: exp.Expr, scope: Scope) -> list[tuple[str, Sources]]:
    """Return the columns of `inline(array of structs)`, if the fields are known; none for any other call."""
    array = call.this
    if isinstance(call, exp.Anonymous) and call.name.lower() == "inline_outer":
        array = next(iter(call.expressions), None)
    elif not isinstance(call, exp.Inline):
        return []
    if not isinstance(array, exp.Expr):
        return []
    element = element_of(nested_or_plain(resolver, array, scope))
    names = tuple(element.fields) if element.fields is not None else fields_of(resolver, element)
    return [(name, resolver.field(element, [name])) for name in names or ()]


def _is_map(resolver: Resolver, node: exp.Expr, scope: Scope) -> bool:
    if isinstance(node, _MAPS):
        return True
    kind = type_of(resolver, nested_or_plain(resolver, node, scope)) if isinstance(node, exp.Column | exp.Dot) else None
    return kind is not None and is_map(kind)


def _unnested(resolver: Resolver, item: exp.Expr, scope: Scope) -> list[tuple[str, Sources]]:
    """DuckDB's unnest of a struct makes a column of each field, of a list one column."""
    if item.expressions:
        _report(resolver, item, "unnest", "list the columns in FROM: unnest(…) AS t(a, b)")
        return []
    value = nested_or_plain(resolver, item.this, scope)
    return [(name, resolver.field(value, [name])) for name in fields_of(resolver, value) or ()]


def _report(resolver: Resolver, item: exp.Expr, function: str, hint: str) -> None:
    message = f"`{function}` has several columns, of which one is shown"
    resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, item, hint=hint)
