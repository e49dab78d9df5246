"""Resolve the queries of an export, each after those that it reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import Naming, dataset_key, split_location, split_name
from lineage.model.statement import ColumnRef, Completeness, DatasetKind, Edge, StatementLineage
from lineage.model.text.name_lists import name_list
from lineage.sql.extraction import ExtractionOptions, resolve_statement
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.trees import take_apart
from lineage.sql.resolve.relations import BaseTables
from lineage.sql.resolve.tables import TableEntry
from lineage.sql.script.definitions import is_bare_query
from lineage.store.protocol import GraphStore
from lineage_ingest.bi.connections import BiConnection, naming_of
from lineage_ingest.bi.exported import BiExport, QueryAsset, not_read
from lineage_ingest.bi.templates.sql_templates import TEMPLATED
from lineage_ingest.bi.templates.written_sql import LITERAL
from lineage_ingest.dbt.earlier.learnt_schemas import LearntSchemas

__all__ = ["ExportResolution", "ResolvedQuery"]

_TEMPLATE = LITERAL.strip("'")
"""The name of a table in place of which a template stands."""
_OF_NAMES = frozenset(
    (DiagnosticCode.UNKNOWN_COLUMN, DiagnosticCode.UNKNOWN_TABLE, DiagnosticCode.AMBIGUOUS_COLUMN,
     DiagnosticCode.UNRESOLVED_STAR)
)  # fmt: skip
_WORST = (Completeness.FULL, Completeness.PARTIAL, Completeness.TABLES, Completeness.NONE)


@frozen
class ResolvedQuery:
    """A query with its lineage, and its columns in order; none if they are not known."""

    query: QueryAsset
    statement: StatementLineage
    columns: tuple[str, ...]


class ExportResolution:
    """Resolves the queries of one export; `location` gives the full name of a query's dataset by its key."""

    def __init__(
        self,
        export: BiExport,
        options: ExtractionOptions,
        location: Callable[[str], str],
        store: GraphStore,
        catalog: Catalog,
    ) -> None:
        self._options = options
        self._location = location
        self._store = store
        self._catalog = catalog
        self._queries = {query.key: query for query in export.queries}
        self._by_fold = {key.casefold(): key for key in self._queries}
        self._exported: dict[BiConnection, dict[str, tuple[str, ...]]] = {}
        for table in export.tables:
            naming = naming_of(table.connection)
            name = str(naming.qualify([str(naming.dialect.fold_table(part, quoted=True)) for part in table.parts]))
            columns = tuple(naming.dialect.fold_column(column, quoted=True) for column in table.columns)
            self._exported.setdefault(table.connection, {})[name] = columns
        self._learnt: dict[BiConnection, LearntSchemas] = {}
        self._shared: dict[BiConnection, BaseTables] = {}
        self.results: dict[str, ResolvedQuery] = {}

    def resolve(self, progress: Callable[[int, int], None] = lambda _done, _total: None) -> dict[str, ResolvedQuery]:
        """Return the queries by key, each resolved after those that it reads."""
        order, cyclic = self._order()
        for number, key in enumerate(order):
            query = self._queries[key]
            if key in cyclic:
                message = f"it reads itself by way of {', '.join(one for one in cyclic if one != key) or key}"
                problem = Diagnostic(DiagnosticCode.CYCLIC_DEFINITION, Severity.WARNING, message)
                query = replace(query, problems=(*query.problems, problem))
            self.results[key] = self._resolve(query)
            if number % 20 == 0 or number == len(order) - 1:
                progress(number + 1, len(order))
        return self.results

    def _order(self) -> tuple[list[str], list[str]]:
        """Return the keys in order of resolution, and those that read themselves."""
        needs = {
            key: {one for one in query.needs if one in self._queries and one != key}
            for key, query in self._queries.items()
        }
        cyclic = [key for key, query in self._queries.items() if key in query.needs]
        while True:
            try:
                return list(TopologicalSorter(needs).static_order()), cyclic
            except CycleError as error:
                cycle = list(dict.fromkeys(error.args[1]))
                cyclic += [key for key in cycle if key not in cyclic]
                for key in cycle:
                    needs[key] -= set(cycle)

    def _resolve(self, query: QueryAsset) -> ResolvedQuery:
        missing = [key for key in query.needs if key not in self._queries]
        naming = naming_of(query.connection)
        options = replace(self._options, naming=naming)
        tables = _ExportTables(self, query, naming)
        target = self._location(query.key)
        statement, several = self._lineage(query, options, tables, target)
        statement, unknown = _without_templated_names(statement)
        problems = [*query.problems, *statement.diagnostics]
        if several > 1:
            message = f"{several} statements: only the last query is read"
            problems.append(Diagnostic(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message))
        problems += [not_read(f"which {what} it reads is decided by a template, and not known") for what in unknown]
        if missing:
            message = f"it reads {name_list(missing, 5)}, which the export does not contain"
            problems.append(Diagnostic(DiagnosticCode.EXPRESSION_NOT_READ, Severity.ERROR, message))
        completeness = statement.completeness
        if not query.connection.is_known or any(one.severity is not Severity.INFO for one in problems):
            completeness = max(completeness, Completeness.PARTIAL, key=_WORST.index)
        if statement.target != target or completeness in (Completeness.TABLES, Completeness.NONE):
            completeness = Completeness.TABLES
        statement = replace(statement, edges=self._with_stored_columns(query, statement.edges, naming))
        needed = [self._location(key) for key in query.needs if key in self._queries]
        stated = [tables.name(parts) for parts in query.reads]
        sources = [one for one in dict.fromkeys((*statement.sources, *stated, *needed)) if one != target]
        statement = replace(
            statement,
            operation=query.operation,
            target=target,
            target_kind=DatasetKind.EXPOSURE,
            defines=True,
            sources=sources if completeness is Completeness.TABLES else list(statement.sources),
            diagnostics=problems,
            completeness=completeness,
            source=query.key,
        )
        columns = tuple(str(column.name) for column in statement.schema) or query.columns
        return ResolvedQuery(query, statement, columns)

    def _with_stored_columns(self, query: QueryAsset, edges: list[Edge], naming: Naming) -> list[Edge]:
        """Return edges whose sources in other queries are named as these name them.

        Their dialect may be another, and columns that only the export lists are as it spells them.
        """
        stored: dict[str, dict[str, str]] = {}
        for key in query.needs:
            resolved = self.results.get(key)
            if resolved is not None:
                fold = naming.dialect.fold_column
                spelled = {str(fold(one, quoted=True)): one for one in resolved.columns}
                if any(own != one for own, one in spelled.items()):
                    stored[self._location(key)] = spelled
        if not stored:
            return edges
        return [
            edge._replace(source=ColumnRef(edge.source.table, stored[edge.source.table][edge.source.column]))
            if edge.source.table in stored and edge.source.column in stored[edge.source.table]
            else edge
            for edge in edges
        ]

    def _lineage(
        self, query: QueryAsset, options: ExtractionOptions, tables: _ExportTables, target: str
    ) -> tuple[StatementLineage, int]:
        if query.sql is None:
            return StatementLineage("SELECT", completeness=Completeness.TABLES), 0
        statements = list(parse_statements(query.sql, options.naming.dialect, options.budget))
        try:
            queries = [one for one in statements if is_bare_query(one.tree)]
            chosen = queries[-1] if queries else statements[-1] if statements else None
            if chosen is None:
                problem = Diagnostic(DiagnosticCode.EMPTY_INPUT, Severity.WARNING, "the query has no SQL")
                return StatementLineage("SELECT", diagnostics=[problem], completeness=Completeness.TABLES), 0
            statement = resolve_statement(chosen, options, tables, target)[0]
            if not queries and chosen.tree is not None:
                problem = not_read(f"the statement is no query ({statement.operation}), so nothing of it is shown")
                statement = replace(statement, diagnostics=[*statement.diagnostics, problem])
            return statement, len(statements)
        finally:
            for one in statements:
                if one.tree is not None:
                    take_apart(one.tree)

    # The tables

    def shared(self, connection: BiConnection) -> BaseTables:
        """Return the objects that all queries of a connection share."""
        return self._shared.setdefault(connection, BaseTables())

    def asset(self, key: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the full name and columns of the query with this key; None if there is none."""
        exact_key = self._by_fold.get(key.casefold())
        if exact_key is None:
            return None
        resolved = self.results.get(exact_key)
        return self._location(exact_key), resolved.columns if resolved is not None else ()

    def columns(self, connection: BiConnection, naming: Naming, name: str) -> tuple[str, ...] | None:
        """Return the columns of a table of the database; None if nothing knows them."""
        learnt = self._learnt.get(connection)
        if learnt is None:

            def key_of(table: str) -> str:
                return dataset_key(*(split_location(table) or (naming.dataset_namespace, table)))

            learnt = LearntSchemas(
                self._store, key_of, self._exported.get(connection, ()), self._catalog.qualified(naming)
            )
            self._learnt[connection] = learnt
        return learnt(name) or self._exported.get(connection, {}).get(name)

    def is_exported(self, connection: BiConnection, name: str) -> bool:
        """Return whether the tool lists a table of this full name."""
        return name in self._exported.get(connection, ())


class _ExportTables:
    """The tables that one query can read: other queries of the export, and those of its database."""

    def __init__(self, export: ExportResolution, query: QueryAsset, naming: Naming) -> None:
        self._export = export
        self._query = query
        self._naming = naming
        self.shared = export.shared(query.connection)

    def name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table."""
        found = self._asset(parts)
        return found[0] if found is not None else str(self._naming.qualify(parts))

    def existing_name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table."""
        return self.name(parts)

    def find(self, parts: Sequence[str]) -> TableEntry:
        """Return a table's full name, and its columns if they are known."""
        found = self._asset(parts)
        if found is not None:
            name, listed = found
            return TableEntry(name, _folded(listed, self._naming) or None)
        name = str(self._naming.qualify(parts))
        columns = self._export.columns(self._query.connection, self._naming, name)
        return TableEntry(name, dict.fromkeys(columns) if columns else None)

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether a schema has a table."""
        return self._export.is_exported(self._query.connection, str(self._naming.qualify([*schema, *parts])))

    def seen(self, _tables: Collection[str], _column: str) -> set[str]:
        """Return nothing: an export lists a table with all its columns, or not at all."""
        return set()

    def _asset(self, parts: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
        return self._export.asset(str(parts[0])) if len(parts) == 1 else None


def _without_templated_names(statement: StatementLineage) -> tuple[StatementLineage, list[str]]:
    """Return the lineage without tables and columns whose names a template decides, and what there is of these."""
    tables = {one for one in statement.sources if _is_templated(one)}
    columns = {edge.source for edge in statement.edges if _is_templated(edge.source.column)}
    columns |= {one for one in statement.inferred if _is_templated(one.column)}
    columns = {one for one in columns if one.table not in tables}
    said = [one for one in statement.diagnostics if one.code in _OF_NAMES and TEMPLATED in one.message.lower()]
    if not tables and not columns and not said:
        return statement, []
    known = replace(
        statement,
        sources=[one for one in statement.sources if one not in tables],
        edges=[one for one in statement.edges if one.source.table not in tables and one.source not in columns],
        inferred=tuple(one for one in statement.inferred if one.table not in tables and one not in columns),
        row_references=tuple(one for one in statement.row_references if one.source.table not in tables),
        diagnostics=[one for one in statement.diagnostics if one not in said],
    )
    return known, [what for what, found in (("table", tables), ("column", columns or (said and not tables))) if found]


def _is_templated(name: str) -> bool:
    parts = [part for part, _ in split_name(name)]
    return parts[-1:] == [_TEMPLATE] or any(TEMPLATED in part.lower() for part in parts)


def _folded(columns: Iterable[str], naming: Naming) -> dict[str, str | None]:
    return {naming.dialect.fold_column(column, quoted=True): None for column in columns}
