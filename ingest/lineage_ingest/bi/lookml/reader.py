"""Read a LookML project: one SQL query for each view, derived table and explore, and for each tile of a dashboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import lkml

from lineage.model.diagnostics import Diagnostic, DiagnosticCode
from lineage_ingest.bi.connections import BiConnection, ConnectionMap, dialect_of_engine
from lineage_ingest.bi.exported import BiExport, Board, QueryAsset, QueryProblems, not_read, slug
from lineage_ingest.bi.files import ExportFile, UnreadableExportError, text_of, yaml_of
from lineage_ingest.bi.json_objects import text_or_none
from lineage_ingest.bi.lookml.explore_sql import ExploreSql
from lineage_ingest.bi.lookml.filter_fields import filter_fields
from lineage_ingest.bi.lookml.lookml_project import LookmlProject, Named
from lineage_ingest.bi.lookml.tiles import Dashboards, explore_column
from lineage_ingest.bi.lookml.view_tables import LookmlQuery, ViewTables
from lineage_ingest.bi.written_sql import LITERAL, quote

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
        unnested = self._joined_by_sql()
        queries = [one for view in self._tables.views.values() if view.name not in unnested for one in self._view(view)]
        queries += [
            self._explore(one) for one in self.explores.values() if one.definition.get("extension") != "required"
        ]
        boards: list[Board] = []
        for tiles, board in Dashboards(self.dashboards, self._connection_of_explore, self._filter_only()).read():
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
            value = yaml_of(file)
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, Mapping) and one.get("dashboard"):
                    self.dashboards.append((file.name, one))
            return
        text = text_of(file)
        if len(text) > _MAX_LOOKML:
            raise UnreadableExportError(
                f"the file has {len(text):,} characters, more than the limit of {_MAX_LOOKML:,}"
            )
        try:
            document = lkml.load(text)
        except SyntaxError as error:
            message = "not valid LookML"
            where = re.search(r"line (\d+)", str(error))
            if where is not None:
                message = f"line {where[1]}: {message}"
            raise UnreadableExportError(message, code=DiagnosticCode.ARTIFACT_DAMAGED) from None
        except (RecursionError, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
            message = f"not valid LookML ({type(error).__name__})"
            raise UnreadableExportError(message, code=DiagnosticCode.ARTIFACT_DAMAGED) from None
        self.project.add(document, file.name, file.path)

    def _connection(self, at: str) -> BiConnection:
        name = self.project.connection_of(at)
        if name not in self._connections:
            dialect = dialect_of_engine(name)
            found = BiConnection((name or "(none)",), dialect or "ansi", is_known=dialect is not None)
            self._connections[name] = self.map.apply(found)
        return self._connections[name]

    def _filter_only(self) -> set[str]:
        """Return the names that only filters and parameters of views have."""
        only, columns = set[str](), set[str]()
        for view in self._tables.views.values():
            columns |= set(self._tables.fields(view, "ansi").fields)
            for kind in ("filters", "parameters"):
                only |= {str(one.get("name")) for one in view.definition.get(kind) or () if isinstance(one, Mapping)}
        return only - columns

    def _connection_of_explore(self, name: str, at: str) -> BiConnection:
        return self._connection(self.explores[name].at if name in self.explores else at)

    # Views

    def _joined_by_sql(self) -> set[str]:
        """Return the views without a table of their own that explores join by SQL of a join (`UNNEST(…) AS name`)."""
        found = set()
        for explore in self.explores.values():
            for join in explore.definition.get("joins") or ():
                if isinstance(join.get("sql"), str):
                    found.add(str(join.get("from") or join.get("view_name") or join.get("name")))
        own, views = {"sql_table_name", "derived_table"}, self._tables.views
        return {name for name in found if name in views and not own & set(views[name].definition)}

    def _view(self, view: Named) -> Iterator[QueryAsset]:
        """Yield the view, and before it its derived table."""
        if view.definition.get("extension") == "required":
            return
        connection = self._connection(view.at)
        query = LookmlQuery(connection.dialect, QueryProblems(list(view.problems)))
        derived = view.definition.get("derived_table")
        if isinstance(derived, Mapping):
            yield self._derived_table(view, derived, connection)
        source = self._tables.source(view, query)
        fields = self._tables.fields(view, connection.dialect)
        listed = [
            f"{fields.sql(name, lambda _view, _name: None)} AS {quote(name, connection.dialect)}"
            for name in fields.fields
            if not fields.is_foreign(name)
        ]
        for problem in fields.problems.found:
            query.problems.add(problem)
        if listed:
            sql = "SELECT " + ",\n  ".join(listed) + f"\nFROM {source} AS {quote(view.name, connection.dialect)}"
            yield _asset(view, f"view/{slug(view.name)}", "LOOKML_VIEW", connection, sql, query)

    def _derived_table(self, view: Named, derived: Mapping[str, Any], connection: BiConnection) -> QueryAsset:
        query = LookmlQuery(connection.dialect)
        sql: str | None = None
        source = derived.get("explore_source")
        if isinstance(derived.get("sql"), str):
            plain = query.without_liquid(self.project.with_constants(derived["sql"]))
            sql = self._tables.with_tables(plain, query)
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
        columns = source.get("columns") or ()
        explore = self.explores.get(name)
        if explore is None:
            query.reference(f"explore/{slug(name)}")
            names = [str(one.get("name")) for one in columns]
            return "SELECT " + (", ".join(f"NULL AS {quote(one, dialect)}" for one in names) or "NULL")
        wanted = {str(one.get("name")): str(one.get("field") or one.get("name")) for one in columns}
        filters = list(filter_fields(source))
        inner = ExploreSql(explore, self._tables, query).sql([*wanted.values(), *filters])
        listed = [f"e.{quote(explore_column(one), dialect)} AS {quote(own, dialect)}" for own, one in wanted.items()]
        conditions = [f"e.{quote(explore_column(one), dialect)} = {LITERAL}" for one in filters]
        sql = "SELECT " + (",\n  ".join(listed) or "*") + f"\nFROM (\n{inner}\n) AS e"
        sql += "\nWHERE " + " AND ".join(conditions) if conditions else ""
        derived = [
            f"{query.without_liquid(str(column.get('sql') or 'NULL'))} AS {quote(str(column.get('name')), dialect)}"
            for column in source.get("derived_columns") or ()
        ]
        return f"SELECT n.*,\n  {', '.join(derived)}\nFROM (\n{sql}\n) AS n" if derived else sql

    # Explores

    def _explore(self, explore: Named) -> QueryAsset:
        connection = self._connection(explore.at)
        query = LookmlQuery(connection.dialect, QueryProblems(list(explore.problems)))
        sql = ExploreSql(explore, self._tables, query).sql()
        return _asset(explore, f"explore/{slug(explore.name)}", "LOOKML_EXPLORE", connection, sql, query)


def _asset(one: Named, key: str, operation: str, connection: BiConnection, sql: str, query: LookmlQuery) -> QueryAsset:
    """Return a view or an explore as a query."""
    return QueryAsset(
        key,
        str(one.definition.get("label") or one.name),
        one.at,
        connection,
        sql,
        needs=tuple(query.needs),
        problems=tuple(query.problems.found),
        description=text_or_none(one.definition.get("description")),
        operation=operation,
    )
