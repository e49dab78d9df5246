"""The lineage of a statement by way of its CTEs: from tables to CTEs, between CTEs, and into the output.

Sub-queries in FROM are passed through; what their clauses read influences the query around them. Where it is
not certain which column of a CTE a value comes from (a star over unknown columns, a scalar sub-query), the step leads
from the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import NamedTuple

from lineage.model.influence.transformations import EdgeKind
from lineage.sql.outline.query_outline import BlockColumn, ColumnPlace, OutlinedStatement

__all__ = ["QueryColumn", "QueryStep", "cte_steps"]


class QueryColumn(NamedTuple):
    """A column of a table, of a CTE, or (with neither) of the statement's output; without a name, all of its rows."""

    table: str | None
    cte: str | None
    column: str | None


class QueryStep(NamedTuple):
    """A direct influence. `is_unchanged` says that the value is passed on as it is; `masking` that it is masked."""

    source: QueryColumn
    target: QueryColumn
    kind: EdgeKind
    is_unchanged: bool = False
    masking: bool = False


def cte_steps(statement: OutlinedStatement) -> tuple[QueryStep, ...] | None:
    """Return the steps of a statement without duplicates; None if it has no CTEs that it reads.

    A CTE has its name, with a number if several have it: `c`, `c (2)`. None is also returned where the columns of the
    statement's query are not those of its output, as in an UPDATE.

    >>> from lineage.sql.extraction import options_for
    >>> from lineage.sql.outline.outlined_text import outline_text
    >>> [found] = outline_text("WITH c AS (SELECT a + 1 AS b FROM t) SELECT b FROM c", options_for("postgres"))
    >>> for step in cte_steps(found):
    ...     print(step.source.table or step.source.cte, step.source.column, step.target.cte, step.target.column)
    t a c b
    c b None b
    """
    reader = _StepReader(statement)
    columns = len(statement.lineage.output_columns)
    outputs = list(statement.outputs())
    if not reader.ctes or not outputs or any(len(block.columns) != columns for _, block in outputs):
        return None
    return tuple(dict.fromkeys(reader.steps()))


class _StepReader:
    def __init__(self, statement: OutlinedStatement) -> None:
        self._statement = statement
        self.ctes: dict[int, str] = {}
        """The name of the CTE that a block is a query of."""
        self._columns: dict[str, tuple[str, ...]] = {}
        """The names of the columns of each CTE."""
        names: dict[tuple[int, int], str] = {}
        for mention in statement.mentions:
            if mention.named_at is None or not mention.blocks:
                continue
            place = mention.named_at.start, mention.named_at.end
            if place not in names:
                name = statement.blocks[mention.blocks[0]].name or "?"
                numbered = chain([name], (f"{name} ({number})" for number in count(2)))
                names[place] = next(one for one in numbered if one not in self._columns)
                self._columns[names[place]] = self._names_of(mention.blocks)
            self.ctes.update(dict.fromkeys(mention.blocks, names[place]))

    def _names_of(self, blocks: tuple[int, ...]) -> tuple[str, ...]:
        """Return the names of a CTE's columns as a FROM has them, so with those that it declares: `c (a, b) AS`."""
        made = tuple(column.name for column in self._statement.blocks[blocks[0]].columns)
        read = (item.columns for block in self._statement.blocks for item in block.items if item.blocks == blocks)
        return next((names for names in read if len(names) == len(made)), made)

    def steps(self) -> Iterator[QueryStep]:
        for number, block in enumerate(self._statement.blocks):
            if number not in self.ctes and not block.is_output:
                continue
            for index, column in enumerate(block.columns):
                target = self._of_block(number, index)
                values = _value_sources(column)
                for place in self._shown(column.reads):
                    # Where a value is passed on, all that it comes from is.
                    origins = self._origins(place)
                    kind = EdgeKind.CONTRIBUTES if origins <= values else EdgeKind.REFERENCES
                    masks = bool(origins) and origins <= _masked(column) - self._masked_before(place)
                    yield QueryStep(self._named(place), target, kind, column.passes_on and place in column.reads, masks)
        for reading in self._statement.readings:
            shown = self._shown_around(reading.block) if reading.influences else None
            if shown is not None:
                for place in self._shown(reading.places):
                    target = QueryColumn(None, self.ctes.get(shown), None)
                    yield QueryStep(self._named(place), target, EdgeKind.REFERENCES)

    def _of_block(self, block: int, index: int) -> QueryColumn:
        cte = self.ctes.get(block)
        if cte is None:
            return QueryColumn(None, None, self._statement.lineage.output_columns[index])
        names = self._columns[cte]
        return QueryColumn(None, cte, names[index] if index < len(names) else None)

    def _shown(self, places: Iterable[ColumnPlace]) -> Iterator[ColumnPlace]:
        """Yield the columns of tables and CTEs that columns are or, in a sub-query, come from."""
        waiting, seen = [*places], set[ColumnPlace]()
        while waiting:
            place = waiting.pop(0)
            if place in seen:
                continue
            seen.add(place)
            if place.table is not None or place.block in self.ctes:
                yield place
            elif (column := self._statement.column(place)) is not None:
                waiting += column.reads

    def _named(self, place: ColumnPlace) -> QueryColumn:
        if place.block is None:
            return QueryColumn(place.table, None, place.name)
        return self._of_block(place.block, place.column_index)

    def _origins(self, place: ColumnPlace) -> frozenset[tuple[str, str]]:
        """Return the columns of tables that the value at a place comes from."""
        column = self._statement.column(place)
        return _value_sources(column) if column is not None else frozenset({(place.table or "", place.name)})

    def _masked_before(self, place: ColumnPlace) -> frozenset[tuple[str, str]]:
        column = self._statement.column(place)
        return _masked(column) if column is not None else frozenset()

    def _shown_around(self, block: int) -> int | None:
        """Return the block, or the nearest one around it, that is of a CTE or of the output."""
        number: int | None = block
        while number is not None and number not in self.ctes and not self._statement.blocks[number].is_output:
            number = self._statement.blocks[number].outer
        return number


def _masked(column: BlockColumn) -> frozenset[tuple[str, str]]:
    """Return the columns of tables of which a column shows nothing but masked values."""
    shown = {(one.table, one.column) for one in column.sources if not one.masking}
    return _value_sources(column) - shown


def _value_sources(column: BlockColumn) -> frozenset[tuple[str, str]]:
    return frozenset(
        (one.table, one.column)
        for one in column.sources
        if one.table and one.subtype.kind is EdgeKind.CONTRIBUTES  # a recursive query reads itself without a name
    )
