"""Content of temporary tables and variables at a statement: what the statements before it wrote.

Reads come in order, so each result is kept for the next read: a table that a thousand statements fill is not merged a
thousand times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from lineage.model.dialect import Dialect
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.procedural import Names, Variables
from lineage.sql.resolve.relations import BaseTables, Relation, Sources
from lineage.sql.resolve.row_changes import after_change
from lineage.sql.script.definitions import Position
from lineage.sql.script.tables.loops import LoopReads
from lineage.sql.script.tables.renames import Renames

__all__ = ["Content", "Position", "TableContents", "VariableContents", "same", "without_rows"]


class Content(NamedTuple):
    """The content after some of the statements that add to it, and the base tables that it reads."""

    additions: list[Position]
    relation: Relation | None
    behind: dict[str, None]


def without_rows(content: Content) -> Content:
    """Return the content of a table of which all rows are gone: its columns."""
    names = list(content.relation.names) if content.relation is not None else []
    return Content([], Relation(names, [{} for _ in names]) if content.relation is not None else None, {})


class TableContents:
    """The content of temporary tables, by the statement that creates them."""

    def __init__(self) -> None:
        self._last: dict[Position, Content] = {}

    def forget(self) -> None:
        """Clear the cache after a statement is resolved again."""
        self._last.clear()

    def count_merged(self, made_by: Position, additions: list[Position]) -> int:
        """Return the number of leading additions that a table's cached content includes."""
        content = self._last.get(made_by)
        count = len(content.additions) if content is not None else 0
        return count if content is not None and additions[:count] == content.additions else 0

    def after(
        self,
        first: Content,
        made_by: Position,
        additions: list[Position],
        found: Callable[[Position], Content],
        renames: Renames,
        shared: BaseTables,
    ) -> Content:
        """Return a table's content after additions to its content at `first`; `found` returns what one addition adds.

        Base tables have their names at the last addition.
        """
        content = self._last.get(made_by)
        if content is None or additions[: len(content.additions)] != content.additions:
            content = first
        relation, behind = content.relation, dict(content.behind)
        since = content.additions[-1] if content.additions else made_by
        for addition in additions[len(content.additions) :]:
            if names := renames.between(since, addition):
                relation = names.in_relation(relation, shared) if relation is not None else None
                behind = dict.fromkeys(map(names.table, behind))
            since = addition
            more = found(addition)
            relation = (
                after_change(relation, more.relation)
                if relation is not None and more.relation is not None
                else relation
            )
            behind.update(more.behind)
        content = self._last[made_by] = Content(additions, relation, behind)
        return content


class VariableContents:
    """The content of variables, from the relations of the statements that assign them."""

    def __init__(
        self,
        dialect: Dialect,
        relations: Mapping[Position, Relation | None],
        require: Callable[[Position, str, Position], bool],
        renames: Renames,
        shared: BaseTables,
        loops: LoopReads,
    ) -> None:
        self._fold = Names(dialect).fold
        self._relations = relations
        self._require = require
        self._renames = renames
        self._shared = shared
        self._last: dict[tuple[int, str], tuple[list[int], Relation | None]] = {}
        self._loops = loops

    def forget(self) -> None:
        """Clear the cache after a statement is resolved again."""
        self._last.clear()

    def named(self, variables: Variables, parsed: ParsedStatement, number: int) -> tuple[str, ...]:
        """Return the variables of a text that a statement names, or whose columns it may."""
        words = {self._fold(token.text.lstrip("@:")) for token in parsed.tokens}
        return tuple(dict.fromkeys((*variables.named(sorted(words)), *variables.loop_rows(number))))

    def at(self, variables: Variables, position: Position, names: Iterable[str]) -> dict[str, Relation | None]:
        """Return those of a text's variables that are visible at a statement, with their content there.

        Raises:
            NeedsDefinitionError: an earlier assignment must be resolved first.
        """
        index, number = position
        held: dict[str, Relation | None] = {}
        for name in names:
            if not variables.visible(name, number):
                continue
            before, around = variables.reaching(name, number)
            relation = self._content_after(name, before, position)
            held[name] = self._later(relation, (index, before[-1]), position) if before else relation
            for at in around:
                where = (index, at)
                if where not in self._relations:
                    self._loops.note(position)
                    continue
                self._require(where, name, position)
                held[name] = _add_assignment(name, held[name], self._relations.get(where))
        return held

    def _content_after(self, name: str, before: list[int], position: Position) -> Relation | None:
        """Return a variable's content after the assignments before a statement."""
        index = position[0]
        known, relation = self._last.get((index, name), ([], None))
        if before[: len(known)] != known:
            known, relation = [], None
        settled = True
        last = known[-1] if known else None
        for at in before[len(known) :]:
            settled = self._require((index, at), name, position) and settled
            if last is not None:
                relation = self._later(relation, (index, last), (index, at))
            last = at
            relation = _add_assignment(name, relation, self._relations.get((index, at)))
        if settled:
            self._last[index, name] = before, relation
        return relation

    def _later(self, relation: Relation | None, since: Position, until: Position) -> Relation | None:
        """Return a variable's content with the names of tables and columns at a later statement."""
        return self._renames.between(since, until).in_relation(relation, self._shared) if relation is not None else None


def same(one: Relation | None, other: Relation | None) -> bool:
    """Return whether two relations have the same columns with the same sources."""
    return _sources(one) == _sources(other)


def _sources(relation: Relation | None) -> Sequence[set[tuple[str, str, int]]]:
    listed: Iterable[Sources] = relation.sources if relation is not None else ()
    return [{(source.table, source.column, effect) for source, effect in column} for column in listed]


def _add_assignment(name: str, held: Relation | None, more: Relation | None) -> Relation | None:
    """Return a variable's content with one more assignment that reaches the read."""
    if more is None:
        return held
    if name in more.names:
        more = Relation([name], [more.sources[more.names.index(name)]])
    return after_change(held, more) if held is not None else more
