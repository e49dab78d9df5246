"""What a statement defines, seen from its syntax tree alone, before anything is resolved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from sqlglot import exp

from lineage.catalog.alterations import altered_columns, new_table_name
from lineage.model.dialects import Dialect
from lineage.model.names import Naming, parse_table_name, split_name
from lineage.sql.identifiers import Identifiers

__all__ = [
    "Definition",
    "defined_by",
    "definitions_of",
    "into_parts",
    "is_bare_query",
    "is_temporary",
    "named_after_text",
]

_MARKS = ("#", "@")
"""T-SQL's temporary tables and table variables."""
_BOUND_TO_SCHEMA = frozenset(("mysql", "snowflake", "hive", "singlestore", "tidb"))
"""Dialects whose temporary tables lie in a schema, and are looked for in another one after USE."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A table that a statement creates, or (`only_adds`) changes the rows of; `temporary` ones are composed away.

    `alters`: it changes the columns or the name of a table that is there, and counts for later statements only.
    `session`: the table itself lives in one session (`TEMP`), so that nothing outside sees it come or go. `made_by`
    is the statement of the same text that creates the table, `until` the one from which the name means it no more.
    """

    name: str
    temporary: bool = False
    only_adds: bool = False
    alters: bool = False
    session: bool = False
    made_by: int | None = None
    until: int | None = None


def defined_by(tree: exp.Expr | None, naming: Naming) -> Definition | None:
    """Return the table that a statement creates, or changes the columns or the name of, if it does."""
    identifiers = Identifiers(naming.dialect)
    if isinstance(tree, exp.Create) and (tree.args.get("kind") or "").upper().endswith(("TABLE", "VIEW")):
        table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        return _definition(table, identifiers, naming, temporary=is_temporary(tree))
    if isinstance(tree, exp.Cache):
        return _definition(tree.this, identifiers, naming, temporary=True)
    if isinstance(tree, exp.Alter) and isinstance(tree.this, exp.Table):
        return _altered(tree, identifiers, naming)
    into = tree.args.get("into") if isinstance(tree, exp.Select) else None
    if into is not None and isinstance(into.this, exp.Table):
        temporary = bool(into.args.get("temporary")) or into.this.name.startswith(_MARKS)
        return _definition(into.this, identifiers, naming, temporary=temporary)
    return None


def _altered(tree: exp.Alter, identifiers: Identifiers, naming: Naming) -> Definition | None:
    parts = identifiers.table_parts(tree.this)
    if (to := new_table_name(tree)) is not None:
        new = identifiers.table_parts(to)
        return Definition(naming.qualify([*parts[: len(parts) - len(new)], *new]), alters=True)
    if next(altered_columns(tree, identifiers.column), None) is not None:
        return Definition(naming.qualify(parts), alters=True)
    return None


@dataclass(slots=True)
class _Made:
    """A table that a text creates: by which statement, and what speaks of it after that."""

    number: int
    session: bool
    dropped: bool = False
    mentions: list[tuple[int, int]] = field(default_factory=list)
    """Statements and places among their definitions."""


class _Walk:
    """Follows the tables of one text through CREATE, RENAME and DROP."""

    def __init__(self) -> None:
        self.found: list[list[Definition]] = []
        self.made: list[_Made] = []
        self.named: dict[str, list[_Made]] = defaultdict(list)
        """What a name means, the latest last: a temporary table hides another one until it is dropped."""
        self.namings: list[Naming] = []
        self.session: dict[str, str] = {}
        """The full names of temporary tables that are found by their bare name, whatever the default schema is."""

    def statement(self, tree: exp.Expr | None, naming: Naming) -> None:
        self.found.append([])
        elsewhere = tuple((own, full) for own, full in self.session.items() if naming.qualify([own]) != full)
        if elsewhere:
            naming = replace(naming, session_tables=elsewhere)
        self.namings.append(naming)
        if tree is None:
            return
        identifiers = Identifiers(naming.dialect)
        definition = defined_by(tree, naming)
        if isinstance(tree, exp.Drop):
            for table in tree.args.get("tables") or [tree.this]:
                if isinstance(table, exp.Table) and (tree.args.get("kind") or "").upper() in ("TABLE", "VIEW", ""):
                    self._drop(naming.qualify(identifiers.table_parts(table)))
        elif definition is not None and definition.alters:
            self._alter(definition, naming.qualify(identifiers.table_parts(tree.this)))
        elif definition is not None:
            self._create(definition, naming)
        if self.named:
            for name in _written(tree, identifiers, naming):
                if (made := self._of(name)) is not None and (definition is None or name != definition.name):
                    self._mention(made, Definition(name, only_adds=True))

    def _of(self, name: str) -> _Made | None:
        stack = self.named.get(name)
        return stack[-1] if stack else None

    def _mention(self, made: _Made | None, definition: Definition) -> None:
        own = self.found[-1]
        if made is not None:
            made.mentions.append((len(self.found) - 1, len(own)))
        own.append(definition)

    def _create(self, definition: Definition, naming: Naming) -> None:
        made = _Made(len(self.found) - 1, definition.temporary)
        if made.session and naming.dialect.name not in _BOUND_TO_SCHEMA:
            self.session[split_name(definition.name)[-1][0]] = definition.name
        self.made.append(made)
        stack = self.named[definition.name]
        if stack and stack[-1].session == made.session:
            self._close(stack.pop(), definition.name)
        stack.append(made)
        self._mention(made, definition)

    def _drop(self, name: str) -> None:
        stack = self.named.get(name)
        if stack:
            stack[-1].dropped = True
            self._close(stack.pop(), name)
            self.session.pop(split_name(name)[-1][0], None)

    def _alter(self, definition: Definition, old: str) -> None:
        made = self._of(old)
        if made is not None and definition.name != old:
            self._close(self.named[old].pop(), old)
            self.named[definition.name].append(made)
            if self.session.pop(split_name(old)[-1][0], None) is not None:
                self.session[split_name(definition.name)[-1][0]] = definition.name
        self._mention(made, definition)

    def _close(self, made: _Made, name: str) -> None:
        """From this statement on the name means something else."""
        until = len(self.found) - 1
        for number, place in made.mentions:
            found = self.found[number][place]
            if found.name == name and found.until is None:
                self.found[number][place] = replace(found, until=until)

    def result(self) -> list[tuple[Definition, ...]]:
        for made in self.made:
            temporary = made.session or made.dropped
            for number, place in made.mentions:
                self.found[number][place] = replace(
                    self.found[number][place], temporary=temporary, session=made.session, made_by=made.number
                )
        return [tuple(d for d in found if d.temporary or not d.only_adds) for found in self.found]


def definitions_of(
    trees: Sequence[exp.Expr | None], namings: Sequence[Naming]
) -> tuple[list[tuple[Definition, ...]], list[Naming]]:
    """Return what each statement of one text defines or changes, its names read as its session reads them there.

    With it come the namings again: a temporary table is found after USE, too.

    A table that the text creates and drops again is temporary in all but name. Changes of rows are those of temporary
    tables only.
    """
    walk = _Walk()
    for tree, naming in zip(trees, namings, strict=True):
        walk.statement(tree, naming)
    return walk.result(), walk.namings


def _written(tree: exp.Expr, identifiers: Identifiers, naming: Naming) -> Iterator[str]:
    """Yield the tables whose rows a statement may change; of UPDATE, DELETE and MERGE all that it names.

    Which one that is may take resolving (an alias, a CTE); a statement that did not change a table adds nothing to it.
    """
    if isinstance(tree, exp.Update | exp.Delete | exp.Merge | exp.MultitableInserts | exp.TruncateTable):
        tables: Iterator[exp.Table] = tree.find_all(exp.Table)
        yield from dict.fromkeys(naming.qualify(parts) for t in tables if (parts := identifiers.table_parts(t)))
    elif isinstance(tree, exp.Insert):
        table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        if isinstance(table, exp.Table) and (parts := identifiers.table_parts(table)):
            yield naming.qualify(parts)
    returning = tree.args.get("returning")
    into = returning.args.get("into") if isinstance(returning, exp.Expr) else None
    if parts := into_parts(into, identifiers, naming.dialect):
        yield naming.qualify(parts)
    with_ = tree.args.get("with_")
    for cte in with_.expressions if isinstance(with_, exp.Expr) else ():
        if isinstance(cte.this, exp.DML) and not isinstance(cte.this, exp.Query):
            yield from _written(cte.this, identifiers, naming)


def into_parts(into: exp.Expr | None, identifiers: Identifiers, dialect: Dialect) -> list[str]:
    """Return the parts of the name of the table that T-SQL's OUTPUT … INTO writes to; none for anything else."""
    if not isinstance(into, exp.Identifier | exp.Anonymous | exp.Table):
        return []
    if isinstance(into, exp.Identifier):
        return [identifiers.table(into)]
    name = str(into.this) if isinstance(into, exp.Anonymous) else into.name
    return list(parse_table_name(name, dialect))


def named_after_text(name: str, tree: exp.Expr | None, naming: Naming) -> str | None:
    """Return the dataset that a text defines which holds one query and nothing else: it is named after the text.

    >>> import sqlglot
    >>> from lineage.model.dialects import dialect_named
    >>> naming = Naming(dialect_named("postgres"), default_schema="mart")
    >>> named_after_text("models/Orders.sql", sqlglot.parse_one("SELECT 1 AS id"), naming)
    'mart.orders'
    """
    if not name or not is_bare_query(tree):
        return None
    return naming.qualify([naming.dialect.fold_table(PurePath(name).stem)])


def is_bare_query(tree: exp.Expr | None) -> bool:
    """Return whether a statement is a query whose result goes to whoever asked."""
    return isinstance(tree, exp.Query) and tree.args.get("into") is None


def is_temporary(create: exp.Create) -> bool:
    """Return whether a CREATE makes a table or view for its session only (`TEMP`, T-SQL's `#name`)."""
    properties = create.args.get("properties")
    listed = properties.expressions if properties is not None else []
    named = create.this.this if isinstance(create.this, exp.Schema) else create.this
    identifier = named.this if isinstance(named, exp.Table) else None
    return (
        any(isinstance(item, exp.TemporaryProperty) for item in listed)
        or (isinstance(identifier, exp.Identifier) and bool(identifier.args.get("temporary")))
        or str(getattr(named, "name", "")).startswith(_MARKS)
    )


def _definition(
    table: exp.Expr, identifiers: Identifiers, naming: Naming, *, temporary: bool = False
) -> Definition | None:
    if not isinstance(table, exp.Table):
        return None
    parts = identifiers.table_parts(table)
    return Definition(naming.qualify(parts), temporary) if parts else None
