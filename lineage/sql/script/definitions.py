"""Find what a statement defines from its syntax tree alone, before anything is resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TypeAlias

from sqlglot import exp

from lineage.frozen import frozen
from lineage.model.dialect import Dialect
from lineage.model.names import Naming
from lineage.sql.parse.alterations import column_alterations, new_table_name
from lineage.sql.resolve.identifiers import Identifiers
from lineage.sql.resolve.targets import has_temporary_name, into_parts, is_temporary, select_into

__all__ = [
    "Definition",
    "Position",
    "definition_of",
    "is_bare_query",
    "leaves_no_row",
    "named_after_text",
    "written_tables",
]

Position = tuple[int, int]
"""The indexes of a text and of a statement in it."""


@frozen
class Definition:
    """A table that a statement creates, or (`only_adds`) whose rows it changes; `temporary` ones are composed away.

    `alters`: it changes the columns or the name of an existing table, which affects later statements only.
    `session`: the table exists in one session only (`TEMP`) and is not visible outside. `made_by` is the statement
    that creates the table, `until` the one from which on the name no longer means it; `renamed`: it has another name
    from there on. `view`: it stores no rows. `replaces`: it replaces what has its name (OR REPLACE). `empty`: it is
    created without a query. `empties`: no row is left. `outside`: its rows are in files that it names, or on a server.
    """

    name: str
    temporary: bool = False
    only_adds: bool = False
    alters: bool = False
    session: bool = False
    made_by: Position | None = None
    until: Position | None = None
    renamed: bool = False
    view: bool = False
    replaces: bool = False
    empty: bool = False
    empties: bool = False
    outside: bool = False

    def moved(self, index: int) -> Definition:
        """Return the definition with its text at another position of the script; no other text may change it."""
        if self.made_by is None and self.until is None:
            return self
        made_by = None if self.made_by is None else (index, self.made_by[1])
        return replace(self, made_by=made_by, until=None if self.until is None else (index, self.until[1]))


FullName: TypeAlias = "Callable[[Sequence[str]], str]"
"""Returns the full name of an existing table from the parts of its name."""


def definition_of(tree: exp.Expr | None, naming: Naming, full_name: FullName) -> Definition | None:
    """Return the table that a statement creates, or whose columns or name it changes; None for other statements."""
    identifiers = Identifiers(naming.dialect)
    if isinstance(tree, exp.Create) and (tree.args.get("kind") or "").upper().endswith(("TABLE", "VIEW")):
        return _definition_by_create(tree, identifiers, naming)
    if isinstance(tree, exp.Cache):
        return _definition(tree.this, identifiers, naming, temporary=True)
    if isinstance(tree, exp.Alter) and isinstance(tree.this, exp.Table):
        return _definition_by_alter(tree, identifiers, naming, full_name)
    if isinstance(tree, exp.LoadData) and tree.args.get("temp"):
        return _definition(_table_in(tree.this), identifiers, naming, temporary=True)
    into = select_into(tree)
    if into is not None and isinstance(into.this, exp.Table):
        temporary = bool(into.args.get("temporary")) or has_temporary_name(into.this, naming.dialect)
        return _definition(into.this, identifiers, naming, temporary=temporary)
    return None


def _table_in(named: exp.Expr) -> exp.Expr:
    """Return the table of `t (a int)`, or of `t`."""
    return named.this if isinstance(named, exp.Schema) else named


def _definition_by_create(tree: exp.Create, identifiers: Identifiers, naming: Naming) -> Definition | None:
    found = _definition(_table_in(tree.this), identifiers, naming, temporary=is_temporary(tree, naming.dialect))
    if found is None:
        return None
    return replace(
        found,
        view=str(tree.args.get("kind")).upper() == "VIEW" and not _is_stored(tree),
        replaces=bool(tree.args.get("replace")),
        empty=tree.args.get("expression") is None and tree.args.get("clone") is None,
        outside=_has_property(tree, exp.ExternalProperty),
    )


def _is_stored(view: exp.Create) -> bool:
    """Return whether a view stores its rows (is materialized) or writes them to a table."""
    return _has_property(view, exp.MaterializedProperty, exp.ToTableProperty)


def _has_property(tree: exp.Create, *kinds: type[exp.Property]) -> bool:
    properties = tree.args.get("properties")
    return properties is not None and any(isinstance(item, kinds) for item in properties.expressions)


def _definition_by_alter(
    tree: exp.Alter, identifiers: Identifiers, naming: Naming, full_name: FullName
) -> Definition | None:
    parts = identifiers.table_parts(tree.this)
    if (to := new_table_name(tree)) is not None:
        return Definition(naming.renamed(full_name(parts), identifiers.table_parts(to)), alters=True)
    if next(column_alterations(tree, identifiers.column), None) is not None:
        return Definition(full_name(parts), alters=True)
    return None


_OF_A_NAME = frozenset(("this", "db", "catalog", "alias", "only"))


def leaves_no_row(tree: exp.Expr, dialect: Dialect) -> bool:
    """Return whether a statement removes all rows of the tables that it writes: TRUNCATE, or DELETE without a test.

    A DELETE of T-SQL may be of the TOP rows, which its tree does not show.
    """
    if isinstance(tree, exp.TruncateTable):
        return not tree.args.get("partition")
    if not isinstance(tree, exp.Delete) or dialect.needs_no_semicolon:
        return False
    is_whole = not any(value for name, value in tree.args.items() if name != "this")
    return is_whole and not any(value for name, value in tree.this.args.items() if name not in _OF_A_NAME)


def written_tables(tree: exp.Expr, identifiers: Identifiers, full_name: FullName) -> Iterator[str]:
    """Yield the tables whose rows a statement may change; for UPDATE, DELETE and MERGE all tables that it names.

    The target itself may be known only once the statement is resolved (an alias, a CTE). Other tables get nothing.
    """
    if isinstance(tree, exp.Update | exp.Delete | exp.Merge | exp.MultitableInserts | exp.TruncateTable):
        tables: Iterator[exp.Table] = tree.find_all(exp.Table)
        yield from dict.fromkeys(full_name(parts) for t in tables if (parts := identifiers.table_parts(t)))
    elif isinstance(tree, exp.Insert | exp.LoadData) or (isinstance(tree, exp.Copy) and tree.args.get("kind")):
        table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        if isinstance(table, exp.Table) and (parts := identifiers.table_parts(table)):
            yield full_name(parts)
    returning = tree.args.get("returning")
    into = returning.args.get("into") if isinstance(returning, exp.Expr) else None
    if parts := into_parts(into, identifiers, identifiers.dialect):
        yield full_name(parts)
    with_ = tree.args.get("with_")
    for cte in with_.expressions if isinstance(with_, exp.Expr) else ():
        if isinstance(cte.this, exp.DML) and not isinstance(cte.this, exp.Query):
            yield from written_tables(cte.this, identifiers, full_name)


def named_after_text(name: str, tree: exp.Expr | None, naming: Naming) -> str | None:
    """Return the dataset that a text with a single query defines, named after the text; None for other texts.

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
    """Return whether a statement is a query that writes nothing: its result is returned to the client."""
    return isinstance(tree, exp.Query) and select_into(tree) is None


def _definition(
    table: exp.Expr, identifiers: Identifiers, naming: Naming, *, temporary: bool = False
) -> Definition | None:
    if not isinstance(table, exp.Table):
        return None
    parts = identifiers.table_parts(table)
    if not parts:
        return None
    if temporary:  # it hides a real table of the same name
        return Definition((replace(naming, versions=()) if naming.versions else naming).qualify(parts), temporary)
    return Definition(naming.made(naming.qualify(parts)), temporary)
