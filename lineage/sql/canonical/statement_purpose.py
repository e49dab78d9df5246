"""What each statement of a folder of SQL does to tables, for a comparison of two versions of the folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum, auto
from typing import Self

from sqlglot import exp

from lineage.catalog.ddl import schema_columns
from lineage.frozen import frozen
from lineage.model.names import Naming
from lineage.model.statement import ColumnSchema
from lineage.sql.canonical.canonical_query import tokens_digest
from lineage.sql.canonical.create_clauses import FILLING, constraints, how_it_is_stored, what_decides_rows
from lineage.sql.canonical.forms.digests import digest, tree_digest
from lineage.sql.parse.alterations import ColumnAlteration, column_alterations, new_table_name, swapped_table
from lineage.sql.parse.parsed import ParsedStatement, ReadFrom
from lineage.sql.parse.placeholders import placeholders_in
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.table_level import trace_tokens
from lineage.sql.resolve.identifiers import Identifiers
from lineage.sql.script.definitions import Definition, definition_of, is_bare_query, named_after_text, written_tables
from lineage.sql.script.sessions.transactions import statements_rolled_back

__all__ = ["Purpose", "StatementPurpose", "read_purposes"]


class Purpose(Enum):
    """What a statement does."""

    DEFINES = auto()
    """It defines a table by one query."""
    DECLARES = auto()
    """It creates an empty table with these columns."""
    WRITES = auto()
    """It changes a table's rows or columns, or may do so."""
    CONTEXT = auto()
    """It may change what other statements mean: a function, a setting, text that is not read."""
    NOTHING = auto()


@frozen
class StatementPurpose:
    """What a statement does, to which table, and what it reads; `digest` is that of its tokens.

    `columns` are those that it declares, `computed` digests of what fills them besides what is written, by name.
    `settings` is a digest of how the table is stored, `without_rows` whether its query only gives it columns.
    `placeholders` are those of a template. `decided` is what else decides its rows, each with a digest. `drops`: no
    table is left. `alterations` are changes of its columns; None if it may change them in another way. `fills`: it is
    a MERGE, or an INSERT of a query, whose text says what it writes; `by_position`: an INSERT that names no columns.
    `problem` says why it does not parse, `line` where.
    """

    purpose: Purpose
    text: str
    digest: str
    table: str | None = None
    reads: tuple[str, ...] = ()
    is_view: bool = False
    columns: tuple[ColumnSchema, ...] = ()
    settings: str = ""
    computed: tuple[tuple[str, str], ...] = ()
    without_rows: bool = False
    placeholders: tuple[str, ...] = ()
    decided: tuple[tuple[str, str], ...] = ()
    drops: bool = False
    alterations: tuple[ColumnAlteration, ...] | None = None
    fills: bool = False
    by_position: bool = False
    problem: str | None = None
    line: int = 1


def read_purposes(text: str, name: str, naming: Naming) -> Iterator[StatementPurpose]:
    """Yield what the statements of a text do; `name` is its file's, after which a single query is named."""
    statements = list(parse_statements(text, naming.dialect))
    undone = statements_rolled_back(statements, naming.dialect).undone
    begin = 0
    for number, parsed in enumerate(statements):
        end = parsed.span.end if number < len(statements) - 1 else len(text)
        placeholders = tuple(placeholders_in(text[begin:end]))
        begin = end
        if number in undone:
            yield StatementPurpose(Purpose.NOTHING, parsed.text[parsed.span.start : end], tokens_digest(parsed))
            continue
        for found in _purposes(parsed, name if len(statements) == 1 else "", naming):
            if not placeholders:
                yield found
                continue
            yield replace(found, placeholders=placeholders, digest=digest(found.digest, placeholders))


def _purposes(parsed: ParsedStatement, name: str, naming: Naming) -> Iterator[StatementPurpose]:
    """Yield what a statement does; a rename or swap does something to two tables."""
    purpose = _purpose(parsed, name, naming)
    tree = parsed.tree
    if isinstance(tree, exp.Alter) and (swapped := swapped_table(tree)) is not None:
        identifiers = Identifiers(naming.dialect)
        one, other = (str(naming.qualify(identifiers.table_parts(table))) for table in (tree.this, swapped))
        purpose = replace(purpose, purpose=Purpose.WRITES, table=one, reads=(other,))
        yield replace(purpose, table=other, reads=(one,))
    elif purpose.table is not None and isinstance(tree, exp.Alter) and isinstance(tree.this, exp.Table):
        parts = Identifiers(naming.dialect).table_parts(tree.this)
        before = str(naming.qualify(parts)) if parts else purpose.table
        if before != purpose.table:
            yield replace(purpose, table=before, reads=(before,))
            purpose = replace(purpose, reads=(*purpose.reads, before))
    yield purpose
    for table in (
        tree.find_all(exp.ToTableProperty) if isinstance(tree, exp.Create) and purpose.table is not None else ()
    ):
        if parts := Identifiers(naming.dialect).table_parts(table.this):  # ClickHouse: the view writes into it
            written = str(naming.qualify(parts))
            yield StatementPurpose(Purpose.WRITES, purpose.text, purpose.digest, written, purpose.reads)


@frozen
class _ReadStatement:
    """A statement with what the rules below need; `tree` is None if it does not stand for all of the statement."""

    parsed: ParsedStatement
    naming: Naming
    tree: exp.Expr | None
    digest: str
    reads: tuple[str, ...]
    destination: str | None

    @classmethod
    def of(cls, parsed: ParsedStatement, naming: Naming) -> Self:
        tokens = tokens_digest(parsed)
        if parsed.step is not None and parsed.step.function is not None:  # its body is no part of its statement
            tokens = digest(tokens, [(token.token_type.name, token.text) for token in parsed.step.function.tokens])
        trace = trace_tokens(parsed.tokens, naming)
        destination = str(trace.destination) if trace.destination is not None else None
        tree = parsed.tree if parsed.problem is None and parsed.step is None else None
        return cls(parsed, naming, tree, tokens, tuple(map(str, trace.upstream)), destination)

    @property
    def identifiers(self) -> Identifiers:
        return Identifiers(self.naming.dialect)

    def does(self, purpose: Purpose, table: str | None = None, reads: tuple[str, ...] = ()) -> StatementPurpose:
        text = self.parsed.text[self.parsed.span.start : self.parsed.span.end]
        problem = self.parsed.problem if self.parsed.read_from is not ReadFrom.NO_LINEAGE else None
        why, at = (None, self.parsed.span) if problem is None else (problem.message, problem.span or self.parsed.span)
        return StatementPurpose(purpose, text, self.digest, table, reads, problem=why, line=at.line)


def _purpose(parsed: ParsedStatement, name: str, naming: Naming) -> StatementPurpose:
    statement = _ReadStatement.of(parsed, naming)
    if isinstance(parsed.tree, (exp.Use, exp.Set)):
        return statement.does(Purpose.CONTEXT)
    target = named_after_text(name, statement.tree, naming) if statement.tree is not None else None
    if target is not None:
        return statement.does(Purpose.DEFINES, str(target), statement.reads)
    defined = _definition(statement)
    if defined is not None and not defined.alters and (found := _created(statement, defined)) is not None:
        return found
    if statement.tree is not None and (is_bare_query(statement.tree) or _is_harmless(statement.tree)):
        return statement.does(Purpose.NOTHING)
    if parsed.read_from is ReadFrom.NO_LINEAGE and parsed.step is None:
        return statement.does(Purpose.CONTEXT if _decides_what_is_seen(parsed) else Purpose.NOTHING)
    if defined is not None:
        written = statement.does(Purpose.WRITES, str(defined.name), statement.reads)
        return replace(written, alterations=_alterations(statement.tree, statement.identifiers))
    return _written(statement)


def _definition(one: _ReadStatement) -> Definition | None:
    naming = one.naming
    return definition_of(one.tree, naming, lambda parts: str(naming.qualify(parts))) if one.tree is not None else None


def _created(statement: _ReadStatement, defined: Definition) -> StatementPurpose | None:
    """Return what a CREATE of a table or view does; None where another rule tells."""
    tree, parsed, naming, own = statement.tree, statement.parsed, statement.naming, str(defined.name)
    if not isinstance(tree, exp.Create):
        return None
    settings, decided = how_it_is_stored(tree, parsed), tuple(what_decides_rows(parsed, naming.dialect))
    if isinstance(tree.args.get("expression"), exp.Query):
        return replace(
            statement.does(Purpose.DEFINES, own, statement.reads),
            is_view=defined.view,
            settings=settings,
            without_rows=_has_no_rows(parsed),
            decided=decided,
        )
    made_like = [table for table in _tables_made_like(tree, statement.identifiers, naming) if table != own]
    if made_like:
        return statement.does(Purpose.WRITES, own, tuple(dict.fromkeys((*statement.reads, *made_like))))
    if not defined.empty or not isinstance(tree.this, exp.Schema):
        return None
    return replace(
        statement.does(Purpose.DECLARES, own),
        columns=schema_columns(tree.this, naming.dialect, parsed.text),
        settings=digest(settings, list(constraints(tree.this, naming.dialect, parsed.text))),
        computed=tuple(_computed(tree.this, naming, parsed.text)),
        decided=decided,
    )


def _written(statement: _ReadStatement) -> StatementPurpose:
    """Return what a statement that defines nothing does to a table, or to what other statements mean."""
    tree = statement.tree
    if tree is None:
        return statement.does(
            Purpose.CONTEXT if statement.destination is None else Purpose.WRITES, statement.destination, statement.reads
        )
    written = next(iter(written_tables(tree, statement.identifiers, statement.naming.qualify)), None)
    table = statement.destination or (str(written) if written is not None else None)
    inserts = isinstance(tree, exp.Insert) and isinstance(tree.args.get("expression"), exp.Query)
    return replace(
        statement.does(Purpose.CONTEXT if table is None else Purpose.WRITES, table, statement.reads),
        drops=isinstance(tree, exp.Drop) and len(tree.args.get("tables") or ()) < 2,
        alterations=_alterations(tree, statement.identifiers),
        fills=inserts or isinstance(tree, exp.Merge),
        by_position=inserts and not isinstance(tree.this, exp.Schema),
    )


_WRITES_ROWS = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.TruncateTable, exp.Copy, exp.LoadData)


def _alterations(tree: exp.Expr | None, identifiers: Identifiers) -> tuple[ColumnAlteration, ...] | None:
    """Return the changes of a table's columns by a statement; None if it may change them in a way that is not known."""
    if isinstance(tree, exp.Alter) and isinstance(tree.this, exp.Table):
        is_other = new_table_name(tree) is not None or swapped_table(tree) is not None
        return None if is_other else tuple(column_alterations(tree, identifiers.column))
    return () if isinstance(tree, _WRITES_ROWS) else None


def _has_no_rows(parsed: ParsedStatement) -> bool:
    """Return whether CREATE TABLE AS or a materialized view is WITH NO DATA; trees do not always show it."""
    words = [token.text.upper() for token in parsed.tokens]
    return any(words[at : at + 3] == ["WITH", "NO", "DATA"] for at, word in enumerate(words) if word == "WITH")


def _tables_made_like(tree: exp.Create, identifiers: Identifiers, naming: Naming) -> Iterator[str]:
    """Yield the tables that a CREATE TABLE without a query takes columns or rows from: LIKE, CLONE, INHERITS."""
    for table in tree.find_all(exp.Table):
        if table.find_ancestor(exp.Reference) is None and (parts := identifiers.table_parts(table)):
            yield str(naming.qualify(parts))


def _computed(schema: exp.Schema, naming: Naming, text: str) -> Iterator[tuple[str, str]]:
    """Yield the columns whose values a constraint makes or alters, each with a digest of it."""
    for item in schema.expressions:
        kinds = [one.args.get("kind") for one in item.args.get("constraints") or ()] if item.args else []
        filling = [one for one in kinds if isinstance(one, FILLING)]
        if isinstance(item, exp.ColumnDef) and filling:
            name = naming.dialect.fold_column(item.this.this, quoted=bool(item.this.args.get("quoted")))
            yield str(name), digest("filled by", [tree_digest(one, text) for one in filling])


_HARMLESS = (
    exp.Grant, exp.Revoke, exp.Comment, exp.Transaction, exp.Commit, exp.Rollback, exp.Describe, exp.Show, exp.Analyze,
    exp.Kill,
)  # fmt: skip


def _is_harmless(tree: exp.Expr) -> bool:
    """Return whether a statement changes nothing of what queries return: privileges, comments, indexes."""
    is_index = isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "INDEX"
    return isinstance(tree, _HARMLESS) or is_index


_SEEN_BY = frozenset(
    ("POLICY", "MASK", "MASKING", "FILTER", "RULE", "CAST", "OPERATOR", "AGGREGATE", "DOMAIN", "COLLATION",
     "CONVERSION", "TRANSFORM", "SET")
)  # fmt: skip
"""Words of CREATE, ALTER and DROP of objects that decide which rows and values a query sees, or what SQL means."""


def _decides_what_is_seen(parsed: ParsedStatement) -> bool:
    """Return whether a statement that moves no rows changes what queries return: a policy, a mask, an operator."""
    words = [token.text.upper() for token in parsed.tokens]
    return words[0] in ("CREATE", "ALTER", "DROP") and not _SEEN_BY.isdisjoint(words)
