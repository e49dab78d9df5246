"""Functions whose body is known stand for that body where they are called: arguments flow through it.

A call is replaced in the syntax tree before it is resolved, `f(t.a)` by the expression with `t.a` for its parameter,
a call in FROM by a lateral query. Only texts that call a function which the script defines come here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from lineage.model.dialects import Dialect
from lineage.sql.parsing import ParsedStatement, parse_tokens
from lineage.sql.procedural import FunctionBody, Names, Step

__all__ = ["Functions"]

_MOST_CALLS = 500
"""Replaced in one statement: functions that call each other in a circle end here."""


@dataclass(frozen=True, slots=True)
class _Function:
    body: FunctionBody
    tree: exp.Expr
    """An expression, or a query."""
    parameters: tuple[str, ...]


class Functions:
    """The functions that a script defines, by name."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._fold = Names(dialect).fold
        self._known: dict[str, list[_Function]] = {}

    def learn(self, statements: Iterable[ParsedStatement]) -> None:
        """Add the functions that statements define."""
        for statement in statements:
            step: Step | None = statement.step
            if step is None or step.function is None:
                continue
            tree = parse_tokens(list(step.function.tokens), statement.text, self._dialect)
            if tree is not None:
                parameters = tuple(map(self._fold, step.function.parameters))
                self._known.setdefault(step.function.name, []).append(_Function(step.function, tree, parameters))

    def inlined(self, statement: ParsedStatement) -> ParsedStatement:
        """Return the statement with every call of a known function replaced by its body."""
        if not self._known or statement.tree is None:
            return statement
        if not any(token.text.lower() in self._known for token in statement.tokens):
            return statement
        tree = statement.tree.copy()
        holder = exp.Tuple(expressions=[tree])
        for _ in range(_MOST_CALLS):
            if not self._replace_one(holder):
                break
        return replace(statement, tree=holder.expressions[0])

    def _replace_one(self, holder: exp.Expr) -> bool:
        for call in holder.find_all(exp.Anonymous):
            function = self._of(str(call.this), len(call.expressions))
            if function is None:
                continue
            where: exp.Expr = call
            while isinstance(where.parent, exp.Dot) and where.parent.expression is where:
                where = where.parent
            if isinstance(where.parent, exp.Table | exp.Lateral) and where.parent.this is where:
                where = where.parent
            body = self._filled(function, call)
            if isinstance(where, exp.Table | exp.Lateral):
                where.replace(self._as_table(function, body, where))
            else:
                where.replace(exp.Subquery(this=body) if isinstance(body, exp.Query) else exp.Paren(this=body))
            return True
        return False

    def _of(self, name: str, arguments: int) -> _Function | None:
        found = self._known.get(name.lower(), ())
        return next((f for f in found if len(f.parameters) == arguments), None) or next(
            (f for f in found if len(f.parameters) > arguments), None
        )

    def _filled(self, function: _Function, call: exp.Expr) -> exp.Expr:
        """Return the body with the arguments of a call in place of its parameters; its places are the call's."""
        values: dict[str, exp.Expr] = {}
        for position, argument in enumerate(call.expressions):
            if isinstance(argument, exp.Kwarg | exp.PropertyEQ):
                values[self._fold(argument.this.name)] = argument.expression
            elif position < len(function.parameters):
                values[function.parameters[position]] = argument
                values[str(position + 1)] = argument
        holder = exp.Tuple(expressions=[function.tree.copy()])
        for node in list(holder.find_all(exp.Identifier, exp.Star, exp.Func)):
            node.meta.clear()
            node.meta.update({k: v for k, v in call.meta.items() if k in ("line", "col", "start", "end")})
        for node in list(holder.find_all(exp.Column, exp.Parameter, exp.Placeholder)):
            value = values.get(self._parameter(node, function))
            if value is not None:
                node.replace(value.copy())
        filled: exp.Expr = holder.expressions[0]
        return filled

    def _parameter(self, node: exp.Expr, function: _Function) -> str:
        """Return the parameter that a node may name: `x`, `f.x`, `@x`, `$1`."""
        if isinstance(node, exp.Column):
            table = node.table
            return self._fold(node.name) if not table or table.lower() == function.body.name else ""
        marked = self._fold("@" + node.name)
        return marked if marked in function.parameters else self._fold(node.name)

    def _as_table(self, function: _Function, body: exp.Expr, where: exp.Expr) -> exp.Expr:
        query = body if isinstance(body, exp.Query) else exp.Select(expressions=[body])
        alias = where.args.get("alias")
        if not isinstance(alias, exp.TableAlias):
            alias = exp.TableAlias(this=exp.to_identifier(function.body.name))
        if not alias.args.get("columns") and function.body.columns:
            columns: Sequence[exp.Expr] = [exp.to_identifier(name) for name in function.body.columns]
            alias = exp.TableAlias(this=alias.this, columns=list(columns))
        lateral = exp.Lateral(this=exp.Subquery(this=query), alias=alias)
        for key in ("joins", "laterals", "pivots"):
            if where.args.get(key):
                lateral.set(key, where.args[key])
        return lateral
