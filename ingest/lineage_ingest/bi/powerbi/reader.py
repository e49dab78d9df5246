"""Read .pbix files: the tables of the data model with their sources, calculations, and the visuals of the report."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.text.name_lists import name_list
from lineage_ingest.bi.connections import BiConnection, ConnectionMap, default_schema, server_namespace
from lineage_ingest.bi.exported import BiExport, Board, QueryAsset, distinct_slugs, not_read, slug
from lineage_ingest.bi.files import ExportFile, UnreadableExportError, check_archive, read_member
from lineage_ingest.bi.powerbi.dax import references_of, simple_aggregate, tables_of
from lineage_ingest.bi.powerbi.m_query import MQuery
from lineage_ingest.bi.powerbi.m_source import MSource
from lineage_ingest.bi.powerbi.m_steps import append_choices
from lineage_ingest.bi.powerbi.model_names import DaxNames, ModelNames, ModelRelationships
from lineage_ingest.bi.powerbi.report_definition import DEFINITION, read_definition
from lineage_ingest.bi.powerbi.report_layout import ReportVisual, level_name, read_layout
from lineage_ingest.bi.single_reports import SingleReport, read_single_reports
from lineage_ingest.bi.templates.written_sql import LITERAL, asset_reference, number_repeated, quote, table_reference

__all__ = ["SUFFIXES", "read_powerbi"]

if find_spec("pbixray") is None:  # importing it takes seconds, and another process does so
    raise ModuleNotFoundError("No module named 'pbixray'", name="pbixray")

SUFFIXES = frozenset((".pbix", ".pbit", ".pbip"))
_RANDOM = re.compile(r"[0-9a-f]{20,}")
_SECONDS = 300
"""Time for the data model of one file."""
_DIALECT = "duckdb"
"""The dialect in which what the model itself computes is written: it compares names without case, as DAX does."""
_MODEL = BiConnection(("(data model)",), _DIALECT, "powerbi")
_OF_GROUP = "the calculation group {} changes the measures beside it: what its items read is not known"
_CALCULATED = 2
"""The type of a calculated column in the model's schema (TMSCHEMA_COLUMNS)."""


def read_powerbi(
    files: Iterable[ExportFile], connections: ConnectionMap, server: str, progress: Callable[[int], None]
) -> BiExport:
    """Return what the files say. Each speaks of its own report only."""

    def read(file: ExportFile) -> SingleReport:
        if file.file is None:
            raise UnreadableExportError(_why_not_read(file))
        report = _PbixFile(file.file, file.name, PurePosixPath(file.path).stem, connections)
        queries, boards = tuple(report.queries()), tuple(report.boards())
        return SingleReport(report.scope, queries, boards, tuple(report.problems), report.is_whole)

    return replace(read_single_reports(files, read, progress), server=server)


@dataclass(slots=True)
class _Reads:
    """What one query reads: aliases by key, and the tables of the model that each of its expressions uses together."""

    aliases: dict[str, str] = field(default_factory=dict)
    together: list[set[str]] = field(default_factory=list)

    def alias(self, key: str) -> str:
        """Return the alias of a query that is read."""
        return self.aliases.setdefault(key, f"m{len(self.aliases) + 1}")


def _why_not_read(file: ExportFile) -> str:
    if file.suffix == ".pbix":
        return "a .pbix file inside an archive is not read: unpack it"
    if file.suffix == ".pbit":
        return "a template (.pbit) is not read: open it in Power BI Desktop, and save it as .pbix"
    return "only .pbix files are read: open the project (.pbip) in Power BI Desktop, and save it as .pbix"


class _PbixFile:
    def __init__(self, path: Path, at: str, title: str, connections: ConnectionMap) -> None:
        self._at = at
        self._title = title
        self._map = connections
        self.scope = f"{slug(title)}/"
        self.problems: list[tuple[str, Diagnostic]] = []
        self.is_whole = True
        self._visuals = self._open(path)
        self._model = _read_model(path)
        if self._model.get("live"):
            message = "the report has no data model of its own: it reads one that is published elsewhere"
            self.problems.append((at, not_read(message)))
        elif self._model.get("error"):
            message = f"the data model is damaged, or of an unknown version ({self._model['error']})"
            raise UnreadableExportError(message, "save the report again", DiagnosticCode.ARTIFACT_DAMAGED)
        for part in self._model.get("unread") or ():
            self.problems.append((at, not_read(f"a part of the data model could not be read: {part}")))
        visible = {str(row.get("TableName")) for row in self._rows("schema")}
        self._columns: dict[str, dict[str, str]] = {}
        """The columns that come from sources, by table and name, with their names in the source."""
        for row in self._rows("columns"):
            table, name = str(row.get("TableName")), str(row.get("Name"))
            if row.get("Type") in (_CALCULATED, str(_CALCULATED)) or name.startswith("RowNumber-"):
                continue
            if table in visible or not visible:  # others are the engine's own (`H$…`, `R$…`)
                self._columns.setdefault(table, {})[name] = str(row.get("SourceColumn") or name)
        for row in self._rows("schema"):  # it alone names the columns of calculated tables
            name = str(row.get("ColumnName"))
            self._columns.setdefault(str(row.get("TableName")), {}).setdefault(name, name)
        self._calculated: dict[str, dict[str, tuple[str, bool]]] = {}
        """Expressions of calculated columns and measures, by table and name, and whether it is a measure."""
        for row in self._rows("calculated"):
            own = self._calculated.setdefault(str(row.get("TableName")), {})
            own[str(row.get("ColumnName"))] = (str(row.get("Expression") or ""), False)
            self._columns.get(str(row.get("TableName")), {}).pop(str(row.get("ColumnName")), None)
        for row in self._rows("measures"):
            own = self._calculated.setdefault(str(row.get("TableName")), {})
            own[str(row.get("Name"))] = (str(row.get("Expression") or ""), True)
        self._groups = {str(row.get("TableName")) for row in self._rows("calculation_groups")}
        """Calculation groups, by the tables whose values choose one of their items."""
        self._levels: dict[tuple[str, str], str] = {}
        for row in self._rows("levels"):
            level = level_name(str(row.get("HierarchyName")), str(row.get("Name")))
            self._levels[str(row.get("TableName")).casefold(), level] = str(row.get("ColumnName"))
        """Columns that levels of hierarchies are, by table and level."""
        self._shown: list[str] = []
        self._slugs = distinct_slugs((*self._columns, *self._calculated))
        self._visual_keys = _distinct_keys(self._visuals)
        self._names = ModelNames(self._columns, self._calculated)
        self._relationships = ModelRelationships(self._rows("relationships"), self._names)

    def _open(self, path: Path) -> list[ReportVisual]:
        """Return the visuals of the report; the sizes of all members are checked before any is unpacked."""
        try:
            with zipfile.ZipFile(path) as archive:
                members = [member for member in archive.infolist() if not member.is_dir()]
                check_archive(archive, members, 8 * 1024**3)
                layout = next((member for member in members if member.filename == "Report/Layout"), None)
                if layout is not None:
                    return read_layout(read_member(archive, layout))
                parts = [
                    one for one in members if one.filename.startswith(DEFINITION) and one.filename.endswith(".json")
                ]
                if parts:
                    return self._definition({one.filename: read_member(archive, one) for one in parts})
        except (zipfile.BadZipFile, OSError, EOFError):
            message = "the file is damaged or not complete: it is no readable archive"
            raise UnreadableExportError(message, "save the report again", DiagnosticCode.ARTIFACT_DAMAGED) from None
        self.is_whole = False
        message = "the report's pages are not in a form that is known (neither Report/Layout nor Report/definition)"
        self.problems.append((self._at, not_read(message)))
        return []

    def _definition(self, parts: Mapping[str, bytes]) -> list[ReportVisual]:
        visuals, unread = read_definition(parts)
        for name in unread:
            self.is_whole = False
            self.problems.append((self._at, not_read(f"{name} is not valid JSON")))
        return visuals

    def _rows(self, name: str) -> list[Mapping[str, Any]]:
        found = self._model.get(name)
        return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []

    def _table_key(self, table: str) -> str:
        return f"{self.scope}table/{self._slugs.get(table, slug(table))}"

    def _fields_key(self, table: str) -> str:
        return f"{self.scope}calculated/{self._slugs.get(table, slug(table))}"

    # Tables

    def queries(self) -> Iterator[QueryAsset]:
        """Yield the tables, their calculations, and the visuals."""
        mashup = {str(row.get("name")): str(row.get("expression") or "") for row in self._rows("mashup")}
        for row in self._rows("parameters"):
            name = row.get("ParameterName")
            if name is not None:
                mashup.setdefault(str(name), str(row.get("Expression") or ""))
        expressions = {**mashup}
        for row in self._rows("queries"):
            expressions[str(row.get("TableName"))] = str(row.get("Expression") or "")
        formulas = {
            str(row.get("TableName")): str(row.get("Expression") or "") for row in self._rows("calculated_tables")
        }
        for table, columns in self._columns.items():
            if table in formulas:
                yield self._calculated_table(table, columns, formulas[table])
            else:
                yield self._table(table, columns, expressions)
        for table in self._calculated:
            yield self._calculations(table)
        for visual, key in zip(self._visuals, self._visual_keys, strict=True):
            if visual.selects or visual.unread:
                yield self._visual(visual, f"{self.scope}{key}")

    def _table(self, table: str, columns: Mapping[str, str], expressions: Mapping[str, str]) -> QueryAsset:
        at = f"{self._at}#table/{table}"
        text = expressions.get(table, "")
        others = {name: one for name, one in expressions.items() if name != table}
        queries = [MQuery(text, others, parts=parts) for parts in append_choices(text, others)]
        sources = [query.source() if text else None for query in queries]
        connections = {self._connection(one) for one in sources if one is not None and (one.sql or one.parts)}
        hidden = self._row_filters(table)
        problem = None
        if len(connections) > 1:
            problem = not_read("the tables that are appended are of several databases: which they are is not known")
        elif not connections or any(one is None or not (one.sql or one.parts) for one in sources):
            what = "the source of the table is no database that is known" if text else "the table has no M query"
            what = what if len(sources) < 2 else "a table that is appended is of no database that is known"
            what = what if table not in self._groups else _OF_GROUP.format(table)
            problem = not_read(what, severity=Severity.WARNING)
        if problem is not None:
            return QueryAsset(self._table_key(table), table, at, _MODEL, None, tuple(columns),
                              problems=(problem, *hidden), operation="POWERBI_TABLE")  # fmt: skip
        connection = next(iter(connections))
        selects = [
            _select(query, source, columns, connection.dialect)
            for query, source in zip(queries, sources, strict=True)
            if source is not None
        ]
        problems = [one for query in queries for one in query.problems]
        if len(queries) > 1:
            message = f"{len(queries)} tables are appended: each is taken to have all columns of the result"
            problems.append(not_read(message, severity=Severity.WARNING))
        return QueryAsset(
            self._table_key(table), table, at, connection, "\nUNION ALL ".join(selects), tuple(columns),
            problems=tuple(dict.fromkeys((*problems, *hidden))), operation="POWERBI_TABLE",
        )  # fmt: skip

    def _row_filters(self, table: str) -> list[Diagnostic]:
        """Return what row-level security hides of a table: by which columns is not followed."""
        rows = (row for row in self._rows("row_filters") if str(row.get("TableName")) == table)
        roles = name_list([str(row.get("RoleName")) for row in rows if row.get("FilterExpression")], 5)
        message = f"row-level security of {table} ({roles}): the columns by which it hides rows are not followed"
        return [Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.INFO, message)] if roles else []

    def _connection(self, source: MSource) -> BiConnection:
        namespace = server_namespace(source.dialect, source.server.replace("\\", "/"))
        schema = default_schema(source.dialect)
        names = tuple(one for one in (source.server, source.database) if one) or (source.dialect,)
        database = source.database or None
        if source.dialect == "mysql":
            database, schema = None, database
        return self._map.apply(
            BiConnection(names, source.dialect, namespace, database, schema, is_known=source.dialect != "ansi")
        )

    def _calculated_table(self, table: str, columns: Mapping[str, str], expression: str) -> QueryAsset:
        """Return a table that DAX computes: which of its columns comes from where is not known."""
        named = [owner for owner, _ in references_of(expression) if owner is not None] + tables_of(expression)
        found = [self._names.table(one) for one in named]
        needs = [self._table_key(one) for one in found if one is not None and one != table]
        message = "the table is computed by DAX: only the tables that it names are known"
        # Power BI makes a calendar for each date column: it says nothing of anybody's data.
        is_calendar = table.startswith(("LocalDateTable_", "DateTableTemplate_"))
        problem = not_read(message, severity=Severity.INFO if is_calendar else Severity.ERROR)
        return QueryAsset(
            self._table_key(table), table, f"{self._at}#table/{table}", _MODEL, None, tuple(columns),
            needs=tuple(dict.fromkeys(needs)), operation="POWERBI_CALCULATED_TABLE",
            problems=(problem, *self._row_filters(table)),
        )  # fmt: skip

    # Calculations

    def _calculations(self, table: str) -> QueryAsset:
        """Return the calculated columns and measures of a table, over the columns that their DAX names."""
        read = _Reads()
        unknown: list[str] = []
        by_name = 0
        outputs: dict[str, str] = {}
        for name, (expression, is_measure) in self._calculated[table].items():
            named = DaxNames()
            self._names.collect(table, expression, named)
            unknown += named.unknown
            texts = [f"{read.alias(self._table_key(one))}.{quote(column, _DIALECT)}" for one, column in named.columns]
            for one in named.tables:
                read.alias(self._table_key(one))
            read.together.append({one for one, _ in named.columns} | set(named.tables))
            pattern = simple_aggregate(expression)
            if pattern is not None and len(texts) == 1:
                outputs[name] = pattern.format(texts[0])
            elif not texts:
                outputs[name] = "COUNT(*)" if named.tables else LITERAL
                by_name += bool(named.tables)
            else:
                by_name += 1
                text = f"dax({', '.join(texts)})"
                outputs[name] = f"MAX({text})" if is_measure else text
        problems = [not_read(f"DAX: {one} is not in the model") for one in dict.fromkeys(unknown)]
        if by_name:
            message = (
                f"DAX: {by_name} expression{'s are' if by_name > 1 else ' is'} read by the names in "
                f"{'them' if by_name > 1 else 'it'}: which decide, and which contribute, is not known"
            )
            problems.append(not_read(message, severity=Severity.WARNING))
        sql = "SELECT " + ",\n  ".join(f"{text} AS {quote(name, _DIALECT)}" for name, text in outputs.items())
        sql += self._from(read)
        return QueryAsset(
            self._fields_key(table), f"{table} (calculated)", f"{self._at}#calculated/{table}", _MODEL, sql,
            needs=tuple(read.aliases), problems=tuple(problems), operation="POWERBI_CALCULATIONS",
        )  # fmt: skip

    def _from(self, read: _Reads) -> str:
        """Return FROM with what is read, and the relationships that connect its tables."""
        conditions = []
        connecting = (one for tables in read.together for one in self._relationships.connecting(tables))
        for one in dict.fromkeys(connecting):
            left, right = read.alias(self._table_key(one.table)), read.alias(self._table_key(one.other))
            conditions.append(f"{left}.{quote(one.column, _DIALECT)} = {right}.{quote(one.other_column, _DIALECT)}")
        froms = [f"{asset_reference(key, _DIALECT)} AS {alias}" for key, alias in read.aliases.items()]
        if not froms:
            return ""
        if not conditions:
            return "\nFROM " + "\nCROSS JOIN ".join(froms)
        return "\nFROM " + "\nCROSS JOIN ".join(froms[:-1]) + f"\nJOIN {froms[-1]} ON " + " AND ".join(conditions)

    # Visuals

    def _visual(self, visual: ReportVisual, key: str) -> QueryAsset:
        used: set[str] = set()
        read = _Reads(together=[used])
        problems: list[Diagnostic] = []
        outputs: list[tuple[str, str]] = []

        def column(table: str, name: str) -> str | None:
            name = self._levels.get((table.casefold(), name), name)
            place = self._names.column(table, name)
            if place is not None:
                used.add(place[0])
                if place[0] in self._groups:
                    problems.append(not_read(_OF_GROUP.format(place[0]), severity=Severity.WARNING))
                return f"{read.alias(self._table_key(place[0]))}.{quote(place[1], _DIALECT)}"
            place = self._names.calculation(table, name)
            if place is None:
                problems.append(not_read(f"{table}[{name}] is not in the model"))
                return None
            named = DaxNames()
            self._names.collect(place[0], self._calculated[place[0]][place[1]][0], named)
            used.update({one for one, _ in named.columns} | set(named.tables))
            return f"{read.alias(self._fields_key(place[0]))}.{quote(place[1], _DIALECT)}"

        for label, table, name, pattern in visual.selects:
            text = column(table, name)
            outputs.append((label, pattern.format(text) if text is not None else "NULL"))
        filters = [text for table, name in dict.fromkeys(visual.filters) if (text := column(table, name)) is not None]
        sliced = [one for one in dict.fromkeys(visual.sliced) if one not in visual.filters and self._reaches(one, used)]
        filters += [text for table, name in sliced if (text := column(table, name)) is not None]
        if visual.unread:
            problems.append(not_read(f"{visual.unread} parts of the visual are not of a known form"))
        labels = number_repeated(label for label, _ in outputs)
        listed = [f"{text} AS {quote(label, _DIALECT)}" for label, (_, text) in zip(labels, outputs, strict=True)]
        sql = None
        if listed and read.aliases:
            sql = "SELECT " + ",\n  ".join(listed) + self._from(read)
            sql += "\nWHERE " + " AND ".join(f"({one} = {LITERAL})" for one in filters) if filters else ""
        self._shown.append(key)
        return QueryAsset(
            key, f"{visual.page}: {visual.kind} {_short(visual.name)}", f"{self._at}#page/{visual.page}/{visual.name}",
            _MODEL, sql, tuple(labels), needs=tuple(read.aliases), problems=tuple(dict.fromkeys(problems)),
            operation="POWERBI_VISUAL",
        )  # fmt: skip

    def _reaches(self, field: tuple[str, str], used: Collection[str]) -> bool:
        """Return whether a slicer's field filters a visual that reads these tables: the model relates their tables."""
        table = self._names.table(field[0])
        if table is None or table in used or table in self._groups or not used:
            return True
        return any(self._relationships.connecting((table, one)) for one in used)

    def boards(self) -> Iterator[Board]:
        """Yield the report, which shows its visuals; `queries` must have been read."""
        if self._shown:
            yield Board(f"{self.scope}report", self._title, self._at, tuple(self._shown), operation="POWERBI_REPORT")


def _select(query: MQuery, source: MSource, columns: Mapping[str, str], dialect: str) -> str:
    """Return the SQL of a query in M: `columns` are those of the result, with their names in it."""
    query.dialect = dialect
    listed = [f"{query.trace(own, 't')} AS {quote(name, dialect)}" for name, own in columns.items()]
    conditions = query.filters("t")
    head = "SELECT DISTINCT " if query.is_distinct() else "SELECT "
    sql = head + (",\n  ".join(listed) or "*") + f"\nFROM {_reference(source, dialect)} AS t"
    for join in query.joins.values():
        sql += f"\nLEFT JOIN {_reference(join.source, dialect)} AS {join.alias} ON {join.condition}"
    return sql + ("\nWHERE " + "\n  AND ".join(conditions) if conditions else "")


def _reference(source: MSource, dialect: str) -> str:
    return f"(\n{source.sql.strip().rstrip(';')}\n)" if source.sql else table_reference(source.parts, dialect)


def _distinct_keys(visuals: Sequence[ReportVisual]) -> list[str]:
    """Return keys of visuals; of equal ones, those with the whole names; of pages of one title, with numbers."""
    heads = [f"visual/{slug(one.page)}-{slug(one.kind)}" for one in visuals]
    short = [f"{head}-{_short(one.name)}" for head, one in zip(heads, visuals, strict=True)]
    times = Counter(key.casefold() for key in short)
    whole = [key if times[key.casefold()] == 1 else f"{head}-{slug(one.name)}"
             for key, head, one in zip(short, heads, visuals, strict=True)]  # fmt: skip
    return number_repeated(whole)


def _short(name: str) -> str:
    """Return the beginning of a random name; any other name as it is: those of one page may begin equally."""
    return name[:8] if _RANDOM.fullmatch(name) else slug(name)


def _read_model(path: Path) -> Mapping[str, Any]:
    """Return what the data model contains, read in a process of its own: a damaged file can crash it.

    Raises:
        UnreadableExportError: the process crashed, or took too long.
    """
    command = [sys.executable, "-m", "lineage_ingest.bi.powerbi.model_dump", str(path)]
    hint = "save the report again"
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise UnreadableExportError(f"reading the data model took more than {_SECONDS} s") from None
    try:
        model = json.loads(done.stdout)
    except ValueError:
        model = None
    if done.returncode != 0 or not isinstance(model, Mapping):
        message = "the data model cannot be read: it is damaged, or larger than the memory that one file may take"
        raise UnreadableExportError(message, hint, DiagnosticCode.ARTIFACT_DAMAGED)
    return model
