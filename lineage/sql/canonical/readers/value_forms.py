"""The value of an expression, as a function of the row: formatting, aliases and the order of conditions drop out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from lineage.frozen import frozen
from lineage.sql.canonical.forms.block_form import BlockForm, UnsupportedError
from lineage.sql.canonical.forms.digests import Part, digest, is_stated, spelling, tree_digest
from lineage.sql.canonical.forms.table_form import Stability, TableForm, ValueForm, worst
from lineage.sql.canonical.readers.function_kinds import FunctionKind, FunctionKinds, function_names
from lineage.sql.canonical.readers.name_lookup import find_prefixed, find_unprefixed
from lineage.sql.resolve.identifiers import Identifiers

__all__ = ["NAMES_COLUMNS", "UNKNOWN_FUNCTION", "Expressions", "conditions", "contains_aggregate"]

UNKNOWN_FUNCTION = "unknown function"
"""How the clause begins that names a function which may change the rows."""

_NAMES = ("this", "table")
_SYMMETRIC = (exp.EQ, exp.NEQ, exp.NullSafeEQ)
_TURNED: dict[type[exp.Expr], str] = {exp.GT: "LT", exp.GTE: "LTE"}
NAMES_COLUMNS = (exp.Columns, exp.Explode, exp.Posexplode, exp.Unnest, exp.Inline, exp.Stack)
"""What may make several columns of one item."""


def conditions(node: exp.Expr, kind: type[exp.Expr] = exp.And) -> Iterator[exp.Expr]:
    """Yield the operands of a chain of AND (or OR), without brackets."""
    stack = [node]
    while stack:
        operand = stack.pop()
        if isinstance(operand, exp.Paren):
            stack.append(operand.this)
        elif isinstance(operand, kind) and not isinstance(operand.args.get("expression"), list):
            stack += (operand.args["expression"], operand.args["this"])
        else:
            yield operand


def contains_aggregate(node: exp.Expr) -> bool:
    """Return whether an expression aggregates the rows of its own block: not in a window, not in a sub-query."""
    stack = [node]
    while stack:
        expression = stack.pop()
        if isinstance(expression, exp.Query):
            continue
        if isinstance(expression, exp.Window):
            function = expression.this
            while isinstance(function, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)):
                function = function.this
            stack += (arg for arg in expression.iter_expressions() if arg is not expression.this)
            stack += function.iter_expressions() if isinstance(function, exp.Expr) else ()
            continue
        if isinstance(expression, exp.AggFunc):
            return True
        stack += expression.iter_expressions()
    return False


@frozen
class Expressions:
    """Reads the expressions of one statement; `read_query` reads a query inside a block."""

    text: str
    identifiers: Identifiers
    functions: FunctionKinds
    read_query: Callable[[exp.Expr, BlockForm], TableForm]

    def value(self, node: exp.Expr, block: BlockForm) -> ValueForm:
        """Return the value of an expression in a block.

        Raises:
            UnsupportedError: it may add columns.
        """
        kind = type(node)
        if node is None:  # an operator or function with too few operands
            raise UnsupportedError
        if kind is exp.Paren:
            return self.value(node.this, block)
        if kind is exp.Column:
            return self._column(node, block)
        if kind is exp.Literal and node.meta.get("is_call"):
            block.templates.append(node.this)
            return ValueForm(digest("template", node.this, block.environment, self.aliases_in(node, block)))
        if kind in (exp.And, exp.Or):
            return self._combined(kind.__name__, conditions(node, kind), block)
        if kind in _SYMMETRIC:
            return self._combined(kind.__name__, (node.this, node.args["expression"]), block, as_set=False)
        if kind in (exp.LT, exp.LTE, exp.GT, exp.GTE):
            sides = [self.value(node.this, block), self.value(node.args["expression"], block)]
            if kind in _TURNED:
                sides.reverse()
            return _made(digest(_TURNED.get(kind, kind.__name__), [side.digest for side in sides]), sides)
        if kind is exp.Window:
            return self._window(node, block)
        if kind in (exp.Subquery, exp.Exists) or isinstance(node, exp.Query):
            return self._query(node, block)
        if isinstance(node, NAMES_COLUMNS) and not self._is_one_column(node):
            raise UnsupportedError
        return self._call(node, block)

    def _call(self, node: exp.Expr, block: BlockForm) -> ValueForm:
        """Return the value of a function or operator, by what is known of its kind."""
        kind = type(node)
        function = node.expression if kind is exp.Dot and isinstance(node.expression, exp.Func) else node
        names = () if function is node else (str(node.this),)
        match self.functions.kind(node, self.text):
            case FunctionKind.DETERMINISTIC:
                return self._generic(function, block, *names)
            case FunctionKind.AGGREGATE | FunctionKind.RANK:
                return self._generic(function, block, *names, "over", block.rows)
            case FunctionKind.ORDERED:
                more = (*names, "in order", block.rows, block.order_of_rows)
                return self._generic(function, block, *more, stability=Stability.TIES)
            case FunctionKind.VOLATILE:
                return self._generic(function, block, *names, "volatile", stability=Stability.VOLATILE)
            case FunctionKind.MOMENT:
                return self._generic(function, block, *names, "moment", stability=Stability.MOMENT)
            case FunctionKind.ROWS:
                return self._made_rows(function, block, *names, "rows")
        if isinstance(function, exp.Func) and function.find(exp.Query, exp.Star, exp.Lambda) is None:
            more = (*names, "unknown", block.rows, block.order_of_rows)  # it may be an aggregate
            return self._made_rows(function, block, *more, stability=Stability.VOLATILE)
        return self._unknown(node, block)

    def _is_one_column(self, node: exp.Expr) -> bool:
        """Return whether `explode(…) AS x` makes one column; DuckDB makes one of each field of a struct."""
        named = isinstance(node.parent, exp.Alias) and isinstance(node.parent.parent, exp.Select)
        return type(node) is exp.Explode and named and self.identifiers.dialect.name != "duckdb"

    def _made_rows(
        self, node: exp.Expr, block: BlockForm, *more: str, stability: Stability = Stability.STABLE
    ) -> ValueForm:
        """Return the value of a call that makes several rows, or may do so: how many, its arguments decide."""
        made = self._generic(node, block, *more, stability=stability)
        block.wild.append(made.digest)
        block.unknown_functions.update(self._functions_in(node))
        return made

    def _column(self, node: exp.Expr, block: BlockForm) -> ValueForm:
        name, table = node.args["this"], node.args.get("table")
        if type(name) is exp.Identifier and not any(node.args.get(key) for key in node.args if key not in _NAMES):
            column = str(self.identifiers.column(name))
            if table is not None:
                value = find_prefixed(block, str(self.identifiers.column(table)), column)
            else:
                value = find_unprefixed(block, column, lambda where, written: self.value(written, where))
            if value is not None:
                return value
        return self._unknown(node, block)

    def _combined(self, kind: str, operands: Iterator[exp.Expr] | tuple[exp.Expr, ...], block: BlockForm, *,
                  as_set: bool = True) -> ValueForm:  # fmt: skip
        """Return the value of an operator whose operands can change places: AND, OR, =, <>."""
        values = [self.value(one, block) for one in operands]
        digests = [value.digest for value in values]
        if worst(values) is Stability.VOLATILE:
            return _made(digest(kind, digests), values)
        listed = sorted(set(digests) if as_set else digests)
        return values[0] if as_set and len(listed) == 1 else _made(digest(kind, listed), values)

    def _generic(
        self, node: exp.Expr, block: BlockForm, *more: str, stability: Stability = Stability.STABLE
    ) -> ValueForm:
        """Return the value of a node that depends on its arguments, and on nothing else but `more`."""
        values: list[ValueForm] = []

        def read(arg: object) -> Part:
            if isinstance(arg, exp.Expr):
                if isinstance(arg, (exp.Identifier, exp.Var, exp.DataType, exp.Star)):
                    return tree_digest(arg, self.text)
                values.append(self.value(arg, block))
                return values[-1].digest
            return [read(one) for one in arg] if isinstance(arg, list) else repr(arg)

        args = [(key, read(arg)) for key, arg in sorted(node.args.items()) if arg != "" and is_stated(key, arg)]
        made = digest(type(node).__name__, spelling(node, self.text), args, more)
        stability = worst(values, stability)
        if type(node) in (exp.Cast, exp.TryCast) and values:
            to = node.args["to"]
            # What TRY_CAST makes NULL is decided by the type, so that its result is another value.
            uncast = values[-1].before_cast if type(node) is exp.Cast else ""
            return ValueForm(made, uncast, to.sql() if isinstance(to, exp.DataType) else None, stability)
        return ValueForm(made, stability=stability)

    def _window(self, node: exp.Expr, block: BlockForm) -> ValueForm:
        """Return the value of a window function: it depends on all rows that the clause sees."""
        merged = dict(node.args)
        base = merged.pop("alias", None)
        opened: set[str] = set()
        while base is not None:  # a named window may begin with the name of another one
            name = str(self.identifiers.column(base)) if isinstance(base, exp.Identifier) else ""
            named = block.windows.get(name)
            if named is None or name in opened:
                return self._unknown(node, block)
            opened.add(name)
            for key in ("partition_by", "order", "spec"):
                if named.args.get(key) and not merged.get(key):
                    merged[key] = named.args[key]
            base = named.args.get("alias")
        merged.pop("over", None)
        values: list[ValueForm] = []
        parts: list[Part] = []
        partition: frozenset[str] = frozenset()
        for key, arg in sorted(merged.items()):
            if arg in (None, False, []):
                continue
            listed = arg if isinstance(arg, list) else [arg]
            found = [self.value(one, block) if key != "spec" and isinstance(one, exp.Expr) else None for one in listed]
            values += (value for value in found if value is not None)
            digests = [
                value.digest if value is not None else self._frame(one, block)
                for value, one in zip(found, listed, strict=True)
            ]
            if key == "partition_by":
                digests = sorted(set(digests))
                partition = frozenset(digests)
            parts.append((key, digests))
        by_rows = str(getattr(merged.get("spec"), "args", {}).get("kind") or "") not in ("", "RANGE")
        order = block.order_of_rows if by_rows else ""
        made = digest("window", block.rows, order, parts)
        if isinstance(node.this, exp.RowNumber):
            block.unique.add(partition | {made})
        return ValueForm(made, stability=worst(values, Stability.TIES if by_rows else Stability.STABLE))

    def _frame(self, spec: object, block: BlockForm) -> str:
        """Return the digest of a window's frame; what its bounds read counts with all that they may mean."""
        if not isinstance(spec, exp.Expr):
            return repr(spec)
        bounds = block.environment if spec.find(exp.Column, exp.Query) is not None else ""
        return digest(tree_digest(spec, self.text), bounds)

    def _query(self, node: exp.Expr, block: BlockForm) -> ValueForm:
        """Return the value of a query in an expression: a scalar, EXISTS, the list of IN."""
        inner = node.this if isinstance(node, exp.Exists) else node
        relation = self.read_query(inner, block)
        content = digest("query", type(node) is exp.Exists, relation.rows, list(relation.values), relation.rest)
        reader = _reader_of(node)
        if reader in _READS_IN_ORDER:
            return ValueForm(digest(content, relation.order), stability=max(relation.all_stability, Stability.TIES))
        if reader not in _READS_A_SET and not _has_one_row(inner):
            content = digest(content, relation.order)  # some databases take the first row of several
        return ValueForm(content, stability=relation.all_stability)

    def aliases_in(self, node: exp.Expr, block: BlockForm) -> list[Part]:
        """Return the expressions of the select lists that names in a node may stand for, directly or through others."""
        found: list[Part] = []
        for level, scope in enumerate(block.chain()):
            seen: set[str] = set()
            stack = [node] if scope.aliases else []
            while stack:
                names = {str(self.identifiers.column(each)) for each in stack.pop().find_all(exp.Identifier)}
                for name in sorted((names & scope.aliases.keys()) - seen):
                    seen.add(name)
                    stack.append(scope.aliases[name])
            found += ((level, name, tree_digest(scope.aliases[name], self.text)) for name in sorted(seen))
        return found

    def _unknown(self, node: exp.Expr, block: BlockForm) -> ValueForm:
        """Return the value of something that no rule reads: its text, and all that its names may mean.

        It may be another one each time, and may change the rows, as an aggregate or an UNNEST does.
        """
        tables = [self.read_query(one, block).content for one in node.find_all(exp.Query)]
        content = digest(
            "unknown", tree_digest(node, self.text), block.environment, tables, self.aliases_in(node, block)
        )
        if isinstance(node, exp.Column):
            return ValueForm(content, stability=Stability.TIES)
        block.wild.append(content)
        block.is_unread = True
        block.unknown_functions.update(self._functions_in(node))
        return ValueForm(content, stability=Stability.VOLATILE)

    def _functions_in(self, node: exp.Expr) -> Iterator[str]:
        """Yield a phrase for each function in an expression that is not known, or returns several rows."""
        for part in node.walk(prune=lambda one: isinstance(one, exp.Query)):
            if isinstance(part, (exp.Func, exp.Dot)) and not isinstance(part.parent, exp.Dot):
                kind = self.functions.kind(part, self.text)
                if kind in (FunctionKind.UNKNOWN, FunctionKind.ROWS):
                    name = next(function_names(part, self.text)).lower()
                    yield f"rows of {name}" if kind is FunctionKind.ROWS else f"{UNKNOWN_FUNCTION} {name}"


_READS_A_SET = (exp.Exists, exp.In, exp.Any, exp.All)
"""Readers of a query for which the order of its rows does not count."""
_READS_IN_ORDER = (exp.Array,)
"""Readers of a query that keep its rows in their order."""


def _reader_of(node: exp.Expr) -> type[exp.Expr]:
    """Return the kind of node that reads a query, without brackets: that of EXISTS is EXISTS itself."""
    reader = node
    while isinstance(reader, (exp.Subquery, exp.Paren, exp.Query)) and reader.parent is not None:
        reader = reader.parent
    return type(reader)


def _has_one_row(query: exp.Expr) -> bool:
    """Return whether a query certainly has one row: it aggregates without keys."""
    while isinstance(query, (exp.Subquery, exp.Paren)):
        query = query.this
    return (
        isinstance(query, exp.Select)
        and query.args.get("group") is None
        and any(contains_aggregate(one) for one in query.expressions)
    )


def _made(made: str, values: list[ValueForm]) -> ValueForm:
    return ValueForm(made, stability=worst(values))
