"""Inline functions whose body is known: each call is replaced by the body, so that arguments flow through it.

A call is replaced in the syntax tree before it is resolved: `f(t.a)` by the body with `t.a` as its parameter, a call
in FROM by a lateral query. If the body has a FROM, its names must not capture the names of the arguments. The arguments
then become columns of a lateral query beside it:
`(SELECT (SELECT "f 1"."0" + k FROM w) FROM LATERAL (SELECT a AS "0") AS "f 1")`.
Only texts that call a function defined in the script are handled here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect
from lineage.sql.budget import Budget
from lineage.sql.parse.object_types import attributes_of
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.parse.statements import parse_tokens
from lineage.sql.procedural import FunctionBody, Names, ProgramStep
from lineage.sql.resolve.column_names.select_items import CALLED, MAKES_ROWS
from lineage.sql.resolve.rules.json_arrows import read_arrow
from lineage.sql.resolve.rules.method_calls import operand_before
from lineage.sql.script.functions.function_programs import FunctionPrograms

__all__ = ["Functions"]

_MAX_CALLS = 500
"""Maximum number of calls replaced in a statement: nested calls can grow exponentially."""
_MAX_IN_ALL = 20_000
"""Maximum number of calls replaced in a script; further calls are resolved like any unknown function."""


@frozen
class _Function:
    body: FunctionBody
    tree: exp.Expr
    """An expression or a query."""
    parameters: tuple[str, ...]


_PLACE = ("line", "col", "start", "end")
_WITHIN = "within"
"""Metadata key of a call in an inlined body: the functions around it. Recursive calls are not inlined again."""


def _calls(tree: exp.Expr) -> list[exp.Anonymous]:
    """Return the calls that may be of a function defined in the script, the outermost last."""
    return list(tree.find_all(exp.Anonymous))[::-1]


class Functions:
    """The functions defined in a script, by name."""

    def __init__(self, dialect: Dialect, budget: Budget, is_table: Callable[[Sequence[str]], bool]) -> None:
        """Start without functions; `is_table` tells whether a table is known by the parts of its name."""
        self._is_table = is_table
        self._dialect = dialect
        self._budget = budget
        self._fold = Names(dialect).fold
        self._known: dict[str, list[_Function]] = {}
        self._left = _MAX_IN_ALL
        self._names: re.Pattern[str] | None = None
        self._programs = FunctionPrograms(dialect, is_table)

    def learn(self, statements: Iterable[ParsedStatement]) -> None:
        """Add the functions that these statements define."""
        listed = list(statements)
        for position, statement in enumerate(listed):
            step: ProgramStep | None = statement.step
            if step is None or (step.function is None and step.operation != "CREATE_FUNCTION"):
                continue
            tree = None
            if step.function is not None:
                tree = parse_tokens(list(step.function.tokens), statement.text, self._dialect, self._budget)
            if tree is None or step.function is None:
                self._programs.learn(statement, listed[position + 1 :])
            else:
                for arrow in list(tree.find_all(exp.Lambda)):
                    read_arrow(self._dialect, arrow)
                if step.function.search_path:
                    self._add_schemas(tree, step.function.search_path)
                parameters = tuple(map(self._fold, step.function.parameters))
                for name in list(tree.find_all(exp.Identifier)):
                    if (
                        isinstance(name.parent, exp.Dot)
                        and name.arg_key == "this"
                        and self._fold(name.name) in parameters
                    ):
                        name.replace(exp.Column(this=name.copy()))  # `a.upper()`
                body = self._with_columns(step.function, tree, statement.text)
                self._known.setdefault(body.name, []).append(_Function(body, tree, parameters))

    def _with_columns(self, body: FunctionBody, tree: exp.Expr, text: str) -> FunctionBody:
        """Return a function's body whose columns are the attributes of the type that it returns, if it lists none."""
        if body.columns or body.row_type is None or not isinstance(tree, exp.Query):
            return body
        found = attributes_of(body.row_type, text, self._dialect)
        return replace(body, columns=tuple(one[0] for one in found)) if len(found) == len(tree.selects) else body

    def _add_schemas(self, tree: exp.Expr, search_path: Sequence[str]) -> None:
        """Add the schema to the names of tables in the body of a function that sets its own search path."""
        own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        for table in tree.find_all(exp.Table):
            name = table.this
            if not isinstance(name, exp.Identifier) or table.args.get("db") or name.name.lower() in own:
                continue
            folded = self._dialect.fold_table(name.name, quoted=bool(name.args.get("quoted")))
            schema = next((one for one in search_path if self._is_table([one, folded])), search_path[0])
            table.set("db", exp.Identifier(this=schema, quoted=True))

    def may_be_in(self, text: str) -> bool:
        """Return whether a text may call one of the functions: it has the name of one, as a word or in quotes."""
        known = {*self._known, *self._programs.names}
        if not known:
            return False
        if self._names is None:
            names = "|".join(re.escape(name) for name in sorted(known))
            # A name with other characters may be written in several ways, with quotes in it doubled.
            self._names = re.compile(names if all(map(str.isidentifier, known)) else "", re.IGNORECASE)
        return self._names.search(text) is not None

    def inline(self, statement: ParsedStatement) -> ParsedStatement:
        """Return the statement with each call of a known function replaced by the function's body.

        Of one that runs several statements, the tables are read as well, and how they are is in doubt.
        """
        programs = self._programs.names
        if not (self._known or programs) or statement.tree is None:
            return statement
        if not any((name := token.text.lower()) in self._known or name in programs for token in statement.tokens):
            return statement
        holder = exp.Tuple(expressions=[statement.tree.copy()])
        waiting = _calls(holder)
        left = _MAX_CALLS
        while waiting and left and self._left:
            call = waiting.pop()
            self._unchain(call)
            overloads = self._overloads(call)
            if not overloads and call.name.lower() in programs:
                statement = self._programs.with_reads(statement, call)
            if not overloads or overloads[0].body.name in call.meta.get(_WITHIN, ()):
                continue
            if len(overloads) > 1:
                statement = replace(statement, doubts=(*statement.doubts, _overloaded(call, statement)))
                continue
            function = overloads[0]
            left, self._left = left - 1, self._left - 1
            gone = set(map(id, _calls(call)))  # its arguments are copied to the positions of the parameters
            put_in = self._replace(call, function)
            waiting = [other for other in waiting if id(other) not in gone] + _calls(put_in)
        return replace(statement, tree=holder.expressions[0])

    def _replace(self, call: exp.Expr, function: _Function) -> exp.Expr:
        """Replace a call by the function's body; return the replacement."""
        where: exp.Expr = call
        while isinstance(where.parent, exp.Dot) and where.parent.expression is where:
            where = where.parent
        if isinstance(where.parent, exp.Table | exp.Lateral | exp.TableFromRows) and where.parent.this is where:
            where = where.parent
        body, given = self._fill(function, call)
        put_in: exp.Expr
        if isinstance(where, exp.Table | exp.Lateral | exp.TableFromRows):
            put_in = self._as_table(function, body, given, where)
        else:
            if isinstance(body, exp.Query) and function.body.columns:
                body, given = _row(body, function.body, given), None
            put_in = exp.Subquery(this=body) if isinstance(body, exp.Query) else exp.Paren(this=body)
            if given is not None:
                put_in = exp.Subquery(this=exp.Select(expressions=[put_in], from_=exp.From(this=given)))
            if function.body.returns_rows and self._dialect.makes_rows_in_list:
                put_in = put_in if function.body.columns else exp.Explode(this=put_in)
                put_in.meta[MAKES_ROWS] = True
            put_in.meta.update({k: v for k, v in call.meta.items() if k in _PLACE}, **{CALLED: function.body.name})
        where.replace(put_in)
        return put_in

    def _unchain(self, call: exp.Expr) -> None:
        """Make `f(x, y)` of `x.f(y)` where the function takes x, and no function of that name is in a schema x."""
        outer = call.parent
        if not isinstance(outer, exp.Dot) or outer.expression is not call:
            return
        schema = _schema_of(call) if isinstance(outer.this, exp.Identifier | exp.Dot) else ""
        if schema and not self._dialect.chains_functions:
            return
        named = self._known.get(call.name.lower(), [])
        fits = any(len(one.parameters) > len(call.expressions) for one in named)
        if fits and not any(schema and one.body.schema == schema for one in named):
            call.set("expressions", [operand_before(outer), *call.expressions])
            outer.replace(call)

    def _overloads(self, call: exp.Expr) -> list[_Function]:
        """Return the functions that a call may mean, by its schema and its number of arguments."""
        functions = self._known.get(call.name.lower(), [])
        schema = _schema_of(call)
        functions = [f for f in functions if f.body.schema == schema] or functions if schema else functions
        count = len(call.expressions)
        fitting = [f for f in functions if len(f.parameters) == count] or [
            f for f in functions if len(f.parameters) > count
        ]
        functions = fitting or [f for f in functions if f.body.is_variadic]
        # A function that is defined again has the same parameters: the first counts.
        return list({(f.body.schema, f.body.arguments): f for f in reversed(functions)}.values())[::-1]

    def _fill(self, function: _Function, call: exp.Expr) -> tuple[exp.Expr, exp.Lateral | None]:
        """Return the body with the arguments of a call in place of its parameters; its spans are those of the call.

        Also return the lateral query whose columns are the arguments, if the body could capture their names.
        """
        places = {k: v for k, v in call.meta.items() if k in _PLACE}
        alias = f"{function.body.name} {self._left}"  # unique for each call
        could_catch = function.tree.find(exp.From) is not None
        given: list[exp.Expr] = []
        values: dict[str, exp.Expr] = {}
        for position, argument in enumerate(call.expressions):
            named = isinstance(argument, exp.Kwarg | exp.PropertyEQ)
            value = argument.expression if named else argument
            if could_catch and not value.is_star and value.find(exp.Column) is not None:
                name = exp.Identifier(this=str(position), quoted=True)
                name.meta.update(places)
                given.append(exp.Alias(this=value.copy(), alias=name))
                value = exp.Column(this=name.copy(), table=exp.Identifier(this=alias, quoted=True))
            if named:
                values[self._fold(argument.this.name)] = value
            elif position < len(function.parameters):
                values[function.parameters[position]] = values[str(position + 1)] = value
            elif function.body.is_variadic:
                last = function.parameters[-1]
                values[last] = values[str(len(function.parameters))] = exp.Array(expressions=[values[last], value])
        for number, parameter in enumerate(function.parameters, 1):  # a default reads no columns
            if parameter not in values:
                values[parameter] = values[str(number)] = exp.Null()
        holder = exp.Tuple(expressions=[function.tree.copy()])
        for node in list(holder.find_all(exp.Identifier, exp.Star, exp.Func)):
            node.meta.clear()
            node.meta.update(places)
            if isinstance(node, exp.Anonymous):
                node.meta[_WITHIN] = {*call.meta.get(_WITHIN, ()), function.body.name}
        for node in list(holder.find_all(exp.Column, exp.Parameter, exp.Placeholder)):
            value = values.get(self._parameter(node, function))
            if value is not None:
                node.replace(value.copy())
        return holder.expressions[0], _lateral(exp.Select(expressions=given), alias) if given else None

    def _parameter(self, node: exp.Expr, function: _Function) -> str:
        """Return the name of the parameter that a node may refer to: `x`, `f.x`, `@x`, `$1`."""
        if isinstance(node, exp.Column):
            table = node.table
            return self._fold(node.name) if not table or table.lower() == function.body.name else ""
        marked = self._fold("@" + node.name)
        return marked if marked in function.parameters else self._fold(node.name)

    def _as_table(self, function: _Function, body: exp.Expr, given: exp.Lateral | None, where: exp.Expr) -> exp.Lateral:
        query = body if isinstance(body, exp.Query) else exp.Select(expressions=[body])
        alias = where.args.get("alias")
        if not isinstance(alias, exp.TableAlias):
            alias = exp.TableAlias(this=exp.to_identifier(function.body.name))
        if not alias.args.get("columns") and function.body.columns:
            alias = exp.TableAlias(this=alias.this, columns=_declared_columns(function.body))
        if given is not None:
            rows = _lateral(query, function.body.name)
            star = exp.Column(this=exp.Star(), table=rows.args["alias"].this.copy())
            query = exp.Select(expressions=[star], from_=exp.From(this=given), joins=[exp.Join(this=rows)])
        lateral = exp.Lateral(this=exp.Subquery(this=query), alias=alias)
        for key in ("joins", "laterals", "pivots"):
            if where.args.get(key):
                lateral.set(key, where.args[key])
        return lateral


def _schema_of(call: exp.Expr) -> str:
    """Return the schema that a call names, without case; empty if it names none."""
    outer = call.parent
    if not isinstance(outer, exp.Dot) or outer.expression is not call:
        return ""
    before = outer.this.expression if isinstance(outer.this, exp.Dot) else outer.this
    return str(before.name).lower()


def _overloaded(call: exp.Expr, statement: ParsedStatement) -> Diagnostic:
    message = f"`{call.name}` is defined for arguments of several types: which one is called is not known here"
    hint = "none of them is followed: the tables that it reads are missing"
    start, end = call.meta.get("start"), call.meta.get("end")
    span = statement.span if start is None or end is None else Span.locate(statement.text, start, end + 1)
    return Diagnostic(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, span, hint)


def _declared_columns(body: FunctionBody) -> list[exp.Expr]:
    names = ((token.text, token.token_type is TokenType.IDENTIFIER) for token in body.columns)
    return [exp.Identifier(this=name, quoted=quoted) for name, quoted in names]


def _row(query: exp.Expr, body: FunctionBody, given: exp.Lateral | None) -> exp.Select:
    """Return the query of a table function that is called as a value, with the function's names of its columns."""
    rows = _lateral(query, body.name)
    rows.args["alias"].set("columns", _declared_columns(body))
    star = exp.Column(this=exp.Star(), table=rows.args["alias"].this.copy())
    if given is None:
        return exp.Select(expressions=[star], from_=exp.From(this=rows))
    return exp.Select(expressions=[star], from_=exp.From(this=given), joins=[exp.Join(this=rows)])


def _lateral(query: exp.Expr, alias: str) -> exp.Lateral:
    name = exp.Identifier(this=alias, quoted=True)
    return exp.Lateral(this=exp.Subquery(this=query), alias=exp.TableAlias(this=name))
