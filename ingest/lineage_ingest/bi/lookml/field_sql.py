"""The SQL of a view's fields (dimensions, dimension groups, measures, filters), with references between them replaced.

https://cloud.google.com/looker/docs/reference/param-field-sql
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.exported import QueryProblems, not_read
from lineage_ingest.bi.json_objects import objects_in
from lineage_ingest.bi.lookml.filter_fields import filter_fields
from lineage_ingest.bi.templates.sql_templates import choice_of, parses, template_texts
from lineage_ingest.bi.templates.written_sql import LITERAL, plain_name

__all__ = ["REFERENCE", "ViewFields", "liquid_texts"]

REFERENCE = re.compile(r"\$\{\s*([\w.]+)(?:::\w+)?\s*\}")
"""A reference to a field, a view or the table: `${orders.id}`, `${orders.id::number}`."""
_CONDITION = re.compile(r"\{%-?\s*condition\s+[\w.]+\s*-?%\}(.*?)\{%-?\s*endcondition\s*-?%\}", re.DOTALL)
_DATES = re.compile(r"\{%-?\s*(?:date_start|date_end)\s+[\w.]+\s*-?%\}")
_PARAMETER = re.compile(r"\{%-?\s*parameter\s+([\w.]+)\s*-?%\}")
_MAX_DEPTH = 40
_AGGREGATES = {
    "sum": "SUM", "average": "AVG", "max": "MAX", "min": "MIN", "sum_distinct": "SUM", "average_distinct": "AVG",
    "median": "MEDIAN", "median_distinct": "MEDIAN", "percentile": "MEDIAN", "percentile_distinct": "MEDIAN",
    "list": "ARRAY_AGG", "date": "MAX", "max_date": "MAX",
}  # fmt: skip
_OVER_MEASURES = frozenset(("number", "string", "yesno", "date", "running_total", "percent_of_total",
                            "percent_of_previous", "int", "period_over_period"))  # fmt: skip
_TIMEFRAMES = (
    "raw", "time", "date", "week", "month", "quarter", "year", "time_of_day", "hour", "hour_of_day", "minute", "second",
    "millisecond", "microsecond", "day_of_week", "day_of_week_index", "day_of_month", "day_of_year", "week_of_year",
    "month_name", "month_num", "quarter_of_year", "fiscal_month_num", "fiscal_quarter", "fiscal_quarter_of_year",
    "fiscal_year", "yesno",
)  # fmt: skip
"""Those of a dimension group that lists none."""
_INTERVALS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
"""Those of a duration that lists none."""
_FIELDS_NAMED = ("list_field", "start_location_field", "end_location_field", "based_on", "based_on_time")
"""Parameters whose value is the name of a field."""


@frozen
class ViewField:
    """A field as people see it: its name, its definition, and, for a dimension group, the timeframe or interval."""

    name: str
    kind: str
    definition: Mapping[str, Any]
    part: str = ""


class ViewFields:
    """The fields of one view: `fields` by name. `problems` has what could not be read of those that were written."""

    def __init__(
        self,
        name: str,
        definition: Mapping[str, Any],
        dialect: str,
        constants: Callable[[str], str],
        alias: str = "",
    ) -> None:
        self.name = name
        self._dialect = dialect
        self._constants = constants
        self.table = plain_name(alias or name, dialect)
        self.fields = {one.name: one for one in _fields_of(definition)}
        self._current = {
            str(former): one.name
            for one in self.fields.values()
            for former in _listed(one.definition.get("alias"))
            if str(former) not in self.fields
        }
        self.problems = QueryProblems()

    def current_name(self, name: str) -> str | None:
        """Return the name of a field by this or a former name (`alias`); None if there is none."""
        return name if name in self.fields else self._current.get(name)

    def is_foreign(self, name: str, depth: int = 0) -> bool:
        """Return whether a field reads a field of another view, itself or by way of fields of this one."""
        one = self.fields.get(name)
        if one is None or depth > _MAX_DEPTH:
            return False
        for text in _texts(one.definition):
            for reference in REFERENCE.findall(self._constants(text)):
                view, dot, own = reference.rpartition(".")
                if dot and view not in (self.name, "") and own != "SQL_TABLE_NAME":
                    return True
                if reference != "TABLE" and own != name and self.is_foreign(own, depth + 1):
                    return True
        return False

    def sql(self, name: str, elsewhere: Callable[[str, str], str | None], depth: int = 0) -> str:
        """Return the SQL of a field. `elsewhere` returns that of a field of another view; None if there is none."""
        field = self.fields.get(self.current_name(name) or name)
        if field is None or depth > _MAX_DEPTH:
            self.problems.add_not_read(
                f"the field {self.name}.{name} is not in the project" if field is None else "fields read themselves"
            )
            return "NULL"
        definition = field.definition
        if isinstance(definition.get("case"), Mapping):
            return self._case(definition["case"], elsewhere, depth)
        if field.kind == "measure":
            return self._measure(field, elsewhere, depth)
        if field.kind == "dimension_group" and definition.get("type") == "duration":
            ends = [definition[key] for key in ("sql_start", "sql_end") if definition.get(key)]
            parts = [self._expand(str(end), elsewhere, depth, field.name) for end in ends]
            return f"duration_{field.part}({', '.join(parts)})"
        if definition.get("type") == "location":
            parts = [self._expand(str(definition[key]), elsewhere, depth, field.name)
                     for key in ("sql_latitude", "sql_longitude") if definition.get(key)]  # fmt: skip
            return f"location({', '.join(parts)})" if parts else "NULL"
        if definition.get("type") == "distance":
            parts = [self._expand("${" + str(definition[key]) + "}", elsewhere, depth, field.name)
                     for key in ("start_location_field", "end_location_field") if definition.get(key)]  # fmt: skip
            return f"distance({', '.join(parts)})" if parts else "NULL"
        base = field.name if field.kind != "dimension_group" else str(definition.get("name"))
        own = f"${{TABLE}}.{base}"
        text = str(definition.get("sql") or own).replace("${EXTENDED}", own)
        expanded = self._expand(text, elsewhere, depth, field.name)
        if definition.get("type") in ("tier", "bin"):
            return f"tier_of({expanded})"
        return f"timeframe_{field.part}({expanded})" if field.part and field.part != "raw" else expanded

    def _measure(self, field: ViewField, elsewhere: Callable[[str, str], str | None], depth: int) -> str:
        definition = field.definition
        kind = str(definition.get("type") or "string")
        text = str(definition.get("sql") or "")
        if kind == "list" and definition.get("list_field"):
            text = "${" + str(definition["list_field"]) + "}"
        if kind == "period_over_period" and definition.get("based_on"):
            return self._period_over_period(field, elsewhere, depth)
        expanded = self._expand(text, elsewhere, depth, field.name) if text.strip() else ""
        conditions = [
            f"{self._expand('${' + name + '}', elsewhere, depth, field.name)} = {LITERAL}"
            for name in filter_fields(definition)
        ]
        if conditions and (expanded or kind == "count"):
            expanded = f"CASE WHEN {' AND '.join(conditions)} THEN {expanded or '1'} END"
        if expanded and definition.get("sql_distinct_key"):
            key = self._expand(str(definition["sql_distinct_key"]), elsewhere, depth, field.name)
            expanded = f"CASE WHEN {key} IS NOT NULL THEN {expanded} END"
        if kind == "count" and not conditions:  # of rows, whatever its sql
            expanded = ""
        return self._aggregate(field, kind, expanded)

    def _aggregate(self, one: ViewField, kind: str, value: str) -> str:
        """Return what a measure of this type makes of a value; an empty one is a measure without SQL."""
        if kind in ("count", "count_distinct"):
            distinct = "DISTINCT " if kind == "count_distinct" else ""
            return f"COUNT({distinct}{value})" if value else "COUNT(*)"
        if kind in _AGGREGATES and value and kind != "date":
            return f"{_AGGREGATES[kind]}({value})"
        if kind in _OVER_MEASURES and value:
            return value
        if kind in _AGGREGATES or kind in _OVER_MEASURES:
            message = f"the measure {self.name}.{one.name} has no sql: what it is the {kind} of is not known"
            self.problems.add(not_read(message, severity=Severity.WARNING))
        else:
            self.problems.add_not_read(f"the measure type {kind!r} of {self.name}.{one.name} is not known")
        return f"measure_of({value})" if value else "NULL"

    def _period_over_period(self, one: ViewField, elsewhere: Callable[[str, str], str | None], depth: int) -> str:
        """Return another measure, of a period that a dimension decides."""
        measure, time = (
            self._expand("${" + str(one.definition[key]) + "}", elsewhere, depth, one.name)
            if one.definition.get(key)
            else "NULL"
            for key in ("based_on", "based_on_time")
        )
        return f"CASE WHEN MAX({time}) IS NOT NULL THEN {measure} END"

    def _case(self, case: Mapping[str, Any], elsewhere: Callable[[str, str], str | None], depth: int) -> str:
        whens = [one for one in case.get("whens") or () if isinstance(one, Mapping)]
        texts = [
            f"WHEN {self._expand(str(one.get('sql') or ''), elsewhere, depth, '')} THEN {LITERAL}" for one in whens
        ]
        return f"CASE {' '.join(texts)} ELSE {LITERAL} END" if texts else "NULL"

    def _expand(self, text: str, elsewhere: Callable[[str, str], str | None], depth: int, own: str) -> str:
        """Return SQL with constants, Liquid and references replaced."""
        text = self._constants(text).strip().rstrip(";").strip()

        def replace(found: re.Match[str]) -> str:
            reference = found[1]
            if reference == "TABLE":
                return self.table
            view, dot, name = reference.rpartition(".")
            if dot and view not in (self.name, ""):
                written = elsewhere(view, name)
                if written is None:
                    self.problems.add_not_read(f"{self.name}.{own} reads {reference}, which is not in reach")
                    return "NULL"
                return written
            if name == own and not dot and depth:
                self.problems.add_not_read(f"the field {self.name}.{own} reads itself")
                return "NULL"
            return f"({self.sql(name, elsewhere, depth + 1)})"

        def is_valid(one: str) -> bool:
            return parses(f"SELECT {REFERENCE.sub(replace, one)}", self._dialect)

        texts, problems = liquid_texts(text, is_valid, self._dialect)
        for problem in problems:
            self.problems.add(problem)
        if texts != [text] and not is_valid(texts[0]):
            self.problems.add_not_read(f"Liquid: without its tags, the SQL of {self.name}.{own} cannot be parsed")
            return "NULL"
        return choice_of([REFERENCE.sub(replace, one) for one in texts])


def liquid_texts(
    text: str, is_valid: Callable[[str], bool], dialect: str = "ansi"
) -> tuple[list[str], list[Diagnostic]]:
    """Return the SQL that a text with Liquid can become, and a diagnostic for what is not certain.

    What a condition tag filters is read as a condition on it; the ends of a date filter are values, and so is a
    parameter; that may also be a name, so it is not certain.

    >>> liquid_texts("a > {% date_start d %} AND {% condition c %} b {% endcondition %}", lambda text: True)
    (["a > '?' AND (( b ) IS NOT NULL)"], [])
    """

    def prepare(one: str) -> str:
        plain = _DATES.sub(LITERAL, _CONDITION.sub(r"((\1) IS NOT NULL)", one))
        return _PARAMETER.sub(r"{{ \1 }}", plain)

    return template_texts(text, "Liquid", is_valid, prepare, dialect)


def _fields_of(definition: Mapping[str, Any]) -> Iterator[ViewField]:
    for field in objects_in(definition.get("dimensions")):
        yield ViewField(str(field.get("name")), "dimension", field)
    for field in objects_in(definition.get("dimension_groups")):
        name = str(field.get("name"))
        if field.get("type") == "duration":
            for part in _listed(field.get("intervals")) or _INTERVALS:
                yield ViewField(f"{part}s_{name}", "dimension_group", field, str(part))
        else:
            for part in _listed(field.get("timeframes")) or _TIMEFRAMES:
                yield ViewField(f"{name}_{part}", "dimension_group", field, str(part))
    for field in objects_in(definition.get("measures")):
        yield ViewField(str(field.get("name")), "measure", field)
    for field in objects_in(definition.get("filters")):
        if field.get("sql"):  # a condition on rows; without it, a filter is a value for templates
            yield ViewField(str(field.get("name")), "filter", field)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _texts(definition: Mapping[str, Any]) -> Iterator[str]:
    for key in ("sql", "sql_distinct_key", "sql_start", "sql_end", "sql_latitude", "sql_longitude"):
        if isinstance(definition.get(key), str):
            yield definition[key]
    case = definition.get("case")
    for one in case.get("whens") or () if isinstance(case, Mapping) else ():
        yield str(one.get("sql") or "")
    for name in (*filter_fields(definition), *(definition[key] for key in _FIELDS_NAMED if definition.get(key))):
        yield "${" + str(name) + "}"
