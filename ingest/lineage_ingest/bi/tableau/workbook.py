"""One workbook: its data sources and worksheets as queries, its dashboards as dashboards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lineage.model.diagnostics import Diagnostic
from lineage_ingest.bi.connections import BiConnection, ConnectionMap
from lineage_ingest.bi.exported import Board, QueryAsset, not_read, slug
from lineage_ingest.bi.tableau.source_fields import (
    DataSource,
    captions_of,
    column_sql,
    physical_columns,
    records_of,
    visible_columns,
)
from lineage_ingest.bi.tableau.source_relations import (
    OVER_SEVERAL,
    Relations,
    connection_of_element,
    leaves,
    plain_tag,
    relation_of,
    unbracketed,
)
from lineage_ingest.bi.tableau.worksheet import WorksheetSql
from lineage_ingest.bi.written_sql import LITERAL, asset_reference, quote

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Workbook"]

_FILTERS = ("./filter", "./extract/filter", "./extract/connection/filter")
"""Filters of a data source, and of its extract."""
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
        self._sheets: dict[str, str] = {}

    def queries(self) -> Iterator[QueryAsset]:
        """Yield the data sources, then the worksheets."""
        for element in self._root.findall("./datasources/datasource"):
            if element.get("name") != "Parameters":
                yield from self._data_source(element)
        for element in self._root.findall("./worksheets/worksheet"):
            yield self._worksheet(element)

    def boards(self) -> Iterator[Board]:
        """Yield the dashboards; `queries` must have been read."""
        for element in self._root.findall("./dashboards/dashboard"):
            name = element.get("name") or "dashboard"
            shown = self._zones(element, 0)
            shows = [self._sheets[zone] for zone in shown if zone in self._sheets]
            yield Board(
                f"{self.scope}dashboard/{slug(name)}", name, f"{self._at}#dashboard/{name}",
                tuple(dict.fromkeys(shows)), operation="TABLEAU_DASHBOARD",
            )  # fmt: skip

    def _zones(self, dashboard: Element, depth: int) -> Iterator[str]:
        """Yield the names of the worksheets that a dashboard shows; a story shows worksheets and dashboards."""
        for one in dashboard.iter():
            if plain_tag(one) == "zone" and one.get("name"):
                yield str(one.get("name"))
            elif plain_tag(one) == "story-point" and one.get("captured-sheet"):
                name = str(one.get("captured-sheet"))
                yield name
                for other in self._root.findall("./dashboards/dashboard"):
                    if other.get("name") == name and other is not dashboard and depth < _MAX_DEPTH:
                        yield from self._zones(other, depth + 1)

    # Data sources

    def _data_source(self, element: Element) -> Iterator[QueryAsset]:
        name = element.get("name") or ""
        title = element.get("caption") or name or "data source"
        key = f"{self.scope}datasource/{slug(title)}"
        if any(one.key == key for one in self._sources.values()):
            key += f"-{len(self._sources) + 1}"
        problems: list[Diagnostic] = []
        connection_element = element.find("connection")
        by_name = self._connections(connection_element, title)
        connection = next(iter(by_name.values()), self._map.apply(BiConnection((title,), is_known=False)))
        source = DataSource(name, key, connection)
        self._sources[name] = source
        relation = relation_of(connection_element) if connection_element is not None else None
        at = f"{self._at}#datasource/{title}"
        if relation is None or connection_element is None or connection_element.get("class") == "sqlproxy":
            published = connection_element.get("dbname") if connection_element is not None else None
            what = f"the published data source {published!r}" if published else "a data source without a relation"
            problems.append(not_read(f"{what} is not in the workbook", "its own tables and calculations are not known"))
            source.captions.update(captions_of(element))
            columns = tuple(source.captions.values())
            yield QueryAsset(key, title, at, connection, None, columns, problems=tuple(problems),
                             operation="TABLEAU_DATA_SOURCE")  # fmt: skip
            return
        needs: list[str] = []
        dialect = connection.dialect
        used = {one.get("connection") or "" for one in leaves(relation)}
        if len({by_name.get(one, connection) for one in used}) > 1:
            dialect, connection = OVER_SEVERAL, BiConnection((f"{title} (several)",), OVER_SEVERAL, "tableau")
            source.connection = connection

        def other(one: Element) -> str | None:
            own = by_name.get(one.get("connection") or "")
            if own is None or own == connection:
                return None
            own_key = f"{key}/{slug(one.get('name') or '')}"
            needs.append(own_key)
            return asset_reference(own_key, dialect)

        physical = physical_columns(element, connection_element, relation, source, dialect, problems)
        fields = {column.get("name") or "": column for column in element.findall("column")}
        outputs = visible_columns(physical, fields, source, dialect, problems)
        related = [one for one in element.iter() if plain_tag(one) == "relationship"]
        relations = Relations(dialect, other, columns=physical, relationships=related)
        from_clause = relations.write(relation)
        for one in leaves(relation):
            own = by_name.get(one.get("connection") or "")
            own_key = f"{key}/{slug(one.get('name') or '')}"
            if own_key in needs and own is not None:
                yield self._table(own_key, one, own, at, connection_element)
        sql = "SELECT " + (",\n  ".join(f"{text} AS {quote(label, dialect)}" for label, text in outputs.items()) or "*")
        sql += f"\nFROM {from_clause}"
        conditions = self._filters(element, physical, fields, dialect, problems)
        sql += "\nWHERE " + "\n  AND ".join(conditions) if conditions else ""
        problems += relations.problems
        yield QueryAsset(
            key, title, at, connection, sql, needs=tuple(dict.fromkeys(needs)),
            problems=tuple(dict.fromkeys(problems)), operation="TABLEAU_DATA_SOURCE",
        )  # fmt: skip

    def _filters(
        self,
        element: Element,
        physical: dict[str, str],
        fields: dict[str, Element],
        dialect: str,
        problems: list[Diagnostic],
    ) -> list[str]:
        """Return the conditions of a data source, and of its extract."""
        filtered = [one.get("column") or "" for path in _FILTERS for one in element.findall(path)]
        conditions = []
        for name in dict.fromkeys(f"[{unbracketed(one)[-1]}]" for one in filtered if one):
            text = column_sql(name, physical, fields, dialect, problems)
            if text is None and not name.startswith("[:"):
                problems.append(not_read(f"the data source is filtered by {name}, which is not in it"))
            conditions += [f"({text} = {LITERAL})"] if text is not None else []
        return conditions

    def _connections(self, element: Element | None, title: str) -> dict[str, BiConnection]:
        if element is None:
            return {}
        found = {}
        for one in element.findall("./named-connections/named-connection"):
            inner = one.find("connection")
            if inner is not None:
                names = tuple(text for text in (one.get("caption"), one.get("name"), inner.get("server")) if text)
                found[one.get("name") or ""] = connection_of_element(inner, names, self._map)
        if not found:
            names = tuple(text for text in (element.get("server"), title, element.get("dbname")) if text)
            found[""] = connection_of_element(element, names, self._map)
        return found

    def _table(self, key: str, relation: Element, connection: BiConnection, at: str, records: Element) -> QueryAsset:
        """Return the query of one table of a data source that has several connections."""
        relations = Relations(connection.dialect)
        name = relation.get("name") or ""
        columns = [column for _, table, column in records_of(relation) if table == name]
        for record in records.iter("metadata-record"):
            remote = record.findtext("remote-name")
            if record.get("class") == "column" and remote and record.findtext("parent-name") == f"[{name}]":
                columns.append(remote)
        columns = list(dict.fromkeys(columns))
        listed = ", ".join(f"t.{quote(column, connection.dialect)}" for column in columns) or "*"
        return QueryAsset(
            key, name, at, connection, f"SELECT {listed}\nFROM {relations.source(relation)} AS t",
            problems=tuple(relations.problems), operation="TABLEAU_TABLE",
        )  # fmt: skip

    # Worksheets

    def _worksheet(self, element: Element) -> QueryAsset:
        name = element.get("name") or "worksheet"
        key = f"{self.scope}sheet/{slug(name)}"
        if key in self._sheets.values():
            key += f"-{len(self._sheets) + 1}"
        self._sheets[name] = key
        sheet = WorksheetSql(element, self._sources, list(self._root.iter("datasource-relationship")))
        sql = sheet.sql()
        return QueryAsset(
            key, name, f"{self._at}#worksheet/{name}", sheet.connection, sql, needs=sheet.needs,
            problems=tuple(sheet.problems), operation="TABLEAU_WORKSHEET",
        )  # fmt: skip
