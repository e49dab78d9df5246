"""A plain form for tools without a reader of their own: YAML or CSV, as docs/dashboards.md describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import split_name
from lineage_ingest.bi.connections import BiConnection, ConnectionMap, default_schema, dialect_of_engine
from lineage_ingest.bi.exported import BiExport, Board, QueryAsset, QueryProblems, not_read, slug
from lineage_ingest.bi.files import REST_OF_ROW, ExportFile, UnreadableExportError, csv_header, csv_rows, yaml_of
from lineage_ingest.bi.json_objects import text_or_none
from lineage_ingest.bi.templates.written_sql import name_of_any_case, quote, table_reference

__all__ = ["SUFFIXES", "read_plain_form"]

SUFFIXES = frozenset((".yaml", ".yml", ".csv"))
_COLUMNS = (
    "dashboard",
    "query",
    "column",
    "source_table",
    "source_column",
    "connection",
    "owner",
    "url",
    "description",
)
_NEEDED = ("query", "column", "source_table", "source_column")
_KEYS = {
    "file": ("server", "connections", "queries", "dashboards"),
    "connection": ("dialect", "namespace", "database", "schema"),
    "query": ("name", "key", "connection", "sql", "columns", "tables", "owner", "url", "description"),
    "dashboard": ("name", "shows", "owner", "url", "description"),
}


def read_plain_form(
    files: Iterable[ExportFile], connections: ConnectionMap, server: str, progress: Callable[[int], None]
) -> BiExport:
    """Return what files in the plain form say."""
    return _PlainReader(connections, server).read(files, progress)


class _PlainReader:
    def __init__(self, connections: ConnectionMap, server: str) -> None:
        self.map = connections
        self.server = server
        self.stated_server = ""
        self.connections: dict[str, BiConnection] = {}
        self.queries: list[QueryAsset] = []
        self.boards: list[Board] = []
        self._waiting: list[Callable[[], None]] = []
        """Adds queries, whose connections may be in later files."""
        self._shown: list[tuple[str, list[str], str, Mapping[str, Any]]] = []
        self.problems: list[tuple[str, Diagnostic]] = []
        self.is_whole = True

    def read(self, files: Iterable[ExportFile], progress: Callable[[int], None]) -> BiExport:
        """Return the export."""
        for number, file in enumerate(files):
            progress(number + 1)
            if file.problem is not None:
                self._damaged(file.name, file.problem)
                continue
            try:
                if file.suffix == ".csv":
                    self._read_csv(file)
                else:
                    self._read_yaml(file)
            except UnreadableExportError as error:
                self._damaged(file.name, error.diagnostic)
        for add in self._waiting:
            add()
        for name, shows, at, one in self._shown:  # their queries may be in other files
            self._add_board(name, shows, at, one)
        return BiExport(
            self.server or self.stated_server,
            tuple(self.queries),
            tuple(self.boards),
            (),
            tuple(self.problems),
            self.is_whole,
        )

    def _damaged(self, at: str, problem: Diagnostic) -> None:
        self.is_whole = False
        self.problems.append((at, problem))

    def _invalid(self, at: str, message: str) -> None:
        hint = "docs/dashboards.md describes the form"
        self._damaged(at, Diagnostic(DiagnosticCode.ARTIFACT_DAMAGED, Severity.ERROR, message, hint=hint))

    # YAML

    def _read_yaml(self, file: ExportFile) -> None:
        value = yaml_of(file)
        if not isinstance(value, Mapping):
            self._invalid(file.name, "expected a mapping with `queries` and `dashboards`")
            return
        server = text_or_none(value.get("server"))
        if server and self.stated_server and server != self.stated_server:
            message = (
                f"the file is of the server {server!r}, another file of {self.stated_server!r}: nothing of it is read"
            )
            raise UnreadableExportError(message, "ingest the files of each server on their own")
        self.stated_server = self.stated_server or server or ""
        self._check_keys("file", value, file.name)
        connections = value.get("connections") or {}
        if not isinstance(connections, Mapping):
            self._invalid(file.name, "`connections` is not a mapping of names")
            connections = {}
        for name, facts in connections.items():
            at = f"{file.name}#connections/{name}"
            if isinstance(facts, Mapping):
                self._check_keys("connection", facts, at)
            else:
                self._invalid(at, "a connection is a mapping")
            self._add_connection(str(name), facts if isinstance(facts, Mapping) else {}, at)
        for at, entry in self._listed(value, "queries", "query", file.name):
            self._waiting.append(partial(self._add_query, entry, at))
        for at, entry in self._listed(value, "dashboards", "dashboard", file.name):
            shows = entry.get("shows") or []
            if not isinstance(shows, list):
                shows = [shows]
            self._shown.append((str(entry["name"]), [str(name) for name in shows], at, entry))

    def _listed(
        self, value: Mapping[str, Any], name: str, what: str, file: str
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the entries of a list that have a name, each with its place."""
        listed = value.get(name) or []
        if not isinstance(listed, list):
            self._invalid(file, f"`{name}` is not a list")
            return
        for number, entry in enumerate(listed):
            at = f"{file}#{name}/{number}"
            if not isinstance(entry, Mapping) or not entry.get("name"):
                self._invalid(at, f"a {what} needs a name")
            else:
                self._check_keys(what, entry, at)
                yield at, entry

    def _check_keys(self, what: str, value: Mapping[str, Any], at: str) -> None:
        for key in sorted(set(map(str, value)) - set(_KEYS[what])):
            near = get_close_matches(key, _KEYS[what], 1)
            self._invalid(at, f"the key {key!r} is not known" + (f"; did you mean {near[0]!r}?" if near else ""))

    def _add_connection(self, name: str, facts: Mapping[str, Any], at: str) -> None:
        dialect = dialect_of_engine(str(facts.get("dialect") or ""))
        connection = BiConnection(
            (name,),
            dialect or "ansi",
            str(facts.get("namespace") or ""),
            text_or_none(facts.get("database")),
            text_or_none(facts.get("schema")) or default_schema(dialect),
            is_known=dialect is not None,
        )
        found = self.map.apply(connection)
        if self.connections.setdefault(name, found) != found:
            message = f"the connection {name!r} is in another file, too, and differs there: this one is read"
            self.problems.append((at, Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)))
            self.connections[name] = found

    def _connection(self, name: str | None) -> BiConnection:
        if name is None and len(self.connections) == 1:
            return next(iter(self.connections.values()))
        connection = self.connections.get(name or "default")
        if connection is None:
            connection = self.map.apply(BiConnection((name or "default",), is_known=False))
            self.connections[name or "default"] = connection
        return connection

    def _add_query(self, query: Mapping[str, Any], at: str) -> None:
        connection = self._connection(text_or_none(query.get("connection")))
        key = query_key(str(query.get("key") or query["name"]))
        sql, columns = query.get("sql"), query.get("columns")
        problems: list[Diagnostic] = []
        reads: tuple[tuple[str, ...], ...] = ()
        if isinstance(sql, str) and sql.strip():
            text: str | None = sql
            if columns or query.get("tables"):
                problems.append(not_read("`columns` and `tables` are not read beside `sql`"))
        elif isinstance(columns, Mapping) and columns:
            text = _sql_of_columns(
                {str(name): _sources(sources, connection.dialect, problems) for name, sources in columns.items()},
                connection.dialect,
            )
        else:
            text = None
            tables = query.get("tables") or ()
            listed = tables if isinstance(tables, list | tuple) else [tables]
            reads = tuple(_parts(str(name), connection.dialect) for name in listed)
            if not reads:
                problems.append(not_read("the query has no sql, columns or tables"))
        self.queries.append(
            QueryAsset(
                key,
                str(query["name"]),
                at,
                connection,
                text,
                reads=reads,
                problems=tuple(problems),
                description=text_or_none(query.get("description")),
                owner=text_or_none(query.get("owner")),
                url=text_or_none(query.get("url")),
            )
        )

    def _add_board(self, name: str, shows: list[str], at: str, dashboard: Mapping[str, Any]) -> None:
        keys = tuple(dict.fromkeys(query_key(title) for title in shows))
        known = {query.key for query in self.queries}
        missing = [title for title in shows if query_key(title) not in known]
        problems = tuple(not_read(f"it shows {title!r}, which is no query of the files") for title in missing)
        self.boards.append(
            Board(
                f"dashboard/{slug(name)}",
                name,
                at,
                keys,
                problems,
                text_or_none(dashboard.get("description")),
                text_or_none(dashboard.get("owner")),
                text_or_none(dashboard.get("url")),
            )
        )

    # CSV

    def _read_csv(self, file: ExportFile) -> None:
        header = csv_header(file)
        missing = [name for name in _NEEDED if name not in header]
        if missing:
            self._invalid(file.name, f"the header lacks {', '.join(missing)}")
            return
        rows = list(csv_rows(file))
        for name in sorted(set(header) - set(_COLUMNS)):
            self._invalid(file.name, f"the column {name!r} is not known")
        for name in sorted({name for name in header if header.count(name) > 1}):
            self._invalid(file.name, f"the column {name!r} is there twice: the last one is read")
        queries: dict[str, _CsvQuery] = {}
        boards: dict[str, dict[str, None]] = {}
        for line, row in rows:
            at, name = f"{file.name}:{line}", row["query"].strip()
            if not (name and row["column"].strip()):
                self._invalid(at, "a row needs a query and a column")
                continue
            query = queries.setdefault(name, _CsvQuery(at))
            if row.get(REST_OF_ROW):
                self._invalid(at, "the row has more values than the header")
                query.problems.add_not_read("a row has more values than the header")
            if not query.add(row):
                self._invalid(at, "a source needs both source_table and source_column")
            if row.get("dashboard"):
                boards.setdefault(row["dashboard"].strip(), {})[name] = None
        for name, query in queries.items():
            self._waiting.append(partial(self._add_csv_query, name, query))
        for name, shows in boards.items():
            self._shown.append((name, list(shows), file.name, {}))

    def _add_csv_query(self, name: str, query: _CsvQuery) -> None:
        connection = self._connection(query.facts.get("connection"))
        columns = {
            column: [
                (_parts(table, connection.dialect), name_of_any_case(source, connection.dialect))
                for table, source in sources
            ]
            for column, sources in query.columns.items()
        }
        self.queries.append(
            QueryAsset(
                query_key(name),
                name,
                query.at,
                connection,
                _sql_of_columns(columns, connection.dialect),
                problems=tuple(query.problems.found),
                description=query.facts.get("description"),
                owner=query.facts.get("owner"),
                url=query.facts.get("url"),
            )
        )


@dataclass(slots=True)
class _CsvQuery:
    """What the rows of a CSV file say of one query; `at` is its first row."""

    at: str
    columns: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """The sources of each column: table and column."""
    facts: dict[str, str] = field(default_factory=dict)
    problems: QueryProblems = field(default_factory=QueryProblems)

    def add(self, row: Mapping[str, str]) -> bool:
        """Add a row; return whether its source has both a table and a column, or neither."""
        column, table, source = (row[key].strip() for key in ("column", "source_table", "source_column"))
        sources = self.columns.setdefault(column, [])
        if source == "*":
            self.problems.add_not_read(f"a source of the column {column!r} is no column: {table}.*")
        elif table and source:
            sources += [(table, source)] if (table, source) not in sources else []
        elif table or source:
            self.problems.add_not_read(f"a source of the column {column!r} is not complete")
        for key in ("connection", "owner", "url", "description"):
            value = row.get(key)
            if value and self.facts.setdefault(key, value) != value and key == "connection":
                self.problems.add_not_read(f"its rows name several connections: {self.facts[key]!r} is read")
        return bool(table) == bool(source)


def query_key(name: str) -> str:
    """Return the key of a query with this name."""
    return f"query/{slug(name)}"


def _sql_of_columns(columns: Mapping[str, list[tuple[tuple[str, ...], str]]], dialect: str) -> str:
    """Return SQL that makes columns of others: from one as it is, from several by an unknown function."""
    aliases: dict[tuple[str, ...], str] = {}
    for sources in columns.values():
        for table, _ in sources:
            aliases.setdefault(table, f"t{len(aliases) + 1}")
    listed = []
    for name, sources in columns.items():
        texts = [f"{aliases[table]}.{quote(column, dialect)}" for table, column in sources]
        text = "NULL" if not texts else texts[0] if len(texts) == 1 else f"made_of({', '.join(texts)})"
        listed.append(f"{text} AS {quote(name, dialect)}")
    tables = [f"{table_reference(table, dialect)} AS {alias}" for table, alias in aliases.items()]
    return "SELECT " + ",\n  ".join(listed) + ("\nFROM " + "\nCROSS JOIN ".join(tables) if tables else "")


def _sources(value: Any, dialect: str, problems: list[Diagnostic]) -> list[tuple[tuple[str, ...], str]]:
    found: dict[tuple[tuple[str, ...], str], None] = {}
    for text in value if isinstance(value, list) else [value] if value else []:
        parts = _parts(str(text), dialect)
        if len(parts) < 2 or parts[-1] == "*":
            problems.append(not_read(f"the source {str(text)!r} is not of the form table.column"))
            continue
        found[parts[:-1], parts[-1]] = None
    return list(found)


def _parts(name: str, dialect: str) -> tuple[str, ...]:
    """Return the parts of a dotted name; those in lower case and without quotes as the database has them."""
    return tuple(part if is_quoted else name_of_any_case(part, dialect) for part, is_quoted in split_name(name))
