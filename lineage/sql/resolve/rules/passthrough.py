"""Nodes that pass a value through unchanged, and leaves without columns."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import STAR, Sources, absorb
from lineage.sql.resolve.resolver import LEAVES, Resolver, Stack, expression_rule
from lineage.sql.resolve.scope import Scope
from lineage.sql.resolve.transformation_codes import IDENTITY


@expression_rule(exp.Paren, exp.Alias)
def same_value(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`(x)` and `x AS y` as x."""
    stack.append((node.this, effect))


LEAVES.update(
    (
        exp.Literal,
        exp.Null,
        exp.Boolean,
        exp.Star,
        exp.Identifier,
        exp.DataType,
        exp.DataTypeParam,
        exp.ObjectIdentifier,
        exp.PseudoType,
        exp.Var,
        exp.SessionParameter,
        exp.CurrentDate,
        exp.CurrentTimestamp,
    )
)


@expression_rule(exp.Ordered)
def order_key(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`x DESC NULLS LAST` as x."""
    stack.append((node.this, effect))


@expression_rule(exp.PropertyEQ)
def assigned_value(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> None:
    """MySQL's `@v := value` within an expression, or `name := value`, a named argument."""
    if not isinstance(node.this, exp.Parameter) or resolver.outermost is None:
        stack.append((node.expression, effect))
        return
    name = f"@{resolver.naming.dialect.fold_column(node.this.name)}"
    value: Sources = {}
    resolver.evaluate(scope, node.expression, IDENTITY, value)
    absorb(sink, value, effect, None)
    held = resolver.assigned.setdefault(name, {})
    absorb(held, value, IDENTITY, None)
    around = node.parent
    while isinstance(around, exp.Paren | exp.Alias):
        around = around.parent
    if not isinstance(around, exp.Select):  # it may not run
        absorb(held, resolver.outermost.merged.get(name) or {}, IDENTITY, None)


@expression_rule(exp.Kwarg)
def named_argument(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`name => value`: the name is not a column."""
    stack.append((node.expression, effect))


@expression_rule(exp.Parameter)
def parameter(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, __: Stack, sink: Sources) -> None:
    """`$1`, a column if a staged file is read; `@v`, a variable; otherwise a parameter of the statement."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        absorb(sink, scope.positional(node.name), effect, node)
        return
    name = resolver.naming.dialect.fold_column(node.name)
    merged = resolver.outermost.merged if resolver.outermost is not None else {}
    if f"@{name}" not in merged and resolver.naming.dialect.select_into_variables:
        message = f"the value of @{name} was assigned by another statement of the session, which is not read here"
        hint = "resolve the statements together: extract_script, lineage ingest sql"
        resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, node, hint=hint)
    elif resolver.outermost is not None:
        if (place := resolver.variable_places.get(node.name.lower())) is not None:
            end = place.column + place.end - place.start - 1
            node.meta.update(line=place.line, col=end, start=place.start, end=place.end - 1)
        absorb(sink, merged.get(f"@{name}") or merged.get(name) or {}, effect, node)


@expression_rule(exp.Placeholder)
def bind_variable(resolver: Resolver, _: Scope, node: exp.Expr, effect: int, __: Stack, sink: Sources) -> None:
    """`:v`, a variable of the enclosing program, or else a bind variable of the client."""
    if resolver.outermost is not None and node.name:
        name = resolver.naming.dialect.fold_column(node.name)
        absorb(sink, resolver.outermost.merged.get(name) or {}, effect, node)


@expression_rule(exp.PositionalColumn)
def column_by_position(
    resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, _: Stack, sources: Sources
) -> None:
    """DuckDB's `#2`: the second column of all that FROM has."""
    wanted = int(node.name) if node.name.isdigit() else 0
    listed = [column for relation in scope.items.values() for column in relation.columns()]
    before = [name for name, _ in listed[:wanted]]
    if STAR not in before and 0 < wanted <= len(listed):
        absorb(sources, listed[wanted - 1][1], effect, node)
        return
    resolver.report(
        DiagnosticCode.UNRESOLVED_STAR,
        Severity.WARNING,
        f"the column at position {wanted} of FROM is not known",
        node,
        hint="name the column, or give the table's schema with --catalog",
    )
