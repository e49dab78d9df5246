"""One workbook: its data sources and worksheets as queries, its dashboards as dashboards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.connections import BiConnection, ConnectionMap
from lineage_ingest.bi.exported import Board, QueryAsset, not_read, slug
from lineage_ingest.bi.tableau.formula import formula_as_sql
from lineage_ingest.bi.tableau.source_fields import (
    PILL,
    DataSource,
    captions_of,
    column_sql,
    physical_columns,
    records_of,
    visible_columns,
)
from lineage_ingest.bi.tableau.source_relations import (
    Relations,
    connection_of_element,
    leaves,
    plain_tag,
    relation_of,
    unbracketed,
)
from lineage_ingest.bi.written_sql import LITERAL, asset_reference, number_repeated, quote

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Workbook"]

_AGGREGATES = {"Sum": "SUM", "Avg": "AVG", "Min": "MIN", "Max": "MAX", "Count": "COUNT", "Median": "MEDIAN",
               "Stdev": "STDDEV", "StdDev": "STDDEV", "StdevP": "STDDEV", "Var": "VARIANCE", "VarP": "VARIANCE",
               "Attr": "MIN", "Attribute": "MIN"}  # fmt: skip
_PLAIN = frozenset(("None", "User", ""))
_FILTERS = ("./filter", "./extract/filter", "./extract/connection/filter")
"""Filters of a data source, and of its extract."""
_MAX_DEPTH = 40
_OVER_SEVERAL = "duckdb"
"""The dialect of a query over several connections, which Tableau runs itself: names are compared without case."""


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
            dialect, connection = _OVER_SEVERAL, BiConnection((f"{title} (several)",), _OVER_SEVERAL, "tableau")
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
        problems: list[Diagnostic] = []
        used = [
            (dependency, self._sources[dependency.get("datasource") or ""])
            for dependency in element.iter("datasource-dependencies")
            if dependency.get("datasource") in self._sources
        ]
        connection = used[0][1].connection if used else BiConnection(("(none)",))
        if len({source.connection for _, source in used}) > 1:
            connection = BiConnection((f"{name} (several)",), _OVER_SEVERAL, "tableau")
        dialect = connection.dialect
        filtered = {pill for one in element.iter("filter") for pill in PILL.findall(one.get("column") or "")}
        shown = set(PILL.findall(" ".join(self._shelves(element))))
        outputs: list[tuple[str, str]] = []
        conditions: list[str] = []
        froms: list[str] = []
        for number, (dependency, source) in enumerate(used):
            alias = f"d{number + 1}"
            froms.append(f"{asset_reference(source.key, dialect)} AS {alias}")
            for instance in dependency.findall("column-instance"):
                column = instance.get("column") or ""
                caption = source.captions.get(column)
                if caption is None:
                    own = next((one for one in dependency.findall("column") if one.get("name") == column), None)
                    caption = (own.get("caption") if own is not None else None) or unbracketed(column)[-1]
                pill = (source.name, unbracketed(instance.get("name") or "")[-1])
                text = self._sheet_column(dependency, column, caption, source, alias, dialect, problems)
                if column in ("[:Measure Names]", "[Multiple Values]", "[Number of Records]") or column.startswith(
                    "[:"
                ):
                    continue
                if pill in filtered and pill not in shown:
                    conditions.append(f"({text} = {LITERAL})")
                    continue
                derivation = instance.get("derivation") or "None"
                outputs.append((_label(caption, derivation), _derived(text, derivation)))
        if len({source.name for _, source in used}) > 1:
            links = self._blended([source for _, source in used], dialect)
            conditions += links
            if not links:
                message = "the worksheet blends data sources: by which fields is not known"
                problems.append(not_read(message, severity=Severity.WARNING))
        if not used:
            problems.append(not_read("the worksheet reads no data source of the workbook"))
        elif not outputs:
            problems.append(not_read("the worksheet shows no column that is known", severity=Severity.WARNING))
        labels = number_repeated(label for label, _ in outputs)
        listed = [f"{text} AS {quote(label, dialect)}" for label, (_, text) in zip(labels, outputs, strict=True)]
        sql = None
        if listed:
            sql = "SELECT " + ",\n  ".join(listed) + "\nFROM " + "\nCROSS JOIN ".join(froms)
            sql += "\nWHERE " + "\n  AND ".join(dict.fromkeys(conditions)) if conditions else ""
        return QueryAsset(
            key, name, f"{self._at}#worksheet/{name}", connection, sql,
            needs=tuple(dict.fromkeys(source.key for _, source in used)), problems=tuple(problems),
            operation="TABLEAU_WORKSHEET",
        )  # fmt: skip

    def _blended(self, used: list[DataSource], dialect: str) -> list[str]:
        """Return the conditions by which data sources are blended."""
        alias = {source.name: (f"d{number + 1}", source) for number, source in reversed(list(enumerate(used)))}
        found = []
        for link in self._root.iter("datasource-relationship"):
            for one in link.iter("map"):
                sides = [PILL.fullmatch(one.get(name) or "") for name in ("key", "value")]
                texts = []
                for side in sides:
                    if side is not None and side[1] in alias:
                        own, source = alias[side[1]]
                        parts = side[2].split(":")
                        plain = ":".join(parts[1:-1]) if len(parts) > 2 else side[2]
                        texts.append(f"{own}.{quote(source.captions.get(f'[{plain}]', plain), dialect)}")
                if len(texts) == len(sides):
                    found.append(f"({' = '.join(texts)})")
        return found

    def _sheet_column(
        self,
        dependency: Element,
        column: str,
        caption: str,
        source: DataSource,
        alias: str,
        dialect: str,
        problems: list[Diagnostic],
    ) -> str:
        """Return the SQL of a column of a worksheet: one of its data source, or a calculation of its own."""
        own = next((one for one in dependency.findall("column") if one.get("name") == column), None)
        calculation = own.find("calculation") if own is not None else None
        formula = calculation.get("formula") if calculation is not None else None
        if column in source.captions or formula is None:
            return f"{alias}.{quote(caption, dialect)}"

        def field_sql(reference: str) -> str:
            name = f"[{unbracketed(reference)[-1]}]"
            if reference.startswith("[Parameters]."):
                return LITERAL
            return f"{alias}.{quote(source.captions.get(name, unbracketed(name)[-1]), dialect)}"

        text, is_read = formula_as_sql(formula, field_sql, dialect)
        if not is_read:
            message = f"the formula of {caption!r} is not read: only the fields that it names are known"
            problems.append(not_read(message, severity=Severity.WARNING))
        return text

    def _shelves(self, element: Element) -> Iterator[str]:
        """Yield the texts that name what a worksheet shows: rows, columns, encodings."""
        for one in element.iter():
            tag = plain_tag(one)
            if tag in ("rows", "cols") and one.text:
                yield one.text
            elif one.get("column") and tag not in ("filter", "sort", "slices", "column-instance", "column"):
                yield str(one.get("column"))


def _label(caption: str, derivation: str) -> str:
    return caption if derivation in _PLAIN else f"{derivation} of {caption}"


def _derived(text: str, derivation: str) -> str:
    if derivation in _PLAIN:
        return text
    if derivation == "CountD":
        return f"COUNT(DISTINCT {text})"
    if derivation in _AGGREGATES:
        return f"{_AGGREGATES[derivation]}({text})"
    return f"part_{re.sub(r'[^a-z]', '_', derivation.lower())}({text})"
