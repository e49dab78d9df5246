"""Nested data: fields of structs, elements of arrays, paths into JSON.

A field of a base column is a column with a path (`address.city`, `payload.user.id`). A field of a struct that the query
builds has exactly the sources of the field's value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from lineage.sql.resolve.column_names.select_items import CALLED, MAKES_ROWS
from lineage.sql.resolve.relations import Composite, Sources, absorb, absorb_rows
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.rules.generators import rows_of_function
from lineage.sql.resolve.rules.json_arrows import read_arrow
from lineage.sql.resolve.rules.method_calls import call_method
from lineage.sql.resolve.scope import Scope
from lineage.sql.resolve.transformation_codes import (
    AGGREGATION,
    COMPOSE,
    CONDITIONAL,
    FIRST_REFERENCE,
    IDENTITY,
    TRANSFORMATION,
)

__all__ = ["element_of", "json_keys", "nested_or_plain", "nested_value"]

_JSON = (exp.JSONExtract, exp.JSONBExtract)
_JSON_TEXT = (exp.JSONExtractScalar, exp.JSONBExtractScalar)


def _with_subtypes(*kinds: type[exp.Expr]) -> frozenset[type[exp.Expr]]:
    return frozenset(kinds).union(*(_with_subtypes(*kind.__subclasses__()) for kind in kinds if kind.__subclasses__()))


_NESTED = _with_subtypes(
    exp.Paren, exp.Struct, exp.Dot, exp.Bracket, exp.Array, exp.ArrayAgg, exp.JSONObject, exp.Cast, exp.Subquery,
    exp.Tuple, exp.Lambda, *_JSON, *_JSON_TEXT,
)  # fmt: skip
"""The node types that `nested_value` handles; nearly all expressions are of other types."""


def nested_value(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """Return the sources of a struct, a field, an element or a path; None for any other expression."""
    kind = type(node)
    if kind not in _NESTED or (
        kind is exp.Cast and type(node.args["this"]) is not exp.Struct and not node.args["to"].args.get("nested")
    ):
        return None
    match node:
        case exp.Paren():
            return nested_value(resolver, node.this, scope)
        case exp.Struct():
            return _struct(resolver, node, scope)
        case exp.Dot() if isinstance(node.expression, exp.Identifier):
            return resolver.field(
                nested_or_plain(resolver, node.this, scope), [resolver.identifiers.column(node.expression)]
            )
        case exp.Dot() if isinstance(node.expression, exp.Literal) and not node.expression.is_string:
            value = nested_or_plain(resolver, node.this, scope)
            return resolver.field(value, [node.expression.name]) if isinstance(value, Composite) else element_of(value)
        case exp.Tuple() if resolver.naming.dialect.tuples_have_fields:
            return _struct(resolver, node, scope)
        case exp.Subquery() if isinstance(node.this, exp.Select) and node.this.args.get("kind") == "STRUCT":
            return _row_of(resolver, node, scope)
        case exp.Subquery() if CALLED in (node._meta or ()) and isinstance(node.this, exp.Select):
            if MAKES_ROWS in node.meta:
                rows_of_function(resolver, scope, node)
            return _row_of(resolver, node, scope)
        case exp.Bracket():
            return _subscript(resolver, node, scope)
        case exp.Array() if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Struct):
            return nested_or_plain(resolver, node.expressions[0], scope)
        case exp.ArrayAgg():
            return _collect(resolver, node, scope)
        case exp.JSONObject():
            return _json_object(resolver, node, scope)
        case exp.Cast() if isinstance(node.this, exp.Struct) and node.to.args.get("nested"):
            return _cast_struct(resolver, node, scope)
        case exp.Cast() if resolver.naming.dialect.unnests_fields and (names := _fields_of_rows(resolver, node.to)):
            sources: Sources = {}
            resolver.evaluate(scope, node, IDENTITY, sources)
            return Composite(sources, dict.fromkeys(names, sources))
        case exp.JSONExtract() | exp.JSONBExtract() | exp.JSONExtractScalar() | exp.JSONBExtractScalar():
            return _json(resolver, node, scope)
        case exp.Lambda() if (read := read_arrow(resolver.naming.dialect, node)) is not None:
            return nested_or_plain(resolver, read, scope)
    return None


def _fields_of_rows(resolver: Resolver, kind: exp.Expr) -> list[str]:
    """Return the fields of a type that is a row or an array of rows; none of another type."""
    while isinstance(kind, exp.DataType) and kind.this is exp.DType.ARRAY and kind.expressions:
        kind = kind.expressions[0]
    fields = kind.expressions if isinstance(kind, exp.DataType) and kind.this in _ROWS else ()
    return [resolver.identifiers.column(one.this) for one in fields if isinstance(one, exp.ColumnDef)]


_ROWS = (exp.DType.STRUCT, exp.DType.OBJECT)


def nested_or_plain(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources:
    """Return the sources of any expression, with its fields if it has any."""
    while type(node) is exp.Paren:
        node = node.this
    if type(node) is exp.Column:
        found = scope.resolve(node)
        return found if isinstance(found, Composite) else {key: place or node for key, place in found.items()}
    found_nested = nested_value(resolver, node, scope)
    if found_nested is not None:
        return found_nested
    sources: Sources = {}
    resolver.evaluate(scope, node, IDENTITY, sources)
    return sources


def _struct(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite:
    fields: dict[str, Sources] = {}
    total: Sources = {}
    for position, item in enumerate(node.expressions):
        value = item.expression if isinstance(item, exp.PropertyEQ) else item
        if isinstance(item, exp.PropertyEQ):
            name = resolver.identifiers.column(item.this) if isinstance(item.this, exp.Identifier) else item.this.name
        elif isinstance(item, exp.Alias):
            name, value = resolver.identifiers.alias(item.args["alias"]), item.this
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            owner = scope.item(resolver.identifiers.alias(item.args["table"]))
            for column, sources in owner.columns() if owner is not None else ():
                fields[column] = {key: place or item for key, place in sources.items()}
                absorb(total, sources, TRANSFORMATION, item)
            continue
        elif isinstance(item, exp.Star):
            for column, sources in scope.all_columns():
                fields[column] = {key: place or item for key, place in sources.items()}
                absorb(total, sources, TRANSFORMATION, item)
            continue
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier):
            name = resolver.identifiers.column(item.this)
        else:
            name = f"col{position + 1}"
        found = nested_or_plain(resolver, value, scope)
        _add_field(fields, name, found)
        if resolver.naming.dialect.tuples_have_fields:
            _add_field(fields, str(position + 1), found)
        absorb(total, found, TRANSFORMATION, item)
    return Composite(total, fields)


def _row_of(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite:
    """Return one row with the columns as fields: BigQuery's `(SELECT AS STRUCT a, b FROM t)`, an inlined function."""
    relation = resolver.relation(node, scope)
    deciding: Sources = {}
    absorb_rows(deciding, relation.rows, IDENTITY)
    total: Sources = dict(deciding)
    fields: dict[str, Sources] = {}
    pairs = list(relation.columns())
    if len(pairs) == 1 and isinstance(pairs[0][1], Composite) and pairs[0][1].fields is not None:
        pairs = list(pairs[0][1].fields.items())  # a function that returns a struct
    for name, sources in pairs:
        fields[name] = {**sources, **deciding}
        absorb(total, sources, TRANSFORMATION, None)
    return Composite(total, fields)


def _add_field(fields: dict[str, Sources], name: str, sources: Sources) -> None:
    """Add a field. Two masked names may be equal; then a read of the name may be of either field."""
    fields[name] = {**fields[name], **sources} if name in fields else sources


def _json_object(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite | None:
    """`JSON_OBJECT('k': a)`, `OBJECT_CONSTRUCT('k', a)`: an object with known fields."""
    fields: dict[str, Sources] = {}
    total: Sources = {}
    for item in node.expressions:
        if not isinstance(item, exp.JSONKeyValue) or not isinstance(item.this, exp.Literal):
            return None
        found = nested_or_plain(resolver, item.expression, scope)
        _add_field(fields, item.this.this, found)
        absorb(total, found, TRANSFORMATION, item)
    return Composite(total, fields)


def _cast_struct(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite | None:
    """`CAST(ROW(a, b) AS ROW(x int, y int))`: the type names the fields."""
    made = _struct(resolver, node.this, scope)
    named = [field for field in node.args["to"].expressions if isinstance(field, exp.ColumnDef)]
    if made.fields is None or len(named) != len(made.fields):
        return None
    fields: dict[str, Sources] = {}
    for field, value in zip(named, made.fields.values(), strict=True):
        cast: Sources = {}
        absorb(cast, value, TRANSFORMATION, None)
        fields[resolver.identifiers.column(field.this)] = cast
    return Composite(dict(made), fields)


def _collect(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite | None:
    """`ARRAY_AGG(STRUCT(a, b) ORDER BY c)`, `ARRAY_AGG(t)`: elements with the struct's or row's fields."""
    inner = node.this
    while isinstance(inner, exp.Limit | exp.Order | exp.IgnoreNulls | exp.RespectNulls):
        inner = inner.this
    made = nested_or_plain(resolver, inner, scope) if isinstance(inner, exp.Struct | exp.Column) else None
    if not isinstance(made, Composite) or made.fields is None:
        return None
    total: Sources = {}
    for child in node.iter_expressions():
        resolver.evaluate(scope, child, AGGREGATION, total)
    deciding = {key: place for key, place in total.items() if key[1] >= FIRST_REFERENCE}
    return Composite(total, _CollectedFields(made.fields, deciding))


class _CollectedFields(Mapping[str, Sources]):
    """The fields of ARRAY_AGG's elements: each is aggregated, and influenced by ORDER BY and FILTER."""

    def __init__(self, fields: Mapping[str, Sources], deciding: Sources) -> None:
        self._fields = fields
        self._deciding = deciding

    def __getitem__(self, name: str) -> Sources:
        aggregated: Sources = {}
        absorb(aggregated, self._fields[name], AGGREGATION, None)
        aggregated.update(self._deciding)
        return aggregated

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def _subscript(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources:
    """`a[1]`, an element of an array; `m['key']`, a field of a map or struct; the subscript is an operand, too."""
    keys = [key for key in node.expressions if isinstance(key, exp.Literal) and key.is_string]
    value = nested_or_plain(resolver, node.this, scope)
    if len(keys) == 1 and len(node.expressions) == 1:
        return resolver.field(value, [keys[0].this])
    found = element_of(value)
    for key in node.expressions:
        resolver.evaluate(scope, key, TRANSFORMATION, found)
    return found


def element_of(value: Sources) -> Composite:
    """Return the sources of an array element: a transformation of the array, with the array's fields."""
    lifted: Sources = {}
    absorb(lifted, value, TRANSFORMATION, None)
    if isinstance(value, Composite):
        return Composite(lifted, value.fields, value.whole)
    return Composite(lifted, None, value)


_JSON_PATH_MODE = re.compile(r"^\s*(?:lax|strict)\s+(?=\$)", re.IGNORECASE)
"""The mode at the beginning of an SQL/JSON path (SQL:2016, 9.39)."""
_QUOTED_KEYS = re.compile(r"\s*\$(?:\.\s*(?:\"[^\"\\]+\"|[^\W\d]\w*)|\[[^\]\"']*\])*\s*")
"""A path of which some keys are in quotes, as PostgreSQL shows all: `$."a"[*]."b c"`."""
_PATH_KEY = re.compile(r"\.\s*(?:\"([^\"]+)\"|([^\W\d]\w*))")


def json_keys(path: exp.Expr | None) -> list[str] | None:
    """Return the keys of a constant JSON path, without its subscripts; None if it is not constant.

    >>> import sqlglot
    >>> json_keys(sqlglot.parse_one("SELECT v:a.b[0].c", dialect="snowflake").find(exp.JSONPath))
    ['a', 'b', 'c']
    """
    if isinstance(path, exp.JSONPath):
        keys = [part.this for part in path.expressions if isinstance(part, exp.JSONPathKey)]
        return keys if all(isinstance(key, str) for key in keys) else None
    if isinstance(path, exp.Literal) and path.is_string:
        written = _JSON_PATH_MODE.sub("", str(path.this))
        if _QUOTED_KEYS.fullmatch(written):
            return [quoted or plain for quoted, plain in _PATH_KEY.findall(written)]
        parts = [part.partition("[")[0] for part in written.removeprefix("$").strip("{}").replace(",", ".").split(".")]
        return [part for part in parts if part]
    return None


def _json(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources:
    path = node.args.get("expression")
    keys = json_keys(path)
    found = resolver.field(nested_or_plain(resolver, node.this, scope), keys or [])
    computed: Sources = {}
    is_text = isinstance(node, _JSON_TEXT)
    absorb(computed, found, TRANSFORMATION if is_text or not keys else IDENTITY, node.this)
    if keys is None and isinstance(path, exp.Expr):
        resolver.evaluate(scope, path, TRANSFORMATION, computed)
    return computed


@expression_rule(exp.Struct, exp.Dot, exp.Bracket, exp.JSONObject, exp.Lambda, *_JSON, *_JSON_TEXT)
def nested_operand(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> None:
    """Nested values inside a larger expression."""
    if isinstance(node, exp.Dot) and not isinstance(node.expression, exp.Identifier | exp.Literal):
        call_method(resolver, node, scope, effect, stack)
        return
    found = nested_value(resolver, node, scope)
    if found is None:  # an object with computed keys, a lambda
        below = COMPOSE[effect][TRANSFORMATION]
        stack.extend((child, below) for child in reversed(list(node.iter_expressions())))
        return
    absorb(sink, found, effect, node)


@expression_rule(exp.Comprehension)
def comprehension(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, _: Stack, sink: Sources) -> None:
    """`[f(x) FOR x IN xs IF test]`: x is an element of xs, the test is a CONDITIONAL reference."""
    args = node.args
    inner = Scope(resolver, scope)
    element = element_of(nested_or_plain(resolver, args["iterator"], scope))
    inner.merged = {resolver.identifiers.column(args["expression"]): element}
    resolver.evaluate(inner, node.this, COMPOSE[effect][TRANSFORMATION], sink)
    if (condition := args.get("condition")) is not None:
        resolver.evaluate(inner, condition, COMPOSE[effect][CONDITIONAL], sink)
