"""Fields that a tile makes itself: table calculations, custom measures and custom dimensions.

https://cloud.google.com/looker/docs/reference/param-lookml-dashboard-table_chart#dynamic_fields
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lineage_ingest.bi.exported import QueryProblems
from lineage_ingest.bi.json_objects import objects_in
from lineage_ingest.bi.templates.written_sql import LITERAL

__all__ = ["DynamicFields", "fields_named"]

_REFERENCE = re.compile(r"\$\{\s*([\w.]+)(?::\w+)?\s*\}")
"""A field in an expression of Looker: `${orders.total}`, or of all rows: `${orders.total:total}`."""
_KINDS = ("table_calculation", "measure", "dimension")
_AGGREGATES = {
    "sum": "SUM({})", "average": "AVG({})", "min": "MIN({})", "max": "MAX({})", "median": "MEDIAN({})",
    "count": "COUNT({})", "count_distinct": "COUNT(DISTINCT {})", "list": "ARRAY_AGG({})",
    "sum_distinct": "SUM({})", "average_distinct": "AVG({})", "percentile": "MEDIAN({})",
}  # fmt: skip
_MAX_DEPTH = 40


class DynamicFields:
    """The fields that a tile makes of others. `column` returns the SQL of a field of the explore.

    Each is a function of the fields that its expression names: which of them decide only is not known.
    """

    def __init__(self, element: Mapping[str, Any], column: Callable[[str], str], problems: QueryProblems) -> None:
        self._column = column
        self._problems = problems
        self.definitions = {
            str(one[kind]): one
            for one in objects_in(element.get("dynamic_fields"))
            for kind in _KINDS
            if one.get(kind) is not None
        }
        """By the names of the fields."""

    def sql(self, name: str, depth: int = 0) -> str:
        """Return the SQL of a field that the tile makes."""
        definition = self.definitions[name]
        if depth > _MAX_DEPTH:
            self._problems.add_not_read(f"the field {name} of the tile is made of itself")
            return "NULL"
        named = [*_based_on(definition), *fields_named(definition.get("expression"))]
        texts = dict.fromkeys(self._of(field, depth) for field in named)
        text = (
            ", ".join(texts)
            if len(texts) == 1 and not definition.get("expression")
            else f"looker_expression({', '.join(texts)})"
        )
        if not texts:
            return LITERAL
        filtered = [*map(str, definition["filters"] if isinstance(definition.get("filters"), Mapping) else ())]
        filtered += fields_named(definition.get("filter_expression"))
        if filtered:
            conditions = " AND ".join(f"{self._of(field, depth)} = {LITERAL}" for field in dict.fromkeys(filtered))
            text = f"CASE WHEN {conditions} THEN {text} END"
        if definition.get("measure") is None:
            return text
        return _AGGREGATES.get(str(definition.get("type")), "MAX({})").format(text)

    def _of(self, field: str, depth: int) -> str:
        return self.sql(field, depth + 1) if field in self.definitions else self._column(field)


def fields_named(expression: Any) -> list[str]:
    """Return the fields that an expression of Looker names.

    >>> fields_named("(${orders.total} - ${last:total}) / 2"), fields_named(None)
    (['orders.total', 'last'], [])
    """
    return list(dict.fromkeys(_REFERENCE.findall(expression))) if isinstance(expression, str) else []


def _based_on(definition: Mapping[str, Any]) -> Iterator[str]:
    if definition.get("based_on"):
        yield str(definition["based_on"])
    arguments = definition.get("args")
    yield from (str(field) for field in arguments or () if isinstance(arguments, list) and isinstance(field, str))
