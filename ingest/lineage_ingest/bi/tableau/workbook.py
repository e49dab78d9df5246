"""One workbook: its data sources and worksheets as queries, its dashboards as dashboards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lineage.model.diagnostics import Severity
from lineage_ingest.bi.connections import BiConnection, ConnectionMap
from lineage_ingest.bi.exported import Board, QueryAsset, distinct_slugs, not_read, slug
from lineage_ingest.bi.tableau.source_fields import (
    PARAMETERS,
    DataSource,
    SourceFields,
    captions_of,
    fields_of_filter,
    parameters_of,
    records_of,
)
from lineage_ingest.bi.tableau.source_relations import (
    MADE_BY_UNION,
    OVER_SEVERAL,
    Relations,
    connection_of_element,
    leaves,
    outer_names,
    pivoted_columns,
    plain_tag,
    relation_of,
    unbracketed,
)
from lineage_ingest.bi.tableau.worksheet import WorksheetSql
from lineage_ingest.bi.templates.written_sql import LITERAL, asset_reference, quote

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Workbook"]

_FILTERS = ("./filter", "./extract/filter", "./extract/connection/filter")
"""Filters of a data source, and of its extract."""
_SHEET = re.compile(r'<Sheet name="([^"]*)"')
"""A sheet in the tooltip of another."""
_MAX_DEPTH = 40


class Workbook:
    """Reads the element `workbook`. `scope` is what the keys of all that is in it begin with."""

    def __init__(self, root: Element, title: str, at: str, server: str, connections: ConnectionMap) -> None:
        self._root = root
        self._at = at
        self._server = server
        self._map = connections
        place = root.find("repository-location")
        site = place.get("site") if place is not None else None
        self.scope = f"{slug(site)}/{slug(title)}/" if site else f"{slug(title)}/"
        self._sources: dict[str, DataSource] = {}
        self._fields: dict[str, SourceFields] = {}
        """The fields of data sources that are not published, by their names."""
        self._read: dict[str, dict[str, str]] = {}
        """The keys of other data sources that the fields of one read, with their aliases."""
        parameters = root.find(f"./datasources/datasource[@name='{PARAMETERS}']")
        self._parameters = parameters_of(parameters) if parameters is not None else {}
        self._sheets: dict[str, str] = {}
        self._in_tooltips: dict[str, list[str]] = {}
        """The names of sheets that the tooltips of one show, by its name."""

    def queries(self) -> Iterator[QueryAsset]:
        """Yield the data sources, then the worksheets."""
        elements = [one for one in self._root.findall("./datasources/datasource") if one.get("name") != PARAMETERS]
        titles = [one.get("caption") or one.get("name") or "data source" for one in elements]
        often = {title for title in titles if titles.count(title) > 1}
        whole = [f"{title} {one.get('name')}" if title in often else title
                 for one, title in zip(elements, titles, strict=True)]  # fmt: skip
        slugs = distinct_slugs(whole)
        for element, title, own in zip(elements, titles, whole, strict=True):
            self._prepare(element, title, f"{self.scope}datasource/{slugs[own]}")
        for element, title in zip(elements, titles, strict=True):
            yield from self._data_source(element, title)
        sheets = self._root.findall("./worksheets/worksheet")
        names = distinct_slugs(_name_of(one, "worksheet") for one in sheets)
        self._sheets = {name: f"{self.scope}sheet/{own}" for name, own in names.items()}
        for element in sheets:
            texts = ("".join(one.itertext()) for one in element.iter("customized-tooltip"))
            self._in_tooltips[_name_of(element, "worksheet")] = [
                name for text in texts for name in _SHEET.findall(text)
            ]
            yield self._worksheet(element)

    def boards(self) -> Iterator[Board]:
        """Yield the dashboards; `queries` must have been read."""
        elements = self._root.findall("./dashboards/dashboard")
        slugs = distinct_slugs(_name_of(one, "dashboard") for one in elements)
        for element in elements:
            name = _name_of(element, "dashboard")
            shown = list(self._with_tooltips(self._zones(element, 0)))
            shows = [self._sheets[zone] for zone, _ in shown if zone in self._sheets]
            names = (one.get("name") for one in elements)
            known = {*self._sheets, *names}
            absent = dict.fromkeys(zone for zone, is_sheet in shown if is_sheet and zone not in known)
            problems = (not_read(f"it shows the sheet {zone!r}, which is not in the workbook") for zone in absent)
            yield Board(
                f"{self.scope}dashboard/{slugs[name]}", name, f"{self._at}#dashboard/{name}",
                tuple(dict.fromkeys(shows)), operation="TABLEAU_DASHBOARD",
                problems=tuple(problems),
            )  # fmt: skip

    def _with_tooltips(self, zones: Iterable[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
        """Yield what a dashboard shows, and after each sheet those that people see in its tooltips."""
        waiting, seen = list(zones), set[tuple[str, bool]]()
        while waiting:
            zone = waiting.pop(0)
            if zone not in seen:
                seen.add(zone)
                yield zone
                inner = self._in_tooltips.get(zone[0], ()) if zone[0] in self._sheets else ()
                waiting[:0] = [(name, True) for name in inner]

    def _zones(self, dashboard: Element, depth: int) -> Iterator[tuple[str, bool]]:
        """Yield the names of what a dashboard shows, and whether each is a sheet: a story shows dashboards, too."""
        for node in dashboard.iter():
            if plain_tag(node) == "zone" and node.get("name"):
                yield str(node.get("name")), not any(key.rsplit("...", 1)[-1].startswith("type") for key in node.attrib)
            elif plain_tag(node) == "story-point" and node.get("captured-sheet"):
                name = str(node.get("captured-sheet"))
                yield name, True
                for other in self._root.findall("./dashboards/dashboard"):
                    if other.get("name") == name and other is not dashboard and depth < _MAX_DEPTH:
                        yield from self._zones(other, depth + 1)

    # Data sources

    def _prepare(self, element: Element, title: str, key: str) -> None:
        """Note a data source with its fields: others may read it, wherever they stand."""
        name = element.get("name") or ""
        connection_element = element.find("connection")
        by_name = self._connections(connection_element, title)
        connection = next(iter(by_name.values()), self._map.apply(BiConnection((title,), is_known=False)))
        source = DataSource(name, key, connection)
        self._sources[name] = source
        relation = relation_of(connection_element) if connection_element is not None else None
        if relation is None or connection_element is None or connection_element.get("class") == "sqlproxy":
            source.captions.update(captions_of(element))
            return
        used = {one.get("connection") or "" for one in leaves(relation)}
        if len({by_name.get(one, connection) for one in used}) > 1:
            source.connection = BiConnection((f"{title} (several)",), OVER_SEVERAL, "tableau")
        read: dict[str, str] = {}
        self._read[name] = read

        def elsewhere(other: str, field: str) -> str | None:
            other_source = self._sources.get(other)
            if other_source is None or field not in other_source.captions:
                return None
            alias = read.setdefault(other_source.key, f"x{len(read) + 1}")
            return f"{alias}.{quote(other_source.captions[field], source.connection.dialect)}"

        fields = SourceFields(source, source.connection.dialect, elsewhere, self._parameters)
        if any(one.get("one-time-sql") for one in connection_element.iter("connection")):
            message = "the SQL that runs when the connection opens is not read: tables that it creates are not known"
            fields.problems.append(not_read(message, severity=Severity.WARNING))
        fields.read(element, connection_element, relation)
        self._fields[name] = fields

    def _data_source(self, element: Element, title: str) -> Iterator[QueryAsset]:
        name = element.get("name") or ""
        source, connection_element = self._sources[name], element.find("connection")
        key, at = source.key, f"{self._at}#datasource/{title}"
        fields = self._fields.get(name)
        relation = relation_of(connection_element) if connection_element is not None else None
        if fields is None or relation is None or connection_element is None:
            if connection_element is not None and connection_element.get("class") == "sqlproxy":
                what = f"the published data source {connection_element.get('dbname') or title!r} is not in the workbook"
            else:
                what = f"which tables the data source {title!r} reads is not in the workbook"
            problem = not_read(what, "its own tables and calculations are not known")
            yield QueryAsset(key, title, at, source.connection, None, tuple(source.captions.values()),
                             problems=(problem,), operation="TABLEAU_DATA_SOURCE")  # fmt: skip
            return
        needs: list[str] = []
        dialect = source.connection.dialect
        by_name = self._connections(connection_element, title)

        def other(one: Element) -> str | None:
            own = by_name.get(one.get("connection") or "")
            if own is None or own == source.connection:
                return None
            own_key = f"{key}/{slug(one.get('name') or '')}"
            needs.append(own_key)
            return asset_reference(own_key, dialect)

        outputs = fields.visible()
        relations = Relations(
            dialect, source.connection, other, field_sql=fields.sql,
            columns_of=lambda union: _columns_of(union, connection_element),
            relationships=[one for one in element.iter() if plain_tag(one) == "relationship"],
        )  # fmt: skip
        from_clause = relations.write(relation)
        for leaf in leaves(relation):
            own = by_name.get(leaf.get("connection") or "")
            own_key = f"{key}/{slug(leaf.get('name') or '')}"
            if own_key in needs and own is not None:
                yield self._table(own_key, leaf, own, at, connection_element, relation)
        conditions = self._filters(element, fields)
        sql = "SELECT " + (",\n  ".join(f"{text} AS {quote(label, dialect)}" for label, text in outputs.items()) or "*")
        for own_key, alias in self._read[name].items():
            needs.append(own_key)
            from_clause = f"{asset_reference(own_key, dialect)} AS {alias}\nCROSS JOIN {from_clause}"
        sql += f"\nFROM {from_clause}"
        sql += "\nWHERE " + "\n  AND ".join(conditions) if conditions else ""
        yield QueryAsset(
            key, title, at, source.connection, sql, needs=tuple(dict.fromkeys(needs)),
            problems=tuple(dict.fromkeys((*fields.problems, *relations.problems))), operation="TABLEAU_DATA_SOURCE",
        )  # fmt: skip

    def _filters(self, element: Element, fields: SourceFields) -> list[str]:
        """Return the conditions of a data source, and of its extract."""
        filters = [one for path in _FILTERS for one in element.findall(path)]
        named = [f"[{unbracketed(one.get('column') or '')[-1]}]" for one in filters if one.get("column")]
        named += [field for one in filters for field in fields_of_filter(one)]
        conditions = []
        for name in dict.fromkeys(named):
            own = f"[{unbracketed(name)[-1]}]"
            text = fields.sql(own)
            if text is None and not own.startswith("[:"):
                fields.problems.append(not_read(f"the data source is filtered by {own}, which is not in it"))
            conditions += [f"({text} = {LITERAL})"] if text is not None else []
        return list(dict.fromkeys(conditions))

    def _connections(self, element: Element | None, title: str) -> dict[str, BiConnection]:
        if element is None:
            return {}
        connections = {}
        for named_connection in element.findall("./named-connections/named-connection"):
            inner = named_connection.find("connection")
            if inner is not None:
                names = tuple(
                    text
                    for text in (named_connection.get("caption"), named_connection.get("name"), inner.get("server"))
                    if text
                )
                connections[named_connection.get("name") or ""] = connection_of_element(
                    inner, names, self._map, self.scope
                )
        if not connections:
            names = tuple(text for text in (element.get("server"), title, element.get("dbname")) if text)
            connections[""] = connection_of_element(element, names, self._map, self.scope)
        return connections

    def _table(
        self, key: str, relation: Element, connection: BiConnection, at: str, records: Element, whole: Element
    ) -> QueryAsset:
        """Return the query of one table of a data source that has several connections; `whole` is all of it."""
        relations = Relations(connection.dialect, connection)
        name = relation.get("name") or ""
        columns = [column for _, table, column in records_of(relation) if table == name]
        columns = list(dict.fromkeys((*columns, *_columns_of(name, records))))
        if not columns and name in (outer := outer_names(whole)):
            columns = [one for one in _columns_of(outer[name], records) if one not in MADE_BY_UNION]
        columns += [one for one in pivoted_columns(whole, name) if columns and one not in columns]
        listed = ", ".join(f"t.{quote(column, connection.dialect)}" for column in columns) or "*"
        return QueryAsset(
            key, name, at, connection, f"SELECT {listed}\nFROM {relations.source(relation)} AS t",
            problems=tuple(relations.problems), operation="TABLEAU_TABLE",
        )  # fmt: skip

    # Worksheets

    def _worksheet(self, element: Element) -> QueryAsset:
        name = _name_of(element, "worksheet")
        key = self._sheets[name]
        shared = self._root.findall("./shared-views/shared-view/filter")
        links = list(self._root.iter("datasource-relationship"))
        sheet = WorksheetSql(element, self._sources, links, shared, self._parameters)
        sql = sheet.sql()
        return QueryAsset(
            key, name, f"{self._at}#worksheet/{name}", sheet.connection, sql, needs=sheet.needs,
            problems=tuple(sheet.problems), operation="TABLEAU_WORKSHEET",
        )  # fmt: skip


def _name_of(element: Element, kind: str) -> str:
    return element.get("name") or kind


def _columns_of(relation: str, connection: Element) -> list[str]:
    """Return the columns of a relation by its name, as the connection lists them."""
    found = []
    for record in connection.iter("metadata-record"):
        remote = record.findtext("remote-name")
        if record.get("class") == "column" and remote and record.findtext("parent-name") == f"[{relation}]":
            found.append(remote)
    return found
