"""One workbook: its data sources and worksheets as queries, its dashboards as dashboards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.connections import BiConnection, ConnectionMap
from lineage_ingest.bi.exported import Board, QueryAsset, not_read, slug
from lineage_ingest.bi.tableau.formula import formula_as_sql
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
_PILL = re.compile(r"\[((?:[^\]]|\]\])*)\]\.\[((?:[^\]]|\]\])*)\]")
_MAX_DEPTH = 40
_OVER_SEVERAL = "duckdb"
"""The dialect of a query over several connections, which Tableau runs itself: names are compared without case."""


@dataclass(slots=True)
class _DataSource:
    """A data source: its id, its key, the captions of its columns by their internal names."""

    name: str
    key: str
    connection: BiConnection
    captions: dict[str, str] = field(default_factory=dict)


class Workbook:
    """Reads the element `workbook`. `scope` is what the keys of all that is in it begin with."""

    def __init__(self, root: Element, title: str, at: str, server: str, connections: ConnectionMap) -> None:
        self._root = root
        self._at = at
        self._server = server
        self._map = connections
        self.scope = f"{slug(title)}/"
        self._sources: dict[str, _DataSource] = {}
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
            zones = [zone.get("name") for zone in element.iter() if plain_tag(zone) == "zone"]
            shows = [self._sheets[zone] for zone in zones if zone in self._sheets]
            yield Board(
                f"{self.scope}dashboard/{slug(name)}", name, f"{self._at}#dashboard/{name}",
                tuple(dict.fromkeys(shows)), operation="TABLEAU_DASHBOARD",
            )  # fmt: skip

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
        source = _DataSource(name, key, connection)
        self._sources[name] = source
        relation = relation_of(connection_element) if connection_element is not None else None
        at = f"{self._at}#datasource/{title}"
        if relation is None or connection_element is None or connection_element.get("class") == "sqlproxy":
            published = connection_element.get("dbname") if connection_element is not None else None
            what = f"the published data source {published!r}" if published else "a data source without a relation"
            problems.append(not_read(f"{what} is not in the workbook", "its own tables and calculations are not known"))
            source.captions.update(self._captions(element))
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

        relations = Relations(dialect, other)
        from_clause = relations.write(relation)
        for one in leaves(relation):
            own = by_name.get(one.get("connection") or "")
            own_key = f"{key}/{slug(one.get('name') or '')}"
            if own_key in needs and own is not None:
                yield self._table(own_key, one, own, at, connection_element)
        outputs = self._outputs(element, connection_element, relation, source, dialect, problems)
        sql = "SELECT " + (",\n  ".join(f"{text} AS {quote(label, dialect)}" for label, text in outputs.items()) or "*")
        sql += f"\nFROM {from_clause}"
        problems += relations.problems
        yield QueryAsset(
            key, title, at, connection, sql, needs=tuple(dict.fromkeys(needs)),
            problems=tuple(dict.fromkeys(problems)), operation="TABLEAU_DATA_SOURCE",
        )  # fmt: skip

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
        columns = [column for _, table, column in self._records_of(relation) if table == name]
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

    def _records_of(self, relation: Element) -> Iterator[tuple[str, str, str]]:
        columns = relation.find("columns")
        for column in columns if columns is not None else ():
            yield column.get("name") or "", relation.get("name") or "", column.get("name") or ""

    def _captions(self, element: Element) -> dict[str, str]:
        """Return what people see of each column of a data source, by its internal name."""
        found = {}
        for record in element.iter("metadata-record"):
            local = record.findtext("local-name")
            if record.get("class") == "column" and local:
                found[local] = unbracketed(local)[-1]
        for column in element.findall("column"):
            name = column.get("name") or ""
            found[name] = column.get("caption") or unbracketed(name)[-1]
        return found

    def _outputs(
        self,
        element: Element,
        connection: Element,
        relation: Element,
        source: _DataSource,
        dialect: str,
        problems: list[Diagnostic],
    ) -> dict[str, str]:
        """Return the SQL of each column of a data source, by what people see of it."""
        physical: dict[str, str] = {}
        names = [one.get("name") or "" for one in leaves(relation)]
        for record in connection.iter("metadata-record"):
            local, remote, parent = (record.findtext(tag) for tag in ("local-name", "remote-name", "parent-name"))
            if record.get("class") == "column" and local and remote:
                table = unbracketed(parent or "")[-1]
                table = table if table in names or not names else names[0]
                physical[local] = f"{quote(table, dialect)}.{quote(remote, dialect)}"
        for one in leaves(relation):
            for _, table, column in self._records_of(one):
                physical.setdefault(f"[{column}]", f"{quote(table, dialect)}.{quote(column, dialect)}")
        for mapped in connection.iter("map"):
            parts = unbracketed(mapped.get("value") or "")
            if mapped.get("key") and len(parts) == 2 and str(mapped.get("key")) not in physical:
                physical[str(mapped.get("key"))] = ".".join(quote(part, dialect) for part in parts)
        columns = {column.get("name") or "": column for column in element.findall("column")}
        source.captions.update(self._captions(element))
        for name in physical:
            source.captions.setdefault(name, unbracketed(name)[-1])
        for group in element.findall(
            "group"
        ):  # sets and groups: who is in them is decided by the fields that they name
            levels = {one.get("level") for one in group.iter("groupfilter")} & set(physical)
            if levels and group.get("name"):
                read = ", ".join(sorted(physical[str(level)] for level in levels))
                physical.setdefault(str(group.get("name")), f"member_of({read})")
                source.captions.setdefault(
                    str(group.get("name")), group.get("caption") or unbracketed(str(group.get("name")))[-1]
                )
        found: dict[str, str] = {}
        for name in dict.fromkeys((*physical, *columns)):
            text = self._column(name, physical, columns, dialect, problems)
            if text is not None:
                found.setdefault(source.captions[name], text)
        return found

    def _column(
        self,
        name: str,
        physical: dict[str, str],
        columns: dict[str, Element],
        dialect: str,
        problems: list[Diagnostic],
        depth: int = 0,
    ) -> str | None:
        column = columns.get(name)
        calculation = column.find("calculation") if column is not None else None
        if calculation is None:
            return physical.get(name)
        title = (column.get("caption") if column is not None else None) or unbracketed(name)[-1]
        if depth > _MAX_DEPTH:
            problems.append(not_read(f"the calculated field {title!r} reads itself"))
            return "NULL"

        def field_sql(reference: str) -> str:
            if reference.startswith("[Parameters]."):
                return LITERAL
            parts = _PILL.fullmatch(reference)
            own = f"[{parts[2]}]" if parts is not None else reference
            text = None
            if parts is None or own in columns or own in physical:
                text = self._column(own, physical, columns, dialect, problems, depth + 1)
            if text is None:
                problems.append(not_read(f"{title!r} reads {reference}, which is not in its data source"))
                return "NULL"
            return (
                f"({text})" if columns.get(own) is not None and columns[own].find("calculation") is not None else text
            )

        kind = calculation.get("class") or ""
        if kind in ("bin", "categorical-bin"):
            read = calculation.get("column") or calculation.get("formula") or ""
            return f"binned({field_sql(read)})" if read else "NULL"
        formula = calculation.get("formula")
        if formula is None:
            problems.append(not_read(f"the calculation of {title!r} ({kind or 'unknown'}) is not read"))
            return "NULL"
        text, is_read = formula_as_sql(formula, field_sql, dialect)
        if not is_read:
            message = f"the formula of {title!r} is not read: only the fields that it names are known"
            problems.append(not_read(message, severity=Severity.WARNING))
        return text

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
        filtered = {pill for one in element.iter("filter") for pill in _PILL.findall(one.get("column") or "")}
        shown = set(_PILL.findall(" ".join(self._shelves(element))))
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

    def _sheet_column(
        self,
        dependency: Element,
        column: str,
        caption: str,
        source: _DataSource,
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
