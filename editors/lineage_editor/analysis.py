"""A document that was read: its statements with their outlines, and which name is at an offset."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from lineage.catalog import Catalog
from lineage.model.diagnostics import Span
from lineage.model.statement import ColumnRef
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.outline.outlined_text import outline_again
from lineage.sql.outline.query_outline import BlockColumn, ColumnPlace, OutlinedStatement, TableMention
from lineage.sql.script.kept_statements import KeptStatements

__all__ = ["DocumentAnalysis", "NameAtCursor", "PlacedColumn"]

_CONTROL = re.compile(r"\{%-?\s*(?:(?:if|elif|else|for|macro|call|filter|raw)\b|set\s+\w+\s*-?%\})")


@dataclass(frozen=True)
class PlacedColumn:
    """A column of the document: of a statement's block, or of a table."""

    place: ColumnPlace
    statement: int


@dataclass(frozen=True)
class NameAtCursor:
    """A name in the document: the columns that it may mean, or a table."""

    span: Span
    statement: int
    columns: tuple[PlacedColumn, ...] = ()
    mention: TableMention | None = None


class DocumentAnalysis:
    """The statements of a text. Names resolve against each other and the catalog, as in an ingest."""

    def __init__(
        self,
        text: str,
        options: ExtractionOptions,
        catalog: Catalog | None = None,
        path: str = "",
        proceed: Callable[[], None] = lambda: None,
        before: DocumentAnalysis | None = None,
    ) -> None:
        """Read a text; statements that are as they were in `before` are not resolved again."""
        self.text = text
        self.options = options
        kept = before._kept if before is not None else None
        self.statements: list[OutlinedStatement]
        self._kept: KeptStatements
        self.statements, self._kept = outline_again(kept, text, options, catalog, path, proceed)
        self.has_control = _CONTROL.search(text) is not None
        """Whether it is a template whose parts are chosen or repeated when it is rendered."""

    @property
    def tables(self) -> set[str]:
        """The full names of all tables that the text mentions."""
        found = {name for one in self.statements for name in (*one.lineage.sources, *one.lineage.targets)}
        return found | {mention.table for one in self.statements for mention in one.mentions if mention.table}

    def statement_at(self, offset: int) -> int | None:
        """Return the index of the statement at an offset, or of the last one before it; None before the first."""
        found = [number for number, one in enumerate(self.statements) if one.span.start <= offset]
        return found[-1] if found else None

    def name_at(self, offset: int) -> NameAtCursor | None:
        """Return the name at an offset; None if there is none that means a column or a table."""
        number = self.statement_at(offset)
        if number is None:
            return None
        statement = self.statements[number]
        readings = [one for one in statement.readings if _is_in(offset, one.span) and one.places]
        if readings:
            nearest = min(readings, key=lambda one: one.span.end - one.span.start)
            return NameAtCursor(nearest.span, number, tuple(PlacedColumn(place, number) for place in nearest.places))
        for block, outline in enumerate(statement.blocks):
            for index, column in enumerate(outline.columns):
                if column.name_span is not None and _is_in(offset, column.name_span):
                    place = ColumnPlace(column.name, None, block, index)
                    return NameAtCursor(column.name_span, number, (PlacedColumn(place, number),))
        for mention in statement.mentions:
            for span in (mention.span, mention.named_at):
                if span is not None and _is_in(offset, span):
                    return NameAtCursor(span, number, mention=mention)
        return self._by_edge(offset, number)

    def _by_edge(self, offset: int, number: int) -> NameAtCursor | None:
        """Return the column that an edge reads at an offset: in statements without query blocks."""
        edges = self.statements[number].lineage.edges
        candidates = [(edge.span, edge.source) for edge in edges if edge.span is not None and _is_in(offset, edge.span)]
        if not candidates:
            return None
        span = min((span for span, _ in candidates), key=lambda span: span.end - span.start)
        if any(each.isspace() for each in self.text[span.start : span.end]):
            return None
        sources = dict.fromkeys(source for at, source in candidates if at == span)
        places = tuple(PlacedColumn(ColumnPlace(one.column, one.table), number) for one in sources if one.column != "*")
        return NameAtCursor(span, number, places) if places else None

    def column(self, placed: PlacedColumn) -> BlockColumn | None:
        """Return the output column of a block; None for a column of a table."""
        return self.statements[placed.statement].column(placed.place)

    def made_by(self, table: str, column: str) -> Iterator[PlacedColumn]:
        """Yield the outputs of the statements of this text that write a column of a table."""
        for number, statement in enumerate(self.statements):
            if statement.lineage.target != table:
                continue
            for block, outline in statement.outputs():
                names = statement.lineage.output_columns
                if column in names and (index := names.index(column)) < len(outline.columns):
                    yield PlacedColumn(ColumnPlace(outline.columns[index].name, None, block, index), number)

    def target_of(self, placed: PlacedColumn) -> ColumnRef | None:
        """Return the column of a table that an output column becomes; None inside a query or for a bare SELECT."""
        place, statement = placed.place, self.statements[placed.statement]
        if place.block is None:
            return ColumnRef(place.table, place.name)
        names = statement.lineage.output_columns
        if not statement.blocks[place.block].is_output or place.column_index >= len(names):
            return None
        return ColumnRef(statement.lineage.target, names[place.column_index])

    def origins(self, placed: PlacedColumn) -> list[PlacedColumn]:
        """Return where a column is made: through stars, and columns that are only passed on, to an expression.

        A column of a table that this text does not make ends the way.
        """
        found: dict[PlacedColumn, None] = {}
        seen: set[PlacedColumn] = set()
        waiting = [placed]
        while waiting:
            candidate = waiting.pop()
            if candidate in seen:
                continue
            seen.add(candidate)
            column = self.column(candidate)
            if column is not None and column.passes_on and column.reads:
                waiting += [PlacedColumn(place, candidate.statement) for place in column.reads]
                continue
            made = (
                list(self.made_by(candidate.place.table, candidate.place.name))
                if candidate.place.table is not None
                else []
            )
            if made and not seen.issuperset(made):
                waiting += made
            else:
                found[candidate] = None
        return list(found)

    @cached_property
    def _readers(self) -> dict[PlacedColumn | ColumnRef, list[PlacedColumn]]:
        found: dict[PlacedColumn | ColumnRef, list[PlacedColumn]] = defaultdict(list)
        for number, statement in enumerate(self.statements):
            for block, outline in enumerate(statement.blocks):
                for index, column in enumerate(outline.columns):
                    own = PlacedColumn(ColumnPlace(column.name, None, block, index), number)
                    for place in column.reads:
                        found[self._node(PlacedColumn(place, number))].append(own)
        return found

    def _node(self, placed: PlacedColumn) -> PlacedColumn | ColumnRef:
        place = placed.place
        return placed if place.block is not None else ColumnRef(place.table, place.name)

    def flows_to(self, placed: PlacedColumn) -> list[ColumnRef]:
        """Return the columns of this text's targets that the value of a column flows to, in order."""
        found: dict[ColumnRef, None] = {}
        seen: set[PlacedColumn | ColumnRef] = set()
        waiting = [self._node(placed)]
        while waiting:
            node = waiting.pop(0)
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, PlacedColumn):
                target = self.target_of(node)
                if target is not None:
                    if node != placed:
                        found[target] = None
                    waiting.append(target)
            waiting += self._readers.get(node, ())
        return list(found)

    def influences(self, placed: PlacedColumn) -> list[str]:
        """Return what a column influences in this text through WHERE, JOIN, GROUP BY and so on: targets and queries."""
        node, found = self._node(placed), dict[str, None]()
        for number, statement in enumerate(self.statements):
            for reading in statement.readings:
                if reading.influences and any(self._node(PlacedColumn(one, number)) == node for one in reading.places):
                    block = statement.blocks[reading.block]
                    found[block.name or statement.lineage.target or "the result"] = None
        return list(found)


def _is_in(offset: int, span: Span) -> bool:
    return span.start <= offset <= span.end
