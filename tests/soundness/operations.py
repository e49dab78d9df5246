"""What the generator computes with: operations, aggregates and window functions, each with its effect."""

from __future__ import annotations

from typing import NamedTuple, cast

from tests.soundness.tree import (
    AGGREGATION,
    CONDITIONAL,
    COUNTED,
    FILTER,
    HASHED,
    SORT,
    TRANSFORMATION,
    WINDOW,
    Step,
    Type,
)

__all__ = ["AGGREGATES", "OPERATIONS", "WINDOWS", "Operation"]

_STEPS = {
    "T": TRANSFORMATION,
    "H": HASHED,
    "A": AGGREGATION,
    "N": COUNTED,
    "M": Step("AGGREGATION", masking=True),
    "C": CONDITIONAL,
    "F": FILTER,
    "S": SORT,
    "W": WINDOW,
}


class Operation(NamedTuple):
    """A template, the types of its operands, what it does to each of them, and the type of its result."""

    template: str
    takes: tuple[Type, ...]
    steps: tuple[tuple[Step, ...], ...]
    gives: Type


def _operation(template: str, takes: str, steps: str, gives: Type) -> Operation:
    """Return an operation; the letters of an operand that stands in two places are joined by a plus."""
    types = tuple(cast("Type", name) for name in takes.split())
    return Operation(template, types, tuple(tuple(_STEPS[c] for c in s.split("+")) for s in steps.split()), gives)


_INTEGERS = [
    _operation("({0} + {1})", "int int", "T T", "int"),
    _operation("({0} - {1})", "int int", "T T", "int"),
    _operation("({0} * 2)", "int", "T", "int"),
    _operation("({0} % 3)", "int", "T", "int"),
    _operation("abs({0})", "int", "T", "int"),
    _operation("(-{0})", "int", "T", "int"),
    _operation("length({0})", "text", "T", "int"),
    _operation("len({0})", "list", "T", "int"),
    _operation("({0})[1]", "list", "T", "int"),
    _operation("TRY_CAST({0} AS INTEGER)", "text", "T", "int"),
    _operation("CAST({0} AS INTEGER)", "bool", "T", "int"),
    _operation("{0}::BIGINT", "int", "T", "int"),
    _operation("COALESCE({0}, {1})", "int int", "T T", "int"),
    _operation("IFNULL({0}, {1})", "int int", "T T", "int"),
    _operation("greatest({0}, {1})", "int int", "T T", "int"),
    _operation("least({0}, {1}, 2)", "int int", "T T", "int"),
    _operation("NULLIF({0}, {1})", "int int", "T C", "int"),
    _operation("CASE WHEN {0} THEN {1} ELSE {2} END", "bool int int", "C T T", "int"),
    _operation("CASE WHEN {0} THEN {1} WHEN {2} THEN 0 END", "bool int bool", "C T C", "int"),
    _operation("CASE {0} WHEN {1} THEN {2} ELSE 4 END", "int int int", "C C T", "int"),
    _operation("if({0}, {1}, {2})", "bool int int", "C T T", "int"),
]
_TEXTS = [
    _operation("upper({0})", "text", "T", "text"),
    _operation("({0} || {1})", "text text", "T T", "text"),
    _operation("concat({0}, '-', {1})", "text text", "T T", "text"),
    _operation("substring({0}, 1, 1)", "text", "T", "text"),
    _operation("left({0}, {1})", "text int", "T T", "text"),
    _operation("replace({0}, '1', '2')", "text", "T", "text"),
    _operation("trim({0})", "text", "T", "text"),
    _operation("CAST({0} AS VARCHAR)", "int", "T", "text"),
    _operation("{0}::TEXT", "list", "T", "text"),
    _operation("COALESCE({0}, 'none')", "text", "T", "text"),
    _operation("md5({0})", "text", "H", "text"),
    _operation("sha256({0})", "text", "H", "text"),
    _operation("NULLIF({0}, {1})", "text text", "T C", "text"),
    _operation("CASE WHEN {0} THEN {1} ELSE {2} END", "bool text text", "C T T", "text"),
    _operation("CASE {0} WHEN 1 THEN {1} END", "int text", "C T", "text"),
]
_BOOLEANS = [
    _operation("({0} = {1})", "int int", "T T", "bool"),
    _operation("({0} <> {1})", "int int", "T T", "bool"),
    _operation("({0} < {1})", "int int", "T T", "bool"),
    _operation("({0} >= {1})", "int int", "T T", "bool"),
    _operation("({0} = {1})", "text text", "T T", "bool"),
    _operation("({0} AND {1})", "bool bool", "T T", "bool"),
    _operation("({0} OR {1})", "bool bool", "T T", "bool"),
    _operation("(NOT {0})", "bool", "T", "bool"),
    _operation("({0} IS NULL)", "int", "T", "bool"),
    _operation("({0} IS NOT NULL)", "text", "T", "bool"),
    _operation("({0} IS DISTINCT FROM {1})", "int int", "T T", "bool"),
    _operation("({0} BETWEEN {1} AND 3)", "int int", "T T", "bool"),
    _operation("({0} IN (1, {1}, 5))", "int int", "T T", "bool"),
    _operation("({0} NOT IN (1, 3))", "int", "T", "bool"),
    _operation("({0} LIKE '1%')", "text", "T", "bool"),
    _operation("list_contains({0}, {1})", "list int", "T T", "bool"),
    _operation("CASE WHEN {0} THEN {1} ELSE false END", "bool bool", "C T", "bool"),
    _operation("COALESCE({0}, false)", "bool", "T", "bool"),
]
_LISTS = [
    _operation("[{0}, {1}]", "int int", "T T", "list"),
    _operation("list_append({0}, {1})", "list int", "T T", "list"),
    _operation("COALESCE({0}, [{1}])", "list int", "T T", "list"),
    _operation("list_transform({0}, lambda q: q + {1})", "list int", "T T", "list"),
    _operation("CASE WHEN {0} THEN {1} END", "bool list", "C T", "list"),
    _operation("list_filter({0}, lambda q: q > {1})", "list int", "T T", "list"),
    _operation("[q + {1} FOR q IN {0} IF q > {2}]", "list int int", "T+C T C", "list"),
]
_STRUCTS = [
    _operation("{{'x': {0}, 'y': {1}}}", "int text", "T T", "struct"),
    _operation("struct_pack(x := {0}, y := {1})", "int text", "T T", "struct"),
]

OPERATIONS: dict[Type, list[Operation]] = {
    "int": _INTEGERS,
    "text": _TEXTS,
    "bool": _BOOLEANS,
    "list": _LISTS,
    "struct": _STRUCTS,
}

AGGREGATES: dict[Type, list[Operation]] = {
    "int": [
        _operation("count(*)", "", "", "int"),
        _operation("count({0})", "int", "N", "int"),
        _operation("count(DISTINCT {0})", "text", "N", "int"),
        _operation("sum({0})", "int", "A", "int"),
        _operation("sum(DISTINCT {0})", "int", "A", "int"),
        _operation("min({0})", "int", "A", "int"),
        _operation("max({0})", "int", "A", "int"),
        _operation("CAST(round(avg({0})) AS INTEGER)", "int", "A", "int"),
        _operation("quantile_disc({0}, 0.5)", "int", "A", "int"),
        _operation("percentile_disc(0.5) WITHIN GROUP (ORDER BY {0})", "int", "A", "int"),
        _operation("sum({0}) FILTER (WHERE {1})", "int bool", "A F", "int"),
        _operation("count(*) FILTER (WHERE {0})", "bool", "F", "int"),
        _operation("count(DISTINCT {0}) FILTER (WHERE {1})", "int bool", "N F", "int"),
        _operation("sum(CASE WHEN {0} THEN {1} ELSE 0 END)", "bool int", "C A", "int"),
        _operation("first({0} ORDER BY {1}, {0})", "int int", "A+S S", "int"),
    ],
    "text": [
        _operation("min({0})", "text", "A", "text"),
        _operation("max({0})", "text", "A", "text"),
        _operation("string_agg({0}, ',' ORDER BY {0})", "text", "A+S", "text"),
        _operation("md5(max({0}))", "text", "M", "text"),
    ],
    "bool": [
        _operation("bool_or({0})", "bool", "A", "bool"),
        _operation("bool_and({0})", "bool", "A", "bool"),
    ],
    "list": [
        _operation("max({0})", "list", "A", "list"),
        _operation("list_sort(list({0}))", "int", "A", "list"),
    ],
}

WINDOWS: dict[Type, list[Operation]] = {
    "int": [
        _operation("sum({0}) OVER (PARTITION BY {1} ORDER BY {2})", "int text int", "A W W", "int"),
        _operation("count(*) OVER (PARTITION BY {0})", "int", "W", "int"),
        _operation("count({0}) OVER (PARTITION BY {1})", "text int", "N W", "int"),
        _operation("rank() OVER (ORDER BY {0} DESC NULLS LAST)", "int", "W", "int"),
        _operation("dense_rank() OVER (PARTITION BY {0}, {1} ORDER BY {2})", "int text int", "W W W", "int"),
        _operation("max({0}) FILTER (WHERE {1}) OVER (PARTITION BY {2})", "int bool int", "A F W", "int"),
        _operation("min({0}) OVER (ORDER BY {1} RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "int int", "A W", "int"),
        _operation("max({0}) OVER ()", "int", "A", "int"),
        _operation(
            "sum({0}) OVER (PARTITION BY {1} ORDER BY {2}, {0} GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
            *("int text int", "A+W W W", "int"),
        ),
        _operation(
            "max({0}) OVER (ORDER BY {1} GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE GROUP)",
            *("int int", "A W", "int"),
        ),
        _operation("first_value({0}) OVER (PARTITION BY {1} ORDER BY {0}, {2})", "int int int", "T+W W W", "int"),
        _operation("nth_value({0}, 2) OVER (PARTITION BY {1} ORDER BY {0})", "int int", "T+W W", "int"),
        _operation("CAST(9 * cume_dist() OVER (PARTITION BY {0} ORDER BY {1}) AS INTEGER)", "int int", "W W", "int"),
        _operation("first_value({0}) OVER (PARTITION BY {1} ORDER BY {2}, {0})", "int text int", "T+W W W", "int"),
        _operation(  # the comments: see `experiment.TURNED`
            "lag/* turned */({0}) OVER (ORDER BY {1} /* turned */, {0} /* turned */)", "int int", "T+W W", "int"
        ),
    ],
    "text": [
        _operation("min({0}) OVER (PARTITION BY {1})", "text int", "A W", "text"),
        _operation("last_value({0}) OVER (PARTITION BY {1} ORDER BY {0})", "text int", "T+W W", "text"),
    ],
    "bool": [_operation("bool_or({0}) OVER (PARTITION BY {1})", "bool int", "A W", "bool")],
    "list": [_operation("max({0}) OVER (PARTITION BY {1})", "list int", "A W", "list")],
}
