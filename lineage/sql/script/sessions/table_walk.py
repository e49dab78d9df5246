"""Follow tables through CREATE, RENAME and DROP: what each name means at each statement, and at the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from lineage.model.names import Naming, format_name, split_name
from lineage.sql.parse.alterations import swapped_table
from lineage.sql.resolve.identifiers import Identifiers
from lineage.sql.resolve.tables import TableEntry
from lineage.sql.script.definitions import Definition, Position, definition_of, leaves_no_row, written_tables
from lineage.sql.script.sessions.temporary_ends import ALL, TemporaryEnds

__all__ = ["TableWalk"]

_INSERTING = (exp.Insert, exp.Merge, exp.MultitableInserts)
_NO_ENDS = TemporaryEnds({}, {})


def _dropped(tree: exp.Drop) -> Iterator[exp.Table]:
    """Yield the tables and views that a DROP names."""
    if (tree.args.get("kind") or "").upper() in ("TABLE", "VIEW", ""):
        yield from (one for one in tree.args.get("tables") or [tree.this] if isinstance(one, exp.Table))


@dataclass(slots=True)
class _Made:
    """A table that a text creates: the statement that creates it, and later references to it."""

    position: Position
    session: bool
    empty: bool
    dropped: bool = False
    filled: bool = False
    """Whether a statement here inserts rows."""
    replaced_by: _Made | None = None
    """What has its name after it; it is read by that name if this lasts."""
    mentions: list[tuple[Position, int]] = field(default_factory=list)
    """Statements, and indexes in their definitions."""


class TableWalk:
    """Follows tables through CREATE, RENAME and DROP in one text, or in several that run one after the other.

    A table that the texts create and later drop or replace is treated as temporary; the final meaning of the name is
    the replacement. Row changes are tracked for temporary tables only.
    """

    def __init__(self, entry_of: Callable[[str, Naming], TableEntry] = lambda name, _: TableEntry(name)) -> None:
        """Start a walk; `entry_of` returns the catalog's entry of a table, by its full name."""
        self._entry_of = entry_of
        self._statements: Sequence[tuple[exp.Expr | None, Naming]] = ()
        self._found: dict[Position, list[Definition]] = {}
        self._made: list[_Made] = []
        self._named: dict[str, list[_Made]] = defaultdict(list)
        """The meanings of a name, the latest last: a temporary table hides another table until it is dropped."""
        self._session: dict[str, str] = {}
        """Full names of temporary tables that an unqualified name finds in any default schema."""
        self._gone: dict[str, _Made] = {}
        """Tables that were created empty and are dropped: those of other texts, and those that nothing here fills."""
        self._replaced: list[tuple[_Made, _Made, str]] = []
        """Tables that a text replaces, what replaces them, and their name."""
        self._at: Position = (0, 0)
        self._certain = True
        self._pieces: Sequence[int] | None = None

    def read(
        self,
        index: int,
        trees: Sequence[exp.Expr | None],
        namings: Sequence[Naming],
        uncertain: Container[int] = (),
        pieces: Sequence[int] | None = None,
        ends: TemporaryEnds = _NO_ENDS,
        traced: Callable[[int], str | None] = lambda _: None,
    ) -> list[Naming]:
        """Read the statements of a text; return their namings, changed to find a temporary table after USE, too.

        `uncertain` are statements that may not run: they drop nothing. `pieces` is the part of the text that each
        statement is in, if other statements may run between two parts: a table that is created in one part and dropped
        in another is not temporary then. `ends` are the temporary tables that end with a transaction.
        `traced` returns the table that a statement without a tree writes, as its words say.
        """
        self._pieces = pieces
        self._statements = tuple(zip(trees, namings, strict=True))
        for stack in self._named.values():  # another session
            stack[:] = [made for made in stack if not made.session]
        self._session = {}
        new_namings: list[Naming] = []
        for number, (tree, naming) in enumerate(zip(trees, namings, strict=True)):
            self._at = (index, number)
            self._certain = number not in uncertain
            if number in ends.dropped:
                self._end_temporary(ends.dropped[number])
            new_namings.append(self._statement(tree, naming))
            if self._named and (tree is None or isinstance(tree, exp.Command)) and (written := traced(number)):
                self._write([part for part, _ in split_name(written)], new_namings[-1])
            if number in ends.emptied:
                self._empty_temporary(ends.emptied[number])
        self._statements = ()
        return new_namings

    def _statement(self, tree: exp.Expr | None, naming: Naming) -> Naming:
        self._found[self._at] = []
        elsewhere = tuple((own, full) for own, full in self._session.items() if naming.qualify([own]) != full)
        if elsewhere:
            naming = replace(naming, session_tables=elsewhere)
        if tree is None:
            return naming
        identifiers = Identifiers(naming.dialect)

        def full_name(parts: Sequence[str]) -> str:
            return self._existing(parts, naming)

        # The created table is not the temporary table of the same name.
        definition = definition_of(tree, replace(naming, session_tables=()) if elsewhere else naming, full_name)
        if isinstance(tree, exp.Drop):
            for table in _dropped(tree):
                self._drop(full_name(identifiers.table_parts(table)))
        elif (other := swapped_table(tree)) is not None:
            if not naming.versions:  # a version stays what it is
                self._swap(*(full_name(identifiers.table_parts(table)) for table in (tree.this, other)))
        elif definition is not None and definition.alters:
            self._alter(definition, full_name(identifiers.table_parts(tree.this)))
        elif definition is not None and not self._is_there_already(tree, definition):
            definition = self._create(definition, naming)
        if self._named:
            self._change_rows(tree, naming, definition.name if definition is not None else None)
        return naming

    def _change_rows(self, tree: exp.Expr, naming: Naming, defined: str | None) -> None:
        """Mention the tables of the session whose rows a statement may change, but for the one that it defines."""
        identifiers = Identifiers(naming.dialect)

        def full_name(parts: Sequence[str]) -> str:
            return self._existing(parts, naming)

        for name in written_tables(tree, identifiers, full_name):
            if (made := self._of(name)) is not None and name != defined:
                empties = made.session and self._certain and leaves_no_row(tree, naming.dialect)
                target = tree.this if isinstance(tree, exp.Merge) else None
                is_target = target is None or full_name(identifiers.table_parts(target)) == name
                made.filled |= isinstance(tree, _INSERTING) and is_target
                self._mention(made, Definition(name, only_adds=True, empties=empties))

    def _existing(self, parts: Sequence[str], naming: Naming) -> str:
        """Return the full name of an existing table, in the first schema on the search path that has it."""
        candidates = naming.candidates(parts)
        names = [naming.qualify(candidate) for candidate in candidates]
        if len(names) > 1:
            for name in names:
                if self._of(name) is not None or self._is_there(name, naming):
                    return name
        return names[0]

    def _is_there(self, name: str, naming: Naming) -> bool:
        """Return whether the catalog has a table, unless the entry may come from a later statement of this text."""
        entry = self._entry_of(name, naming)
        return entry.columns is not None and not (entry.learnt and self._makes(name))

    def _makes(self, name: str) -> bool:
        found = (definition_of(tree, naming, naming.qualify) for tree, naming in self._statements)
        return any(one is not None and one.name == name and not one.alters for one in found)

    def _is_there_already(self, tree: exp.Expr, definition: Definition) -> bool:
        """Return whether the session has a temporary table that CREATE … IF NOT EXISTS leaves as it is."""
        made = self._of(self._session.get(split_name(definition.name)[-1][0], definition.name))
        return bool(definition.temporary and tree.args.get("exists") and made is not None and made.session)

    def _of(self, name: str) -> _Made | None:
        stack = self._named.get(name)
        return stack[-1] if stack else None

    def _mention(self, made: _Made | None, definition: Definition) -> None:
        own = self._found[self._at]
        if made is not None:
            made.mentions.append((self._at, len(own)))
        own.append(definition)

    def _create(self, definition: Definition, naming: Naming) -> Definition:
        made = _Made(self._at, definition.temporary, definition.empty)
        if made.session and not naming.dialect.temp_tables_in_schemas:
            own = split_name(definition.name)[-1][0]
            if naming.dialect.temp_tables_without_schema:
                definition = replace(definition, name=format_name([own]))
            self._session[own] = definition.name
        self._made.append(made)
        stack = self._named[definition.name]
        hiding = [stack.pop()] if stack and stack[-1].session and not made.session else []  # it goes on hiding
        if stack and stack[-1].session == made.session:
            self._replace(stack, made, definition)
        elif not made.session:
            self._take_over(definition.name, made)
        stack += [made, *hiding]
        self._mention(made, definition)
        return definition

    def _replace(self, stack: list[_Made], made: _Made, definition: Definition) -> None:
        """Replace a table by another one of the same name; across texts only with OR REPLACE.

        A table that was created empty may have been filled by other statements: it is composed away only if the last
        table of its name is dropped.
        """
        old = stack[-1]
        if definition.replaces and self._certain:
            own = self._pieces is None or self._pieces[old.position[1]] == self._pieces[made.position[1]]
            old.dropped = own and not old.empty
            self._replaced += [(old, made, definition.name)] if own else []
        elif old.position[0] != made.position[0]:
            return
        self._close(stack.pop(), definition.name)

    def _drop(self, name: str) -> None:
        stack = self._named.get(name)
        if not stack or (stack[-1].position[0] != self._at[0] and not self._certain):
            return
        made = stack.pop()
        made.dropped = self._pieces is None or self._pieces[made.position[1]] == self._pieces[self._at[1]]
        self._close(made, name)
        if made.empty and not made.session and (made.position[0] != self._at[0] or not made.filled):
            self._gone[name] = made
        if made.session:
            self._session.pop(split_name(name)[-1][0], None)

    def _take_over(self, name: str, made: _Made) -> None:
        """Note that a table takes the name of one that is dropped and may have been filled by others."""
        if (gone := self._gone.pop(name, None)) is not None:
            gone.replaced_by = made

    def _end_temporary(self, makers: frozenset[int]) -> None:
        """Drop the session's temporary tables that these statements of the text created."""
        for name, stack in self._named.items():
            if stack and stack[-1].session and (makers is ALL or stack[-1].position[1] in makers):
                self._drop(name)

    def _write(self, parts: Sequence[str], naming: Naming) -> None:
        """Note that a statement of which only the table is known changes its rows."""
        name = self._existing(parts, naming)
        if (made := self._of(name)) is not None:
            self._mention(made, Definition(name, only_adds=True))

    def _empty_temporary(self, makers: frozenset[int]) -> None:
        """Remove all rows of the session's temporary tables that these statements of the text created."""
        for name, stack in self._named.items():
            if stack and stack[-1].session and stack[-1].position[1] in makers:
                self._mention(stack[-1], Definition(name, only_adds=True, empties=True))

    def _alter(self, definition: Definition, old: str) -> None:
        made = self._of(old)
        if made is not None and definition.name != old:
            if made.session and self._session.pop(split_name(old)[-1][0], None) is not None:
                own = split_name(definition.name)[-1][0]
                if len(split_name(old)) == 1:
                    definition = replace(definition, name=format_name([own]))
                self._session[own] = definition.name
            self._close(self._named[old].pop(), old, renamed=True)
            self._named[definition.name].append(made)
            self._take_over(definition.name, made)
        self._mention(made, definition)

    def _swap(self, one: str, other: str) -> None:
        """Give two tables each other's name."""
        tables = {name: self._of(name) for name in (one, other)}
        for name, made in tables.items():
            if made is not None:
                self._close(self._named[name].pop(), name, renamed=True)
        for name, made in ((other, tables[one]), (one, tables[other])):
            if made is not None:
                self._named[name].append(made)
            self._mention(made, Definition(name, alters=True))

    def _close(self, made: _Made, name: str, *, renamed: bool = False) -> None:
        """End a table's name at this statement: later uses of the name mean another table."""
        for position, place in made.mentions:
            found = self._found[position][place]
            if found.name == name and found.until is None:
                self._found[position][place] = replace(found, until=self._at, renamed=renamed)

    def result(self) -> dict[int, list[tuple[Definition, ...]]]:
        """Return what each statement of each text defines or changes."""
        ended = {id(made): made.dropped for made in self._made}
        for old, made, name in reversed(self._replaced):
            ended[id(old)] = ended[id(made)]
            if old.empty and ended[id(made)] and not self._named.get(name):
                old.dropped = True
        for made in reversed(self._made):
            if made.replaced_by is not None:
                made.dropped = made.replaced_by.dropped or made.replaced_by.session
        for made in self._made:
            temporary = made.session or made.dropped
            for position, place in made.mentions:
                self._found[position][place] = replace(
                    self._found[position][place], temporary=temporary, session=made.session, made_by=made.position
                )
        texts: dict[int, list[tuple[Definition, ...]]] = defaultdict(list)
        for (index, _), found in self._found.items():
            texts[index].append(tuple(d for d in found if d.temporary or not d.only_adds))
        return texts
