"""Read a LookML project: one SQL query for each view, derived table and explore, and for each tile of a dashboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import lkml

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.connections import BiConnection, ConnectionMap, dialect_of_engine
from lineage_ingest.bi.exported import BiExport, Board, QueryAsset, not_read, slug
from lineage_ingest.bi.files import ExportFile, UnreadableExportError, text_of, yaml_of
from lineage_ingest.bi.lookml.explore_fields import ExploreFields
from lineage_ingest.bi.lookml.field_sql import ViewFields, without_liquid
from lineage_ingest.bi.lookml.lookml_project import LookmlProject, Named
from lineage_ingest.bi.lookml.tiles import Dashboards, explore_column
from lineage_ingest.bi.written_sql import LITERAL, asset_reference, quote

__all__ = ["SUFFIXES", "read_lookml"]

SUFFIXES = frozenset((".lkml", ".lookml"))
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
_JOINS = {"left_outer": "LEFT JOIN", "full_outer": "FULL JOIN", "inner": "JOIN", "cross": "CROSS JOIN"}
_OWN_TABLE = " (table)"
"""What the alias of a view's own table ends with in an explore, in which the view's alias is that of its fields."""
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
        self.views: dict[str, Named] = {}
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
        self.views, self.explores = self.project.views(), self.project.explores()
        for at, name in dict.fromkeys(self.project.missing):
            self.problems.append((at, not_read(f"it extends or refines {name}, which is not in the project")))
        raw = self._joined_by_sql()
        queries = [one for view in self.views.values() if view.name not in raw for one in self._view(view)]
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
        for view in self.views.values():
            columns |= set(self._fields(view, "ansi").fields)
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
        return {
            name
            for name in found
            if name in self.views and not ({"sql_table_name", "derived_table"} & set(self.views[name].definition))
        }

    def _fields(self, view: Named, dialect: str, alias: str = "") -> ViewFields:
        return ViewFields(view.name, view.definition, dialect, self.project.with_constants, alias)

    def _view(self, view: Named) -> Iterator[QueryAsset]:
        if view.definition.get("extension") == "required":
            return
        connection = self._connection(view.at)
        dialect = connection.dialect
        problems = list(view.problems)
        derived = view.definition.get("derived_table")
        needs: list[str] = []
        if isinstance(derived, Mapping):
            key = f"derived_table/{slug(view.name)}"
            yield self._derived_table(key, view, derived, connection)
            source = asset_reference(key, dialect)
            needs.append(key)
        else:
            source = self._table(view, problems)
        fields = self._fields(view, dialect)
        listed = [
            f"{fields.sql(name, lambda _view, _name: None)} AS {quote(name, dialect)}"
            for name in fields.fields
            if not fields.is_foreign(name)
        ]
        if not listed:
            return
        sql = "SELECT " + ",\n  ".join(listed) + f"\nFROM {source} AS {quote(view.name, dialect)}"
        yield QueryAsset(
            f"view/{slug(view.name)}",
            str(view.definition.get("label") or view.name),
            view.at,
            connection,
            sql,
            needs=tuple(needs),
            problems=tuple(dict.fromkeys((*problems, *fields.problems))),
            description=_text(view.definition.get("description")),
            operation="LOOKML_VIEW",
        )

    def _table(self, view: Named, problems: list[Diagnostic]) -> str:
        """Return the table of a view: the given one, else that of the view's name."""
        text = str(view.definition.get("sql_table_name") or view.name).strip().rstrip(";").strip()
        plain, doubts = without_liquid(self.project.with_constants(text))
        problems += doubts
        if "@{" in plain:
            problems.append(not_read(f"a constant in the table of {view.name} is not in the project's manifest"))
            plain = re.sub(r"@\{(\w+)\}", r"\1", plain)
        return self._with_tables(plain, problems, [], "")

    def _with_tables(self, text: str, problems: list[Diagnostic], needs: list[str], dialect: str) -> str:
        """Return SQL in which `${view.SQL_TABLE_NAME}` is a table's name, or the reference to a derived table."""

        def replace(found: re.Match[str]) -> str:
            name, _, last = found[1].rpartition(".")
            view = self.views.get(name)
            if last != "SQL_TABLE_NAME" or view is None:
                problems.append(not_read(f"{found[0]} is not known"))
                return "NULL"
            if "derived_table" in view.definition:
                key = f"derived_table/{slug(name)}"
                needs.append(key)
                return asset_reference(key, dialect)
            return self._table(view, problems)

        return _REFERENCE.sub(replace, text)

    def _derived_table(self, key: str, view: Named, derived: Mapping[str, Any], connection: BiConnection) -> QueryAsset:
        problems: list[Diagnostic] = []
        needs: list[str] = []
        sql: str | None = None
        source = derived.get("explore_source")
        if isinstance(derived.get("sql"), str):
            plain, problems = without_liquid(self.project.with_constants(derived["sql"]).strip().rstrip(";"))
            sql = self._with_tables(plain, problems, needs, connection.dialect)
        elif isinstance(source, Mapping):
            sql = self._native(source, connection.dialect, problems, needs)
        else:
            problems.append(not_read(f"the derived table of {view.name} has neither sql nor explore_source"))
        return QueryAsset(
            key, f"{view.name} (derived table)", view.at, connection, sql, needs=tuple(needs),
            problems=tuple(dict.fromkeys(problems)), operation="LOOKML_DERIVED_TABLE",
        )  # fmt: skip

    def _native(self, source: Mapping[str, Any], dialect: str, problems: list[Diagnostic], needs: list[str]) -> str:
        """Return the SQL of a native derived table: columns of an explore, and columns derived from these.

        It reads the views and joins of the explore that its columns need, not the explore, which may join it.
        """
        name = str(source.get("name") or "")
        explore = self.explores.get(name)
        if explore is None:
            needs.append(f"explore/{slug(name)}")
            names = [str(one.get("name")) for one in (source.get("columns") or ())]
            return "SELECT " + (", ".join(f"NULL AS {quote(one, dialect)}" for one in names) or "NULL")
        wanted: dict[str, str] = {}
        for column in source.get("columns") or ():
            own = str(column.get("name"))
            read = str(column.get("field") or own)
            wanted[own] = read if "." in read else f"{name}.{read}"
        filters = list(_filters_of(source))
        inner = self._explore_sql(explore, dialect, [*wanted.values(), *filters], problems, needs)
        listed = [f"e.{quote(explore_column(one), dialect)} AS {quote(own, dialect)}" for own, one in wanted.items()]
        conditions = [f"e.{quote(explore_column(one), dialect)} = {LITERAL}" for one in filters]
        sql = "SELECT " + (",\n  ".join(listed) or "*") + f"\nFROM (\n{inner}\n) AS e"
        sql += "\nWHERE " + " AND ".join(conditions) if conditions else ""
        derived = []
        for column in source.get("derived_columns") or ():
            plain, doubts = without_liquid(str(column.get("sql") or "NULL").strip().rstrip(";"))
            problems += doubts
            derived.append(f"{plain} AS {quote(str(column.get('name')), dialect)}")
        return f"SELECT n.*,\n  {', '.join(derived)}\nFROM (\n{sql}\n) AS n" if derived else sql

    # Explores

    def _explore(self, explore: Named) -> QueryAsset:
        connection = self._connection(explore.at)
        problems = list(explore.problems)
        needs: list[str] = []
        sql = self._explore_sql(explore, connection.dialect, None, problems, needs)
        return QueryAsset(
            f"explore/{slug(explore.name)}",
            str(explore.definition.get("label") or explore.name),
            explore.at,
            connection,
            sql,
            needs=tuple(dict.fromkeys(needs)),
            problems=tuple(dict.fromkeys(problems)),
            description=_text(explore.definition.get("description")),
            operation="LOOKML_EXPLORE",
        )

    def _explore_sql(
        self,
        explore: Named,
        dialect: str,
        wanted: Iterable[str] | None,
        problems: list[Diagnostic],
        needs: list[str],
    ) -> str:
        """Return the SQL of an explore; with `wanted` (`view.field`), of these fields and the joins that they need."""
        definition = explore.definition
        base = str(definition.get("from") or definition.get("view_name") or explore.name)
        base_alias = explore.name if definition.get("from") else str(definition.get("view_name") or explore.name)
        joins = _in_order([one for one in definition.get("joins") or () if isinstance(one, Mapping)])
        named = {base_alias: base}
        for join in joins:
            alias = str(join.get("name"))
            named[alias] = str(join.get("from") or join.get("view_name") or alias)
        raw = {str(join.get("name")) for join in joins if isinstance(join.get("sql"), str)}
        scopes = self._scopes(named, raw, dialect)
        used: set[str] = set()

        def column(view: str, name: str) -> str | None:
            if view not in scopes or name not in scopes[view].fields:
                return None
            used.add(view)
            if view in raw or scopes[view].is_foreign(name):
                return "(" + scopes[view].sql(name, column) + ")"
            return f"{quote(view, dialect)}.{quote(name, dialect)}"

        def expand(text: str) -> str:
            plain, doubts = without_liquid(self.project.with_constants(text).strip().rstrip(";"))
            problems.extend(doubts)

            def replace(found: re.Match[str]) -> str:
                view, dot, name = found[1].rpartition(".")
                written = column(view if dot else base_alias, name)
                if written is None:
                    problems.append(not_read(f"{found[0]} is not a field of a view of the explore {explore.name}"))
                return written or "NULL"

            return _REFERENCE.sub(replace, plain)

        outputs = []
        listed = wanted if wanted is not None else self._shown(explore, base_alias, joins, scopes, problems)
        for one in dict.fromkeys(listed):
            written = column(*one.split(".", 1))
            if written is None:
                problems.append(not_read(f"the field {one} is not in the explore {explore.name}"))
            outputs.append(f"{written or 'NULL'} AS {quote(explore_column(one), dialect)}")
        always = ("sql_always_where", "sql_always_having")
        conditions = [f"({expand(definition[key])}\n)" for key in always if definition.get(key)]
        conditions += [f"({expand(str(join['sql_where']))}\n)" for join in joins if join.get("sql_where")]
        for name in _filtered_always(definition):
            written = column(*(name.split(".", 1) if "." in name else (base_alias, name)))
            if written is None:
                problems.append(not_read(f"the explore {explore.name} is filtered by {name}, which is not in it"))
            conditions += [f"({written} = {LITERAL})"] if written else []
        lines: list[str] = []
        for join in reversed(joins):  # what a condition reads is joined before it
            if wanted is None or str(join.get("name")) in used:
                lines.insert(0, self._join(join, expand, dialect, needs, problems, base_alias))
                used.update(_views_read(join))
        source = self._view_reference(base, dialect, needs, problems)
        for alias, scope in scopes.items():
            problems += scope.problems if wanted is None or alias in used else []
        lines.insert(0, f"FROM {source} AS {quote(base_alias, dialect)}")
        written = "\n".join((*outputs, *lines, *conditions))
        for alias, scope in scopes.items():  # fields that read another view, too, read columns of their own table
            if scope.table in written and alias not in raw:
                own = self._own_table(self.views[named[alias]], dialect, needs, problems)
                lines.insert(1, f"CROSS JOIN {own} AS {scope.table}")
        sql = "SELECT " + (",\n  ".join(outputs) or "*") + "\n" + "\n".join(lines)
        return sql + ("\nWHERE " + "\n  AND ".join(conditions) if conditions else "")

    def _shown(
        self,
        explore: Named,
        base: str,
        joins: list[Mapping[str, Any]],
        scopes: Mapping[str, ViewFields],
        problems: list[Diagnostic],
    ) -> list[str]:
        """Return the fields that the explore shows, as `view.field`."""
        named = {base: str(explore.definition.get("from") or explore.definition.get("view_name") or base)}
        for join in joins:
            named[str(join.get("name"))] = str(join.get("from") or join.get("view_name") or join.get("name"))
        views = {alias: self.views[name].definition for alias, name in named.items() if name in self.views}
        chosen = ExploreFields({alias: scope.fields for alias, scope in scopes.items()}, views)
        listed = chosen.shown(explore.definition, base, joins)
        for name in dict.fromkeys(chosen.unknown):
            message = f"the fields of the explore {explore.name} name {name}, which is not in it"
            problems.append(not_read(message, severity=Severity.WARNING))
        return listed

    def _scopes(self, named: Mapping[str, str], raw: Collection[str], dialect: str) -> dict[str, ViewFields]:
        """Return the fields of views by their alias; `raw` are those that the SQL of a join makes."""
        found = {}
        for alias, name in named.items():
            if name in self.views:
                table = alias if alias in raw else f"{alias}{_OWN_TABLE}"
                found[alias] = self._fields(self.views[name], dialect, table)
                found[alias].name = alias
        return found

    def _own_table(self, view: Named, dialect: str, needs: list[str], problems: list[Diagnostic]) -> str:
        """Return the reference to the table of a view, or to its derived table."""
        if "derived_table" not in view.definition:
            return self._table(view, problems)
        needs.append(f"derived_table/{slug(view.name)}")
        return asset_reference(needs[-1], dialect)

    def _view_reference(self, name: str, dialect: str, needs: list[str], problems: list[Diagnostic]) -> str:
        if name not in self.views:
            problems.append(not_read(f"the view {name} is not in the project"))
            return f"(SELECT NULL AS {quote('unknown', dialect)})"
        needs.append(f"view/{slug(name)}")
        return asset_reference(needs[-1], dialect)

    def _join(
        self,
        join: Mapping[str, Any],
        expand: Callable[[str], str],
        dialect: str,
        needs: list[str],
        problems: list[Diagnostic],
        base: str,
    ) -> str:
        alias = str(join.get("name"))
        if isinstance(join.get("sql"), str):
            return expand(join["sql"])
        kind = str(join.get("type") or "left_outer")
        if kind not in _JOINS:
            problems.append(not_read(f"the join type {kind!r} of {alias} is not known"))
        source = self._view_reference(str(join.get("from") or join.get("view_name") or alias), dialect, needs, problems)
        head = f"{_JOINS.get(kind, 'LEFT JOIN')} {source} AS {quote(alias, dialect)}"
        if kind == "cross":
            return head
        if isinstance(join.get("sql_on"), str):
            return f"{head} ON {expand(join['sql_on'])}"
        if join.get("foreign_key"):
            key = str(join["foreign_key"])
            view = self.views.get(str(join.get("from") or alias))
            primary = next(
                (
                    str(one.get("name"))
                    for one in (view.definition.get("dimensions") or () if view is not None else ())
                    if str(one.get("primary_key")) == "yes"
                ),
                None,
            )
            if primary is not None:
                left = expand("${" + (key if "." in key else f"{base}.{key}") + "}")
                return f"{head} ON {left} = {quote(alias, dialect)}.{quote(primary, dialect)}"
        problems.append(not_read(f"the condition of the join {alias} is not known"))
        return f"{head} ON TRUE"


def _in_order(joins: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return joins, each after those whose views its condition reads: Looker orders them so."""
    names = {str(one.get("name")) for one in joins}
    waiting, found, known = list(joins), [], set[str]()
    while waiting:
        ready = next((one for one in waiting if not (_views_read(one) & names) - known), waiting[0])
        waiting.remove(ready)
        found.append(ready)
        known.add(str(ready.get("name")))
    return found


def _views_read(join: Mapping[str, Any]) -> set[str]:
    """Return the views that a join's condition reads, without its own."""
    texts = (str(join.get(key) or "") for key in ("sql_on", "sql"))
    read = {one.rpartition(".")[0] for text in texts for one in _REFERENCE.findall(text) if "." in one}
    key = str(join.get("foreign_key") or "")
    return (read | ({key.rpartition(".")[0]} if "." in key else set())) - {str(join.get("name"))}


def _filtered_always(definition: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields by which an explore is always filtered: for all users, by default, or by who the user is."""
    for key in ("always_filter", "conditionally_filter"):
        if isinstance(definition.get(key), Mapping):
            yield from _filters_of(definition[key])
    for one in definition.get("access_filters") or ():
        if isinstance(one, Mapping) and one.get("field"):
            yield str(one["field"])


def _filters_of(source: Mapping[str, Any]) -> Iterator[str]:
    for group in (*(source.get("filters__all") or ()), *(source.get("filters") or ())):
        for one in group if isinstance(group, list) else [group]:
            if isinstance(one, Mapping):
                yield from ([str(one["field"])] if "field" in one else map(str, one))


def _text(value: Any) -> str | None:
    return str(value) if value else None
