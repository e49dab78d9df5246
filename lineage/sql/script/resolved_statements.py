"""What resolved statements leave for others: the columns and relations they create, and the tables they read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from lineage.frozen import frozen
from lineage.model.diagnostics import Span
from lineage.model.statement import StatementLineage
from lineage.sql.resolve.edges import with_source
from lineage.sql.resolve.relations import Relation
from lineage.sql.resolve.statements import Outcome
from lineage.sql.script.definitions import Position
from lineage.sql.script.resolutions import Columns, StatementResolution
from lineage.sql.script.sources import Text
from lineage.sql.script.tables.renames import Renames
from lineage.sql.script.tables.temp_tables import Content, same

__all__ = ["Left", "ResolvedStatements"]


@frozen
class Left:
    """What a resolved statement leaves for others: columns, the relation that it creates, the rows that it adds.

    `schema` is None if the columns are not known; `additions` are by the name of the temporary table. `swapped` is what
    the statement leaves under the name (its first value) of a table that changes places with its target.
    """

    schema: Columns | None
    relation: Relation | None
    additions: Mapping[str | None, Relation]
    swapped: tuple[str | None, Left] | None = None
    assigned: Relation | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> Left:
        """Return what a rule's outcome leaves."""
        written = (one for one in (outcome, *outcome.others) if one.adds_to_temporary)
        return cls(
            tuple((column.name, column.data_type) for column in outcome.schema) or None,
            outcome.relation,
            {one.target: one.addition() for one in written},
            None if outcome.swapped is None else (outcome.swapped.target, cls.of(outcome.swapped)),
            outcome.assigned,
        )

    @classmethod
    def of_resolution(cls, found: StatementResolution) -> Left:
        """Return what a statement that another process resolved leaves: of relations only that there are some."""
        relation = Relation([], []) if found.creates else None
        return cls(found.schema, relation, {name: Relation([], []) for name in found.adds})


class ResolvedStatements:
    """The results of a script's statements, by position."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts = texts
        self.relations: dict[Position, Relation | None] = {}
        """The relations that statements create, or assign to variables."""
        self.assigned: dict[Position, Relation | None] = {}
        """What expressions of statements assign to variables."""
        self._schemas: dict[Position, dict[str, str | None] | None] = {}
        self._swapped: dict[Position, tuple[str | None, dict[str, str | None] | None, Relation | None]] = {}
        """Names of tables that change places with a statement's target, with what is there then."""
        self.swapping: set[int] = set()
        """The texts with statements that leave something under two names."""
        self._additions: dict[Position, dict[str | None, Relation]] = {}
        """The rows that statements add to temporary tables, by the table's name."""
        self._reads: dict[Position, tuple[str, ...]] = {}
        self._columns: dict[str, set[str]] = defaultdict(set)

    def keep(self, position: Position, statement: StatementLineage, left: Left | None) -> bool:
        """Store a statement's columns, contents and reads; return whether it had been resolved before."""
        if left is not None:
            self.keep_schema(position, left.schema)
            self._keep_contents(position, left, statement.span)
            self._swapped.pop(position, None)
            if left.swapped is not None:
                name, other = left.swapped
                columns = None if other.schema is None else dict(other.schema)
                self.swapping.add(position[0])
                self._swapped[position] = name, columns, self._from_here(position, other.relation, statement.span)
        again = position in self._reads
        self._reads[position] = tuple(statement.sources)
        for reference in statement.inferred:
            if reference.table is not None:
                self._columns[reference.table].add(reference.column)
        return again

    def keep_schema(self, position: Position, columns: Columns | None) -> None:
        """Store the columns of a statement's target; None if they are not known."""
        self._schemas[position] = dict(columns) if columns is not None else None

    def _keep_contents(self, position: Position, left: Left, whole: Span | None) -> None:
        """Store the relations that a statement creates or adds to; `whole` is its span in its text."""
        name = self._texts[position[0]].part_of[position[1]].name
        self.relations[position] = self._from_here(position, left.relation, whole)
        if left.assigned is not None:
            self.assigned[position] = left.assigned
        self._additions[position] = {
            target: with_source(relation, name, whole) for target, relation in left.additions.items()
        }

    def _from_here(self, position: Position, made: Relation | None, whole: Span | None) -> Relation | None:
        """Return a relation that a statement creates, with the statement as the source if it is temporary."""
        text = self._texts[position[0]]
        if made is None or not any(one.temporary for one in (text.definitions or [])[position[1]]):
            return made
        return with_source(made, text.part_of[position[1]].name, whole)

    def contents(self, position: Position) -> tuple[Relation | None, Mapping[str | None, Relation]]:
        """Return the relation that a statement creates or assigns, and the rows that it adds, by temporary table."""
        return self.assigned.get(position) or self.relations.get(position), self._additions.get(position, {})

    def has(self, position: Position, left: tuple[Relation | None, Mapping[str | None, Relation]]) -> bool:
        """Return whether a statement leaves the same sources as in an earlier run."""
        relation, additions = self.contents(position)
        names = additions.keys() | left[1].keys()
        return same(relation, left[0]) and all(same(additions.get(one), left[1].get(one)) for one in names)

    def schema(self, position: Position, name: str | None = None) -> dict[str, str | None] | None:
        """Return the columns that a statement defines for its target, or for a table of this name that is swapped.

        None if they are not known.
        """
        swapped = self._swapped.get(position)
        return self._schemas.get(position) if swapped is None or swapped[0] != name else swapped[1]

    def uses(self, table: str, column: str) -> bool:
        """Return whether a statement uses a column of this name as one of the table."""
        return column in self._columns.get(table, ())

    def creation(self, position: Position, name: str, tables_behind: dict[str, None]) -> Content:
        """Return the content of a temporary table right after the statement that creates or alters it."""
        swapped = self._swapped.get(position)
        relation = self.relations.get(position) if swapped is None or swapped[0] != name else swapped[2]
        if relation is None:
            names = list(self.schema(position, name) or ())
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
        for earlier_position in earlier:
            if earlier_position < position:
                names = renames.between(earlier_position, position)
                behind.update(dict.fromkeys(map(names.table, self._reads.get(earlier_position, ()))))
        return behind
