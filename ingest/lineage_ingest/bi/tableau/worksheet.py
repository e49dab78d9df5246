"""A worksheet as a query: what is on its shelves, over the data sources that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.connections import BiConnection
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.tableau.formula import formula_as_sql
from lineage_ingest.bi.tableau.source_fields import (
    PARAMETERS,
    PILL,
    DataSource,
    fields_of_filter,
    parameter_of,
    plain_name_of,
)
from lineage_ingest.bi.tableau.source_relations import OVER_SEVERAL, plain_tag, unbracketed
from lineage_ingest.bi.templates.written_sql import LITERAL, asset_reference, number_repeated, quote

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["WorksheetSql"]

_AGGREGATES = {"Sum": "SUM", "Avg": "AVG", "Min": "MIN", "Max": "MAX", "Count": "COUNT", "Median": "MEDIAN",
               "Stdev": "STDDEV", "StdDev": "STDDEV", "StdevP": "STDDEV", "Var": "VARIANCE", "VarP": "VARIANCE",
               "Attr": "MIN", "Attribute": "MIN"}  # fmt: skip
_PLAIN = frozenset(("None", "User", ""))
_ROWS = "[__tableau_internal_object_id__]."
"""What the rows of a table of the data model begin with, which worksheets count."""
_RECORDS = "[Number of Records]"
"""The field by which older workbooks count rows."""
_OF_TABLE_CALCULATIONS = ("ordering-field", "field", "level-break", "level-address", "using")
"""Attributes of table calculations, their orders and sorts that name the fields along which they run."""
_MAX_DEPTH = 40
_WITHOUT_COLUMN = (
    "[:", "[Multiple Values]", _RECORDS, "[Forecast Indicator]", "[Latitude (generated)]",
    "[Longitude (generated)]", "[Geometry (generated)]", "[__tableau_internal_object_id__]",
)  # fmt: skip
"""What the names of fields begin with that Tableau makes itself."""


@frozen
class _Pills:
    """The fields of the worksheet's shelves, filters and sorts, each with its data source."""

    shown: frozenset[tuple[str, str]]
    filtered: frozenset[tuple[str, str]]
    sorts: tuple[tuple[str, str], ...]
    names_measures: bool
    """Whether a filter chooses the measures, of which all are shown otherwise where there are several."""

    def is_shown(self, pill: tuple[str, str]) -> bool:
        """Return whether a field that the worksheet describes is shown: on a shelf, or described for nothing else."""
        shows_all = not self.names_measures and any(name == "Multiple Values" for _, name in self.shown)
        return shows_all or pill in self.shown or not (pill in self.filtered or pill in self.sorts)


class WorksheetSql:
    """Writes one worksheet. `sources` are the workbook's data sources, `links` the fields by which it blends them.

    `shared` are the filters that several worksheets have, each of which lists their columns among its slices.
    `parameters` are the fields from which parameters have their values.
    `connection` is that of the query, `needs` are the keys of the data sources; `problems` is complete after `sql`.
    """

    def __init__(
        self,
        element: Element,
        sources: Mapping[str, DataSource],
        links: Iterable[Element],
        shared: Iterable[Element] = (),
        parameters: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._parameters = parameters or {}
        self._element = element
        self._links = links
        self._slices = dict.fromkeys(one.text or "" for one in element.findall(".//slices/column"))
        self._shared = [one for one in shared if one.get("column") in self._slices]
        self._used = [
            (dependency, sources[dependency.get("datasource") or ""])
            for dependency in element.iter("datasource-dependencies")
            if dependency.get("datasource") in sources
        ]
        connections = list(dict.fromkeys(source.connection for _, source in self._used))
        self.connection = connections[0] if connections else BiConnection(("(none)",))
        if len(connections) > 1:
            name = element.get("name") or "worksheet"
            self.connection = BiConnection((f"{name} (several)",), OVER_SEVERAL, "tableau")
        self.needs = tuple(dict.fromkeys(source.key for _, source in self._used))
        self.problems: list[Diagnostic] = []

    def sql(self) -> str | None:
        """Return the SQL; None if the worksheet shows no column that is known."""
        filters = [*(one for one in self._element.iter("filter") if one.get("column")), *self._shared]
        sliced = _pills_in(self._slices)
        pills = _Pills(
            shown=frozenset(_pills_in(self._shelves())),
            filtered=frozenset((*_pills_in(one.get("column") or "" for one in filters), *sliced)),
            sorts=tuple(_pills_in(self._sorts())),
            names_measures=any("[:Measure Names]" in (one.get("column") or "") for one in filters),
        )
        outputs, conditions = self._described(pills)
        self._report_shown_only()
        for one in filters:
            conditions += self._chosen_by(one)
        conditions += [f"({text} = {LITERAL})" for text in self._texts_of(sliced)]
        conditions += self._blended()
        if not outputs:
            self._report_without_output(is_empty=not (self._used or pills.shown or filters))
            return None
        return self._select(outputs, conditions, pills.sorts)

    def _described(self, pills: _Pills) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the labels and SQL of the columns that are shown, and the conditions on those that are filtered."""
        outputs: list[tuple[str, str]] = []
        conditions: list[str] = []
        for number, (dependency, source) in enumerate(self._used):
            for instance in dependency.findall("column-instance"):
                column = instance.get("column") or ""
                derivation = instance.get("derivation") or "None"
                if column.startswith((_ROWS, _RECORDS)):
                    outputs.append((_label(source.captions.get(column) or _last(column), derivation), "COUNT(*)"))
                    continue
                if column.startswith(_WITHOUT_COLUMN):
                    continue
                caption, text = self._column(dependency, column, source, f"d{number + 1}")
                pill = (source.name, _last(instance.get("name") or ""))
                if pill in pills.filtered:
                    conditions.append(f"({text} = {LITERAL})")
                if pills.is_shown(pill):
                    value = self._addressed(instance, source, _derived(text, derivation))
                    outputs.append((_label(caption, derivation), value))
        return outputs, conditions

    def _report_without_output(self, *, is_empty: bool) -> None:
        """Report why there is no SQL."""
        if is_empty:
            self.problems.append(not_read("the worksheet is empty", severity=Severity.INFO))
        elif not self._used:
            self.problems.append(not_read("the worksheet reads no data source of the workbook"))
        else:
            message = "the worksheet shows no column that is known"
            self.problems.append(not_read(message, severity=Severity.WARNING))

    def _select(
        self, outputs: Sequence[tuple[str, str]], conditions: Sequence[str], sorts: Iterable[tuple[str, str]]
    ) -> str:
        dialect = self.connection.dialect
        labels = number_repeated(label for label, _ in outputs)
        listed = [f"{text} AS {quote(label, dialect)}" for label, (_, text) in zip(labels, outputs, strict=True)]
        read = [f"{asset_reference(one.key, dialect)} AS d{number + 1}" for number, (_, one) in enumerate(self._used)]
        sql = "SELECT " + ",\n  ".join(listed) + "\nFROM " + "\nCROSS JOIN ".join(read)
        sql += "\nWHERE " + "\n  AND ".join(dict.fromkeys(conditions)) if conditions else ""
        order = dict.fromkeys(self._texts_of(sorts))
        return sql + ("\nORDER BY " + ", ".join(order) if order else "")

    def _texts_of(self, pills: Iterable[tuple[str, str]]) -> Iterator[str]:
        """Yield the SQL of the fields that these name; those of other data sources are left out."""
        for owner, name in pills:
            text = self._field_of(owner, self._plain(owner, name))
            if text is not None:
                yield text

    def _addressed(self, instance: Element, source: DataSource, text: str) -> str:
        """Return a column; one of a table calculation depends on the fields along which that runs, if it names them."""
        named = [one.get(key) or "" for one in instance.iter() for key in _OF_TABLE_CALCULATIONS]
        texts = (self._field_of(owner or source.name, self._plain(owner, name)) for owner, name in _pills_in(named))
        along = dict.fromkeys(one for one in texts if one is not None and one != text)
        return f"table_calculation({text}) OVER (ORDER BY {', '.join(along)})" if along else text

    def _plain(self, owner: str, name: str) -> str:
        """Return the field of an instance, `none:City:nk`: the one that the worksheet says, or else its name does."""
        for dependency, source in self._used:
            for one in dependency.findall("column-instance") if source.name == owner else ():
                if one.get("name") == f"[{name}]" and one.get("column"):
                    return str(one.get("column"))
        return f"[{plain_name_of(name)}]"

    def _sorts(self) -> Iterator[str]:
        """Yield the fields by which others are sorted."""
        inner = {id(one) for calculation in self._element.iter("table-calc") for one in calculation.iter("sort")}
        for one in self._element.iter():
            if plain_tag(one) in ("computed-sort", "sort", "shelf-sort-v2") and id(one) not in inner:
                yield from (str(one.get(key)) for key in ("using", "measure-to-sort-by") if one.get(key))

    def _report_shown_only(self) -> None:
        """Report the fields on the shelves that are not among those that the worksheet says it uses."""
        known: dict[str, set[str]] = {}
        for dependency, source in self._used:
            names = (unbracketed(one.get("name") or "")[-1] for one in dependency)
            known.setdefault(source.name, set()).update(names)
        shelves = (one.text or "" for one in self._element.iter() if plain_tag(one) in ("rows", "cols"))
        for owner, name in _pills_in(shelves):
            if owner in known and name not in known[owner] and not f"[{name}]".startswith(_WITHOUT_COLUMN):
                self.problems.append(not_read(f"the worksheet shows [{name}], which it does not describe"))

    def _chosen_by(self, element: Element) -> Iterator[str]:
        """Yield the conditions of a filter by its own field, and by others: the first 10 by the sum of sales."""
        own = PILL.search(element.get("column") or "")
        named = [*([own[0]] if own is not None else []), *fields_of_filter(element)]
        for name in named:
            *heads, last = unbracketed(name)
            owner = heads[0] if heads else own[1] if own is not None else ""
            column = self._plain(owner, last)
            if column.startswith(_WITHOUT_COLUMN) or (owner == PARAMETERS and not self._parameters.get(column)):
                continue
            if owner == PARAMETERS:
                yield f"({self._parameter(column)} = {LITERAL})"
                continue
            text = self._field_of(owner, column)
            if text is None:
                self.problems.append(not_read(f"the worksheet is filtered by {name}, which is not in its data source"))
            else:
                yield f"({text} = {LITERAL})"

    def _parameter(self, name: str, depth: int = 0) -> str:
        """Return the SQL of a parameter; report a field from which it has its values and that cannot be read here."""
        found = []
        for one in self._parameters.get(name, ()):
            parts = PILL.fullmatch(one)
            text = None
            if parts is not None and depth < _MAX_DEPTH:
                text = self._field_of(parts[1], f"[{parts[2]}]", depth + 1)
            if text is None:
                message = (
                    f"the parameter {name} has the values of {one}, which is not in a data source of the worksheet"
                )
                self.problems.append(not_read(message))
            else:
                found.append(text)
        return parameter_of(found)

    def _field_of(self, owner: str, column: str, depth: int = 0) -> str | None:
        """Return the SQL of a field of a data source that the worksheet uses; None if it uses none that has it."""
        if column.startswith(_WITHOUT_COLUMN):
            return None
        for number, (dependency, source) in enumerate(self._used):
            own = next((one for one in dependency.findall("column") if one.get("name") == column), None)
            if source.name == owner and (column in source.captions or own is not None):
                return self._column(dependency, column, source, f"d{number + 1}", depth)[1]
        return None

    def _blended(self) -> list[str]:
        """Return the conditions by which data sources are blended."""
        dialect = self.connection.dialect
        alias = {one.name: (f"d{number + 1}", one) for number, (_, one) in reversed(list(enumerate(self._used)))}
        if len(alias) < 2:
            return []
        conditions = []
        linked = {name: {name} for name in alias}
        for link in self._links:
            for one in link.iter("map"):
                sides = [PILL.fullmatch(one.get(name) or "") for name in ("key", "value")]
                known = [side for side in sides if side is not None and side[1] in alias]
                if len(known) < len(sides):
                    continue
                texts = []
                for side in known:
                    own, source = alias[side[1]]
                    plain = plain_name_of(side[2])
                    texts.append(f"{own}.{quote(source.captions.get(f'[{plain}]', plain), dialect)}")
                conditions.append(f"({' = '.join(texts)})")
                together = linked[known[0][1]] | linked[known[1][1]]
                linked.update(dict.fromkeys(together, together))
        if len(linked[next(iter(linked))]) < len(alias):
            which = "data sources" if not conditions else "some of its data sources"
            message = f"the worksheet blends {which}: by which fields is not known"
            self.problems.append(not_read(message, severity=Severity.WARNING))
        return conditions

    def _column(
        self, dependency: Element, column: str, source: DataSource, alias: str, depth: int = 0
    ) -> tuple[str, str]:
        """Return a column's caption and SQL: one of its data source, or a calculation of the worksheet's own."""
        dialect = self.connection.dialect
        own = next((one for one in dependency.findall("column") if one.get("name") == column), None)
        caption = source.captions.get(column) or (own.get("caption") if own is not None else None)
        caption = caption or unbracketed(column)[-1]
        calculation = own.find("calculation") if own is not None else None
        formula = calculation.get("formula") if calculation is not None else None
        if column in source.captions or formula is None:
            return caption, f"{alias}.{quote(caption, dialect)}"

        def field_sql(reference: str) -> str:
            parts = PILL.fullmatch(reference)
            if parts is not None and parts[1] == PARAMETERS:
                return self._parameter(f"[{parts[2]}]", depth)
            if parts is not None and reference.startswith(_ROWS):
                return LITERAL
            read = f"[{parts[2]}]" if parts is not None else reference
            written = None
            if depth < _MAX_DEPTH:
                written = self._field_of(parts[1] if parts is not None else source.name, read, depth + 1)
            if written is None:
                message = f"{caption!r} reads {reference}, which is not in a data source of the worksheet"
                self.problems.append(not_read(message))
            return written or "NULL"

        text, is_read = formula_as_sql(formula, field_sql, dialect)
        if not is_read:
            message = f"the formula of {caption!r} is not read: only the fields that it names are known"
            self.problems.append(not_read(message, severity=Severity.WARNING))
        return caption, text

    def _shelves(self) -> Iterator[str]:
        """Yield the texts that name what is shown: rows, columns, encodings, titles, measure values."""
        for node in self._element.iter():
            tag = plain_tag(node)
            if tag in ("rows", "cols", "run") and node.text:
                yield node.text
            elif tag == "filter" and "[:Measure Names]" in (node.get("column") or ""):
                yield from (str(member.get("member")) for member in node.iter("groupfilter"))
            elif node.get("column") and tag not in ("filter", "sort", "slices", "column-instance", "column"):
                yield str(node.get("column"))


def _pills_in(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Return the fields that texts name, each once: its data source and the name of its instance."""
    return list(dict.fromkeys(pill for text in texts for pill in PILL.findall(text)))


def _last(column: str) -> str:
    return unbracketed(column)[-1]


def _label(caption: str, derivation: str) -> str:
    return caption if derivation in _PLAIN else f"{derivation} of {caption}"


def _derived(text: str, derivation: str) -> str:
    """Return an aggregation or a date part of a column; `part_…` stands for one that SQL has no name for."""
    if derivation in _PLAIN:
        return text
    if derivation == "CountD":
        return f"COUNT(DISTINCT {text})"
    if derivation in _AGGREGATES:
        return f"{_AGGREGATES[derivation]}({text})"
    return f"part_{re.sub(r'[^a-z]', '_', derivation.lower())}({text})"
