"""Columns chosen by their names: `* LIKE 'a%'`, `* ILIKE`, `* SIMILAR TO`, `COLUMNS('regex' | list | test | *)`.

DuckDB: https://duckdb.org/docs/stable/sql/expressions/star; Snowflake: SELECT, ILIKE; ClickHouse: SELECT,
dynamic column selection. An expression that contains COLUMNS is expanded to one expression a selected column.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.dialect import Folding
from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import Sources, absorb
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.rules.stars import star_columns
from lineage.sql.resolve.scopes.scope import Choice, Scope

__all__ = ["STAR_FORMS", "expand_choice", "expand_filtered_star", "is_filtered_star"]

STAR_FORMS = frozenset((exp.Like, exp.ILike, exp.SimilarTo, exp.Glob, exp.Not, exp.Escape, exp.Apply, exp.Columns))
"""Node types of select-list items that may be a star followed by a test or a function."""

NameTest = Callable[[str], bool]


def is_filtered_star(node: exp.Expr) -> bool:
    """Return whether a select-list item is a star that keeps the columns whose names pass a test."""
    while isinstance(node, exp.Not | exp.Escape | exp.Apply):
        node = node.this
    if isinstance(node, exp.Star | exp.Columns):
        return True
    return isinstance(node, exp.Like | exp.ILike | exp.SimilarTo | exp.Glob) and _is_star(node.this)


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def expand_filtered_star(resolver: Resolver, item: exp.Expr, scope: Scope, projection: Projection) -> None:
    """Append the columns of `* LIKE 'a%'` and of ClickHouse's `* APPLY(f)`."""
    applied: list[exp.Expr] = []
    node, passes = item, True
    while isinstance(node, exp.Not | exp.Escape | exp.Apply):
        if isinstance(node, exp.Apply):
            applied.append(node.expression)
        passes = passes != isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.Columns):
        shown = _choose(resolver, node, scope, projection)
    elif _is_star(node):
        shown = star_columns(resolver, node, scope, projection)
    else:
        test = _test(resolver, node)
        passes = passes != bool(node.args.get("negate"))
        shown = [pair for pair in star_columns(resolver, node.this, scope, projection) if test(pair[0]) is passes]
    for name, plain in shown:
        value = plain
        for function in reversed(applied):
            inner, value = value, {}
            absorb(value, inner, resolver.functions.of_name(function.name), item)
        projection.add(name, value, None)


def _test(resolver: Resolver, node: exp.Expr) -> NameTest:
    """Return the test of a column's name by LIKE, ILIKE, SIMILAR TO or GLOB with a constant."""
    text = node.expression.name
    flags = 0 if resolver.naming.dialect.quoted_column is Folding.KEEP and not isinstance(node, exp.ILike) else re.I
    if isinstance(node, exp.SimilarTo):
        return _matches(resolver, node, text, flags)
    many, one = ("*", "?") if isinstance(node, exp.Glob) else ("%", "_")
    pattern = "".join(".*" if c == many else "." if c == one else re.escape(c) for c in text)
    return _matches(resolver, node, pattern, flags)


def _matches(resolver: Resolver, node: exp.Expr, pattern: str, flags: int, *, anywhere: bool = False) -> NameTest:
    try:
        compiled = re.compile(pattern, flags)
    except re.error:
        _cannot_tell(resolver, node)
        return lambda _: True
    search = compiled.search if anywhere else compiled.fullmatch
    return lambda name: search(name) is not None


def _cannot_tell(resolver: Resolver, node: exp.Expr) -> None:
    resolver.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        "which columns this selects cannot be determined from the text: all are assumed",
        node,
    )


def _choose(
    resolver: Resolver, node: exp.Expr, scope: Scope, projection: Projection | None = None
) -> list[tuple[str, Sources]]:
    """Return the columns that COLUMNS(…) selects."""
    what = node.this
    if _is_star(what):
        return star_columns(resolver, what, scope, projection)
    shown = star_columns(resolver, exp.Star(), scope, projection)
    shown = [(name, {key: place or node for key, place in sources.items()}) for name, sources in shown]
    flags = re.I if resolver.naming.dialect.quoted_column is not Folding.KEEP else 0
    if isinstance(what, exp.Literal):
        test = _matches(resolver, node, what.this, flags, anywhere=True)
    elif isinstance(what, exp.Array) and all(isinstance(item, exp.Literal) for item in what.expressions):
        listed = {resolver.naming.dialect.fold_column(item.name, quoted=True) for item in what.expressions}
        return [(name, sources) for name, sources in shown if name in listed]
    elif isinstance(what, exp.Lambda) and len(what.expressions) == 1:
        test = _predicate(resolver, what.this, what.expressions[0].name)
    elif (kept := _of_comprehension(what)) is not None:
        condition = kept.args.get("condition")
        test = _predicate(resolver, condition, kept.args["expression"].name) if condition else lambda _: True
    else:
        _cannot_tell(resolver, node)
        return shown
    return [(name, sources) for name, sources in shown if test(name)]


def _of_comprehension(what: exp.Expr) -> exp.Comprehension | None:
    """Return the comprehension in `COLUMNS([c FOR c IN (*) IF test])`, if it returns names unchanged."""
    only = what.expressions[0] if isinstance(what, exp.Array) and len(what.expressions) == 1 else None
    if not isinstance(only, exp.Comprehension) or not _is_star(only.args["iterator"].unnest()):
        return None
    return only if only.this.name == only.args["expression"].name else None


def _predicate(resolver: Resolver, node: exp.Expr, variable: str) -> NameTest:
    """Return a lambda's test of a column's name, if it compares the name with constants."""
    match node:
        case exp.Paren():
            return _predicate(resolver, node.this, variable)
        case exp.Not():
            inner = _predicate(resolver, node.this, variable)
            return lambda name: not inner(name)
        case exp.And() | exp.Or():
            left, right = (_predicate(resolver, side, variable) for side in (node.this, node.expression))
            if isinstance(node, exp.And):
                return lambda name: left(name) and right(name)
            return lambda name: left(name) or right(name)
    subject, constant = node.this, node.args.get("expression")
    if isinstance(subject, exp.Expr) and subject.name == variable:
        if isinstance(node, exp.Like | exp.ILike | exp.SimilarTo | exp.Glob):
            like, negated = _test(resolver, node), bool(node.args.get("negate"))
            return lambda name: like(name) is not negated
        if isinstance(constant, exp.Literal):
            value = constant.this
            match node:
                case exp.EQ():
                    return lambda name: name == value
                case exp.NEQ():
                    return lambda name: name != value
                case exp.StartsWith():
                    return lambda name: name.startswith(value)
                case exp.EndsWith():
                    return lambda name: name.endswith(value)
                case exp.Contains():
                    return lambda name: value in name
                case exp.RegexpLike():
                    return _matches(resolver, node, value, 0, anywhere=True)
        if isinstance(node, exp.In) and all(isinstance(item, exp.Literal) for item in node.expressions):
            values = {item.this for item in node.expressions}
            return lambda name: name in values
    _cannot_tell(resolver, node)
    return lambda _: True


@expression_rule(exp.Columns)
def columns(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, _: Stack, sink: Sources) -> None:
    """`f(COLUMNS(…))`: one column at a time in a select list; all of them elsewhere, and for `*COLUMNS(…)`."""
    shown = _choose(resolver, node, scope)
    if not node.args.get("unpack"):
        if scope.choice is None:
            scope.choice = Choice([name for name, _sources in shown])
        elif scope.choice.at is not None:
            shown = shown[scope.choice.at : scope.choice.at + 1]
    for _name, sources in shown:
        absorb(sink, sources, effect, node)


def expand_choice(
    resolver: Resolver, item: exp.Expr, scope: Scope, projection: Projection, value: Callable[[exp.Expr], Sources]
) -> None:
    """Append an expression that contains COLUMNS, once for each selected column.

    The output has the column's name. In an alias, `\\0` is that name and `\\1` the first group of the pattern.
    """
    choice = scope.choice
    assert choice is not None
    alias = item.args["alias"] if isinstance(item, exp.Alias) else None
    found = item.find(exp.Columns)
    pattern = found.this.this if found is not None and isinstance(found.this, exp.Literal) else "(.*)"
    for position, name in enumerate(choice.names):
        choice.at = position
        shown = name
        if alias is not None:
            shown = resolver.identifiers.alias(alias)
            if "\\" in shown and (match := re.search(pattern, name, re.I)) is not None:
                shown = match.expand(shown.replace("\\0", "\\g<0>"))
        projection.add(shown, value(item.this if alias is not None else item), None)
    scope.choice = None
