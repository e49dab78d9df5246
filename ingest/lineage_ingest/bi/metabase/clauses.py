"""MBQL's clauses: lists that begin with an operator. What is known of each operator, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["AGGREGATIONS", "CALLS", "COMPARISONS", "FIELDS", "INFIX", "call_of", "clauses_in",
           "column_name", "operation_of", "operator_of"]  # fmt: skip

FIELDS = frozenset(("field", "field-id", "field-literal", "datetime-field", "joined-field", "fk->", "binning-strategy"))
"""Operators of references to a field."""

INFIX = {"+": "+", "-": "-", "*": "*", "/": "/", "and": "AND", "or": "OR"}
COMPARISONS = {"=": "=", "!=": "<>", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
_FORMS = {
    ("not", 1): "(NOT {})",
    ("is-null", 1): "({} IS NULL)",
    ("not-null", 1): "({} IS NOT NULL)",
    ("between", 3): "({} BETWEEN {} AND {})",
}
"""Operators of which SQL has the equal, with the number of their arguments."""
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


def operator_of(clause: Any) -> str:
    """Return the operator of a clause; an empty text for anything else.

    >>> operator_of(["starts_with", 1]), operator_of(7)
    ('starts-with', '')
    """
    return str(clause[0]).lower().replace("_", "-") if isinstance(clause, list) and clause else ""


def clauses_in(value: Any) -> list[Any]:
    """Return a list of clauses; one clause that is not in a list counts as one.

    >>> clauses_in(["count"]), clauses_in([["count"], ["sum", 1]]), clauses_in(None)
    ([['count']], [['count'], ['sum', 1]], [])
    """
    if not isinstance(value, list) or not value:
        return []
    return [value] if isinstance(value[0], str) else [one for one in value if isinstance(one, list)]


def column_name(aggregation: Any) -> str:
    """Return the name of the column of an aggregation: its own, else the one that Metabase gives it.

    >>> column_name(["aggregation-options", ["sum", 1], {"name": "total"}]), column_name(["cum-sum", 1])
    ('total', 'sum')
    """
    operator = operator_of(aggregation)
    if operator in ("aggregation-options", "named") and len(aggregation) > 2:
        options = aggregation[2]
        if isinstance(options, Mapping):
            return str(options.get("name") or column_name(aggregation[1]))
        return str(options)
    if operator in INFIX or operator in CALLS or operator in ("case", "if"):
        return "expression"
    return _NAMES.get(operator, operator)


def operation_of(operator: str, arguments: Sequence[str]) -> str | None:
    """Return the SQL of an operator over its arguments; None if SQL has no equal for so many.

    >>> operation_of("!=", ["a", "b", "c"]), operation_of("is-null", ["a"]), operation_of("get-year", ["a"])
    ('(a NOT IN (b, c))', '(a IS NULL)', None)
    """
    if (operator, len(arguments)) in _FORMS:
        return _FORMS[operator, len(arguments)].format(*arguments)
    if operator in COMPARISONS and len(arguments) == 2:
        return f"({arguments[0]} {COMPARISONS[operator]} {arguments[1]})"
    if operator in COMPARISONS and len(arguments) > 2:
        return f"({arguments[0]} {'NOT IN' if operator == '!=' else 'IN'} ({', '.join(arguments[1:])}))"
    if operator in INFIX and arguments:
        return "(" + f" {INFIX[operator]} ".join(arguments) + ")"
    if operator in ("coalesce", "concat") and arguments:
        return f"{operator.upper()}({', '.join(arguments)})"
    return None


def call_of(operator: str, arguments: Iterable[str]) -> str:
    """Return the call of a function that no dialect has: it stands for an operator of which SQL has no equal.

    >>> call_of("get-year", ["a"])
    'mbql_get_year(a)'
    """
    name = "".join(one if one.isalnum() else "_" for one in operator) or "clause"
    return f"mbql_{name}({', '.join(arguments)})"
