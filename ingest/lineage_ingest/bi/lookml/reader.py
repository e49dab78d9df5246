"""Read a LookML project: one SQL query for each view, derived table and explore, and for each tile of a dashboard."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lkml.lexer import Lexer
from lkml.parser import Parser
from lkml.simple import DictVisitor

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.text.name_lists import name_list
from lineage_ingest.bi.connections import BiConnection, ConnectionMap, dialect_of_engine
from lineage_ingest.bi.exported import BiExport, Board, QueryAsset, QueryProblems, not_read, slug
from lineage_ingest.bi.files import ExportFile, UnreadableExportError, text_of, yaml_of
from lineage_ingest.bi.json_objects import objects_in, text_or_none
from lineage_ingest.bi.lookml.explore_sql import ExploreSql
from lineage_ingest.bi.lookml.field_sql import REFERENCE
from lineage_ingest.bi.lookml.filter_fields import filter_fields
from lineage_ingest.bi.lookml.lookml_project import LookmlProject, Named
from lineage_ingest.bi.lookml.shown_values import shown_elsewhere
from lineage_ingest.bi.lookml.tiles import Dashboards, explore_column
from lineage_ingest.bi.lookml.view_tables import LookmlQuery, ViewTables
from lineage_ingest.bi.templates.sql_templates import choice_of, union_of
from lineage_ingest.bi.templates.written_sql import LITERAL, plain_name, quote

__all__ = ["SUFFIXES", "read_lookml"]

SUFFIXES = frozenset((".lkml", ".lookml"))
_MAX_LOOKML = 8 * 1024 * 1024
"""Characters of a LookML file."""


def read_lookml(
    files: Iterable[ExportFile], connections: ConnectionMap, server: str, progress: Callable[[int], None]
) -> BiExport:
    """Return what the files of a project say."""
    return _LookmlReader(connections, server).read(files, progress)


class _LookmlReader:
    def __init__(self, connections: ConnectionMap, server: str) -> None:
        self.map = connections
        self.server = server
        self.project = LookmlProject()
        self.dashboards: list[tuple[str, Mapping[str, Any]]] = []
        self.problems: list[tuple[str, Diagnostic]] = []
        self.is_whole = True
        self._tables = ViewTables({}, self.project.with_constants)
        self.explores: dict[str, Named] = {}
        self._connections: dict[str | None, BiConnection] = {}
        self._written: dict[str, ExploreSql] = {}

    def read(self, files: Iterable[ExportFile], progress: Callable[[int], None]) -> BiExport:
        """Return the export: the whole project is known before a query is written."""
        for number, file in enumerate(files):
            progress(number + 1)
            try:
                if file.problem is not None:
                    self._unreadable(file.name, file.problem)
                else:
                    self._read_file(file)
            except UnreadableExportError as error:
                self._unreadable(file.name, error.diagnostic)
        self._tables = ViewTables(self.project.views(), self.project.with_constants)
        self.explores = self.project.explores()
        for at, name in dict.fromkeys(self.project.missing):
            self.problems.append((at, not_read(f"it extends or refines {name}, which is not in the project")))
        for at, what in dict.fromkeys(self.project.repeated):
            message = f"{what} is defined twice: the last definition is read"
            self.problems.append((at, Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)))
        unnested = self._joined_by_sql()
        queries = [one for view in self._tables.views.values() if view.name not in unnested for one in self._view(view)]
        queries += [
            self._explore(one) for one in self.explores.values() if one.definition.get("extension") != "required"
        ]
        boards: list[Board] = []
        for tiles, board in Dashboards(
            self.dashboards, self._connection_of_explore, self._is_value, self._current_name
        ).read():
            queries += tiles
            boards.append(board)
        return BiExport(
            self.server or self.project.name, tuple(queries), tuple(boards), (), tuple(self.problems), self.is_whole
        )

    def _unreadable(self, at: str, problem: Diagnostic) -> None:
        self.is_whole = False
        self.problems.append((at, problem))

    def _read_file(self, file: ExportFile) -> None:
        if file.path.endswith(".dashboard.lookml"):
            self._read_dashboards(file)
            return
        text = text_of(file)
        if len(text) > _MAX_LOOKML:
            raise UnreadableExportError(
                f"the file has {len(text):,} characters, more than the limit of {_MAX_LOOKML:,}"
            )
        repeated: list[str] = []
        try:
            document = _load(text, repeated)
        except SyntaxError as error:
            message = "not valid LookML"
            where = re.search(r"line (\d+)", str(error))
            if where is not None:
                message = f"line {where[1]}: {message}"
            raise UnreadableExportError(message, code=DiagnosticCode.ARTIFACT_DAMAGED) from None
        except (RecursionError, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
            message = f"not valid LookML ({type(error).__name__})"
            raise UnreadableExportError(message, code=DiagnosticCode.ARTIFACT_DAMAGED) from None
        for message in repeated:
            problem = Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)
            self.problems.append((file.name, problem))
        self.project.add(document, file.name, file.path)

    def _read_dashboards(self, file: ExportFile) -> None:
        value = yaml_of(file)
        for dashboard in value if isinstance(value, list) else [] if value is None else [value]:
            if not (isinstance(dashboard, Mapping) and dashboard.get("dashboard")):
                message = "something in the file is no dashboard: it has no key `dashboard`"
                self._unreadable(file.name, Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.WARNING, message))
                continue
            name = str(dashboard["dashboard"])
            before = next(
                (at for at, other in self.dashboards if other["dashboard"] == name and other != dashboard), None
            )
            if before is not None:
                message = f"the dashboard {name} is in {before}, too, and differs there: the last one is read"
                self.problems.append((file.name, Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)))
            self.dashboards.append((file.name, dashboard))

    def _connection(self, at: str) -> BiConnection:
        name = next(iter(self.project.connections_of(at)), None)
        if name not in self._connections:
            dialect = dialect_of_engine(name)
            found = BiConnection((name or "(none)",), dialect or "ansi", is_known=dialect is not None)
            self._connections[name] = self.map.apply(found)
        return self._connections[name]

    def _problems(self, at: str, found: Iterable[Diagnostic] = ()) -> QueryProblems:
        """Return what is in doubt of all that a file defines, and what was found before."""
        names = self.project.connections_of(at)
        if len(names) > 1:
            message = f"models of several connections include it ({name_list(names, 5)}): that of {names[0]!r} is taken"
            return QueryProblems([*found, not_read(message, severity=Severity.WARNING)])
        return QueryProblems(list(found))

    def _is_value(self, explore: str, field: str) -> bool:
        """Return whether a field of an explore is a filter without SQL or a parameter."""
        written = self._explore_sql(explore)
        return written is not None and written.is_value(field)

    def _connection_of_explore(self, name: str, at: str) -> BiConnection:
        return self._connection(self.explores[name].at if name in self.explores else at)

    def _current_name(self, explore: str, field: str) -> str:
        written = self._explore_sql(explore)
        return field if written is None else written.current_name(field)

    def _explore_sql(self, explore: str) -> ExploreSql | None:
        if explore not in self._written and explore in self.explores:
            self._written[explore] = ExploreSql(self.explores[explore], self._tables, LookmlQuery("ansi"))
        return self._written.get(explore)

    # Views

    def _joined_by_sql(self) -> set[str]:
        """Return the views without a table of their own that explores join by SQL of a join (`UNNEST(…) AS name`)."""
        found = set()
        for explore in self.explores.values():
            for join in objects_in(explore.definition.get("joins")):
                if isinstance(join.get("sql"), str):
                    found.add(str(join.get("from") or join.get("view_name") or join.get("name")))
        own, views = {"sql_table_name", "derived_table"}, self._tables.views
        return {name for name in found if name in views and not own & set(views[name].definition)}

    def _view(self, view: Named) -> Iterator[QueryAsset]:
        """Yield the view, and before it its derived table."""
        if view.definition.get("extension") == "required":
            return
        connection = self._connection(view.at)
        found = (*view.problems, *shown_elsewhere(view.name, view.definition))
        query = LookmlQuery(connection.dialect, self._problems(view.at, found))
        derived = view.definition.get("derived_table")
        if isinstance(derived, Mapping):
            yield self._derived_table(view, derived, connection)
        sql = self._tables.select(view, query)
        if sql is not None:
            yield _asset(view, f"view/{slug(view.name)}", "LOOKML_VIEW", connection, sql, query)

    def _derived_table(self, view: Named, derived: Mapping[str, Any], connection: BiConnection) -> QueryAsset:
        query = LookmlQuery(connection.dialect, self._problems(view.at))
        sql: str | None = None
        source = derived.get("explore_source")
        if isinstance(derived.get("sql"), str):
            texts = query.liquid_texts(
                self.project.with_constants(derived["sql"]), lambda one: query.parses(REFERENCE.sub("t", one))
            )
            written = [self._tables.with_tables(one, query) for one in texts]
            sql = (
                written[0] if len(written) == 1 else f"SELECT *\nFROM {union_of([f'({one})' for one in written])} AS u"
            )
        elif isinstance(source, Mapping):
            sql = self._native(source, query)
        else:
            query.problems.add_not_read(f"the derived table of {view.name} has neither sql nor explore_source")
        key, title = f"derived_table/{slug(view.name)}", f"{view.name} (derived table)"
        return QueryAsset(
            key, title, view.at, connection, sql, needs=tuple(query.needs), problems=tuple(query.problems.found),
            operation="LOOKML_DERIVED_TABLE",
        )  # fmt: skip

    def _native(self, source: Mapping[str, Any], query: LookmlQuery) -> str:
        """Return the SQL of a native derived table: columns of an explore, and columns derived from these.

        It reads the views and joins of the explore that its columns need, not the explore, which may join it.
        """
        dialect = query.dialect
        name = str(source.get("name") or "")
        columns = objects_in(source.get("columns"))
        explore = self.explores.get(name)
        if explore is None:
            query.reference(f"explore/{slug(name)}")
            names = [str(one.get("name")) for one in columns]
            return "SELECT " + (", ".join(f"NULL AS {plain_name(one, dialect)}" for one in names) or "NULL")
        wanted = {str(one.get("name")): str(one.get("field") or one.get("name")) for one in columns}
        bound = [str(one["to_field"]) for one in objects_in(source.get("bind_filters__all")) if one.get("to_field")]
        filters = [
            *filter_fields(source),
            *bound,
            *REFERENCE.findall(str(source.get("expression_custom_filter") or "")),
        ]
        ordered = [wanted.get(name, name) for one in objects_in(source.get("sorts")) for name in one]
        ordered = ordered if source.get("limit") else []
        written = ExploreSql(explore, self._tables, query)
        filters = [one for one in filters if not written.is_value(one)]
        inner = written.sql([*wanted.values(), *filters, *ordered])
        listed = [
            f"e.{quote(explore_column(one), dialect)} AS {plain_name(own, dialect)}" for own, one in wanted.items()
        ]
        conditions = [f"e.{quote(explore_column(one), dialect)} = {LITERAL}" for one in filters]
        conditions += [f"order_of(e.{quote(explore_column(one), dialect)}) IS NOT NULL" for one in ordered]
        sql = "SELECT " + (",\n  ".join(listed) or "*") + f"\nFROM (\n{inner}\n) AS e"
        sql += "\nWHERE " + " AND ".join(conditions) if conditions else ""
        groups = [f"e.{quote(explore_column(one), dialect)}" for one in wanted.values() if written.is_dimension(one)]
        sql += "\nGROUP BY " + ", ".join(groups) if groups else ""
        derived = [
            f"{_liquid_expression(str(column.get('sql') or 'NULL'), query)} "
            f"AS {plain_name(str(column.get('name')), dialect)}"
            for column in objects_in(source.get("derived_columns"))
        ]
        return f"SELECT n.*,\n  {', '.join(derived)}\nFROM (\n{sql}\n) AS n" if derived else sql

    # Explores

    def _explore(self, explore: Named) -> QueryAsset:
        connection = self._connection(explore.at)
        query = LookmlQuery(connection.dialect, self._problems(explore.at, explore.problems))
        sql = ExploreSql(explore, self._tables, query).sql()
        return _asset(explore, f"explore/{slug(explore.name)}", "LOOKML_EXPLORE", connection, sql, query)


class _Warnings(logging.Handler):
    """Keeps the keys of which the parser of LookML warns."""

    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning: the only one is that a key is at the top level of a file more than once."""
        key = record.args[0] if isinstance(record.args, tuple) and record.args else "a key"
        self._found.append(f"{key} is in the file more than once: only the last one is read")


class _Lexer(Lexer):
    """Refuses a lone `;` between tokens, at which `lkml` would stay for ever."""

    _semicolon = -1

    def peek(self) -> str:
        """Return the next character; the same `;` is never looked at twice unless nothing takes it."""
        character: str = super().peek()
        if character == ";" and self.index == self._semicolon:
            raise SyntaxError(f"a single `;` on line {self.line_number}")
        if character == ";":
            self._semicolon = self.index
        return character


def _load(text: str, repeated: list[str]) -> Mapping[str, Any]:
    """Return what a file of LookML says; what the parser warns of is added to `repeated`, and not printed."""
    logger = logging.getLogger("lkml")
    handler, propagates = _Warnings(repeated), logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        visitor: Any = DictVisitor()  # type: ignore[no-untyped-call]
        loaded: Mapping[str, Any] = visitor.visit(Parser(_Lexer(text).scan()).parse())  # as `lkml.load` does
        return loaded
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


def _liquid_expression(text: str, query: LookmlQuery) -> str:
    return choice_of(query.liquid_texts(text, lambda one: query.parses(f"SELECT {one}")))


def _asset(
    view_or_explore: Named, key: str, operation: str, connection: BiConnection, sql: str, query: LookmlQuery
) -> QueryAsset:
    """Return a view or an explore as a query."""
    return QueryAsset(
        key,
        str(view_or_explore.definition.get("label") or view_or_explore.name),
        view_or_explore.at,
        connection,
        sql,
        needs=tuple(query.needs),
        problems=tuple(query.problems.found),
        description=text_or_none(view_or_explore.definition.get("description")),
        operation=operation,
    )
