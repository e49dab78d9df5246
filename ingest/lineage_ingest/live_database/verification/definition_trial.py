"""Let PostgreSQL analyse what SQL files define: each query as a view, in one transaction that is rolled back.

Definitions are created in the order found: one that needs another waits for it, as in the LineageX paper. Nothing but
CREATE VIEW is executed, and what it needs: empty tables, with the columns that are known here, and schemas. Nothing
that exists is changed or locked against readers: the view of a name that exists is temporary, and hides it for names
without a schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from lineage.catalog import TableSchema
from lineage.catalog.database.postgres_session import PostgresRejectionError, PostgresSession
from lineage.frozen import frozen
from lineage.model.dialect import Dialect
from lineage.model.names import format_name, plain_name, split_name
from lineage.model.statement import ColumnSchema, Completeness, DatasetKind, StatementLineage
from lineage.model.text.name_lists import name_list
from lineage.sql.parse.questions.defining_query import defining_query
from lineage_ingest.live_database.objects import quoted
from lineage_ingest.live_database.verification.node_tree import NodeTreeError, parse_node_tree
from lineage_ingest.live_database.verification.query_analysis import analyse_query
from lineage_ingest.live_database.verification.view_comparison import (
    ComparedView,
    KnownRelations,
    VerificationReport,
    ViewVerdict,
    compare,
)

__all__ = ["try_definitions"]

_SETTINGS = ("SET LOCAL statement_timeout = '30s'", "SET LOCAL check_function_bodies = off")
_RELATION = "SELECT pg_catalog.to_regclass(%s)::oid, pg_catalog.to_regnamespace(%s)::oid"
_TREE = "SELECT ev_action::text FROM pg_catalog.pg_rewrite WHERE ev_class = %s::regclass AND rulename = '_RETURN'"
_NAMES = """
SELECT c.oid, n.nspname, c.relname, a.attnum, a.attname FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
WHERE c.oid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped
"""
_COLUMNS = """
SELECT attrelid::oid, attname FROM pg_catalog.pg_attribute WHERE attrelid = pg_catalog.to_regclass(%s) AND attnum > 0
  AND NOT attisdropped ORDER BY attnum
"""
_READ = re.compile(r":relid (\d+)")
_PATH = "SELECT pg_catalog.current_schemas(false)::text[]"
_OF_NAMES = frozenset(
    ("UndefinedTable", "UndefinedColumn", "UndefinedFunction", "UndefinedObject", "AmbiguousColumn", "AmbiguousAlias",
     "DuplicateColumn", "DuplicateAlias", "InsufficientPrivilege", "InvalidSchemaName", "WrongObjectType",
     "GroupingError", "InvalidColumnReference")
)  # fmt: skip
"""Conditions whose messages have names, and no values of the SQL."""
_MISSING = frozenset(("UndefinedTable", "InvalidSchemaName"))
_NO_VIEW = frozenset(("FeatureNotSupported", "InvalidTableDefinition"))
"""Conditions of queries that are right and cannot be a view: SELECT INTO, columns without a type."""
_MADE_BY_FILES = frozenset(("UndefinedFunction", "UndefinedObject"))
_CREATES_OTHERS = re.compile(
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE|AGGREGATE|TYPE|DOMAIN|OPERATOR|CAST|COLLATION|EXTENSION)\b",
    re.IGNORECASE,
)
_RECURSIVE = re.compile(r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+)?RECURSIVE\s+VIEW\b", re.IGNORECASE)


@frozen
class _Definition:
    """A statement that defines a table or view by a query."""

    statement: StatementLineage
    query: str
    name: str
    """Its display name."""
    target: tuple[str, ...]
    is_recursive: bool = False
    """Whether it is CREATE RECURSIVE VIEW, which may read itself."""

    @property
    def columns(self) -> list[str]:
        """The names of its columns, as far as they are known."""
        return [column.name for column in self.statement.schema] or list(self.statement.output_columns)


def try_definitions(
    session: PostgresSession,
    texts: Mapping[str, str],
    statements: Sequence[StatementLineage],
    tables: Iterable[TableSchema],
    dialect: Dialect,
    progress: Callable[[int, int], None],
) -> tuple[VerificationReport, list[tuple[StatementLineage, ComparedView]]]:
    """Return what the comparison of each definition has found, also by statement.

    `tables` are those that the files do not define and that need not exist in the database.

    Raises:
        DatabaseUnreachableError: the connection is lost.
    """
    return _Trial(session, dialect, progress).run(texts, statements, tables)


class _Trial:
    def __init__(self, session: PostgresSession, dialect: Dialect, progress: Callable[[int, int], None]) -> None:
        self._session = session
        self._dialect = dialect
        self._progress = progress
        for setting in _SETTINGS:
            session.rows(setting)
        ((path,),) = session.rows(_PATH)
        self._schema = next(iter(path), "public")
        self._full: dict[int, tuple[str, ...]] = {}
        """The names of temporary relations that stand for others, by oid."""
        self._creates_others = False
        """Whether the files create functions or types, which are not created here."""
        self._other_versions: dict[str, int] = {}
        """The oids of what the database has with other columns than the files, by the full names in the files."""
        self._not_created: dict[str, str] = {}
        """Why tables could not be created, by their full names."""

    def run(
        self, texts: Mapping[str, str], statements: Sequence[StatementLineage], tables: Iterable[TableSchema]
    ) -> tuple[VerificationReport, list[tuple[StatementLineage, ComparedView]]]:
        results: list[tuple[StatementLineage, ComparedView]] = []
        self._creates_others = any(_CREATES_OTHERS.search(text) is not None for text in texts.values())
        made = {statement.target for statement in statements if statement.target is not None}
        for table in tables:
            if table.name not in made:
                self._create_table(table.name, table.columns)
        waiting: list[_Definition] = []
        for statement in statements:
            definition = self._definition(statement, texts[statement.source or ""])
            if isinstance(definition, ComparedView):
                results.append((statement, definition))
            elif definition is not None:
                waiting.append(definition)
        for candidate in waiting:
            self._note_version(candidate.statement.target or "", candidate.target, candidate.columns)
        total, reasons = len(waiting), dict[int, str]()
        while waiting:
            left = []
            for definition in waiting:
                outcome = self._attempt(definition)
                if isinstance(outcome, str):
                    left.append(definition)
                    reasons[id(definition)] = outcome
                else:
                    results.append((definition.statement, outcome))
                    self._progress(len(results), total)
            if len(left) == len(waiting):
                for candidate in left:
                    view = ComparedView(candidate.name, ViewVerdict.REJECTED, reason=reasons[id(candidate)])
                    results.append((candidate.statement, view))
                break
            waiting = left
        return VerificationReport(tuple(view for _, view in results)), results

    def _definition(self, statement: StatementLineage, text: str) -> _Definition | ComparedView | None:
        """Return a statement to try, or why it cannot be; None if it defines nothing by a query."""
        if statement.span is None or not statement.defines or statement.target is None:
            return None
        if statement.operation == "CREATE_TABLE":
            self._create_table(statement.target, statement.schema)
            return None
        name = f"{plain_name(statement.target)} in {statement.source}" if statement.source else statement.target
        own = text[statement.span.start : statement.span.end]
        query = defining_query(own, self._dialect)
        if query is None:
            return None
        if statement.target_kind is DatasetKind.TEMPORARY or any(edge.before is not None for edge in statement.edges):
            reason = "temporary tables are composed away here, and are not in PostgreSQL's analysis"
            return ComparedView(name, ViewVerdict.NOT_COMPARED, reason=reason)
        parts = tuple(part for part, _ in split_name(plain_name(statement.target)))
        if len(parts) > 2 and parts[-3] != self._session.database:
            return ComparedView(name, ViewVerdict.NOT_COMPARED, reason=f"it is in the database {parts[-3]}")
        return _Definition(statement, query, name, parts, _RECURSIVE.match(own) is not None)

    def _attempt(self, definition: _Definition) -> ComparedView | str:
        """Create a definition as a view and compare it; return the reason if it needs a table that is not there."""
        statement = definition.statement
        names = definition.columns
        if statement.operation == "SELECT":  # its columns may have equal names, those of a view not
            names = [name if names.count(name) == 1 else f"{name}_{number}" for number, name in enumerate(names)]
        listed = f" ({', '.join(map(quoted, names))})" if names and "*" not in names else ""
        try:
            place = self._place(definition.target)
            kind = place[0].replace("VIEW", "RECURSIVE VIEW") if definition.is_recursive else place[0]
            self._session.single(f"CREATE {kind} {place[1]}{listed} AS {definition.query}")
            tree = str(self._session.rows(_TREE, (place[1],))[0][0])
            if place[0] != "VIEW":
                ((oid, _),) = self._session.rows(_RELATION, (place[1], "pg_temp"))
                self._full[int(oid)] = definition.target
            found = self._compared(definition, tree)
            read = set(map(int, _READ.findall(tree)))
            return self._excused(found, statement, read) if found.verdict is ViewVerdict.DIFFERENT else found
        except PostgresRejectionError as error:
            shown = _shown(error)
            if error.condition in _MISSING:
                needed = (self._not_created[name] for name in statement.sources if name in self._not_created)
                return next(needed, shown)
            if error.condition in _NO_VIEW:
                shown = f"PostgreSQL does not accept it as a view: {shown}"
                return ComparedView(definition.name, ViewVerdict.NOT_COMPARED, reason=shown)
            if error.condition in _MADE_BY_FILES and self._creates_others:
                shown += "; functions and types that the files create are not created here"
                return ComparedView(definition.name, ViewVerdict.NOT_COMPARED, reason=shown)
            return self._excused(ComparedView(definition.name, ViewVerdict.REJECTED, reason=shown), statement)
        except NodeTreeError as error:
            return ComparedView(definition.name, ViewVerdict.NOT_COMPARED, reason=str(error))

    def _note_version(self, name: str, target: tuple[str, ...], columns: Sequence[str]) -> None:
        """Note whether the database has what a definition makes, and with other columns."""
        full = f"{quoted(target[-2] if len(target) > 1 else self._schema)}.{quoted(target[-1])}"
        existing = self._session.rows(_COLUMNS, (full,))
        if existing and [column for _, column in existing] != list(columns):
            self._other_versions[name] = int(existing[0][0])

    def _excused(
        self, found: ComparedView, statement: StatementLineage, read: Container[int] | None = None
    ) -> ComparedView:
        """Return that a definition is not compared, if it reads what the database has in another version.

        Names with a schema are of the database's; those without are of the files', see `_place`. `read` are the oids of
        what it reads, if it could be created.
        """
        versions = {name: self._other_versions[name] for name in statement.sources if name in self._other_versions}
        others = [plain_name(name) for name, oid in versions.items() if read is None or oid in read]
        if not others or statement.completeness is not Completeness.FULL:
            return found
        reason = f"it reads {name_list(others, 3)}, which the database has with other columns than the files"
        return ComparedView(found.name, ViewVerdict.NOT_COMPARED, reason=reason)

    def _place(self, target: tuple[str, ...]) -> tuple[str, str]:
        """Return what kind of view to create, and its quoted name; its schema is created if there is none.

        Raises:
            PostgresRejectionError: the schema may not be created.
        """
        schema = target[-2] if len(target) > 1 else self._schema
        full = f"{quoted(schema)}.{quoted(target[-1])}"
        ((existing, known),) = self._session.rows(_RELATION, (full, quoted(schema)))
        if existing is not None:
            return "TEMPORARY VIEW", f"pg_temp.{quoted(target[-1])}"
        if known is None:
            self._session.single(f"CREATE SCHEMA {quoted(schema)}")
        return "VIEW", full

    def _create_table(self, name: str, columns: Sequence[ColumnSchema]) -> None:
        """Create an empty table for the views that need it, unless there is one."""
        parts = tuple(part for part, _ in split_name(plain_name(name)))
        listed = ", ".join(f"{quoted(column.name)} {column.data_type or 'text'}" for column in columns)
        self._note_version(name, parts, [column.name for column in columns])
        try:
            kind, full = self._place(parts)
            if kind == "VIEW":
                self._session.single(f"CREATE TABLE {full} ({listed})")
        except PostgresRejectionError as error:  # so are the views that need it
            self._not_created[name] = f"the table {plain_name(name)} cannot be created: {_shown(error)}"

    def _compared(self, definition: _Definition, tree: str) -> ComparedView:
        statement = definition.statement
        if statement.completeness in (Completeness.TABLES, Completeness.NONE):
            return ComparedView(definition.name, ViewVerdict.NOT_COMPARED, reason="its columns are not known here")
        relations = sorted(set(map(int, _READ.findall(tree))))
        columns: dict[int, dict[int, str]] = {}
        names: dict[int, tuple[str, ...]] = {}
        for oid, schema, table, number, column in self._session.rows(_NAMES, (relations,)):
            names[oid] = self._full.get(oid, (self._session.database, schema, table))
            columns.setdefault(oid, {})[number] = column
        ours = {tuple(part for part, _ in split_name(name)): name for name in statement.sources}
        known = KnownRelations({oid: (_name_among(ours, full), columns[oid]) for oid, full in names.items()})
        return compare(definition.name, statement, analyse_query(parse_node_tree(tree), known.columns_of), known)


def _shown(error: PostgresRejectionError) -> str:
    """Return the message of a rejection; of one that may have values of the SQL, its condition."""
    return str(error) if error.condition in _OF_NAMES else f"condition {error.condition}"


def _name_among(ours: Mapping[tuple[str, ...], str], full: tuple[str, ...]) -> str:
    """Return the name that the statement has for a relation; its own, if it has none."""
    for parts, name in ours.items():
        shared = min(len(parts), len(full))
        if parts[-shared:] == full[-shared:]:
            return name
    return format_name(full)
