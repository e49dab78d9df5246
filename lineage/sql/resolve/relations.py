"""Relations: the columns of a table, a sub-query, a CTE or a join's side, as the query that reads it sees them.

Every column of a relation has its sources already traced to base columns, so a column that is read a hundred times is
traced once. A relation's influences on its rows form a graph (`RowSources`) that is flattened once, at the end of the
statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp

from lineage.model.influence.evidence import MAX_READS
from lineage.model.names import column_text
from lineage.model.statement import ColumnRef, EarlierStatement, RowIdType, TableRef
from lineage.sql.resolve.column_names.unnamed_column import UnnamedColumn
from lineage.sql.resolve.transformation_codes import COMPOSE, FIRST_MASKED, IDENTITY, ROWS

__all__ = [
    "STAR",
    "BaseTable",
    "BaseTables",
    "Composite",
    "FieldPath",
    "FunctionTable",
    "Mention",
    "OfTemporary",
    "Relation",
    "RenamedStar",
    "RowSources",
    "SeveralMentions",
    "ColumnSource",
    "Sources",
    "TableRows",
    "TemporaryTable",
    "absorb",
    "absorb_rows",
    "both_mentions",
    "is_earlier",
    "with_mention",
    "nest_mention",
]

_NUMBER = re.compile(r"(?<!^):\d*$")
"""The number that SQLite has given to a repeated name, which it replaces."""
STAR = "*"
"""The name of the entry for all columns of a table whose schema is unknown."""


class FieldPath(str):
    """The path of a nested field as text, in place of a column's name: UPDATE may set fields."""

    __slots__ = ()


class ColumnSource:
    """A column of a base table, by its path as text. There is one object per column, so identity is equality."""

    __slots__ = ("ambiguous", "column", "reference", "table")

    def __init__(self, table: str, column: str, ambiguous: bool = False) -> None:
        self.table = table
        self.column = column
        self.ambiguous = ambiguous
        self.reference: ColumnRef | TableRef = ColumnRef(table, column)
        """The column that an edge from here refers to."""

    def __repr__(self) -> str:
        return f"{self.table}.{self.column}"


class TableRows(ColumnSource):
    """The rows of a base table: which rows exist determines the rows of a query over the table."""

    __slots__ = ()

    def __init__(self, table: str) -> None:
        super().__init__(table, "")
        self.reference = TableRef(table)


Mention: TypeAlias = "exp.Expr | EarlierStatement | tuple[Mention, exp.Expr] | SeveralMentions | None"
"""The node where a column is read, nested with the nodes where the result is read again: `((a, b), c)`."""


class SeveralMentions(tuple["Mention", ...]):
    """Mentions of one source with one effect: `left(email, 1) || email` reads it twice, and only once in part."""

    __slots__ = ()


Sources: TypeAlias = "dict[tuple[ColumnSource, int], Mention]"
"""Base columns and their effects, each with its mention; None: the mention is the node that reads it."""


class Composite(dict[tuple[ColumnSource, int], "Mention"]):
    """The sources of a value with fields: a struct that the query builds (`fields`), or an element of `whole`."""

    __slots__ = ("closed", "fields", "lists", "whole")

    def __init__(
        self,
        sources: Sources,
        fields: Mapping[str, Sources] | None = None,
        whole: Sources | None = None,
        *,
        lists: int = 0,
        closed: bool = False,
    ) -> None:
        super().__init__(sources)
        self.fields = fields
        self.whole = whole
        self.lists = lists
        """How many arrays are around the value that has the fields."""
        self.closed = closed
        """Whether a key that is not among the fields reads nothing: a JSON document."""

    def of(self, sources: Sources) -> Composite:
        """Return a value with other sources and the same fields."""
        return Composite(sources, self.fields, self.whole, lists=self.lists, closed=self.closed)

    def listed(self) -> Composite:
        """Return an array of such values."""
        return Composite(self, self.fields, self.whole, lists=self.lists + 1, closed=self.closed)

    def changed(self, sources: Sources, change: Callable[[Sources], Sources]) -> Composite:
        """Return a value with other sources, and each of its fields changed, if these are known."""
        listed = self.fields if self.fields is not None and STAR not in self.fields else None
        fields = None if listed is None else {name: change(inner) for name, inner in listed.items()}
        whole = None if self.whole is None else change(self.whole)
        return Composite(sources, fields, whole, lists=self.lists, closed=self.closed)


class OfTemporary(dict[tuple[ColumnSource, int], "Mention"]):
    """The sources of a column of a temporary table, each with the statement that wrote it, if known."""

    __slots__ = ()


def absorb(sink: Sources, sources: Sources, effect: int, mention: exp.Expr | None) -> None:
    """Add `sources`, composed with `effect`, to `sink`.

    Of a source whose value flows unmasked all mentions are kept, else the first.
    """
    composed = COMPOSE[effect]
    for (source, inner), place in sources.items():
        code = composed[inner]
        key = (source, code)
        if key not in sink:
            sink[key] = mention if place is None else place if mention is None else (place, mention)
        elif code < FIRST_MASKED:
            read = mention if place is None else place if mention is None else (place, mention)
            sink[key] = both_mentions(sink[key], read)


def both_mentions(first: Mention, second: Mention) -> Mention:
    """Return the mention of a source that is read in two ways."""
    if first is second:
        return first
    known = first if type(first) is SeveralMentions else (first,)
    if len(known) >= MAX_READS:
        return first
    more = second if type(second) is SeveralMentions else (second,)
    new = (one for one in more if all(one is not each for each in known))
    return SeveralMentions((*known, *new)[:MAX_READS])


def nest_mention(first: Mention, then: Mention) -> Mention:
    """Return the mention of a source that is read at `first`, and whose result is read at `then`."""
    outer: list[exp.Expr] = []
    while isinstance(then, tuple) and not isinstance(then, SeveralMentions):
        then, last = then
        outer.append(last)
    mention = first
    if type(then) is SeveralMentions:
        mention, then = SeveralMentions(nest_mention(first, one) for one in then), None
    for node in (then, *reversed(outer)):
        if mention is None:
            mention = node
        elif isinstance(node, exp.Expr):
            mention = (mention, node)
    return mention


def with_mention(sources: Sources, mention: exp.Expr) -> Sources:
    """Return the sources with `mention` where they have none; existing mentions are shared."""
    if type(sources) is dict and len(sources) == 1:  # nearly all
        [(only, at)] = sources.items()
        return sources if at is not None else {only: mention}
    if type(sources) is not OfTemporary and None not in sources.values():
        return sources
    found: Sources = {
        key: (place, mention) if is_earlier(place) else place or mention for key, place in sources.items()
    }
    return sources.of(found) if isinstance(sources, Composite) else found


def is_earlier(mention: Mention) -> bool:
    """Return whether a mention is all in earlier statements."""
    if type(mention) is SeveralMentions:
        return all(map(is_earlier, mention))
    return type(mention) is EarlierStatement


class RowSources:
    """What determines the rows of a relation: its own influences, and those of the relations that it reads."""

    __slots__ = ("inputs", "own")

    def __init__(self) -> None:
        self.own: Sources = {}
        self.inputs: list[RowSources] = []


def absorb_rows(sink: Sources, rows: RowSources | None, effect: int = IDENTITY) -> None:
    """Add all influences on rows to `sink`: with their own subtype if `effect` is a value's, else with `effect`."""
    if rows is None:
        return
    seen = {id(rows)}
    stack = [rows]
    composed = COMPOSE[effect]
    while stack:
        node = stack.pop()
        if effect == IDENTITY and sink.keys().isdisjoint(node.own):
            sink.update(node.own)
        elif effect == IDENTITY:  # the keys do not change
            for key, place in node.own.items():
                if key not in sink:
                    sink[key] = place
        else:
            for (source, inner), place in node.own.items():
                key = (source, composed[inner])
                if key not in sink:
                    sink[key] = place
        for below in node.inputs:
            if id(below) not in seen:
                seen.add(id(below))
                stack.append(below)


class Relation:
    """Named columns in order, each with its sources.

    An entry named `*` represents the unknown columns of a table; `opens` are the relations of such entries, in which
    other names are looked up.
    """

    __slots__ = ("index", "names", "opens", "rows", "sources")

    def __init__(
        self,
        names: list[str],
        sources: list[Sources],
        rows: RowSources | None = None,
        opens: Sequence[Relation] = (),
    ) -> None:
        self.names = names
        self.sources = sources
        self.rows = rows
        self.opens = list(opens)
        self.index: dict[str, Sources | None] | None = None
        """Index of the known columns, built on first use."""

    @property
    def is_open(self) -> bool:
        """Whether it may have columns besides those named."""
        return bool(self.opens)

    @property
    def has_unknown_columns(self) -> bool:
        """Whether `*` may stand for more columns than those named."""
        return self.is_open

    def find(self, name: str) -> Sources | None:
        """Return the sources of a known column; None if there is none of that name."""
        index = self.index
        if index is None:
            # Of columns with the same name the first is used, so it is written last.
            index = self.index = dict(zip(reversed(self.names), reversed(self.sources), strict=True))
            if UnnamedColumn in map(type, self.names):  # a query reads them by their names without masks
                for column, sources in zip(self.names, self.sources, strict=True):
                    if isinstance(column, UnnamedColumn):
                        index.setdefault(column.text, sources)
        return index.get(name)

    def infer(self, name: str) -> Sources | None:
        """Return the sources of a column that must come from a star over an unknown table, if that is unambiguous."""
        return self.opens[0].find(name) or self.opens[0].infer(name) if len(self.opens) == 1 else None

    def columns(self) -> Iterable[tuple[str, Sources]]:
        """Return what `*` expands to, in order."""
        return zip(self.names, self.sources, strict=True)

    def renamed(self, names: Sequence[str]) -> Relation:
        """Return the relation with its first columns renamed, as by an alias with a column list."""
        if not names:
            return self
        sources = list(self.sources)
        if STAR in self.names:
            # After a star the number of columns is unknown: each listed name may be any of them.
            star = self.sources[self.names.index(STAR)]
            sources = [*sources[: self.names.index(STAR)], *(star for _ in names)][: len(names)]
            return Relation(list(names), sources, self.rows)
        kept = self.names[len(names) :]
        return Relation([*names[: len(sources)], *kept], sources, self.rows)

    def with_distinct_names(self, mark: str) -> Relation:
        """Return the relation with a mark and 1, 2, … appended to names that an earlier column has.

        DuckDB (`a_1`) and SQLite (`a:1`) name the columns of a FROM item this way. A generated name may itself be a
        duplicate; SQLite then counts further.
        """
        if len(set(self.names)) == len(self.names):
            return self
        names: dict[str, None] = {}
        listed: list[str] = []
        for name in self.names:
            own, number, base = name, 1, name
            if mark == ":" and name in names:
                base = _NUMBER.sub("", name)
            while own in names and name != STAR:
                own, number = f"{base}{mark}{number}", number + 1
            names[own] = None
            listed.append(own)
        return Relation(listed, self.sources, self.rows, self.opens)


class TemporaryTable(Relation):
    """A script's temporary table, which is composed away: its name, and its content at a statement of the script."""

    __slots__ = ("name",)

    def __init__(self, name: str, content: Relation) -> None:
        super().__init__(content.names, content.sources, content.rows, content.opens)
        self.name = name


_MAX_SHARED = 50_000
_ROW_NUMBERS = frozenset(("rowid", "_rowid_", "oid"))
"""SQLite's names for the number of a row, where no column has them."""


class BaseTable(Relation):
    """A table of the database. If its schema is unknown, columns are inferred from use."""

    __slots__ = ("_columns", "_make", "known", "name")

    def __init__(
        self,
        name: str,
        schema: dict[str, str | None] | None,
        make: Callable[[str, str], ColumnSource],
        own_rows: ColumnSource | None = None,
    ) -> None:
        self.name = name
        self.known = schema
        """Its columns in order, with their types as written; None if the schema is unknown."""
        self.index: dict[str, Sources | None] = dict.fromkeys(schema) if schema is not None else {}
        self.rows = None
        if own_rows is not None:
            self.rows = RowSources()
            self.rows.own[own_rows, ROWS] = None
        self.opens = []
        self._columns: dict[str, Sources] = {}
        self._make = make
        if schema is not None and RowIdType in map(type, schema.values()):
            number = next(column for column, data_type in schema.items() if type(data_type) is RowIdType)
            for other in _ROW_NUMBERS - schema.keys():
                self.index[other] = self.infer(number)

    @property
    def is_open(self) -> bool:
        """Whether its schema is unknown."""
        return self.known is None

    def find(self, name: str) -> Sources | None:
        """Return the sources of a column of the schema."""
        index = self.index
        sources = index.get(name)
        if sources is None and name in index:
            sources = index[name] = self.infer(name)
        return sources

    def infer(self, name: str) -> Sources:
        """Return the sources of a column, whether or not the schema has it."""
        sources = self._columns.get(name)
        if sources is None:
            made: Sources = {(self._make(self.name, column_text(name)), IDENTITY): None}
            sources = self._columns.setdefault(name, made)
        return sources

    def columns(self) -> Iterable[tuple[str, Sources]]:
        """Return the schema's columns, or the entry `*` if the schema is unknown."""
        if self.known is None:
            return ((STAR, self.infer(STAR)),)
        return ((name, self.infer(name)) for name in self.known)

    def renamed(self, names: Sequence[str]) -> Relation:
        """Return the table with its first columns renamed."""
        if not names:
            return self
        pairs = list(self.columns())
        opens = [self] if self.known is None else []
        return Relation([n for n, _ in pairs], [s for _, s in pairs], self.rows, opens).renamed(names)


class BaseTables:
    """Interned tables and columns of the database, shared by the statements of one catalog."""

    __slots__ = ("_rows", "_sources", "_tables")

    def __init__(self) -> None:
        self._tables: dict[str, BaseTable] = {}
        self._sources: dict[tuple[str, str, bool], ColumnSource] = {}
        self._rows: dict[str, TableRows] = {}

    def begin_statement(self) -> None:
        """Clear the cache if it is large. Within a statement there is one object per column."""
        if len(self._sources) + len(self._tables) > _MAX_SHARED:
            self._tables.clear()
            self._sources.clear()
            self._rows.clear()

    def source(self, table: str, column: str, ambiguous: bool = False) -> ColumnSource:
        """Return the interned object of a column."""
        key = (table, column, ambiguous)
        source = self._sources.get(key)
        if source is None:
            # Shared by all statements, so it has no spelling from a statement.
            source = self._sources.setdefault(key, ColumnSource(str(table), str(column), ambiguous))
        return source

    def table(self, name: str, schema: dict[str, str | None] | None) -> BaseTable:
        """Return the interned object of a table with this schema."""
        table = self._tables.get(name)
        if table is None or table.known is not schema:
            table = self._tables[name] = BaseTable(name, schema, self.source, self.rows(name))
        return table

    def rows(self, table: str) -> TableRows:
        """Return the interned object of a table's rows."""
        found = self._rows.get(table)
        return found if found is not None else self._rows.setdefault(table, TableRows(table))


class FunctionTable(Relation):
    """The result of a table function: undeclared columns, each from all arguments."""

    __slots__ = ("declared", "value")

    def __init__(
        self, names: list[str], value: Sources, rows: RowSources | None = None, *, declared: bool = False
    ) -> None:
        super().__init__(names, [value for _ in names], rows)
        self.value = value
        self.declared = declared
        """Whether the names are all its columns; unknown names are still resolved to the arguments as a last resort."""

    @property
    def is_open(self) -> bool:
        """Whether it may have columns besides those named."""
        return True

    @property
    def has_unknown_columns(self) -> bool:
        """Whether it has columns that are not declared."""
        return not self.declared

    def infer(self, _: str) -> Sources:
        """Return the sources of the arguments, for any column name."""
        return self.value


class Elements(FunctionTable):
    """The elements of an array of unknown type, read by the names of their fields, or as a whole by their alias."""

    __slots__ = ("_alias", "_field")

    def __init__(
        self,
        value: Sources,
        rows: RowSources | None,
        field: Callable[[Sources, list[str]], Sources],
        alias: str | None = None,
    ) -> None:
        super().__init__([STAR], value, rows)
        self._field = field
        self._alias = alias

    def find(self, name: str) -> Sources | None:
        """Return the sources of a column besides the elements, or of a whole element."""
        found = super().find(name)
        if self.index is not None and self._alias is not None and self._alias not in self.index:
            self.index[self._alias] = self.value
        return self.value if found is None and name == self._alias else found

    def infer(self, name: str) -> Sources:
        """Return the sources of a field of the elements."""
        return self._field(self.value, [name])


class Rows(Relation):
    """The elements of an array of structs: their fields are its columns, and its alias is a whole element."""

    __slots__ = ("_alias", "_element")

    def __init__(self, names: list[str], sources: list[Sources], rows: RowSources | None, element: Sources) -> None:
        super().__init__(names, sources, rows)
        self._alias: str | None = None
        self._element = element

    def under(self, alias: str | None) -> Rows:
        """Return the relation with the alias that a whole element has."""
        self._alias = alias
        return self

    def find(self, name: str) -> Sources | None:
        """Return the sources of a field, or of a whole element."""
        found = super().find(name)
        if self.index is not None and self._alias is not None and self._alias not in self.index:
            self.index[self._alias] = self._element
        return self._element if found is None and name == self._alias else found


class RenamedStar(Relation):
    """A relation whose alias renames unknown columns: each name may be any of them, and reading one is reported."""

    __slots__ = ("_when_read",)

    def __init__(self, renamed: Relation, when_read: Callable[[], None]) -> None:
        super().__init__(renamed.names, renamed.sources, renamed.rows, renamed.opens)
        self._when_read = when_read

    def find(self, name: str) -> Sources | None:
        """Return the sources of a column of the alias."""
        if name not in self.names:
            return None
        self._when_read()
        return self.sources[self.names.index(name)]

    def columns(self) -> Iterable[tuple[str, Sources]]:
        """Return the columns of the alias."""
        self._when_read()
        return super().columns()
