"""A name without a prefix: which relation of which block has it, or which alias of the select list it is.

SQL looks inside first (SQL:2016 6.6, identifier chain): in each block the columns of FROM, then the aliases that the
clause sees, then the block around it. A relation of unknown columns may have any: what stands further out is never
taken silently past it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import BaseTable, FunctionTable, Relation, Sources, TableRows
from lineage.sql.resolve.resolution import Resolution
from lineage.sql.resolve.scopes.alias_visibility import Clause
from lineage.sql.resolve.scopes.query_block import NO_SOURCES, QueryBlock
from lineage.sql.resolve.scopes.unnamed_reads import read_unnamed
from lineage.sql.resolve.transformation_codes import AGGREGATION, MASKED_AGGREGATION

__all__ = [
    "NAMED_VALUE",
    "aggregates",
    "is_aggregate",
    "ambiguous",
    "column_of",
    "doubtful",
    "find_unprefixed",
    "known_column",
    "may_have_any",
    "options_through",
]

NAMED_VALUE = "="
"""Prefix of the names that ClickHouse's WITH gives to values; they are kept among the names of the CTEs."""


def find_unprefixed(start: QueryBlock, column: exp.Expr, name: str) -> Sources:
    """Return the sources of an unprefixed column; what is unknown or uncertain is reported."""
    scope: QueryBlock | None = start
    nearer: QueryBlock | None = None
    while scope is not None:
        column_sources: Sources | None = None
        if name in scope.aliases and start.resolver.alias_visibility.before_columns:
            column_sources = _alias(scope, column, name)
        elif name in scope.merged:
            column_sources = scope.merged[name]
        else:
            for relation in scope.items.values():
                index = relation.index
                if index is not None and name not in index:
                    continue
                sources = (index and index[name]) or relation.find(name)
                if sources is not None:
                    if column_sources is not None:
                        column_sources = ambiguous(scope, column, name, scope.having(name), sure=True)
                        break
                    column_sources = sources
        if column_sources is None and name in scope.aliases:
            column_sources = _alias(scope, column, name)
        if column_sources is not None:
            if nearer is None or (scope.holds_variables and name in scope.merged):
                return column_sources
            return doubtful(nearer, column, name, scope, column_sources)
        if nearer is None and may_have_any(scope):
            nearer = scope
        scope = scope.parent
    if (value := start.ctes.get(NAMED_VALUE + name)) is not None:
        return value.sources[0]
    if nearer is None:  # no block sees the alias there: the SQL may be of another dialect
        for around in start.chain():
            if name in around.outputs:
                return around.outputs[name]
    if name in start.resolver.pseudo_columns:
        return NO_SOURCES
    return _infer(start, column, name)


def may_have_any(scope: QueryBlock) -> bool:
    """Return whether a relation of a block may have columns that are not known."""
    return any(relation.has_unknown_columns for relation in scope.items.values())


def _candidates(scope: QueryBlock, name: str) -> tuple[dict[str, Relation], bool]:
    """Return the relations of a block that may have a column, and whether use elsewhere says which one has it."""
    open_items = {alias: relation for alias, relation in scope.items.items() if relation.is_open}
    tables = {alias: relation for alias, relation in open_items.items() if not isinstance(relation, FunctionTable)}
    open_items = tables or open_items
    bases = {alias: relation for alias, relation in open_items.items() if isinstance(relation, BaseTable)}
    holders = scope.resolver.seen({relation.name for relation in bases.values()}, name)
    supported: dict[str, Relation] = {alias: item for alias, item in bases.items() if item.name in holders}
    return (supported, True) if len(supported) == 1 else (open_items, bool(supported))


def doubtful(scope: QueryBlock, column: exp.Expr, name: str, outer: QueryBlock, known: Sources) -> Sources:
    """Return the sources of a name that a block may have and an outer block has: those in the nearer block.

    The text does not tell whether the nearer one has it, so this is reported, unless use elsewhere shows it.
    """
    candidates, seen = _candidates(scope, name)
    if name in candidates and not seen and _names_row(scope, name, candidates[name]):
        return scope.whole_row(name)
    if seen and len(candidates) == 1:
        return next(iter(candidates.values())).infer(name) or known
    options = _all_options(candidates, name)
    around = next((alias for alias, item in outer.items.items() if item.find(name) is not None), "the query around it")
    if not options or all(isinstance(item, FunctionTable) for item in candidates.values()):
        # A table function has no column to infer; most return one value under a name of its own.
        return ambiguous(scope, column, name, {**options, around: known})
    _report(scope, column, name, [*options, around], options)
    return _mark(scope, options)


def _alias(scope: QueryBlock, column: exp.Expr, name: str) -> Sources | None:
    """Return the sources of a visible alias that no known column hides; None where the name cannot be the alias.

    A table of unknown columns may have one of that name, which would hide it: then both are said.
    """
    alias, clause = scope.aliases[name], scope.clause
    written = scope.written.get(name)
    if clause is Clause.ROWS and written is not None and (aggregates(scope.resolver, written) or _windows(written)):
        return None
    if clause is Clause.KEY:
        return alias
    if clause is Clause.QUALIFY and written is not None and _windows(written):
        scope.resolver.presumed |= may_have_any(scope)
        return alias
    if scope.resolver.alias_visibility.before_columns or not may_have_any(scope):
        return alias
    candidates, seen = _candidates(scope, name)
    through = _all_options(candidates, name)
    columns = {(source.table, source.column) for source, _ in alias}
    if not through:
        return alias
    if seen or any((s.table, s.column) in columns for found in through.values() for s, _ in found):
        # The alias is computed from a column of that name, `upper(name) AS name`: FROM has it, so it hides the alias.
        return next(iter(through.values())) if len(through) == 1 else ambiguous(scope, column, name, through)
    _report(scope, column, name, [*through, "the select list"], {**through, "": alias})
    return _mark(scope, {**through, "": alias})


def aggregates(resolver: Resolution, expression: exp.Expr) -> bool:
    """Return whether an expression aggregates rows of its own block, not only those of a sub-query."""
    nodes = expression.walk(prune=lambda below: isinstance(below, exp.Query))
    return any(is_aggregate(resolver, node) for node in nodes)


def is_aggregate(resolver: Resolution, node: exp.Expr) -> bool:
    """Return whether a node is the call of an aggregate."""
    if isinstance(node, exp.Anonymous):
        return resolver.functions.of_name(node.name) in (AGGREGATION, MASKED_AGGREGATION)
    return isinstance(node, exp.AggFunc)


def _windows(expression: exp.Expr) -> bool:
    nodes = expression.walk(prune=lambda below: isinstance(below, exp.Query))
    return any(isinstance(node, exp.Window) for node in nodes)


def _infer(start: QueryBlock, column: exp.Expr, name: str) -> Sources:
    """Return the sources of a name that no relation is known to have."""
    resolver = start.resolver
    if column.this.args.get("quoted") and resolver.naming.dialect.unnamed_column_text is not None:
        known = [item for scope in start.chain() for item in scope.items.values() if not item.is_open]
        if known and (unnamed := read_unnamed(start, known, name, column)) is not None:
            return unnamed
    may_be_text = _is_string(resolver, column) and _is_compared_with(column)
    if may_be_text and not column.name.isidentifier():
        return NO_SOURCES  # its text is that of a value, not of a name
    for scope in start.chain():
        if (found := _infer_in_block(scope, start, column, name, may_be_text)) is not None:
            return found
    if start.item(name) is not None:
        return start.whole_row(name)
    return NO_SOURCES if _is_string(resolver, column) else _unknown_column(start, column, name)


def _infer_in_block(
    scope: QueryBlock, start: QueryBlock, column: exp.Expr, name: str, may_be_text: bool
) -> Sources | None:
    """Return the sources of a name through the relations of one block that may have it; None where there are none."""
    resolver = start.resolver
    candidates, seen = _candidates(scope, name)
    if not candidates:
        return None
    if may_be_text and not seen:
        resolver.report(
            DiagnosticCode.AMBIGUOUS_COLUMN,
            Severity.WARNING,
            f"a string in double quotes, or a column of {' or '.join(map(_describe, candidates))}",
            column,
            hint="write strings in single quotes, or give the tables' schemas with --catalog",
        )
        return _mark(start, _all_options(candidates, name))
    if name in scope.items and not seen and _names_row(scope, name, candidates.get(name)):
        resolver.presumed = True
        return start.whole_row(name)
    if len(candidates) == 1 and (found := next(iter(candidates.values())).infer(name)) is not None:
        return found
    return ambiguous(start, column, name, _all_options(candidates, name))


def _all_options(candidates: Mapping[str, Relation], name: str) -> dict[str, Sources]:
    """Return where a name may come from, by the aliases of the relations that may have it."""
    return {key: found for alias, item in candidates.items() for key, found in options_through(alias, item, name)}


def _unknown_column(start: QueryBlock, column: exp.Expr, name: str) -> Sources:
    """Return the column of the only table there is, whatever its schema says; report it where there are several."""
    resolver = start.resolver
    nearest = next((scope for scope in start.chain() if scope.items), None)
    if nearest is None:
        if name.lower() in _VALUES and not column.this.args.get("quoted"):
            return NO_SOURCES
        resolver.report(
            DiagnosticCode.UNKNOWN_COLUMN,
            Severity.WARNING,
            f"`{name}` is no column, because there is no FROM: what it stands for is not known",
            column,
            hint="if it is a variable, the statement that assigns it must be in the same file or session",
        )
        return NO_SOURCES
    nearby = [relation for relation in nearest.items.values() if isinstance(relation, BaseTable)]
    if len(nearby) == 1:
        return column_of(start, nearby[0], name, column, nearby[0].name)
    known = [known for scope in start.chain() for item in scope.items.values() for known, _ in item.columns()]
    resolver.unresolved_name(DiagnosticCode.UNKNOWN_COLUMN, name, column, known)
    resolver.report(
        DiagnosticCode.UNKNOWN_COLUMN,
        Severity.ERROR,
        f"no column `{name}` in " + ", ".join(sorted({key for s in start.chain() for key in s.items})),
        column,
        hint=resolver.nearest(name, known),
    )
    return NO_SOURCES


_VALUES = frozenset(("user", "utc_date", "utc_time", "utc_timestamp", "default"))
"""Words that some dialects read as calls without brackets."""


def _is_string(resolver: Resolution, column: exp.Expr) -> bool:
    """Return whether a name in double quotes that no table has is a string (https://sqlite.org/quirks.html, 8)."""
    return resolver.naming.dialect.unknown_quoted_names_are_strings and bool(column.this.args.get("quoted"))


def _is_compared_with(column: exp.Expr) -> bool:
    """Return whether something is compared with a value: it follows an operator, or is in a list of IN."""
    parent, key = column.parent, column.arg_key
    if isinstance(parent, exp.In | exp.Between):
        return key != "this"
    return isinstance(parent, exp.Binary) and key == "expression"


def _names_row(scope: QueryBlock, alias: str, relation: Relation | None) -> bool:
    """Return whether a bare name that is an alias in FROM means the whole row.

    It does if the relation has no column of that name (None), or if it is a table of unknown columns under another
    name than its own.
    """
    if not scope.resolver.naming.dialect.rows_by_alias:
        return False
    return relation is None or (
        isinstance(relation, BaseTable) and relation.name.rpartition(".")[2].strip('"').lower() != alias.lower()
    )


def options_through(alias: str, relation: Relation, name: str) -> Iterator[tuple[str, Sources]]:
    """Yield where a name may come from through a relation: itself, or each of the unknown tables behind its stars."""
    found = relation.infer(name)
    if found is not None:
        yield alias, found
        return
    for number, behind in enumerate(relation.opens, start=1):
        own = behind.name if isinstance(behind, BaseTable) else alias if number == 1 else f"{alias} (star {number})"
        yield from options_through(own, behind, name)


def ambiguous(
    scope: QueryBlock, column: exp.Expr, name: str, options: Mapping[str, Sources], *, sure: bool = False
) -> Sources:
    """Return the sources of a name that may belong to several relations, from each of them, and report it."""
    if len(options) == 1:  # one table behind a star, read twice
        return next(iter(options.values()))
    _report(scope, column, name, options, options, sure=sure)
    return _mark(scope, options)


def _report(
    scope: QueryBlock,
    column: exp.Expr,
    name: str,
    owners: list[str] | Mapping[str, Sources],
    options: Mapping[str, Sources],
    *,
    sure: bool = False,
) -> None:
    code = DiagnosticCode.AMBIGUOUS_COLUMN
    scope.resolver.report(
        code,
        Severity.WARNING,
        f"column `{name}` may belong to " + " or ".join(map(_describe, owners)),
        column,
        hint="write the table's alias before the column"
        + ("" if sure else ", or give the tables' schemas with --catalog"),
    )
    columns = (str(s) for found in options.values() for s, _ in found)
    scope.resolver.unresolved_name(code, name, column, columns, nearest=False)


def _describe(alias: str) -> str:
    """Return a relation's name for a message; the key of one without an alias begins with `?`."""
    return "what FROM has without an alias" if alias.startswith("?") else alias if " " in alias else f"`{alias}`"


def _mark(scope: QueryBlock, options: Mapping[str, Sources]) -> Sources:
    marked: Sources = {}
    for sources in options.values():
        for (source, effect), place in sources.items():
            if type(source) is TableRows:
                marked.setdefault((source, effect), place)
                continue
            doubt = scope.resolver.source(source.table, source.column, ambiguous=True)
            marked.setdefault((doubt, effect), place)
    return marked


def known_column(relation: Relation, name: str) -> Sources | None:
    """Return the sources of a column that a relation has, or may have; None if it has no such column."""
    found = relation.find(name)
    return found if found is not None else (relation.infer(name) if relation.is_open else None)


def column_of(block: QueryBlock, relation: Relation, name: str, column: exp.Expr, alias: str) -> Sources:
    """Return the sources of a column of a relation; report one that it is not known to have."""
    if name in block.resolver.pseudo_columns and relation.find(name) is None:
        return NO_SOURCES
    found = known_column(relation, name)
    if found is not None:
        return found
    if relation.is_open and (options := dict(options_through(alias, relation, name))):
        return ambiguous(block, column, name, options)
    if (unnamed := read_unnamed(block, [relation], name, column)) is not None:
        return unnamed
    known = [known for known, _ in relation.columns()]
    block.resolver.report(
        DiagnosticCode.UNKNOWN_COLUMN,
        Severity.WARNING if isinstance(relation, BaseTable) else Severity.ERROR,
        f"no column `{name}` in {relation.name if isinstance(relation, BaseTable) else alias}",
        column,
        hint=block.resolver.nearest(name, known),
    )
    owner = relation.name if isinstance(relation, BaseTable) else alias
    block.resolver.unresolved_name(DiagnosticCode.UNKNOWN_COLUMN, f"{owner}.{name}", column, known)
    # The statement ran somewhere: the schema is more likely to be old than the SQL to be wrong.
    return relation.infer(name) if isinstance(relation, BaseTable) else NO_SOURCES
