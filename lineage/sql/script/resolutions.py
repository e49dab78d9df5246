"""What another process resolved a text's statements to, with every look-up that each result depends on.

A statement's lineage is a function of its text, the options, and what it is told of the tables that it looks up. So a
result from elsewhere is valid here exactly if the same look-ups, in their order, have the same answers here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from lineage.model.names import Naming
from lineage.model.spelling import Spelled
from lineage.model.statement import StatementLineage
from lineage.sql.procedural import Variables
from lineage.sql.resolve.relations import BaseTables
from lineage.sql.resolve.tables import TableEntry, TableSource
from lineage.sql.script.definitions import Definition

__all__ = [
    "Columns",
    "LookUp",
    "RecordingTables",
    "StatementResolution",
    "TablesOfText",
    "TextResolution",
    "TextSchemas",
    "are_alike",
]


Columns: TypeAlias = "tuple[tuple[str, str | None], ...]"
"""Columns with their types, in order."""


class LookUp(NamedTuple):
    """A call of a method of `TableSource`, and its answer as plain values; None: the catalog's own entry."""

    method: str
    arguments: tuple[Any, ...]
    answer: Any


class StatementResolution(NamedTuple):
    """What a statement was resolved to: with the final meaning of names or not, over which tables and variables.

    `schema` are the columns of its target; `creates` and `adds` say whether it leaves a relation to later statements,
    and to which temporary tables it adds rows. Relations themselves stay where they are: they refer to syntax trees.
    `has_outcome`: a rule resolved it.
    """

    follows_names: bool
    variables: tuple[str, ...]
    look_ups: tuple[LookUp, ...]
    statement: StatementLineage
    has_outcome: bool
    schema: Columns | None
    creates: bool
    adds: tuple[str | None, ...]


class TextSchemas(NamedTuple):
    """What a text's statements define, and the columns of their targets if they are known."""

    definitions: tuple[tuple[Definition, ...], ...]
    schemas: tuple[Columns | None, ...]


@dataclass(frozen=True, slots=True)
class TextResolution:
    """What another process found out about a text; the attributes are those of `Text`.

    `namings` is None if all are that of the options. `resolutions` has those of each statement, `parts` the index of
    its part. `stays`: it can only be resolved where it is read, because statements were resolved several times in a
    loop, or a column has a name that is not sent (`UnnamedColumn`). `seconds` is the time that the text took.
    """

    definitions: tuple[tuple[Definition, ...], ...]
    namings: tuple[Naming, ...] | None
    undone: frozenset[int]
    query_targets: tuple[tuple[int, str], ...]
    variables: Variables | None
    parts: tuple[int, ...]
    resolutions: tuple[tuple[StatementResolution, ...], ...] = ()
    stays: bool = False
    seconds: float = 0.0

    @property
    def has_contents(self) -> bool:
        """Whether statements read what earlier ones leave in variables or temporary tables."""
        return self.variables is not None or any(d.temporary for own in self.definitions for d in own)

    @property
    def schemas(self) -> TextSchemas:
        """What other texts need to know of it."""
        last = (found[-1].schema if found else None for found in self.resolutions)
        return TextSchemas(self.definitions, tuple(last))


class TablesOfText(TableSource, Protocol):
    """The tables that a statement of a script sees, with where the last one found comes from."""

    from_catalog: bool
    """The last answer of `find` is the catalog's own entry."""
    from_other_text: bool
    """An answer of `find` is the content of a temporary table of another text."""


class RecordingTables:
    """Tables that record each look-up once: while one statement is resolved, an answer does not change."""

    def __init__(self, tables: TablesOfText) -> None:
        self._tables = tables
        self._made: dict[tuple[str, tuple[Any, ...]], Any] = {}

    @property
    def shared(self) -> BaseTables:
        """The objects that all statements share."""
        return self._tables.shared

    def look_ups(self) -> tuple[LookUp, ...]:
        """Return the look-ups in their order."""
        return tuple(LookUp(method, arguments, answer) for (method, arguments), answer in self._made.items())

    def name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table that a statement creates."""
        found = self._tables.name(parts)
        self._made["name", (tuple(parts),)] = _plain(found)
        return found

    def existing(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the name of an existing table."""
        found = self._tables.existing(parts)
        self._made["existing", (tuple(parts),)] = _plain(found)
        return found

    def existing_name(self, parts: Sequence[str]) -> str:
        """Return the full name of an existing table."""
        found = self._tables.existing_name(parts)
        self._made["existing_name", (tuple(parts),)] = _plain(found)
        return found

    def find(self, parts: Sequence[str]) -> TableEntry:
        """Return the entry of a table."""
        found = self._tables.find(parts)
        self._made["find", (tuple(parts),)] = None if self._tables.from_catalog else _plain(found)
        return found

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether a schema contains a table."""
        found = self._tables.in_schema(schema, parts)
        self._made["in_schema", (tuple(schema), tuple(parts))] = found
        return found

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of these tables have a column by its use in other statements."""
        found = self._tables.seen(tables, column)
        self._made["seen", (tuple(tables), column)] = _plain(found)
        return found


def are_alike(look_ups: Sequence[LookUp], tables: TablesOfText) -> bool:
    """Return whether these tables answer look-ups, in their order, as they were answered elsewhere.

    The first different answer ends the comparison: a statement resolved here would make no other call before it.

    Raises:
        NeedsDefinitionError: a look-up needs a statement that is not resolved yet.
    """
    for method, arguments, answer in look_ups:
        found = getattr(tables, method)(*arguments)
        if method == "find":
            if tables.from_other_text or tables.from_catalog is not (answer is None):
                return False
            if answer is None:
                continue
        if _plain(found) != answer:
            return False
    return True


def _plain(answer: Any) -> Any:
    """Return an answer as values that compare exactly: order and spelling count, and relations only by being there."""
    if isinstance(answer, TableEntry):
        columns = None if answer.columns is None else tuple((_plain(n), t) for n, t in answer.columns.items())
        candidates = tuple(map(_plain, answer.candidates))
        return _plain(answer.name), columns, answer.relation is not None, answer.learnt, candidates
    if isinstance(answer, str):
        if type(answer) is str:
            return answer
        return type(answer).__name__, str(answer), answer.spelling if isinstance(answer, Spelled) else None
    if isinstance(answer, set):
        return tuple(sorted(answer))
    return answer if isinstance(answer, bool) else tuple(map(_plain, answer))
