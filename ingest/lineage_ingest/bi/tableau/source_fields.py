"""The columns of a data source: those of its tables, sets and groups, and calculated fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.connections import BiConnection
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.tableau.formula import formula_as_sql
from lineage_ingest.bi.tableau.source_relations import aliases, leaves, unbracketed
from lineage_ingest.bi.written_sql import LITERAL, quote

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["PILL", "DataSource", "captions_of", "column_sql", "physical_columns", "records_of", "visible_columns"]

PILL = re.compile(r"\[((?:[^\]]|\]\])*)\]\.\[((?:[^\]]|\]\])*)\]")
"""A field with its data source: `[federated.1].[sum:Sales:qk]`."""
_MAX_DEPTH = 40


@dataclass(slots=True)
class DataSource:
    """A data source: its id, its key, the captions of its columns by their internal names."""

    name: str
    key: str
    connection: BiConnection
    captions: dict[str, str] = field(default_factory=dict)


def physical_columns(
    element: Element,
    connection: Element,
    relation: Element,
    source: DataSource,
    dialect: str,
    problems: list[Diagnostic],
) -> dict[str, str]:
    """Return the SQL of each column that comes from a table, and of sets and groups, by its internal name."""
    physical: dict[str, str] = {}
    names = list(aliases(relation))
    for record in connection.iter("metadata-record"):
        local, remote, parent = (record.findtext(tag) for tag in ("local-name", "remote-name", "parent-name"))
        if record.get("class") == "column" and local and remote:
            table = unbracketed(parent or "")[-1]
            if table not in names and len(names) == 1:
                table = names[0]
            if table not in names:
                message = f"the column {remote!r} is of {table!r}, which is no table of the data source"
                problems.append(not_read(message))
                continue
            physical[local] = f"{quote(table, dialect)}.{quote(remote, dialect)}"
    for one in leaves(relation):
        for _, table, column in records_of(one):
            physical.setdefault(f"[{column}]", f"{quote(table, dialect)}.{quote(column, dialect)}")
    for mapped in connection.iter("map"):
        parts = unbracketed(mapped.get("value") or "")
        if mapped.get("key") and len(parts) == 2 and str(mapped.get("key")) not in physical:
            physical[str(mapped.get("key"))] = ".".join(quote(part, dialect) for part in parts)
    source.captions.update(captions_of(element))
    for name in physical:
        source.captions.setdefault(name, unbracketed(name)[-1])
    for group in element.findall("group"):  # sets and groups: who is in them is decided by the fields that they name
        levels = {one.get("level") for one in group.iter("groupfilter")} & set(physical)
        if levels and group.get("name"):
            read = ", ".join(sorted(physical[str(level)] for level in levels))
            physical.setdefault(str(group.get("name")), f"member_of({read})")
            source.captions.setdefault(
                str(group.get("name")), group.get("caption") or unbracketed(str(group.get("name")))[-1]
            )
    return physical


def visible_columns(
    physical: dict[str, str],
    columns: dict[str, Element],
    source: DataSource,
    dialect: str,
    problems: list[Diagnostic],
) -> dict[str, str]:
    """Return the SQL of each column of a data source, by what people see of it."""
    found: dict[str, str] = {}
    for name in dict.fromkeys((*physical, *columns)):
        text = column_sql(name, physical, columns, dialect, problems)
        if text is not None:
            found.setdefault(source.captions[name], text)
    return found


def column_sql(
    name: str,
    physical: dict[str, str],
    columns: dict[str, Element],
    dialect: str,
    problems: list[Diagnostic],
    depth: int = 0,
) -> str | None:
    """Return the SQL of a column by its internal name; None if the data source does not have it."""
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
        parts = PILL.fullmatch(reference)
        own = f"[{parts[2]}]" if parts is not None else reference
        text = None
        if parts is None or own in columns or own in physical:
            text = column_sql(own, physical, columns, dialect, problems, depth + 1)
        if text is None:
            problems.append(not_read(f"{title!r} reads {reference}, which is not in its data source"))
            return "NULL"
        return f"({text})" if columns.get(own) is not None and columns[own].find("calculation") is not None else text

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


def captions_of(element: Element) -> dict[str, str]:
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


def records_of(relation: Element) -> Iterator[tuple[str, str, str]]:
    """Yield the columns that a relation lists: name, table, name in the table."""
    columns = relation.find("columns")
    for column in columns if columns is not None else ():
        yield column.get("name") or "", relation.get("name") or "", column.get("name") or ""
