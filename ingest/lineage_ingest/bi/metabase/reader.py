"""Read an export of Metabase: files of its API's JSON, and folders of its serialization export (YAML)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.connections import ConnectionMap
from lineage_ingest.bi.exported import BiExport, Board, BoardFilter, ExportedTable, QueryAsset, not_read, slug
from lineage_ingest.bi.files import ExportFile, UnreadableExportError, json_of, yaml_of
from lineage_ingest.bi.json_objects import objects_in, text_or_none
from lineage_ingest.bi.metabase.mbql import QueryWriter
from lineage_ingest.bi.metabase.mbql5 import as_legacy, is_mbql5
from lineage_ingest.bi.metabase.metadata import (
    MetabaseObjects,
    ObjectId,
    TableInfo,
    as_id,
    connection_of,
    field_of,
    identity_of,
)
from lineage_ingest.bi.metabase.object_kinds import field_path, kind_of, path_of
from lineage_ingest.bi.metabase.source_columns import origin_of

__all__ = ["SUFFIXES", "read_metabase"]

SUFFIXES = frozenset((".json", ".yaml", ".yml"))
_SAVED_QUESTIONS = -1337
"""The id of the virtual database whose tables are cards."""
_MAX_DEPTH = 4
"""Levels of lists and envelopes (`{"data": […]}`) in which objects are found."""


def read_metabase(
    files: Iterable[ExportFile], connections: ConnectionMap, server: str, progress: Callable[[int], None]
) -> BiExport:
    """Return what the files of an export say."""
    return _MetabaseReader(connections, server).read(files, progress)


class _MetabaseReader:
    def __init__(self, connections: ConnectionMap, server: str) -> None:
        self.metadata = MetabaseObjects(connections=connections)
        self.server = server
        self.cards: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.dashboards: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.problems: list[tuple[str, Diagnostic]] = []
        self.is_whole = True
        self.site = ""
        self.archived: dict[str, tuple[str, Mapping[str, Any]]] = {}
        """Archived cards by the key of their query: read if a card that is not archived reads them."""
        self.archived_dashboards = 0
        self._shown: set[str] = set()
        """Cards that only dashboards have so far, by id."""
        self.absent: set[ObjectId] = set()
        """Cards that are read or shown, and are not in the export."""
        self._adders: dict[str, Callable[[Mapping[str, Any], str], None]] = {
            "Card": self._add_card,
            "Dashboard": self._add_dashboard,
            "Database": self._add_database,
            "Table": lambda one, at: self._add_table(one, as_id(one.get("db_id", "")), at),
            "Field": lambda one, _: self._add_field(one),
            "metric": lambda one, _: self.metadata.add_metric(one),
            "Segment": lambda one, _: self.metadata.add_segment(one),
            "NativeQuerySnippet": lambda one, _: self.metadata.add_snippet(one),
            "Transform": self._report_transform,
            "settings": self._add_settings,
            "User": lambda one, _: self.metadata.add_user(one),
        }

    def read(self, files: Iterable[ExportFile], progress: Callable[[int], None]) -> BiExport:
        """Return the export: all objects are known before a query is written."""
        for number, file in enumerate(files):
            progress(number + 1)
            if file.problem is not None:
                self.is_whole = False
                self.problems.append((file.name, file.problem))
                continue
            try:
                found = 0
                value = json_of(file) if file.suffix == ".json" else yaml_of(file)
                for one in _objects(value):
                    found += self._add(one, file.name)
                if not found and not _is_empty(value):
                    self.is_whole = False  # it may be an error in place of the answer
                    message = "nothing of Metabase is recognized in the file"
                    hint = "expected cards, dashboards, databases with tables, or a serialization export"
                    self.problems.append(
                        (file.name, Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.WARNING, message, hint=hint))
                    )
            except UnreadableExportError as error:
                self.is_whole = False
                self.problems.append((file.name, error.diagnostic))
        queries = self._queries()
        boards = tuple(self._board(at, board) for at, board in self.dashboards.values())
        tables = tuple(
            ExportedTable(self.metadata.connection(table.database), table.parts, tuple(name for name, _ in columns))
            for key, table in self.metadata.tables.items()
            if (columns := self.metadata.columns_of(key))
        )
        return BiExport(
            self.server or self.site,
            tuple(queries.values()),
            boards,
            tables,
            tuple(self.problems),
            self.is_whole,
            mentioned=frozenset((f"card/{one}-", "") for one in self.absent),
        )

    # Objects

    def _add(self, one: Mapping[str, Any], at: str) -> bool:
        """Add an object by what it is; return whether it is recognized. Of most models, lineage needs nothing."""
        kind = kind_of(one)
        if kind in self._adders:
            self._adders[kind](one, at)
        return bool(kind)

    def _report_transform(self, one: Mapping[str, Any], at: str) -> None:
        message = f"the transform {str(one.get('name'))!r} writes a table of the database: it is not read"
        self.problems.append((at, not_read(message, "its query is in the database's query log", Severity.WARNING)))

    def _add_settings(self, one: Mapping[str, Any], _at: str) -> None:
        self.site = _host(str(one.get("site-url") or one.get("site_url") or ""))

    def _add_card(self, card: Mapping[str, Any], at: str, is_shown: bool = False) -> None:
        """Add a card; `is_shown` is one that stands in a dashboard, and may be in a file of its own, too."""
        if identity_of(card) is None:
            self._without_id("card", at)
            return
        identity = str(identity_of(card))
        self._report_other("card", self.cards, identity, card, at)
        reference = self.metadata.add_card(card)
        if card.get("archived"):
            self.archived[reference.key] = (f"{at}#card/{identity}", card)
        else:
            self.cards[identity] = (f"{at}#card/{identity}", card)
        if is_shown:
            self._shown.add(identity)
        else:
            self._shown.discard(identity)

    def _add_dashboard(self, board: Mapping[str, Any], at: str) -> None:
        if board.get("archived"):
            self.archived_dashboards += 1
            return
        if identity_of(board) is None:
            self._without_id("dashboard", at)
            return
        identity = str(identity_of(board))
        self._report_other("dashboard", self.dashboards, identity, board, at)
        self.dashboards[identity] = (f"{at}#dashboard/{identity}", board)
        for dashcard in _dashcards(board):
            for card in (dashcard.get("card"), *objects_in(dashcard.get("series"))):
                if isinstance(card, Mapping) and isinstance(card.get("dataset_query"), Mapping):
                    known = str(identity_of(card))
                    if card.get("id") is not None and known not in self.cards:
                        self._add_card(card, at, is_shown=True)

    def _without_id(self, kind: str, at: str) -> None:
        self.is_whole = False
        message = f"a {kind} has no id, and is not read"
        self.problems.append((at, Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.ERROR, message)))

    def _report_other(
        self,
        kind: str,
        known: Mapping[str, tuple[str, Mapping[str, Any]]],
        identity: str,
        one: Mapping[str, Any],
        at: str,
    ) -> None:
        """Report an object that another file has, too, with another query, title or layout."""
        before = known.get(identity)
        if before is None or (kind == "card" and identity in self._shown):
            return
        if any(before[1].get(key) != one.get(key) for key in ("name", "dataset_query", "dashcards", "ordered_cards")):
            message = f"the {kind} {identity} is in {before[0].partition('#')[0]}, too, and differs there"
            message += ": the last one is read"
            self.problems.append((at, Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)))

    def _add_database(self, database: Mapping[str, Any], at: str) -> None:
        connection = connection_of(database, self.metadata.connections)
        for key in (database.get("id"), database.get("name")):
            if key is not None:
                self.metadata.databases[as_id(key)] = connection
        for table in objects_in(database.get("tables")):
            self._add_table(table, as_id(database.get("id", database.get("name"))), at)

    def _add_table(self, table: Mapping[str, Any], database: Any, at: str) -> None:
        meta = path_of(table)
        if meta.get("Table"):
            key: Any = (meta.get("Database"), meta.get("Schema"), meta["Table"])
            database = meta.get("Database", database)
        else:
            key = as_id(table.get("id", table.get("name")))
        own = table.get("db")
        if isinstance(own, Mapping) and "engine" in own:
            self._add_database({name: value for name, value in own.items() if name != "tables"}, at)
        parts = tuple(str(part) for part in (table.get("schema", meta.get("Schema")), table.get("name")) if part)
        fields = [one for one in objects_in(table.get("fields")) if one.get("active", True)]
        ids = tuple(_field_id(one, key) for one in fields)
        known = self.metadata.tables.get(key)
        before = {self.metadata.fields[one].path[-1] for one in known.fields} if known is not None else set()
        if before and fields and before != {str(one.get("name")) for one in fields}:
            message = f"the table {'.'.join(parts)} is in another file, too, and has other columns there"
            message += ": the last one is read"
            self.problems.append((at, Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)))
        self.metadata.tables[key] = TableInfo(as_id(database), parts, ids or (known.fields if known else ()))
        names = {as_id(one.get("id")): str(one.get("name")) for one in fields}
        parents = {as_id(one.get("id")): as_id(one.get("parent_id")) for one in fields if one.get("parent_id")}
        for one, identity in zip(fields, ids, strict=True):
            path, parent = field_path(one) or [str(one.get("name"))], parents.get(identity)
            while parent in names and len(path) < 20:
                path.insert(0, names[parent])
                parent = parents.get(parent)
            self.metadata.fields[identity] = field_of(one, key, tuple(path))

    def _add_field(self, field: Mapping[str, Any]) -> None:
        """Add a field of a serialization export, which has a file for each."""
        meta = path_of(field)
        table = (meta.get("Database"), meta.get("Schema"), meta.get("Table"))
        path = tuple(field_path(field))
        if not path or field.get("active") is False:
            return
        key = (*table, *path)
        self.metadata.fields[key] = field_of(field, table, path)
        known = self.metadata.tables.get(table)
        parts = tuple(str(part) for part in table[1:] if part)
        fields = known.fields if known is not None else ()
        self.metadata.tables[table] = TableInfo(str(table[0]), parts, (*(f for f in fields if f != key), key))

    # Cards

    def _queries(self) -> dict[str, QueryAsset]:
        """Return the queries of cards by key: those that are not archived, and those that they read."""
        found: dict[str, QueryAsset] = {}
        waiting = list(self.cards.values())
        while waiting:
            at, card = waiting.pop(0)
            query = self._query(at, card)
            found[query.key] = query
            waiting += [self.archived.pop(key) for key in query.needs if key in self.archived]
        left = [
            f"{count:,} archived {what}{'' if count == 1 else 's'}"
            for what, count in (("card", len(self.archived)), ("dashboard", self.archived_dashboards))
            if count
        ]
        if left:
            message = f"{' and '.join(left)} left out: nobody sees them"
            self.problems.append((self.server or self.site, not_read(message, severity=Severity.INFO)))
        return found

    def _query(self, at: str, card: Mapping[str, Any]) -> QueryAsset:
        reference = self.metadata.card(identity_of(card))
        assert reference is not None
        query = _query_of(card)
        database = query.get("database", card.get("database_id"))
        if database == _SAVED_QUESTIONS:
            database = card.get("database_id", database)
        connection = self.metadata.connection(as_id(database) if database is not None else None)
        problems: list[Diagnostic] = []
        listed = [str(one.get("name")) for one in objects_in(card.get("result_metadata")) if one.get("name")]
        asset = QueryAsset(
            key=reference.key,
            title=str(card.get("name") or reference.key),
            at=at,
            connection=connection,
            sql=None,
            columns=tuple(listed),
            description=text_or_none(card.get("description")),
            owner=self._owner(card),
            url=self._url("question", card),
            identity=(f"card/{identity_of(card)}-", ""),
            operation=f"METABASE_{str(card.get('type') or ('model' if card.get('dataset') else 'question')).upper()}",
        )
        writer = QueryWriter(self.metadata, connection.dialect)
        try:
            legacy = as_legacy(query) if is_mbql5(query) else query
            native, structured = legacy.get("native"), legacy.get("query")
            if isinstance(native, Mapping):
                if not isinstance(native.get("query"), str):
                    problems.append(not_read("the native query is not SQL text"))
                    return replace(asset, problems=tuple(problems))
                sql = writer.write({"native": native["query"], "template-tags": native.get("template-tags") or {}})
            elif isinstance(structured, Mapping) and structured:
                sql = writer.write(structured)
            else:
                problems.append(not_read("the card has no query that is known"))
                return replace(asset, problems=tuple(problems))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            message = f"the card's query is not of a known form ({type(error).__name__})"
            return replace(asset, problems=(*writer.problems.found, not_read(message)), needs=tuple(writer.needs))
        self.absent |= writer.absent
        return replace(asset, sql=sql, problems=tuple(writer.problems.found), needs=tuple(writer.needs))

    # Dashboards

    def _board(self, at: str, board: Mapping[str, Any]) -> Board:
        shows: list[str] = []
        problems: list[Diagnostic] = []
        filters: list[BoardFilter] = []
        for dashcard in _dashcards(board):
            series = [one.get("card_id", one.get("id")) for one in objects_in(dashcard.get("series"))]
            for card_id in (dashcard.get("card_id"), *series):
                if card_id is None:
                    continue  # a text, a heading, a link
                reference = self.metadata.card(card_id)
                if reference is None:
                    self.absent.add(str(card_id))
                    problems.append(not_read(f"the card {card_id} is not in the export"))
                elif reference.card.get("archived"):
                    problems.append(not_read(f"the card {card_id} is archived, and not shown", severity=Severity.INFO))
                else:
                    shows.append(reference.key)
            for mapping in objects_in(dashcard.get("parameter_mappings")):
                filters += self._filter(mapping, dashcard.get("card_id"), problems)
        identity = identity_of(board)
        return Board(
            f"dashboard/{identity}-{slug(str(board.get('name') or ''))}",
            str(board.get("name") or identity),
            at,
            tuple(dict.fromkeys(shows)),
            tuple(dict.fromkeys(problems)),
            text_or_none(board.get("description")),
            self._owner(board),
            self._url("dashboard", board),
            "METABASE_DASHBOARD",
            filters=tuple(dict.fromkeys(filters)),
            identity=(f"dashboard/{identity}-", ""),
        )

    def _filter(self, mapping: Mapping[str, Any], shown: Any, problems: list[Diagnostic]) -> Iterator[BoardFilter]:
        """Yield the column that a parameter of a dashboard filters a card by."""
        target = mapping.get("target")
        if not (isinstance(target, list) and len(target) > 1 and target[0] == "dimension"):
            if not (isinstance(target, list) and target[:1] in (["variable"], ["text-tag"])):
                problems.append(not_read("what a filter of the dashboard filters is not of a known form"))
            return  # a variable of a native query: what it is compared with is in the card
        clause = target[1]
        if not isinstance(clause, list) or clause[:1] == ["template-tag"]:
            return
        if len(clause) > 2 and isinstance(clause[1], Mapping):  # MBQL 5: options come first
            clause = [clause[0], *clause[2:], clause[1]]
        origin = origin_of(clause)
        if origin is None:
            problems.append(not_read("the column of a dashboard's filter is not of a known form"))
            return
        if not isinstance(origin[0], str):
            info = self.metadata.field(origin[0])
            table = self.metadata.table(info.table) if info is not None else None
            if info is not None and table is not None:
                connection = self.metadata.connection(table.database)
                yield BoardFilter(".".join(info.path), "", connection, table.parts)
                return
        card = self.metadata.card(mapping.get("card_id", shown))
        if card is None or not isinstance(origin[0], str):
            problems.append(not_read(f"the field {origin[0]} of a dashboard's filter is not in the export"))
            return
        query = _query_of(card.card)
        try:
            inner = (as_legacy(query) if is_mbql5(query) else query).get("query")
        except TypeError:  # it is reported with the card
            inner = None
        source = inner.get("source-table") if isinstance(inner, Mapping) else None
        read = self.metadata.card(source) if source is not None else None
        yield BoardFilter(origin[0], (read or card).key)

    def _owner(self, one: Mapping[str, Any]) -> str | None:
        creator = one.get("creator")
        if isinstance(creator, Mapping):
            return text_or_none(creator.get("email") or creator.get("common_name"))
        identity = one.get("creator_id")
        if isinstance(identity, str):
            return identity
        return self.metadata.users.get(as_id(identity)) if identity is not None else None

    def _url(self, kind: str, one: Mapping[str, Any]) -> str | None:
        server = self.server or self.site
        return f"https://{server}/{kind}/{one['id']}" if server and isinstance(one.get("id"), int) else None


def _objects(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a file: one, a list, or an answer of the API around a list."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for child in value:
            yield from _objects(child, depth + 1)
    elif isinstance(value, Mapping):
        inner = [value[key] for key in ("data", "items", "cards", "dashboards", "databases") if key in value]
        if inner and "dataset_query" not in value and "serdes/meta" not in value:
            for child in inner:
                yield from _objects(child, depth + 1)
        else:
            yield value


def _query_of(card: Mapping[str, Any]) -> Mapping[str, Any]:
    query = card.get("dataset_query")
    return query if isinstance(query, Mapping) else {}


def _is_empty(value: Any) -> bool:
    return not value or (isinstance(value, Mapping) and not any(value.values()))


def _field_id(field: Mapping[str, Any], table: ObjectId) -> ObjectId:
    """Return how others refer to a field of a table: by its id, in a serialization export by all names."""
    if field.get("id") is not None:
        return as_id(field["id"])
    name = str(field.get("name"))
    return (*table, *(field_path(field) or [name])) if isinstance(table, tuple) else name


def _dashcards(board: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return objects_in(board.get("dashcards", board.get("ordered_cards")))


def _host(url: str) -> str:
    return url.partition("://")[2].strip("/") or url.strip("/")
