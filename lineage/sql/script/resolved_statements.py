"""What resolved statements leave for others: the columns and relations they create, and the tables they read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lineage.model.diagnostics import Span
from lineage.model.statement import StatementLineage
from lineage.sql.resolve.edges import with_source
from lineage.sql.resolve.relations import Relation
from lineage.sql.resolve.statements import Outcome
from lineage.sql.script.definitions import Position
from lineage.sql.script.renames import Renames
from lineage.sql.script.sources import Text
from lineage.sql.script.temp_tables import Content

__all__ = ["ResolvedStatements"]


class ResolvedStatements:
    """The results of a script's statements, by position."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts = texts
        self.relations: dict[Position, Relation | None] = {}
        """The relations that statements create, or assign to variables."""
        self._schemas: dict[Position, dict[str, str | None] | None] = {}
        self._additions: dict[Position, dict[str | None, Relation]] = {}
        """The rows that statements add to temporary tables, by the table's name."""
        self._reads: dict[Position, tuple[str, ...]] = {}
        self._columns: dict[str, set[str]] = defaultdict(set)

    def keep(self, position: Position, statement: StatementLineage, outcome: Outcome | None) -> bool:
        """Store a statement's columns, contents and reads; return whether it had been resolved before."""
        if outcome is not None:
            known = outcome.schema or None
            self._schemas[position] = {c.name: c.data_type for c in known} if known else None
            self._keep_contents(position, outcome, statement.span)
        again = position in self._reads
        self._reads[position] = tuple(statement.sources)
        for reference in statement.inferred:
            if reference.table is not None:
                self._columns[reference.table].add(reference.column)
        return again

    def _keep_contents(self, position: Position, outcome: Outcome, whole: Span | None) -> None:
        """Store the relations that a statement creates or adds to; `whole` is its span in its text."""
        text = self._texts[position[0]]
        name, made = text.part_of[position[1]].name, outcome.relation
        if made is not None and any(one.temporary for one in (text.definitions or [])[position[1]]):
            made = with_source(made, name, whole)
        self.relations[position] = made
        self._additions[position] = {
            one.target: with_source(one.addition(), name, whole)
            for one in (outcome, *outcome.others)
            if one.adds_to_temporary
        }

    def schema(self, position: Position) -> dict[str, str | None] | None:
        """Return the columns that a statement defines for its target; None if they are not known."""
        return self._schemas.get(position)

    def uses(self, table: str, column: str) -> bool:
        """Return whether a statement uses a column of this name as one of the table."""
        return column in self._columns.get(table, ())

    def creation(self, position: Position, tables_behind: dict[str, None]) -> Content:
        """Return the content of a temporary table right after the statement that creates or alters it."""
        relation = self.relations.get(position)
        if relation is None:
            names = list(self._schemas.get(position) or ())
            relation = Relation(names, [{} for _ in names])
        return Content([], relation, tables_behind)

    def addition(self, position: Position, made: Position | None) -> Content:
        """Return what a statement adds to the temporary table that the statement `made` creates."""
        names = [d.name for d in (self._texts[position[0]].definitions or [])[position[1]] if d.made_by == made]
        relation = next((found for n in names if (found := self._additions.get(position, {}).get(n))), None)
        return Content([], relation, dict.fromkeys(self._reads.get(position, ())) if relation is not None else {})

    def tables_behind(self, position: Position, earlier: Iterable[Position], renames: Renames) -> dict[str, None]:
        """Return the tables that a statement and the `earlier` ones read, under their names at the statement."""
        behind = dict.fromkeys(self._reads.get(position, ()))
        for one in earlier:
            if one < position:
                names = renames.between(one, position)
                behind.update(dict.fromkeys(map(names.table, self._reads.get(one, ()))))
        return behind
