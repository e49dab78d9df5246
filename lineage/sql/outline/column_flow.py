"""What the steps between columns leave out of the sources that the resolver has traced, added as steps of their own.

A step is one name in one expression. Values also come on ways that have no such name: fields of structs that a CTE
builds, functions that are inlined, columns of GROUPING, tables that a function reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lineage.model.influence.transformations import EdgeKind
from lineage.sql.outline.query_outline import BlockColumn, ColumnPlace, QueryBlockOutline

__all__ = ["with_all_sources"]

_CONTRIBUTES = EdgeKind.CONTRIBUTES


def with_all_sources(blocks: Sequence[QueryBlockOutline]) -> Iterator[QueryBlockOutline]:
    """Yield the blocks; each column reads directly what its value comes from and no step leads to."""
    for block in blocks:
        columns = tuple(_with_missing(column, blocks) for column in block.columns)
        yield block if all(map(_is_same, columns, block.columns)) else replace(block, columns=columns)


def _is_same(one: object, other: object) -> bool:
    return one is other


def _with_missing(column: BlockColumn, blocks: Sequence[QueryBlockOutline]) -> BlockColumn:
    # A recursive query reads itself, a table without a name, while it is resolved.
    wanted = {(one.table, one.column) for one in column.sources if one.table and one.subtype.kind is _CONTRIBUTES}
    if not wanted:
        return column
    missing = wanted - _reached(column, blocks)
    added = tuple(ColumnPlace(name, table) for table, name in sorted(missing))
    return replace(column, reads=(*column.reads, *added)) if added else column


def _reached(column: BlockColumn, blocks: Sequence[QueryBlockOutline]) -> set[tuple[str, str]]:
    """Return the columns of tables that the steps from a column lead to."""
    found: set[tuple[str, str]] = set()
    seen: set[ColumnPlace] = set()
    waiting = list(column.reads)
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        if place.table is not None:
            found.add((place.table, place.name))
        elif place.block is not None and 0 <= place.column_index < len(blocks[place.block].columns):
            waiting += blocks[place.block].columns[place.column_index].reads
    return found
