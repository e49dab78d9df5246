"""Functions that run several statements: who calls one reads its tables, and how is not followed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.procedural import function_name, function_search_path

__all__ = ["FunctionPrograms"]

_Name = tuple[str, ...]


class FunctionPrograms:
    """The functions of a script that are programs, by name: the tables that they read, and what they call."""

    def __init__(self, dialect: Dialect, is_table: Callable[[Sequence[str]], bool]) -> None:
        """Start without functions; `is_table` tells whether a table is known by the parts of its name."""
        self._dialect = dialect
        self._is_table = is_table
        self._reads: dict[str, dict[_Name, None]] = {}
        self._calls: dict[str, set[str]] = {}

    @property
    def names(self) -> Collection[str]:
        """The names of those that read tables, or call other functions."""
        return self._reads.keys()

    def learn(self, header: ParsedStatement, following: Sequence[ParsedStatement]) -> None:
        """Add the function of a header, with the statements behind it, of which the first ones are its own."""
        name = function_name(header.tokens)
        reads: dict[_Name, None] = {}
        calls: set[str] = set()
        made: set[_Name] = set()
        for statement in following:
            step = statement.step
            if step is None or step.operation.startswith("CREATE_") or not step.blocks:
                break
            if statement.tree is not None:
                calls |= {call.name.lower() for call in statement.tree.find_all(exp.Anonymous)}
                made |= {self._parts(table) for table in _written(statement.tree) if isinstance(table, exp.Table)}
                reads.update(dict.fromkeys(self._read(statement.tree)))
        for one in made:
            reads.pop(one, None)
        path = function_search_path(header.tokens)
        if name and (reads or calls):
            self._reads.setdefault(name, {}).update((self._placed(parts, path), None) for parts in reads)
            self._calls.setdefault(name, set()).update(calls)

    def _placed(self, parts: _Name, search_path: Sequence[str]) -> _Name:
        """Return the name of a table, with its schema if the function sets its own search path."""
        if len(parts) > 1 or not search_path:
            return parts
        return next(
            (one for schema in search_path if self._is_table(one := (schema, *parts))), (search_path[0], *parts)
        )

    def _read(self, tree: exp.Expr) -> Iterator[_Name]:
        own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        written = set(map(id, _written(tree)))
        for table in tree.find_all(exp.Table):
            if id(table) in written or not isinstance(table.this, exp.Identifier):
                continue
            parts = self._parts(table)
            if len(parts) > 1 or parts[0].lower() not in own:
                yield parts

    def _parts(self, table: exp.Table) -> _Name:
        fold = self._dialect.fold_table
        return tuple(
            str(fold(part.name, quoted=bool(part.args.get("quoted"))))
            for part in table.parts
            if isinstance(part, exp.Identifier)
        )

    def with_reads(self, statement: ParsedStatement, call: exp.Expr) -> ParsedStatement:
        """Return a statement that calls one: it reads the function's tables, and is in doubt."""
        reads = self._tables_of(call.name.lower())
        if not reads:
            return statement
        message = f"`{call.name}` runs several statements: how its result depends on tables is not followed"
        hint = "the tables are lineage at table level; what the function itself does is in the graph"
        start, end = call.meta.get("start"), call.meta.get("end")
        span = statement.span if start is None or end is None else Span.locate(statement.text, start, end + 1)
        doubt = Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, span, hint)
        known = {one.message for one in statement.doubts}
        doubts = statement.doubts if doubt.message in known else (*statement.doubts, doubt)
        return replace(statement, doubts=doubts, also_reads=(*statement.also_reads, *reads))

    def _tables_of(self, name: str) -> dict[_Name, None]:
        found: dict[_Name, None] = {}
        waiting, seen = [name], set[str]()
        while waiting:
            function = waiting.pop()
            if function not in seen:
                seen.add(function)
                found.update(self._reads.get(function, {}))
                waiting += self._calls.get(function, ())
        return found


def _written(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the tables that a statement fills or makes."""
    for one in tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create):
        target = one.this
        yield target.this if isinstance(target, exp.Schema) else target
