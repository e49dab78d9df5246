"""The columns of a data source: those of its tables, sets and groups, and calculated fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.connections import BiConnection
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.tableau.formula import fields_in, formula_as_sql
from lineage_ingest.bi.tableau.source_relations import aliases, leaves, outer_names, plain_tag, unbracketed
from lineage_ingest.bi.templates.written_sql import LITERAL, quote

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["PARAMETERS", "PILL", "DataSource", "SourceFields", "captions_of", "fields_of_filter", "parameter_of",
           "parameters_of", "plain_field", "plain_name_of", "records_of"]  # fmt: skip

PILL = re.compile(r"\[((?:[^\]]|\]\])*)\]\.\[((?:[^\]]|\]\])*)\]")
"""A field with its data source: `[federated.1].[sum:Sales:qk]`."""
PARAMETERS = "Parameters"
"""The name of the data source that has a workbook's parameters."""
_INSTANCE = re.compile(
    r"[A-Za-z]+:(?:(?:sum|avg|min|max|cnt|ctd|med|std|stp|var|vrp|attr|usr|none):)?(.*):[noq]k(?::\d+)?", re.DOTALL
)
"""A field as a worksheet uses it: `none:City:nk`, and of a table calculation `pcto:sum:Sales:qk:1`."""
_MAX_DEPTH = 80
_MAX_CHARACTERS = 20_000
"""What a calculated field may be in SQL: each that it names stands in it, with those that this one names."""
_ROWS = "__tableau_internal_object_id__"
"""The rows of a table of the data model, which formulas count: `COUNT([__tableau_internal_object_id__].[Orders_1])`."""


@dataclass(slots=True)
class DataSource:
    """A data source: its id, its key, the captions of its columns by their internal names."""

    name: str
    key: str
    connection: BiConnection
    captions: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class SourceFields:
    """The fields of one data source by their internal names: columns of tables, calculations, sets and groups.

    `elsewhere` returns the SQL of a field of another data source of the workbook; None if there is none.
    """

    source: DataSource
    dialect: str
    elsewhere: Callable[[str, str], str | None]
    parameters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The fields from which parameters have their values."""
    problems: list[Diagnostic] = field(default_factory=list)
    physical: dict[str, str] = field(default_factory=dict)
    """The SQL of columns that come from tables."""
    columns: dict[str, Element] = field(default_factory=dict)
    groups: dict[str, Element] = field(default_factory=dict)
    _written: dict[str, str | None] = field(default_factory=dict)
    _being_written: list[str] = field(default_factory=list)

    def read(self, element: Element, connection: Element, relation: Element) -> None:
        """Read the fields of a data source's element, and name each by what people see of it."""
        self._read_physical(connection, relation)
        self.columns = {column.get("name") or "": column for column in element.findall("column")}
        self.groups = {str(one.get("name")): one for one in element.findall("group") if one.get("name")}
        captions = self.source.captions
        captions.update(captions_of(element))
        for name in self.physical:
            captions.setdefault(name, unbracketed(name)[-1])
        for name, group in self.groups.items():
            captions.setdefault(name, group.get("caption") or unbracketed(name)[-1])
        used: dict[str, str] = {}
        for name in dict.fromkeys((*self.physical, *self.columns, *self.groups)):
            fold = captions[name].casefold()
            if used.setdefault(fold, name) != name and self.has(name) and self.has(used[fold]):
                captions[name] = f"{captions[name]} ({unbracketed(name)[-1]})"

    def _read_physical(self, connection: Element, relation: Element) -> None:
        names, outer = list(aliases(relation)), outer_names(relation)
        for record in connection.iter("metadata-record"):
            local, remote, parent = (record.findtext(tag) for tag in ("local-name", "remote-name", "parent-name"))
            if record.get("class") == "column" and local and remote:
                table = unbracketed(parent or "")[-1]
                if table not in names:
                    table = outer.get(table, names[0] if len(names) == 1 else table)
                if table not in names:
                    message = f"the column {remote!r} is of {table!r}, which is no table of the data source"
                    self.problems.append(not_read(message))
                    continue
                self.physical[local] = f"{quote(table, self.dialect)}.{quote(remote, self.dialect)}"
        for one in leaves(relation):
            for _, table, column in records_of(one):
                own = f"{quote(outer.get(table, table), self.dialect)}.{quote(column, self.dialect)}"
                self.physical.setdefault(f"[{column}]", own)
        for mapped in connection.iter("map"):
            parts = unbracketed(mapped.get("value") or "")
            if mapped.get("key") and len(parts) == 2 and str(mapped.get("key")) not in self.physical:
                self.physical[str(mapped.get("key"))] = ".".join(quote(part, self.dialect) for part in parts)

    def has(self, name: str) -> bool:
        """Return whether the data source has a field of this internal name that is a column."""
        column = self.columns.get(name)
        is_calculated = column is not None and column.find("calculation") is not None
        return is_calculated or name in self.physical or name in self.groups

    def visible(self) -> dict[str, str]:
        """Return the SQL of each column, by what people see of it."""
        found: dict[str, str] = {}
        for name in dict.fromkeys((*self.physical, *self.columns, *self.groups)):
            text = self.sql(name)
            if text is not None:
                found[self.source.captions[name]] = text
        return found

    def sql(self, name: str) -> str | None:
        """Return the SQL of a column by its internal name; None if the data source does not have it."""
        if name in self._written:
            return self._written[name]
        title = self.source.captions.get(name) or unbracketed(name)[-1]
        if name in self._being_written or len(self._being_written) > _MAX_DEPTH:
            what = "reads itself" if name in self._being_written else "reads others too deeply"
            self.problems.append(not_read(f"the calculated field {title!r} {what}"))
            return "NULL"
        self._being_written.append(name)
        text = self._write(name, title)
        self._being_written.pop()
        self._written[name] = text
        return text

    def _write(self, name: str, title: str) -> str | None:
        column = self.columns.get(name)
        calculation = column.find("calculation") if column is not None else None
        if calculation is None:
            return self.physical[name] if name in self.physical else self._member_of(name, title)
        kind = calculation.get("class") or ""
        if kind in ("bin", "categorical-bin"):
            read = calculation.get("column") or calculation.get("formula") or ""
            return f"binned({self.reference(read, title)})" if read else "NULL"
        formula = calculation.get("formula")
        if formula is None:
            self.problems.append(not_read(f"the calculation of {title!r} ({kind or 'unknown'}) is not read"))
            return "NULL"
        text, is_read = formula_as_sql(formula, lambda one: self.reference(one, title), self.dialect)
        if not is_read:
            message = f"the formula of {title!r} is not read: only the fields that it names are known"
            self.problems.append(not_read(message, severity=Severity.WARNING))
        if len(text) > _MAX_CHARACTERS:
            message = f"the formula of {title!r} is too long with those of the fields in it: only these are known"
            self.problems.append(not_read(message, severity=Severity.WARNING))
            return f"calculated({', '.join(self._columns_below(name))})"
        return text

    def _columns_below(self, name: str) -> list[str]:
        """Return the SQL of the columns that a calculated field reads, directly or by way of others."""
        found: dict[str, None] = {}
        stack, seen = [name], {name}
        while stack:
            column = self.columns.get(stack.pop())
            calculation = column.find("calculation") if column is not None else None
            if calculation is None:
                continue
            formula = calculation.get("formula") or ""
            for reference in (*fields_in(formula), *filter(None, [calculation.get("column")])):
                parts = PILL.fullmatch(reference)
                own = f"[{parts[2]}]" if parts is not None and parts[1] == self.source.name else reference
                inner = self.columns.get(own)
                if inner is None or inner.find("calculation") is None:
                    found[self.reference(reference, unbracketed(name)[-1])] = None
                elif own not in seen:
                    seen.add(own)
                    stack.append(own)
        return list(found)

    def reference(self, reference: str, title: str) -> str:
        """Return the SQL of a field as a formula names it: `[Sales]`, or with its data source, `[federated.1].[Sales]`.

        What is not found is reported as read by `title`.
        """
        parts = PILL.fullmatch(reference)
        if parts is not None and parts[1] == _ROWS:
            return LITERAL
        if parts is not None and parts[1] == PARAMETERS:
            return parameter_of(self.reference(one, title) for one in self.parameters.get(f"[{parts[2]}]", ()))
        own = f"[{parts[2]}]" if parts is not None else reference
        text = None
        if parts is None or parts[1] == self.source.name:
            text = self.sql(own)
            calculated = self.columns.get(own)
            if text is not None and calculated is not None and calculated.find("calculation") is not None:
                return f"({text})"
        else:
            text = self.elsewhere(parts[1], own)
        if text is None:
            self.problems.append(not_read(f"{title!r} reads {reference}, which is not in its data source"))
            return "NULL"
        return text

    def _member_of(self, name: str, title: str) -> str | None:
        """Return a set or a group: the fields that decide who is in it; None if there is none of this name."""
        group = self.groups.get(name)
        if group is None:
            return None
        named = list(fields_of_filter(group))
        if not named:
            self.problems.append(not_read(f"by what {title!r} is made is not read", severity=Severity.WARNING))
            return f"member_of({LITERAL})"
        texts = dict.fromkeys(self.reference(one, title) for one in named)
        return f"member_of({', '.join(texts)})"


def parameters_of(source: Element) -> dict[str, tuple[str, ...]]:
    """Return the fields whose values parameters have, by the name of the parameter, from the source of parameters.

    When a workbook opens, Tableau takes the values that readers choose from, or the one that is chosen, from a field.
    """
    found = {}
    for column in source.findall("column"):
        named = (column.get(key) for key in ("source-field", "default-value-field"))
        found[column.get("name") or ""] = tuple(dict.fromkeys(plain_field(one) for one in named if one))
    return found


def parameter_of(fields: Iterable[str]) -> str:
    """Return the SQL of a parameter whose value is one of those of these fields; without fields, a literal."""
    texts = ", ".join(dict.fromkeys(fields))
    return f"parameter_of({texts})" if texts else LITERAL


def fields_of_filter(element: Element) -> Iterator[str]:
    """Yield the fields by which a filter, a set or a group chooses: levels, other sets, fields of expressions."""
    for node in element.iter():
        if plain_tag(node) == "groupfilter":
            for key in ("level", "field"):
                if node.get(key):
                    yield plain_field(str(node.get(key)))
            for key in ("expression", "count"):
                yield from fields_in(node.get(key) or "")


def plain_field(name: str) -> str:
    """Return a field without its derivation: `[none:City:nk]` is `[City]`.

    >>> plain_field("[none:City:nk]"), plain_field("[fed].[sum:A:B:qk]"), plain_field("[City]")
    ('[City]', '[fed].[A:B]', '[City]')
    >>> plain_field("[usr:Worst (copy):nk:2]"), plain_field("[pcto:sum:Sales:qk:1]"), plain_field("[a:b]")
    ('[Worst (copy)]', '[Sales]', '[a:b]')
    """
    *head, last = unbracketed(name)
    return ".".join(f"[{part}]" for part in (*head, plain_name_of(last)))


def plain_name_of(instance: str) -> str:
    """Return the name of the field that a worksheet uses with derivations before it, its type and a number behind it.

    >>> plain_name_of("win:sum:Sales:qk"), plain_name_of("none:City:nk")
    ('Sales', 'City')
    """
    found = _INSTANCE.fullmatch(instance)
    return found[1] if found is not None else instance


def captions_of(element: Element) -> dict[str, str]:
    """Return what people see of each column of a data source, by its internal name."""
    captions = {}
    for record in element.iter("metadata-record"):
        local = record.findtext("local-name")
        if record.get("class") == "column" and local:
            captions[local] = unbracketed(local)[-1]
    for column in element.findall("column"):
        name = column.get("name") or ""
        captions[name] = column.get("caption") or unbracketed(name)[-1]
    return captions


def records_of(relation: Element) -> Iterator[tuple[str, str, str]]:
    """Yield the columns that a relation lists: name, table, name in the table."""
    columns = relation.find("columns")
    for column in columns if columns is not None else ():
        yield column.get("name") or "", relation.get("name") or "", column.get("name") or ""
