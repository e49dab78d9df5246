"""The columns that `explode`, `posexplode`, `inline` and DuckDB's `unnest` make without aliases.

https://spark.apache.org/docs/latest/api/sql/#explode
https://duckdb.org/docs/stable/sql/query_syntax/unnest
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import Composite, Sources
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.nested import element_of, nested_or_plain
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.structs.struct_fields import fields_of, type_of
from lineage.sql.resolve.structs.struct_types import element_type, is_map
from lineage.sql.resolve.transformation_codes import IDENTITY, TRANSFORMATION

__all__ = ["generated_columns", "inlined_fields"]

_MAPS = (exp.Map, exp.VarMap, exp.ToMap, exp.StrToMap, exp.MapFromEntries)
_EXPLODE = (exp.Explode, exp.ExplodeOuter)
_POSEXPLODE = (exp.Posexplode, exp.PosexplodeOuter)
_GIVE_TYPE = "give the type of the column in a schema"
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
        if _is_map(resolver, item.this, scope):
            made = _entries(resolver, item.this, scope, value)
        else:
            made = [(element if isinstance(item, _POSEXPLODE) else "col", value)]
        return [(position, value), *made] if isinstance(item, _POSEXPLODE) else made
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
    return [(name, resolver.field(element, [name])) for name in fields_of(resolver, element) or ()]


def _entries(resolver: Resolver, node: exp.Expr, scope: Scope, value: Sources) -> list[tuple[str, Sources]]:
    """Return the key and the value of a map: of one that the query builds, each from its own operands."""
    entries: dict[str, Sources] = {"key": value, "value": value}
    for name, operand in (("key", node.args.get("keys")), ("value", node.args.get("values"))):
        if isinstance(node, exp.Map | exp.VarMap) and isinstance(operand, exp.Expr):
            entries[name] = {}
            resolver.evaluate(scope, operand, TRANSFORMATION, entries[name])
    return list(entries.items())


def _is_map(resolver: Resolver, node: exp.Expr, scope: Scope) -> bool:
    if isinstance(node, _MAPS):
        return True
    kind = type_of(resolver, nested_or_plain(resolver, node, scope)) if isinstance(node, exp.Column | exp.Dot) else None
    return kind is not None and is_map(kind)


def _unnested(resolver: Resolver, item: exp.Expr, scope: Scope) -> list[tuple[str, Sources]]:
    """DuckDB's unnest of a struct makes a column of each field, of a list one column; `recursive` goes on."""
    depth: int | None = 1
    for option in item.expressions:
        name, given = option.name.lower(), option.args.get("expression")
        if name == "recursive" and isinstance(given, exp.Boolean):
            depth = None if given.this else depth
        elif name == "max_depth" and isinstance(given, exp.Literal) and str(given.this).isdigit():
            depth = int(str(given.this))
        else:
            _report(resolver, item, "unnest", "list the columns in FROM: unnest(…) AS t(a, b)")
    value = nested_or_plain(resolver, item.this, scope)
    while _is_list(resolver, value) and depth != 1:
        value = element_of(value)
        depth = None if depth is None else depth - 1
    if item.expressions and not _is_list(resolver, value) and fields_of(resolver, value) is None:
        _report(resolver, item, "unnest", _GIVE_TYPE)
    elif isinstance(item.parent, exp.Select) and isinstance(item.this, exp.Column) and _is_untyped(resolver, value):
        message = "the type of what `unnest` reads is not known: of a struct, each field is a column"
        hint = f"{_GIVE_TYPE}, or name the element of a list: unnest(…) AS a"
        resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, item, hint=hint)
    return [] if _is_list(resolver, value) else list(_columns_of(resolver, value, depth))


def _columns_of(resolver: Resolver, value: Sources, depth: int | None) -> Iterator[tuple[str, Sources]]:
    """Yield the fields of a struct, and instead of a struct among them its fields, as deep as wanted."""
    below = None if depth is None else depth - 1
    for name in fields_of(resolver, value) or ():
        inner = resolver.field(value, [name])
        deeper = [] if below == 0 or _is_list(resolver, inner) else list(_columns_of(resolver, inner, below))
        yield from deeper or [(name, inner)]


def _is_untyped(resolver: Resolver, value: Sources) -> bool:
    """Return whether a value is a stored column of a type that is not known."""
    is_stored = not isinstance(value, Composite) and all(effect == IDENTITY for _, effect in value)
    return bool(value) and is_stored and type_of(resolver, value) is None


def _is_list(resolver: Resolver, value: Sources) -> bool:
    if isinstance(value, Composite) and value.fields is not None:
        return value.lists > 0
    kind = type_of(resolver, value)
    return kind is not None and element_type(kind) is not None


def _report(resolver: Resolver, item: exp.Expr, function: str, hint: str) -> None:
    message = f"`{function}` has several columns; only one is shown"
    resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, item, hint=hint)
