"""Nested data: fields of structs, elements of arrays, paths into JSON.

A field of a base column is a column with a path (`address.city`, `payload.user.id`). A field of a struct that the query
builds has exactly the sources of the field's value: `built_structs.py` has what builds one, `kept_fields.py` what
passes one on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from sqlglot import exp

from lineage.sql.resolve.column_names.select_items import CALLED, MAKES_ROWS
from lineage.sql.resolve.relations import Composite, Sources, absorb, absorb_rows
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.rules.generators import rows_of_function
from lineage.sql.resolve.rules.json_arrows import read_arrow
from lineage.sql.resolve.rules.json_paths import json_keys
from lineage.sql.resolve.rules.method_calls import call_method
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.structs.value_fields import known_names, merged
from lineage.sql.resolve.transformation_codes import COMPOSE, CONDITIONAL, IDENTITY, TRANSFORMATION

__all__ = [
    "KEEPS",
    "NESTED_FUNCTIONS",
    "NESTED_RULES",
    "NestedRule",
    "element_of",
    "nested_function",
    "nested_or_plain",
    "nested_rule",
    "nested_value",
]

NestedRule: TypeAlias = "Callable[[Resolver, exp.Expr, Scope], Sources | None]"

NESTED_RULES: dict[type[exp.Expr], NestedRule] = {}
"""What has fields or reads one, by the node's type: returns the sources, None if it is no such value after all."""
NESTED_FUNCTIONS: dict[str, NestedRule] = {}
"""The same for functions without a node type of their own, by their names in lower case without underscores."""
KEEPS: dict[type[exp.Expr], NestedRule] = {}
"""What passes the fields of its operands on, if they have any. Mostly they are scalars, so this is not tried first."""


def nested_rule(*types: type[exp.Expr]) -> Callable[[NestedRule], NestedRule]:
    """Register what returns the sources of values of these types."""

    def register(rule: NestedRule) -> NestedRule:
        NESTED_RULES.update(dict.fromkeys(types, rule))
        return rule

    return register


def nested_function(*names: str) -> Callable[[NestedRule], NestedRule]:
    """Register what returns the sources of calls of functions without a type, by their names."""

    def register(rule: NestedRule) -> NestedRule:
        NESTED_FUNCTIONS.update(dict.fromkeys(names, rule))
        return rule

    return register


def nested_value(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """Return the sources of a struct, a field, an element or a path; None for any other expression."""
    rule = NESTED_RULES.get(type(node))
    return rule(resolver, node, scope) if rule is not None else None


def nested_or_plain(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources:
    """Return the sources of any expression, with its fields if it has any."""
    while type(node) is exp.Paren:
        node = node.this
    kind = type(node)
    if kind is exp.Column:
        found = scope.resolve(node)
        return found if isinstance(found, Composite) else {key: place or node for key, place in found.items()}
    rule = NESTED_RULES.get(kind) or KEEPS.get(kind)
    if rule is not None and (nested := rule(resolver, node, scope)) is not None:
        return nested
    sources: Sources = {}
    resolver.evaluate(scope, node, IDENTITY, sources)
    return sources


@nested_rule(exp.Paren)
def _within(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    return nested_value(resolver, node.this, scope)


@nested_rule(exp.Anonymous)
def _called(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    rule = NESTED_FUNCTIONS.get(node.name.lower().replace("_", ""))
    return rule(resolver, node, scope) if rule is not None else None


@nested_rule(exp.Dot)
def _field(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    name = node.expression
    if isinstance(name, exp.Identifier):
        return resolver.field(nested_or_plain(resolver, node.this, scope), [resolver.identifiers.column(name)])
    if not isinstance(name, exp.Literal) or name.is_string:
        return None
    value = nested_or_plain(resolver, node.this, scope)
    return resolver.field(value, [name.name]) if isinstance(value, Composite) else element_of(value)


@nested_rule(exp.Subquery)
def _row(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """Return the row or the value of a sub-query: what decides its rows influences it, too."""
    is_call = CALLED in (node._meta or ())
    if is_call and MAKES_ROWS in node.meta:
        rows_of_function(resolver, scope, node)
    if is_call or (isinstance(node.this, exp.Select) and node.this.args.get("kind") == "STRUCT"):
        return _row_of(resolver, node, scope)
    relation = resolver.relation(node, scope)
    deciding: Sources = {}
    absorb_rows(deciding, relation.rows, IDENTITY)
    if len(relation.sources) == 1 and isinstance(relation.sources[0], Composite):
        return merged(resolver.field, [(relation.sources[0], IDENTITY)], deciding)
    total: Sources = {}
    for sources in relation.sources:
        absorb(total, sources, IDENTITY, None)
    return {**deciding, **total}


@nested_rule(exp.Lambda)
def _arrow(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    read = read_arrow(resolver.naming.dialect, node) if isinstance(node, exp.Lambda) else None
    return nested_or_plain(resolver, read, scope) if read is not None else None


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


@nested_rule(exp.Bracket)
def _subscript(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources:
    """`a[1]`, an element of an array; `m['key']`, a field of a map or struct; the subscript is an operand, too."""
    value = nested_or_plain(resolver, node.this, scope)
    [key] = node.expressions if len(node.expressions) == 1 else [None]
    if isinstance(key, exp.Literal) and key.is_string:
        return resolver.field(value, [key.this], closed=True)
    if (own := _by_position(value, key)) is not None:  # an unnamed row's
        return own
    subscripts: Sources = {}
    for subscript in node.expressions:
        resolver.evaluate(scope, subscript, TRANSFORMATION, subscripts)
    element = element_of(value)
    return merged(resolver.field, [(element, IDENTITY)], subscripts) if subscripts else element


def _by_position(value: Sources, key: exp.Expr | None) -> Sources | None:
    """Return the field of a struct at a position, from 0; None if it is no struct or the position is not constant."""
    names = known_names(value)
    is_position = isinstance(key, exp.Literal) and str(key.this).isdigit()
    if not names or not is_position or not isinstance(value, Composite) or value.lists or value.closed:
        return None
    position = int(str(key.this)) if key is not None else 0
    return value.fields[names[position]] if value.fields is not None and position < len(names) else None


def element_of(value: Sources) -> Composite:
    """Return the sources of an array element: a transformation of the array, with the array's fields."""
    lifted: Sources = {}
    absorb(lifted, value, TRANSFORMATION, None)
    if not isinstance(value, Composite):
        return Composite(lifted, None, value)
    if value.closed and not value.lists:  # of a map or a document: which value it is, is not known
        return Composite(lifted)
    return Composite(lifted, value.fields, value.whole, lists=max(0, value.lists - 1), closed=value.closed)


@nested_rule(exp.Explode, exp.ExplodeOuter)
def _exploded(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources:
    total: Sources = {}
    resolver.evaluate(scope, node, IDENTITY, total)
    return element_of(nested_or_plain(resolver, node.this, scope)).of(total)


_JSON = (exp.JSONExtract, exp.JSONBExtract)
_JSON_TEXT = (exp.JSONExtractScalar, exp.JSONBExtractScalar, exp.JSONValue)


@nested_rule(*_JSON, *_JSON_TEXT, exp.GetExtract, exp.StructExtract)
def _read_path(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources:
    path = node.args["path"] if type(node) is exp.JSONValue else node.args.get("expression")
    others = [*(node.args.get("expressions") or ()), node.args.get("on_condition")]
    return _read(resolver, scope, node.this, path, others, is_text=isinstance(node, _JSON_TEXT))


@nested_function("jsonvalue", "jsonquery", "jsonexists", "tupleelement", "jsonextractstring")
def _read_path_by_name(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    if len(node.expressions) < 2:
        return None
    document, path, *others = node.expressions
    return _read(resolver, scope, document, path, others, is_text=node.name.lower() != "json_query")


@nested_function(
    "jsonextractpath", "jsonbextractpath", "jsonextractpathtext", "jsonbextractpathtext",
    "jsonextractint", "jsonextractuint", "jsonextractfloat", "jsonextractbool", "jsonextractraw",
)  # fmt: skip
def _read_keys(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """`jsonb_extract_path(document, 'a', 'b')`."""
    document, *keys = node.expressions
    constant = [str(key.this) for key in keys if isinstance(key, exp.Literal)]
    if len(constant) < len(keys):
        return None
    found = resolver.field(nested_or_plain(resolver, document, scope), constant, closed=True)
    return _computed(found, TRANSFORMATION, document)


def _read(
    resolver: Resolver,
    scope: Scope,
    document: exp.Expr,
    path: exp.Expr | None,
    others: Iterable[exp.Expr | None],
    *,
    is_text: bool,
) -> Sources:
    """Return the sources of the part of a document at a path; of all of it, and of the path, if that is computed."""
    keys = json_keys(path)
    further = [other for other in others if other is not None]
    if keys is None and isinstance(path, exp.Literal):  # tupleElement(t, 2)
        keys = [str(path.this)]
    value = nested_or_plain(resolver, document, scope)
    sources = _computed(
        resolver.field(value, keys or [], closed=True), TRANSFORMATION if is_text or not keys else IDENTITY, document
    )
    if keys is None and path is not None:
        further.append(path)
    for other in further:
        if (more := json_keys(other)) is not None:  # a further path
            absorb(sources, resolver.field(value, more, closed=True), TRANSFORMATION, document)
        else:
            resolver.evaluate(scope, other, TRANSFORMATION, sources)
    return sources


def _computed(value: Sources, effect: int, mention: exp.Expr) -> Sources:
    """Return a value after a step that leaves its fields in it."""
    total: Sources = {}
    absorb(total, value, effect, mention)
    return value.of(total) if isinstance(value, Composite) else total


@expression_rule(
    exp.Struct, exp.Dot, exp.Bracket, exp.JSONObject, exp.Lambda, exp.StarMap, exp.GetExtract, exp.StructExtract,
    exp.Transform, exp.ArrayFilter, exp.Reduce, *_JSON, *_JSON_TEXT,
)  # fmt: skip
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
