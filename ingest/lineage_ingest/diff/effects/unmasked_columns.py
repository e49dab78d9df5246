"""Columns that an edit no longer masks: a value that came hashed or hidden arrives as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.statement import ColumnRef
from lineage_ingest.diff.definitions.classification import ColumnDiff, ColumnEffect, TableDiff
from lineage_ingest.diff.effects.edges import Place, ProjectEdges

__all__ = ["with_unmasked_columns"]

_VALUES = frozenset((ColumnEffect.ADDED, ColumnEffect.VALUE, ColumnEffect.RENAMED, ColumnEffect.TYPE))


def with_unmasked_columns(
    tables: Mapping[str, TableDiff], edges: tuple[ProjectEdges, ProjectEdges]
) -> dict[str, TableDiff]:
    """Return the tables with the effect UNMASKED of columns that a source reaches in clear only after the change.

    A source reaches a column masked if each way from it masks. A new column counts if a source reaches it in clear of
    which the table had a masked column, and only that: a count hides nothing that was meant to be hidden, and the hash
    of several columns is a key.
    """
    names = {table.name_before: table.name for table in tables.values() if table.name_before is not None}
    before, after = _Flow(edges[0], names), _Flow(edges[1], {})
    found = dict(tables)
    for key, table in tables.items():
        columns = [_marked(table, column, before, after) for column in table.columns]
        if columns != list(table.columns):
            found[key] = replace(table, columns=tuple(columns))
    return found


def _marked(table: TableDiff, column: ColumnDiff, before: _Flow, after: _Flow) -> ColumnDiff:
    if _VALUES.isdisjoint(column.effects):
        return column
    if column.effect is ColumnEffect.ADDED:  # beside columns that mask the same source, or instead of one
        reached = [before.sources(place, counts=False) for place in before.columns(table.name)]
        masked = set().union(*(hidden for hidden, shown in reached if len(hidden | shown) == 1))
        clear = set().union(*(shown for _, shown in reached))
    else:
        masked, clear = before.sources((table.name, column.earlier or column.name))
    if not (masked - clear) & after.sources((table.name, column.name))[1]:
        return column
    first = [one for one in column.effects if one not in (ColumnEffect.VALUE, ColumnEffect.ROWS)]
    others = [one for one in column.effects if one not in first]
    return replace(column, effects=(*first, ColumnEffect.UNMASKED, *others))


class _Flow:
    """Where the values of columns come from, over all definitions of one side."""

    def __init__(self, edges: ProjectEdges, names: Mapping[str, str]) -> None:
        self._above: dict[Place, list[tuple[Place, bool, bool]]] = defaultdict(list)
        for table, statement in edges.statements:
            for edge in statement.edges:
                if edge.kind is EdgeKind.CONTRIBUTES and isinstance(edge.target, ColumnRef):
                    source = edge.source.table or ""
                    place = (names.get(source, source), str(edge.source.column))
                    is_count = bool(edge.masking) and edge.subtype is Subtype.AGGREGATION
                    above = self._above[names.get(table, table), str(edge.target.column)]
                    above.append((place, bool(edge.masking), is_count))

    def columns(self, table: str) -> Iterator[Place]:
        """Yield the columns of a table that values flow to."""
        return (place for place in list(self._above) if place[0] == table)

    def sources(self, place: Place, *, counts: bool = True) -> tuple[set[Place], set[Place]]:
        """Return the source columns that reach a column masked, and those that reach it in clear.

        Without `counts`, what reaches it by a masking aggregate only is left out.
        """
        reached: tuple[set[Place], set[Place]] = (set(), set())
        seen: set[tuple[Place, bool]] = set()
        stack = [(place, False)]
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            where, masked = current
            above: Sequence[tuple[Place, bool, bool]] = self._above.get(where, ())
            if not above:
                reached[0 if masked else 1].add(where)
            stack += ((source, masked or masks) for source, masks, is_count in above if counts or not is_count)
        return reached
