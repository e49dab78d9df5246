"""Variables of a session in expressions: `@v := value`, `$v`, `getvariable('v')`, `set_config('a.v', value, false)`.

What a statement assigns is in `resolver.assigned`; what it reads is in the scope around it. A variable that no
statement here assigns is reported, where only another statement of the session can have assigned it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import Sources, absorb
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import CONDITIONAL, IDENTITY

__all__ = ["by_function"]


@expression_rule(exp.PropertyEQ)
def assigned_value(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> None:
    """MySQL's `@v := value` within an expression, or `name := value`, a named argument."""
    if not isinstance(node.this, exp.Parameter):
        stack.append((node.expression, effect))
        return
    _assign(resolver, scope, f"@{resolver.naming.dialect.fold_column(node.this.name)}", node, effect, sink)


@expression_rule(exp.Parameter)
def parameter(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, __: Stack, sink: Sources) -> None:
    """`$1`, a column if a staged file is read; `@v`, `$v`, a variable; otherwise a parameter of the statement."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        absorb(sink, scope.positional(node.name), effect, node)
        return
    dialect = resolver.naming.dialect
    name = dialect.fold_column(node.name)
    held = _held(resolver)
    if f"@{name}" not in held and name not in held:
        if dialect.select_into_variables or dialect.search_path_has_variables:
            _report_unassigned(resolver, name, node)
        return
    if (place := resolver.variable_places.get(node.name.lower())) is not None:
        end = place.column + place.end - place.start - 1
        node.meta.update(line=place.line, col=end, start=place.start, end=place.end - 1)
    absorb(sink, held.get(f"@{name}") or held.get(name) or {}, effect, node)


def by_function(resolver: Resolver, scope: Scope, call: exp.Expr, effect: int, sink: Sources) -> bool:
    """Read a call that reads or sets a variable; return whether it is one.

    PostgreSQL's own settings have no dot in their names; others may be parameters that a client sets for its queries.
    """
    function, arguments = call.name.lower(), call.expressions
    if function not in ("getvariable", "current_setting", "set_config") or not arguments:
        return False
    first = arguments[0]
    if not isinstance(first, exp.Literal) or not first.is_string:
        return False
    held = _held(resolver)
    if function == "getvariable":
        name = resolver.naming.dialect.fold_column(first.name)
        if name not in held:
            _report_unassigned(resolver, name, call)
        absorb(sink, held.get(name) or {}, effect, first)
    elif function == "current_setting":
        absorb(sink, held.get(first.name.lower()) or {}, effect, first)
    elif "." in first.name and len(arguments) > 1:
        _assign(resolver, scope, first.name.lower(), call, effect, sink)
    else:
        return False
    return True


def _held(resolver: Resolver) -> Mapping[str, Sources]:
    return resolver.outermost.merged if resolver.outermost is not None else {}


def _assign(resolver: Resolver, scope: Scope, name: str, node: exp.Expr, effect: int, sink: Sources) -> None:
    """Add what a node assigns to a variable; if it may not run, the variable may keep its value."""
    value: Sources = {}
    given = node.expressions[1] if isinstance(node, exp.Anonymous) else node.args["expression"]
    resolver.evaluate(scope, given, IDENTITY, value)
    absorb(sink, value, effect, None)
    assigned = resolver.assigned.setdefault(name, {})
    absorb(assigned, value, IDENTITY, None)
    around = node.parent
    while isinstance(around, exp.Paren | exp.Alias):
        around = around.parent
    if not isinstance(around, exp.Select):
        absorb(assigned, _held(resolver).get(name) or {}, IDENTITY, None)
        for tested in _tested_before(node):
            resolver.evaluate(scope, tested, CONDITIONAL, assigned)


def _tested_before(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the expressions of a query on which it depends whether this part of it is computed."""
    inner, around = node, node.parent
    while around is not None and not isinstance(around, exp.Query):
        if isinstance(around, exp.If) and inner.arg_key != "this":
            yield around.this
        elif isinstance(around, exp.Case) and inner.arg_key != "this":
            yield from (branch.this for branch in around.args["ifs"][: inner.index])
            if around.this is not None:
                yield around.this
        elif isinstance(around, exp.Connector) and inner.arg_key == "expression":
            yield around.this
        inner, around = around, around.parent


def _report_unassigned(resolver: Resolver, name: str, node: exp.Expr) -> None:
    message = f"the value of the variable {name} comes from another statement of the session, which is not read here"
    hint = "resolve the statements together: extract_script, lineage ingest sql"
    resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, node, hint=hint)
