"""PostgreSQL's names of columns without an alias: an expression's column, function, type or form."""

from __future__ import annotations

import re
from enum import IntEnum

from sqlglot import exp

from lineage.sql.resolve.column_names.select_items import CALLED
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.spans import span_of

__all__ = ["postgres_name"]

_CALL = re.compile(r"(\w+)\s*\(\s*(?:DISTINCT\s+)?\Z", re.IGNORECASE)


def postgres_name(resolver: Resolver, expression: exp.Expr) -> str:
    """Return PostgreSQL's name of a column without an alias."""
    return _describe(resolver, expression)[0]


class _Strength(IntEnum):
    """How well a name describes an expression: a weak one gives way to the type of a cast or to CASE around it."""

    NONE = 0
    WEAK = 1
    STRONG = 2


_AROUND = (exp.Paren, exp.Collate, exp.Bracket, exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls)
"""Nodes without a name of their own."""
_TRIMS = {"LEADING": "ltrim", "TRAILING": "rtrim"}
_TYPES = {
    "INT": "int4", "BIGINT": "int8", "SMALLINT": "int2", "BOOLEAN": "bool", "DECIMAL": "numeric", "FLOAT": "float4",
    "DOUBLE": "float8", "CHAR": "bpchar", "NCHAR": "bpchar", "VARBINARY": "bytea", "TIMESTAMPNTZ": "timestamp",
}  # fmt: skip
"""PostgreSQL's own names of types that SQL calls otherwise."""


def _describe(resolver: Resolver, node: exp.Expr) -> tuple[str, _Strength]:
    """Return PostgreSQL's name of an expression: of its column, function, type or form (parse_target.c, FigureColname).

    https://github.com/postgres/postgres/blob/REL_17_STABLE/src/backend/parser/parse_target.c
    """
    while isinstance(node, _AROUND) and CALLED not in (node._meta or ()):
        node = node.this
    if node._meta and CALLED in node._meta:
        return node._meta[CALLED], _Strength.STRONG
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return resolver.identifiers.column(node.this), _Strength.STRONG
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        return resolver.identifiers.column(node.expression), _Strength.STRONG
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):  # schema.function(…)
        return _describe(resolver, node.expression)
    if isinstance(node, exp.Cast | exp.Case | exp.Boolean | exp.Interval):
        return _by_what_is_inside(resolver, node)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select) and node.this.expressions:
        inner = node.this.expressions[0]
        alias = inner.args["alias"] if isinstance(inner, exp.Alias) else None
        name = resolver.identifiers.alias(alias) if alias is not None else _describe(resolver, inner)[0]
        return name, _Strength.STRONG
    named = _name_of_form(node)
    if named is None and isinstance(node, exp.Func) and not isinstance(node, exp.Connector | exp.Binary):
        named = _function_name(resolver, node)
    return (named, _Strength.STRONG) if named is not None else ("?column?", _Strength.NONE)


def _by_what_is_inside(resolver: Resolver, node: exp.Expr) -> tuple[str, _Strength]:
    """Return the name of a cast or CASE: that of what is inside, if it is strong, else that of the type or form."""
    if isinstance(node, exp.Cast):
        inner, own = node.this, _type_name(node.to)
    elif isinstance(node, exp.Case):
        inner, own = node.args.get("default"), "case"
    else:
        inner, own = None, "bool" if isinstance(node, exp.Boolean) else "interval"
    name, strength = _describe(resolver, inner) if inner is not None else ("", _Strength.NONE)
    return (name, strength) if strength is _Strength.STRONG else (own, _Strength.WEAK)


def _name_of_form(node: exp.Expr) -> str | None:
    """Return the name of an expression that is written with words of its own."""
    if isinstance(node, exp.Exists):
        return "exists"
    if isinstance(node, exp.AtTimeZone):
        return "timezone"
    if isinstance(node, exp.Tuple):
        return "row"
    return None


def _type_name(kind: exp.DataType) -> str:
    """Return PostgreSQL's name of a type, without length and schema; of an array, that of its elements."""
    while kind.this is exp.DataType.Type.ARRAY and kind.expressions:
        kind = kind.expressions[0]
    if kind.this is exp.DataType.Type.USERDEFINED:
        return str(kind.args.get("kind") or "").rpartition(".")[2].strip('"').lower()
    name = str(kind.this.value if isinstance(kind.this, exp.DataType.Type) else kind.this)
    return _TYPES.get(name, name.lower())


def _function_name(resolver: Resolver, node: exp.Func) -> str:
    """Return a function's name as it is written, since sqlglot has one node type for several names."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    own, text = node.meta, resolver.text
    if "start" in own:
        written = text[own["start"] : own["end"] + 1]
    else:  # sqlglot keeps no position of the name: search for it before the arguments
        span = span_of(node)
        before = _CALL.search(text, max(0, span.start - 80), span.start) if span is not None else None
        written = before.group(1) if before is not None else ""
    name = written.lower() if written.isidentifier() else node.sql_name().lower()
    # TRIM(LEADING …) and its like are calls of ltrim, rtrim and btrim.
    return _TRIMS.get(str(node.args.get("position")), "btrim") if name == "trim" else name
