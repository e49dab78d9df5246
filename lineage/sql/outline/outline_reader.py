"""Read a resolved statement's query blocks: their output columns, and what every name in them refers to.

The resolver has traced the sources already; what is read here is one step of each: which column of which FROM item a
name means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from lineage.model.diagnostics import Span
from lineage.model.statement import StatementLineage
from lineage.sql.outline.block_items import BlockItems
from lineage.sql.outline.column_flow import with_all_sources
from lineage.sql.outline.query_outline import (
    BlockColumn,
    ColumnPlace,
    NameReading,
    OutlinedStatement,
    QueryBlockOutline,
    TableMention,
    TracedSource,
)
from lineage.sql.outline.select_keywords import SelectKeywords
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import Sources, TableRows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.spans import span_of
from lineage.sql.resolve.transformation_codes import STEPS

__all__ = ["read_outline"]

Recorded = tuple[exp.Expr, Scope, Projection]


def read_outline(parsed: ParsedStatement, resolver: Resolver) -> OutlinedStatement:
    """Return the outline of a statement that was just resolved; its lineage is filled in by the caller."""
    recorded = list({id(node): (node, scope, made) for node, scope, made in resolver.blocks or ()}.values())
    recorded.sort(key=lambda one: _inside(one[0]))
    reported = len(resolver.diagnostics), len(resolver.unresolved)
    found = _OutlineReader(parsed, resolver, recorded).read()
    # Looking a name up reports what is not known of it; the statement itself has not asked.
    del resolver.diagnostics[reported[0] :], resolver.unresolved[reported[1] :]
    return found


class _OutlineReader:
    def __init__(self, parsed: ParsedStatement, resolver: Resolver, recorded: Sequence[Recorded]) -> None:
        self._parsed = parsed
        self._resolver = resolver
        self._recorded = recorded
        self._number = {id(node): number for number, (node, _, _) in enumerate(recorded)}
        self._scope_number = {id(scope): number for number, (_, scope, _) in enumerate(recorded)}
        self._meanings: dict[tuple[int, str, str | None], tuple[ColumnPlace, ...]] = {}
        self._keywords = SelectKeywords(parsed.tokens, parsed.span.end)
        self._items = [BlockItems(resolver, node, scope, self._number) for node, scope, _ in recorded]

    def read(self) -> OutlinedStatement:
        blocks: list[QueryBlockOutline] = []
        readings: list[NameReading] = []
        for number in range(len(self._recorded)):
            blocks.append(self._block(number))
            readings += self._readings(number)
        return OutlinedStatement(
            StatementLineage(""),
            self._parsed.span,
            tuple(with_all_sources(blocks)),
            tuple(readings),
            tuple(self._mentions()),
            bool(self._parsed.placeholders) or any(_is_of_template(self._parsed, one.span) for one in blocks),
        )

    def _block(self, number: int) -> QueryBlockOutline:
        node, scope, projection = self._recorded[number]
        around = self._keywords.around(_inside(node))
        whole = span_of(node) if around is None else Span.locate(self._parsed.text, *around)
        span = whole or self._parsed.span
        return QueryBlockOutline(
            span,
            _name_of(node),
            tuple(self._columns(number, projection)),
            self._items[number].listed(),
            tuple(name for name in scope.ctes if name.isprintable()),
            self._outer(node),
            _is_output(node),
        )

    def _outer(self, node: exp.Expr) -> int | None:
        above = node.parent
        while above is not None:
            if id(above) in self._number:
                return self._number[id(above)]
            above = above.parent
        return None

    def _columns(self, number: int, projection: Projection) -> Iterator[BlockColumn]:
        node = self._recorded[number][0]
        stars = [item for item in node.expressions if _is_star(item)]
        by_value = {id(_value(item)): item for item in node.expressions}
        for name, sources, expression in zip(projection.names, projection.sources, projection.expressions, strict=True):
            traced = tuple(_traced(sources))
            if expression is None:
                yield self._of_star(number, name, traced, stars)
                continue
            item = by_value.get(id(expression), expression)
            names = _names_in(expression)
            reads = tuple(dict.fromkeys(place for column in names for place in self._meant(number, column)))
            yield BlockColumn(
                name,
                span_of(item),
                _name_span(item),
                traced,
                reads,
                passes_on=isinstance(expression, exp.Column),
            )

    def _of_star(
        self, number: int, name: str, traced: tuple[TracedSource, ...], stars: Sequence[exp.Expr]
    ) -> BlockColumn:
        star: exp.Expr | None = None
        places: tuple[ColumnPlace, ...] = ()
        for each in stars:
            table = each.args.get("table") if isinstance(each, exp.Column) else None
            alias = self._resolver.identifiers.column(table) if table is not None else None
            star_places = self._items[number].having(name, alias)
            if star_places or star is None:
                star, places = each, star_places
            if star_places:
                break
        return BlockColumn(name, span_of(star), None, traced, places, from_star=True, passes_on=True)

    def _meant(self, number: int, column: exp.Expr) -> tuple[ColumnPlace, ...]:
        """Return the columns that a name in a block may refer to, in the nearest block that has it."""
        if not isinstance(column.this, exp.Identifier):
            return ()
        name = self._resolver.identifiers.column(column.this)
        table = column.args.get("table")
        alias = self._resolver.identifiers.column(table) if table is not None else None
        key = number, name, alias
        places = self._meanings.get(key)
        if places is None:
            places = self._meanings[key] = self._looked_up(number, name, alias)
        return places

    def _looked_up(self, number: int, name: str, alias: str | None) -> tuple[ColumnPlace, ...]:
        for scope in self._recorded[number][1].chain():
            block = self._scope_number.get(id(scope))
            if block is not None and (found := self._items[block].having(name, alias)):
                return found
        return ()

    def _readings(self, number: int) -> Iterator[NameReading]:
        node, _, projection = self._recorded[number]
        outputs = {name: index for index, name in reversed(list(enumerate(projection.names)))}
        for clause, value in node.args.items():
            if clause in ("with_", "from_", "laterals"):
                continue
            for part in value if isinstance(value, list) else [value]:
                if not isinstance(part, exp.Expr):
                    continue
                for column in _names_in(part):
                    if (span := span_of(column)) is None:
                        continue
                    places = self._meant(number, column)
                    own = outputs.get(self._resolver.identifiers.column(column.this)) if _is_bare(column) else None
                    if own is not None and clause not in ("expressions", "joins") and (clause == "order" or not places):
                        places = (ColumnPlace(projection.names[own], None, number, own),)
                    yield NameReading(span, number, places, influences=clause != "expressions")

    def _mentions(self) -> Iterator[TableMention]:
        tree = self._parsed.tree
        for table in tree.find_all(exp.Table) if tree is not None else ():
            if not isinstance(table.this, exp.Identifier):
                continue
            parts = (table.args.get(key) for key in ("catalog", "db", "this"))
            names = [part for part in parts if isinstance(part, exp.Identifier)]
            first, last = span_of(names[0]), span_of(names[-1])
            if first is None or last is None:
                continue
            span = first._replace(end=last.end)
            items = next((one for one in self._items if one.node is table.find_ancestor(exp.Select)), None)
            blocks, named_at = items.of_cte(table) if items is not None else ((), None)
            name = None if named_at is not None else self._resolver.existing_name(table)
            yield TableMention(span, name, blocks, named_at)


def _traced(sources: Sources) -> Iterator[TracedSource]:
    for source, effect in sources:
        if type(source) is not TableRows:
            yield TracedSource(source.table, source.column, STEPS[effect].subtype, STEPS[effect].masking)


def _names_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the column names in an expression, without those of its sub-queries."""
    if isinstance(node, exp.Query) and not isinstance(node, exp.Subquery):
        return
    for below in node.walk(prune=lambda one: isinstance(one, exp.Query)):
        if isinstance(below, exp.Column) and isinstance(below.this, exp.Identifier):
            yield below


def _is_bare(column: exp.Expr) -> bool:
    return column.args.get("table") is None


def _is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def _value(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


def _name_span(item: exp.Expr) -> Span | None:
    if isinstance(item, exp.Alias):
        return span_of(item.args["alias"])
    return span_of(item.this) if isinstance(item, exp.Column) else None


def _inside(node: exp.Expr) -> int:
    """Return an offset within a block, but in none of its sub-queries if possible."""
    for item in node.expressions:
        name = _name_span(item)
        if name is not None:
            return name.start
        if isinstance(item, exp.Star | exp.Column | exp.Literal) and (own := span_of(item)) is not None:
            return own.start
    span = span_of(node)
    return span.start if span is not None else -1


def _name_of(node: exp.Expr) -> str | None:
    """Return the name of the CTE or the alias of the sub-query that a block is a branch of."""
    above = node.parent
    while isinstance(above, exp.SetOperation):
        above = above.parent
    return (above.alias or None) if isinstance(above, exp.CTE | exp.Subquery) else None


def _is_output(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.SetOperation) or (
        isinstance(above, exp.Subquery) and not isinstance(above.parent, exp.From | exp.Join)
    ):
        above = above.parent
    return above is None or isinstance(above, exp.Create | exp.Insert)


def _is_of_template(parsed: ParsedStatement, span: Span) -> bool:
    return any(span.start <= at < span.end for at in parsed.placeholders)
