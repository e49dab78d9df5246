"""Index of the statements that create, alter or change a table, by its name and in order."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter

from lineage.sql.script.definitions import Definition, Position
from lineage.sql.script.sources import Text, last_part

__all__ = ["DefinitionIndex"]


def _rank(position: Position, definition: Definition) -> tuple[bool, Position]:
    return definition.session, position


class DefinitionIndex:
    """The definitions of several texts. A text is indexed when a name that it may define is first looked up.

    `candidates` are the texts that may define a table, by the last part of its name; None if there is only one text.
    """

    def __init__(self, texts: Sequence[Text], candidates: Mapping[str, Collection[int]] | None) -> None:
        self._texts = texts
        self._candidates = candidates
        self._definers: dict[str, list[tuple[Position, Definition]]] = defaultdict(list)
        self._indexed: set[int] = set()
        self._indexed_names: set[str] = set()
        self.changes_of_rows: dict[Position | None, list[Position]] = defaultdict(list)
        """Statements that change rows of a temporary table, in order, by the statement that creates it."""
        self.emptied: dict[Position | None, list[Position]] = defaultdict(list)
        """Those of them that leave no row."""
        self.makers: dict[Position | None, list[Position]] = defaultdict(list)
        """Statements that create or alter a temporary table, likewise."""

    def find(self, name: str, use: Position) -> tuple[Position, Definition] | None:
        """Return the definition of a table that applies to a use: the latest before, else the first after."""
        part = last_part(name)
        if part not in self._indexed_names:
            self._indexed_names.add(part)
            for index in (0,) if self._candidates is None else self._candidates.get(part, ()):
                self._index(index)
        if part.startswith("@"):  # a table variable lives in its own text
            self._index(use[0])
        before: tuple[Position, Definition] | None = None
        gone: tuple[Position, Definition] | None = None
        for position, definition in self._definers_seen_by(use, name):
            elsewhere = position[0] != use[0]
            if definition.until is not None and (use > definition.until or (elsewhere and use < position)):
                # Dropped, replaced or renamed. Texts may not be in execution order, so the use may still mean it.
                if elsewhere and definition.temporary and (gone is None or position > gone[0]):
                    gone = (position, definition)
                continue
            if position < use:
                # A temporary table hides tables that are created after it, too.
                if before is None or before[0] > use or _rank(position, definition) > _rank(*before):
                    before = (position, definition)
            elif definition.alters or definition.session:
                continue
            elif before is None or (before[0] > use and position < before[0]):
                before = (position, definition)
        return before or gone

    def _definers_seen_by(self, use: Position, name: str) -> Iterator[tuple[Position, Definition]]:
        """Yield what makes a table, except for what is of another text's session."""
        for position, definition in self._definers.get(name, ()):
            is_of_other = definition.session and position[0] != use[0]
            if position != use and not definition.only_adds and not is_of_other:
                yield position, definition

    def last(self, name: str, use: Position) -> tuple[Position, Definition] | None:
        """Return the definition of the final table of a name, except one by the use itself."""
        lasting = [
            (position, definition)
            for position, definition in self._definers.get(name, ())
            if position != use and definition.until is None and not (definition.only_adds or definition.temporary)
        ]
        return max(lasting, key=itemgetter(0), default=None)

    def makes(self, name: str) -> bool:
        """Return whether a statement creates the table for other statements; call `find` first."""
        return any(not (one.only_adds or one.alters or one.temporary) for _, one in self._definers.get(name, ()))

    def _index(self, index: int) -> None:
        if index in self._indexed:
            return
        self._indexed.add(index)
        text = self._texts[index]
        text.prepare()
        for number, definitions in enumerate(text.definitions or ()):
            for definition in definitions:
                if definition.only_adds:
                    insort(self.changes_of_rows[definition.made_by], (index, number))
                    if definition.empties:
                        insort(self.emptied[definition.made_by], (index, number))
                else:
                    insort(self.makers[definition.made_by], (index, number))
                    self._definers[definition.name].append(((index, number), definition))
