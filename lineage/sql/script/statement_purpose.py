"""What each statement of a folder of SQL does to tables, for a comparison of two versions of the folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from sqlglot import exp

from lineage.catalog.ddl import schema_columns
from lineage.model.names import Naming
from lineage.model.statement import ColumnSchema
from lineage.sql.canonical.canonical_query import tokens_digest
from lineage.sql.canonical.digests import tree_digest
from lineage.sql.parse.parsed import ParsedStatement, ReadFrom
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.table_level import trace_tokens
from lineage.sql.resolve.identifiers import Identifiers
from lineage.sql.script.definitions import definition_of, is_bare_query, named_after_text, written_tables

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


@dataclass(frozen=True, slots=True)
class StatementPurpose:
    """What a statement does, to which table, and what it reads; `digest` is that of its tokens.

    `columns` are those that it declares, `settings` a digest of how the table is stored.
    """

    purpose: Purpose
    text: str
    digest: str
    table: str | None = None
    reads: tuple[str, ...] = ()
    is_view: bool = False
    columns: tuple[ColumnSchema, ...] = ()
    settings: str = ""


def read_purposes(text: str, name: str, naming: Naming) -> Iterator[StatementPurpose]:
    """Yield what the statements of a text do; `name` is its file's, after which a single query is named."""
    statements = list(parse_statements(text, naming.dialect))
    for parsed in statements:
        yield _purpose(parsed, name if len(statements) == 1 else "", naming)


def _purpose(parsed: ParsedStatement, name: str, naming: Naming) -> StatementPurpose:
    tree, tokens = parsed.tree, tokens_digest(parsed)
    text = parsed.text[parsed.span.start : parsed.span.end]
    trace = trace_tokens(parsed.tokens, naming)
    reads = tuple(map(str, trace.upstream))
    whole = tree is not None and parsed.problem is None and parsed.step is None
    if isinstance(tree, (exp.Use, exp.Set)):
        return StatementPurpose(Purpose.CONTEXT, text, tokens)
    target = named_after_text(name, tree, naming) if whole else None
    if target is not None:
        return StatementPurpose(Purpose.DEFINES, text, tokens, str(target), reads)
    defined = definition_of(tree, naming, lambda parts: str(naming.qualify(parts))) if whole else None
    if defined is not None and isinstance(tree, exp.Create) and not defined.alters:
        properties = tree.args.get("properties")
        settings = tree_digest(properties, parsed.text) if isinstance(properties, exp.Expr) else ""
        if isinstance(tree.args.get("expression"), exp.Query):
            return StatementPurpose(Purpose.DEFINES, text, tokens, str(defined.name), reads, defined.view, (), settings)
        if defined.empty and isinstance(tree.this, exp.Schema):
            columns = schema_columns(tree.this, naming.dialect)
            return StatementPurpose(Purpose.DECLARES, text, tokens, str(defined.name), (), False, columns, settings)
    if whole and tree is not None and (is_bare_query(tree) or parsed.read_from is ReadFrom.NO_LINEAGE):
        return StatementPurpose(Purpose.NOTHING, text, tokens)
    if defined is not None:
        return StatementPurpose(Purpose.WRITES, text, tokens, str(defined.name), reads)
    identifiers = Identifiers(naming.dialect)
    written = list(written_tables(tree, identifiers, naming.qualify)) if whole and tree is not None else []
    table = str(trace.destination) if trace.destination is not None else str(written[0]) if written else None
    return StatementPurpose(Purpose.CONTEXT if table is None else Purpose.WRITES, text, tokens, table, reads)
