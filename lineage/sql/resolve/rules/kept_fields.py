"""Values with fields that pass through CASE, COALESCE, aggregates and windows: the fields are those of the operands."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from lineage.sql.resolve.coverage.accounting import ARGUMENTS, report_unread
from lineage.sql.resolve.relations import Composite, Sources, absorb
from lineage.sql.resolve.resolver import EXPRESSION_RULES, Resolver, Stack
from lineage.sql.resolve.rules.nested import KEEPS, NESTED_FUNCTIONS, NESTED_RULES, nested_or_plain, nested_rule
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.structs.struct_fields import fields_of, is_structured
from lineage.sql.resolve.structs.value_fields import Part, known_names, merged
from lineage.sql.resolve.transformation_codes import AGGREGATION, CONDITIONAL, FIRST_REFERENCE, IDENTITY

__all__ = ["kept_value"]

_PASSED: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Case: ("ifs", "default"),
    exp.If: ("true", "false"),
    exp.Nvl2: ("true", "false"),
    exp.Coalesce: ("this", "expressions"),
    exp.Nullif: ("this",),
    exp.Greatest: ("this", "expressions"),
    exp.Least: ("this", "expressions"),
    exp.Lag: ("this", "default"),
    exp.Lead: ("this", "default"),
    exp.ArrayConcat: ("this", "expressions"),
    exp.Concat: ("expressions",),
    exp.ArrayAppend: ("this", "expression"),
    exp.ArrayPrepend: ("this", "expression"),
    **dict.fromkeys(
        (
            exp.Max, exp.Min, exp.ArgMax, exp.ArgMin, exp.Any, exp.AnyValue, exp.First, exp.Last, exp.FirstValue,
            exp.LastValue, exp.NthValue, exp.IgnoreNulls, exp.RespectNulls, exp.HavingMax, exp.Filter, exp.Window,
            exp.Order, exp.Limit, exp.ArraySlice, exp.Reverse, exp.ArrayCompact,
        ),
        ("this",),
    ),
}  # fmt: skip
"""The arguments of which the value is one, by the node's type; all others decide which one, or are operands."""
_COMPARED = frozenset((exp.Max, exp.Min, exp.Greatest, exp.Least))
"""Functions that compare structs, field by field in their order."""
_ADDED = frozenset((exp.ArrayAppend, exp.ArrayPrepend))
"""Functions whose second argument is an element of their result."""


def _passed(node: exp.Expr) -> Iterator[exp.Expr]:
    for name in _PASSED[type(node)]:
        given = node.args.get(name)
        for each in given if isinstance(given, list) else [given]:
            if isinstance(each, exp.Expr):
                yield each.args["true"] if name == "ifs" else each


def kept_value(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """Return the sources of a value that passes the fields of its operands on; None if they have none, mostly."""
    rule = KEEPS.get(type(node))
    return rule(resolver, node, scope) if rule is not None and _may_have_fields(resolver, node, scope) else None


def _may_have_fields(resolver: Resolver, node: exp.Expr, scope: Scope) -> bool:
    """Return whether an expression may have fields: it costs less to look than to trace them in vain."""
    kind = type(node)
    if kind is exp.Column:
        return is_structured(resolver, scope.resolve(node))
    if kind is exp.Anonymous:
        return node.name.lower().replace("_", "") in NESTED_FUNCTIONS
    if kind in _PASSED:
        return any(_may_have_fields(resolver, each, scope) for each in _passed(node))
    if kind is exp.ArrayAgg or kind is exp.Paren:
        return _may_have_fields(resolver, node.this, scope)
    return kind in NESTED_RULES


def _keep(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources:
    kind = type(node)
    values = {id(each) for each in _passed(node)}
    parts: list[Part] = []
    deciding: Sources = {}
    for child, effect in _operands(resolver, node, scope, deciding):
        if id(child) not in values:
            resolver.evaluate(scope, child, effect, deciding)
            continue
        value = nested_or_plain(resolver, child, scope)
        if isinstance(value, Composite) and kind in _ADDED and child is not node.this:
            value = value.listed()
        parts.append((value, effect))
        if kind is exp.Nullif and (known_names(value) or is_structured(resolver, dict(value))):
            absorb(deciding, value, CONDITIONAL, None)  # any of its fields may differ
    names = None
    if not resolver.naming.dialect.tuples_have_fields:  # there a field has a number, too
        names = next((own for value, _ in parts if (own := fields_of(resolver, value))), None)
    return merged(resolver.field, parts, deciding, names, compared=kind in _COMPARED)


def _operands(resolver: Resolver, node: exp.Expr, scope: Scope, sink: Sources) -> Stack:
    """Return the operands of a node with their effects, as `evaluate` has them."""
    kind = type(node)
    if (rule := EXPRESSION_RULES.get(kind)) is None:
        effect = resolver.step(node)
        return [(child, effect) for child in node.iter_expressions()]
    if not node.args.keys() <= ARGUMENTS[kind]:
        report_unread(resolver, node)
    stack: Stack = []
    rule(resolver, scope, node, IDENTITY, stack, sink)
    return stack[::-1]


KEEPS.update(dict.fromkeys(_PASSED, _keep))


@nested_rule(exp.ArrayAgg)
def _collected(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """`ARRAY_AGG(STRUCT(a, b) ORDER BY c)`, `ARRAY_AGG(t)`: elements with the struct's or row's fields."""
    inner = node.this
    while isinstance(inner, exp.Limit | exp.Order | exp.IgnoreNulls | exp.RespectNulls):
        inner = inner.this
    if isinstance(inner, exp.Distinct) or not _may_have_fields(resolver, inner, scope):
        return None
    made = nested_or_plain(resolver, inner, scope)
    total: Sources = {}
    for child in node.iter_expressions():
        resolver.evaluate(scope, child, AGGREGATION, total)
    deciding = {key: place for key, place in total.items() if key[1] >= FIRST_REFERENCE}
    found = merged(resolver.field, [(made, AGGREGATION)], deciding, fields_of(resolver, made) or None)
    return found.of(total).listed() if isinstance(found, Composite) else total
