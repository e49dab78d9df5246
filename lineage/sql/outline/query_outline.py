"""What an editor asks of a statement: its query blocks, what they put out, and what each name in them refers to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lineage.frozen import frozen
from lineage.model.diagnostics import Span
from lineage.model.influence.transformations import Subtype
from lineage.model.statement import StatementLineage

__all__ = [
    "BlockColumn",
    "ColumnPlace",
    "BlockItem",
    "NameReading",
    "OutlinedStatement",
    "QueryBlockOutline",
    "TableMention",
    "TracedSource",
]


class ColumnPlace(NamedTuple):
    """A column: of a table (by its full name), or the output of a query block (by its index in the statement)."""

    name: str
    table: str | None = None
    block: int | None = None
    column_index: int = -1
    """The index of the block's output column."""


class TracedSource(NamedTuple):
    """A column of a table that an output column comes from or is influenced by."""

    table: str
    column: str
    subtype: Subtype
    masking: bool


@frozen
class BlockColumn:
    """An output column of a query block.

    `span` is that of its expression with its alias, or of the star that it comes from; `name_span` that of its name.
    `reads` are the columns that its expression reads; `passes_on` is true if it is one of them, unchanged.
    """

    name: str
    span: Span | None
    name_span: Span | None
    sources: tuple[TracedSource, ...]
    reads: tuple[ColumnPlace, ...]
    from_star: bool = False
    passes_on: bool = False


@frozen
class BlockItem:
    """An item of FROM: a table (`table` is its full name), or a query, whose branches are blocks."""

    alias: str
    table: str | None
    columns: tuple[str, ...]
    is_open: bool
    """Whether it may have columns that are not known."""
    blocks: tuple[int, ...] = ()


@frozen
class QueryBlockOutline:
    """A query block: from its SELECT to its end. `name` is that of its CTE, or the alias of its sub-query."""

    span: Span
    name: str | None
    columns: tuple[BlockColumn, ...]
    items: tuple[BlockItem, ...]
    ctes: tuple[str, ...]
    outer: int | None
    is_output: bool = False
    """Whether it is a query of the statement itself: no CTE and no sub-query."""


@frozen
class NameReading:
    """A column name in a block, and the columns that it may refer to.

    `influences` says that it is read by a clause, not by an expression of the select list.
    """

    span: Span
    block: int
    places: tuple[ColumnPlace, ...]
    influences: bool


@frozen
class TableMention:
    """The name of a table or a CTE in FROM; a CTE has the blocks of its query and the span of its name."""

    span: Span
    table: str | None
    blocks: tuple[int, ...] = ()
    named_at: Span | None = None


@frozen
class OutlinedStatement:
    """A statement with its lineage, blocks and names. `is_template`: its text has placeholders of a template."""

    lineage: StatementLineage
    span: Span
    blocks: tuple[QueryBlockOutline, ...] = ()
    readings: tuple[NameReading, ...] = ()
    mentions: tuple[TableMention, ...] = ()
    is_template: bool = False

    def outputs(self) -> Iterator[tuple[int, QueryBlockOutline]]:
        """Yield the blocks of the statement's own query with their indexes: several for a set operation."""
        return ((number, block) for number, block in enumerate(self.blocks) if block.is_output)

    def column(self, place: ColumnPlace) -> BlockColumn | None:
        """Return the output column at a place; None for the column of a table."""
        if place.block is None or not 0 <= place.column_index < len(self.blocks[place.block].columns):
            return None
        return self.blocks[place.block].columns[place.column_index]
