"""MBQL's operators as SQL: what is known of each, by name."""

from __future__ import annotations

__all__ = ["AGGREGATIONS", "CALLS", "COMPARISONS", "INFIX", "aggregation_name"]

INFIX = {"+": "+", "-": "-", "*": "*", "/": "/", "and": "AND", "or": "OR"}
COMPARISONS = {"=": "=", "!=": "<>", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
AGGREGATIONS = {
    "sum": "SUM", "avg": "AVG", "min": "MIN", "max": "MAX", "stddev": "STDDEV", "var": "VARIANCE",
    "median": "MEDIAN", "count": "COUNT", "cum-sum": "SUM", "cum-count": "COUNT",
}  # fmt: skip
"""Aggregations of one argument, or of none."""
CALLS = frozenset(
    (
        "coalesce", "concat", "substring", "replace", "regex-match-first", "length", "trim", "ltrim", "rtrim", "upper",
        "lower", "floor", "ceil", "round", "abs", "power", "sqrt", "exp", "log", "interval", "relative-datetime",
        "absolute-datetime", "time", "datetime-add", "datetime-subtract", "datetime-diff", "get-year", "get-quarter",
        "get-month", "get-day", "get-day-of-week", "get-hour", "get-minute", "get-second", "get-week", "month-name",
        "quarter-name", "day-name", "convert-timezone", "now", "today", "date", "text", "integer", "float", "datetime",
        "split-part", "path", "host", "domain", "subdomain", "temporal-extract", "contains", "does-not-contain",
        "starts-with", "ends-with", "between",
        "inside", "is-null", "not-null", "is-empty", "not-empty", "time-interval",
        "relative-time-interval", "during", "in", "not-in", "not", "collate", "value", "bitwise-and", "during-time",
        "get-time", "month", "temporal-add",
    )
)  # fmt: skip
"""Operators that compute a value, or a condition, from their arguments and from nothing else."""

_NAMES = {"distinct": "count", "cum-sum": "sum", "cum-count": "count", "count-where": "count_where",
          "sum-where": "sum_where", "distinct-where": "count_where"}  # fmt: skip


def aggregation_name(operator: str) -> str:
    """Return the name of the column of an aggregation without a name of its own, as Metabase calls it."""
    if operator in INFIX or operator in CALLS or operator in ("case", "if"):
        return "expression"
    return _NAMES.get(operator, operator)
