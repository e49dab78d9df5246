"""The query of a chart: what it selects from its dataset, from its query context or, without one, its parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.model.diagnostics import Diagnostic, Severity
from lineage.sql.scan import mask_literals
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.superset.dataset_query import metric_column, with_metrics
from lineage_ingest.bi.templates.sql_templates import choice_of, parses, template_texts
from lineage_ingest.bi.templates.written_sql import LITERAL, number_repeated, quote, quote_any_case

__all__ = ["ChartQuery"]

_COLUMN_KEYS = (
    "x_axis", "groupby", "columns", "all_columns", "groupbyColumns", "groupbyRows", "series", "entity",
    "series_columns",
    "all_columns_x", "all_columns_y", "source", "target", "geojson", "line_column", "point_radius_fixed", "dimension",
    "groupby_b", "start_time", "end_time", "y_axis", "tooltip_columns", "path", "id", "parent", "name", "js_columns",
    "source_category", "target_category", "latitude", "longitude", "all_columns_z", "columns_b",
    "select_country_column", "column",
)  # fmt: skip
_NOT_ALWAYS_COLUMNS = ("id", "name", "path", "source")
"""Parameters that are names of columns in some types of charts, and texts of other meanings in others."""
_PLACE_KEYS = ("lonCol", "latCol", "lonlatCol", "geohashCol")
"""Keys of a place on a map of deck.gl: `{"type": "latlong", "lonCol": …, "latCol": …}`."""
_METRIC_KEYS = (
    "metrics", "metric", "metric_2", "metrics_b", "secondary_metric", "percent_metrics", "size", "x", "y",
    "timeseries_limit_metric", "timeseries_limit_metric_b", "series_limit_metric", "sort_by_metric", "point_radius",
    "right_axis_metric", "tooltip_metrics",
)  # fmt: skip
_READ_KEYS = frozenset(
    (*_COLUMN_KEYS, *_METRIC_KEYS, "adhoc_filters", "adhoc_filters_b", "granularity_sqla", "order_by_cols",
     "datasource", "viz_type", "time_grain_sqla", "time_range")
)  # fmt: skip
_OF_OTHER_MODE = {
    "raw": frozenset(("groupby", "metrics", "percent_metrics", "timeseries_limit_metric")),
    "aggregate": frozenset(("all_columns", "order_by_cols")),
}
"""Parameters that a table chart does not use, by its mode."""
_AGGREGATES = {"SUM": "SUM", "AVG": "AVG", "MIN": "MIN", "MAX": "MAX", "COUNT": "COUNT"}
_WITHOUT_TIME_AXIS = frozenset(("pie", "table", "big_number_total", "treemap_v2", "word_cloud"))
_TIME_RANGE = "TEMPORAL_RANGE"
_NO_FILTER = frozenset(("", "no filter", "none"))


@dataclass(slots=True)
class ChartQuery:
    """A chart's query over a dataset: `columns` and `metrics` are the dataset's, `source` is how it is referred to."""

    source: str
    dialect: str
    columns: frozenset[str]
    metrics: frozenset[str]
    time_column: str | None = None
    always_filtered_time: str | None = None
    """The time column that is filtered with any other one (`always_filter_main_dttm` of the dataset)."""
    outputs: dict[str, str] = field(default_factory=dict)
    """SQL by label."""
    groups: list[str] = field(default_factory=list)
    """SQL of the columns by which a chart with metrics is grouped."""
    has_metrics: bool = False
    filters: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    def write(self, chart: Mapping[str, Any]) -> str | None:
        """Return the SQL of a chart; None if nothing says what it selects."""
        context = self._json(chart.get("query_context"), "query context")
        params = self._json(chart.get("params"), "parameters")
        queries = context.get("queries") if context is not None else None
        if isinstance(queries, list) and queries:
            for query in queries:
                if isinstance(query, Mapping):
                    self._read_query(query)
                else:
                    self.problems.append(not_read("a query of the chart is not of a known form"))
        elif params is not None:
            self._read_params(params)
            self._report_others(params)
        self._report_annotations(params or context or {})
        if not self.outputs:
            return None
        names = number_repeated(self.outputs)
        listed = [
            f"{text} AS {quote(name, self.dialect)}" for text, name in zip(self.outputs.values(), names, strict=True)
        ]
        text = "SELECT " + ",\n  ".join(listed) + f"\nFROM {self.source} AS d"
        text += "\nWHERE " + "\n  AND ".join(dict.fromkeys(self.filters)) if self.filters else ""
        is_grouped = self.has_metrics and self.groups
        return text + ("\nGROUP BY " + ", ".join(dict.fromkeys(self.groups)) if is_grouped else "")

    def _json(self, value: Any, what: str) -> Mapping[str, Any] | None:
        """Return a value that is JSON text in some exports and plain in others."""
        if isinstance(value, str) and value.strip():
            try:
                value = json.loads(value)
            except (json.JSONDecodeError, RecursionError):
                self.problems.append(not_read(f"the chart's {what} is not valid JSON"))
                return None
        return value if isinstance(value, Mapping) else None

    def _read_query(self, query: Mapping[str, Any]) -> None:
        for part in _listed(query.get("columns")) or _listed(query.get("groupby")):
            self._add_column(part)
        for part in _listed(query.get("metrics")):
            self._add_metric(part)
        if query.get("series_limit_metric"):
            self._add_metric(query["series_limit_metric"])
        if query.get("is_timeseries") and query.get("granularity"):
            self._add_column(query["granularity"])
        for part in _listed(query.get("filters")):
            if isinstance(part, Mapping) and not _is_without_limits(part.get("op"), part.get("val")):
                self._add_filter(part.get("col"), is_time=part.get("op") == _TIME_RANGE)
        extras = query.get("extras")
        if isinstance(extras, Mapping):
            for key in ("where", "having"):
                if isinstance(extras.get(key), str):
                    self._add_sql_filter(extras[key])
        for part in _listed(query.get("orderby")):
            if isinstance(part, list) and part:
                self._add_order(part[0])
        self._add_time(query.get("granularity"), query.get("time_range"))

    def _read_params(self, params: Mapping[str, Any]) -> None:
        mode = params.get("query_mode")  # what the other mode selected stays in the parameters
        if mode in _OF_OTHER_MODE:
            params = {key: value for key, value in params.items() if key not in _OF_OTHER_MODE[mode]}
        self._read_columns(params)
        for key in _METRIC_KEYS:
            for part in _listed(params.get(key)):
                self._add_metric_or_column(part)
        for key in ("adhoc_filters", "adhoc_filters_b"):
            for part in _listed(params.get(key)):
                if isinstance(part, Mapping):
                    self._add_adhoc_filter(part)
        self._add_time(params.get("granularity_sqla"), params.get("time_range"))
        is_series = params.get("time_grain_sqla") or params.get("include_time")
        if params.get("granularity_sqla") and is_series and str(params.get("viz_type")) not in _WITHOUT_TIME_AXIS:
            self._add_column(params["granularity_sqla"])

        for part in _listed(params.get("order_by_cols")):
            order = self._json(f'{{"by": {part}}}', "order") if isinstance(part, str) else {"by": part}
            listed = order.get("by") if order is not None else None
            if isinstance(listed, list) and listed:
                self._add_order(listed[0])

    def _read_columns(self, params: Mapping[str, Any]) -> None:
        for key in _COLUMN_KEYS:
            for one in _listed(params.get(key)):
                if not (isinstance(one, str) and one not in self.columns and key in _NOT_ALWAYS_COLUMNS):
                    self._add_column(one)
        for value in params.values():
            if isinstance(value, Mapping) and not value.keys().isdisjoint(_PLACE_KEYS):
                for key in _PLACE_KEYS:
                    if value.get(key):
                        self._add_column(value[key])

    def _add_metric_or_column(self, one: Any) -> None:
        """Add what a parameter of a metric has: deck.gl wraps metrics, and has fixed numbers in their place."""
        kind = one.get("type") if isinstance(one, Mapping) else None
        metric = one.get("value") if kind == "metric" else one
        if kind == "fix" or metric is None:
            return
        if isinstance(metric, str) and metric in self.columns and metric not in self.metrics:
            self._add_column(metric)
        else:
            self._add_metric(metric)

    def _add_adhoc_filter(self, adhoc_filter: Mapping[str, Any]) -> None:
        if adhoc_filter.get("expressionType") == "SQL" and isinstance(adhoc_filter.get("sqlExpression"), str):
            self._add_sql_filter(adhoc_filter["sqlExpression"])
        elif not _is_without_limits(adhoc_filter.get("operator"), adhoc_filter.get("comparator")):
            self._add_filter(adhoc_filter.get("subject"), is_time=adhoc_filter.get("operator") == _TIME_RANGE)

    def _report_annotations(self, params: Mapping[str, Any]) -> None:
        """Report layers that show the data of another chart, which is named by a number that the export has not."""
        form = params.get("form_data")
        for one in _listed(params.get("annotation_layers") or (form if isinstance(form, Mapping) else {}).get(
            "annotation_layers"
        )):  # fmt: skip
            if isinstance(one, Mapping) and one.get("sourceType") in ("line", "table"):
                message = f"the annotation layer {one.get('name')!r} shows data of another chart, and is not read"
                self.problems.append(not_read(message))

    def _report_others(self, params: Mapping[str, Any]) -> None:
        """Report parameters that are not known and seem to select something: each type of chart has its own."""
        for key, value in params.items():
            if key in _READ_KEYS:
                continue
            for one in _listed(value):
                is_name = isinstance(one, str) and one in self.columns | self.metrics and one not in self.outputs
                if is_name or (
                    isinstance(one, Mapping) and {"expressionType", "sqlExpression", "column_name"} & set(one)
                ):
                    message = f"the parameter {key!r} of the chart names a column or metric, and is not read"
                    self.problems.append(not_read(message, severity=Severity.WARNING))
                    break

    # Parts

    def _add_column(self, column: Any) -> None:
        if isinstance(column, str):
            if column in self.metrics and column not in self.columns:
                self._add_metric(column)
            elif column not in self.columns and self.columns:
                self.problems.append(not_read(f"the column {column!r} is not in the dataset"))
            else:
                self.groups.append(f"d.{quote_any_case(column, self.dialect)}")
                self._put(column, self.groups[-1])
        elif isinstance(column, Mapping):
            if isinstance(column.get("sqlExpression"), str):
                text = self._expression(column["sqlExpression"])
                self.groups.append(text)
                self._put(self._label(column, text), text)
            elif column.get("column_name"):
                self._add_column(str(column["column_name"]))
            else:
                self.problems.append(not_read("a column of the chart is not of a known form"))

    def _add_metric(self, one: Any) -> None:
        text = self._metric(one)
        if text is not None:
            self.has_metrics = True
            self._put(one if isinstance(one, str) else self._label(one, text), text)

    def _label(self, one: Mapping[str, Any], text: str) -> str:
        """Return the label of a column or metric; Superset gives SQL itself as the label: its literals are masked."""
        label, expression = str(one.get("label") or ""), one.get("sqlExpression")
        if not label or (isinstance(expression, str) and label.strip() == expression.strip()):
            return mask_literals(label or text, self.dialect)
        return label

    def _put(self, label: str, text: str) -> None:
        """Add an output; a metric may have the label of a column."""
        if self.outputs.setdefault(label, text) != text:
            self.outputs.setdefault(f"{label} (metric)", text)

    def _metric(self, metric: Any) -> str | None:
        if isinstance(metric, str):
            if metric in self.metrics or not self.metrics:
                return f"d.{quote_any_case(metric_column(metric, self.columns), self.dialect)}"
            if metric in self.columns:
                return f"d.{quote_any_case(metric, self.dialect)}"
            self.problems.append(not_read(f"the metric {metric!r} is not in the dataset"))
            return None
        if isinstance(metric, Mapping):
            column = metric.get("column")
            if metric.get("expressionType") == "SQL" and isinstance(metric.get("sqlExpression"), str):
                return self._expression(metric["sqlExpression"])
            name = column.get("column_name") if isinstance(column, Mapping) else column
            if isinstance(name, str):
                own = f"d.{quote_any_case(name, self.dialect)}"
                aggregate = str(metric.get("aggregate") or "").upper()
                if aggregate == "COUNT_DISTINCT":
                    return f"COUNT(DISTINCT {own})"
                if aggregate in _AGGREGATES:
                    return f"{_AGGREGATES[aggregate]}({own})"
        self.problems.append(not_read("a metric of the chart is not of a known form"))
        return None

    def _add_filter(self, column: Any, *, is_time: bool = False) -> None:
        if is_time and self.always_filtered_time is not None and column != self.always_filtered_time:
            self._add_filter(self.always_filtered_time)
        if isinstance(column, str):
            if column in self.columns or not self.columns or column in self.metrics:
                self.filters.append(f"(d.{quote_any_case(column, self.dialect)} = {LITERAL})")
            else:
                self.problems.append(not_read(f"the filter's column {column!r} is not in the dataset"))
        elif isinstance(column, Mapping) and isinstance(column.get("sqlExpression"), str):
            self.filters.append(f"({self._expression(column['sqlExpression'])} = {LITERAL})")
        elif isinstance(column, Mapping) and isinstance(column.get("column_name"), str):
            self._add_filter(column["column_name"])
        elif column is not None:  # a filter that has not been filled in has no column
            self.problems.append(not_read("a filter of the chart is not of a known form"))

    def _add_sql_filter(self, text: str) -> None:
        if text.strip():
            self.filters.append(f"({self._expression(text)})")

    def _add_order(self, term: Any) -> None:
        text = self._metric(term) if not isinstance(term, str) else f"d.{quote_any_case(term, self.dialect)}"
        if isinstance(term, str) and term not in self.columns | self.metrics:
            if term not in self.outputs:
                message = f"the chart is ordered by {term!r}, which is not in the dataset"
                self.problems.append(not_read(message, severity=Severity.WARNING))
            return
        if text is not None and text not in self.outputs.values():
            self.filters.append(f"(order_of({text}) IS NOT NULL)")

    def _add_time(self, column: Any, time_range: Any) -> None:
        column = column or self.time_column
        is_filtered = isinstance(time_range, str) and time_range.strip().lower() not in _NO_FILTER
        if isinstance(column, str) and is_filtered:
            self._add_filter(column, is_time=True)

    def _expression(self, text: str) -> str:
        text = with_metrics(text, lambda name: self._metric(name) if name in self.metrics else None)
        texts, problems = template_texts(
            text, "Jinja", lambda one: parses(f"SELECT {one}", self.dialect), dialect=self.dialect
        )
        self.problems += [one for one in problems if one not in self.problems]
        return choice_of([f"({one.strip().rstrip(';')}\n)" for one in texts])


def _is_without_limits(operator: Any, value: Any) -> bool:
    """Return whether a filter is by a range of time that is not limited."""
    return operator == _TIME_RANGE and str(value or "").strip().lower() in _NO_FILTER


def _listed(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if one is not None and one != "" and not isinstance(one, bool | int | float)]
