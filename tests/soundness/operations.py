"""What the generator computes with in DuckDB: operations, aggregates and window functions, each with its effect."""

from __future__ import annotations

from typing import NamedTuple, cast

from tests.soundness.tree import (
    AGGREGATION,
    CONDITIONAL,
    COUNTED,
    FILTER,
    HASHED,
    IDENTITY,
    PARTLY,
    SORT,
    SUMMED,
    TRANSFORMATION,
    WINDOW,
    Step,
    Type,
)

__all__ = ["AGGREGATES", "CONSTANTS", "OPERATIONS", "WINDOWS", "Operation", "operation"]

_STEPS = {
    "I": IDENTITY,
    "T": TRANSFORMATION,
    "H": HASHED,
    "A": AGGREGATION,
    "P": PARTLY,
    "U": SUMMED,
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


def operation(template: str, takes: str, steps: str, gives: Type) -> Operation:
    """Return an operation; the letters of an operand that stands in two places are joined by a plus."""
    types = tuple(cast("Type", name) for name in takes.split())
    return Operation(template, types, tuple(tuple(_STEPS[c] for c in s.split("+")) for s in steps.split()), gives)


CONSTANTS: dict[Type, tuple[str, ...]] = {
    "int": ("0", "1", "2", "3", "NULL::INTEGER"),
    "text": ("'1'", "'12'", "'x'", "''"),
    "bool": ("true", "false"),
    "list": ("[1, 2]", "[3]", "[]::INTEGER[]"),
    "struct": ("{'x': 1, 'y': 'x'}::STRUCT(x INTEGER, y VARCHAR)",),
}

_INTEGERS = [
    operation("({0} + {1})", "int int", "T T", "int"),
    operation("({0} - {1})", "int int", "T T", "int"),
    operation("({0} * 2)", "int", "T", "int"),
    operation("({0} % 3)", "int", "T", "int"),
    operation("abs({0})", "int", "T", "int"),
    operation("(-{0})", "int", "T", "int"),
    operation("length({0})", "text", "P", "int"),
    operation("len({0})", "list", "P", "int"),
    operation("({0})[1]", "list", "T", "int"),
    operation("TRY_CAST({0} AS INTEGER)", "text", "T", "int"),
    operation("CAST({0} AS INTEGER)", "bool", "T", "int"),
    operation("{0}::BIGINT", "int", "T", "int"),
    operation("COALESCE({0}, {1})", "int int", "T T", "int"),
    operation("IFNULL({0}, {1})", "int int", "T T", "int"),
    operation("greatest({0}, {1})", "int int", "T T", "int"),
    operation("least({0}, {1}, 2)", "int int", "T T", "int"),
    operation("NULLIF({0}, {1})", "int int", "T C", "int"),
    operation("CASE WHEN {0} THEN {1} ELSE {2} END", "bool int int", "C T T", "int"),
    operation("CASE WHEN {0} THEN {1} WHEN {2} THEN 0 END", "bool int bool", "C T C", "int"),
    operation("CASE {0} WHEN {1} THEN {2} ELSE 4 END", "int int int", "C C T", "int"),
    operation("if({0}, {1}, {2})", "bool int int", "C T T", "int"),
]
_TEXTS = [
    operation("upper({0})", "text", "T", "text"),
    operation("({0} || {1})", "text text", "T T", "text"),
    operation("concat({0}, '-', {1})", "text text", "T T", "text"),
    operation("substring({0}, 1, 1)", "text", "P", "text"),
    operation("left({0}, {1})", "text int", "P P", "text"),
    operation("replace({0}, '1', '2')", "text", "T", "text"),
    operation("trim({0})", "text", "T", "text"),
    operation("CAST({0} AS VARCHAR)", "int", "T", "text"),
    operation("{0}::TEXT", "list", "T", "text"),
    operation("COALESCE({0}, 'none')", "text", "T", "text"),
    operation("md5({0})", "text", "H", "text"),
    operation("sha256({0})", "text", "H", "text"),
    operation("NULLIF({0}, {1})", "text text", "T C", "text"),
    operation("CASE WHEN {0} THEN {1} ELSE {2} END", "bool text text", "C T T", "text"),
    operation("CASE {0} WHEN 1 THEN {1} END", "int text", "C T", "text"),
]
_BOOLEANS = [
    operation("({0} = {1})", "int int", "T T", "bool"),
    operation("({0} <> {1})", "int int", "T T", "bool"),
    operation("({0} < {1})", "int int", "T T", "bool"),
    operation("({0} >= {1})", "int int", "T T", "bool"),
    operation("({0} = {1})", "text text", "T T", "bool"),
    operation("({0} AND {1})", "bool bool", "T T", "bool"),
    operation("({0} OR {1})", "bool bool", "T T", "bool"),
    operation("(NOT {0})", "bool", "T", "bool"),
    operation("({0} IS NULL)", "int", "T", "bool"),
    operation("({0} IS NOT NULL)", "text", "T", "bool"),
    operation("({0} IS DISTINCT FROM {1})", "int int", "T T", "bool"),
    operation("({0} BETWEEN {1} AND 3)", "int int", "T T", "bool"),
    operation("({0} IN (1, {1}, 5))", "int int", "T T", "bool"),
    operation("({0} NOT IN (1, 3))", "int", "T", "bool"),
    operation("({0} LIKE '1%')", "text", "T", "bool"),
    operation("list_contains({0}, {1})", "list int", "T T", "bool"),
    operation("CASE WHEN {0} THEN {1} ELSE false END", "bool bool", "C T", "bool"),
    operation("COALESCE({0}, false)", "bool", "T", "bool"),
]
_LISTS = [
    operation("[{0}, {1}]", "int int", "T T", "list"),
    operation("list_append({0}, {1})", "list int", "T T", "list"),
    operation("COALESCE({0}, [{1}])", "list int", "T T", "list"),
    operation("list_transform({0}, lambda q: q + {1})", "list int", "T T", "list"),
    operation("CASE WHEN {0} THEN {1} END", "bool list", "C T", "list"),
    operation("list_filter({0}, lambda q: q > {1})", "list int", "T T", "list"),
    operation("[q + {1} FOR q IN {0} IF q > {2}]", "list int int", "T+C T C", "list"),
]
_STRUCTS = [
    operation("{{'x': {0}, 'y': {1}}}", "int text", "T T", "struct"),
    operation("struct_pack(x := {0}, y := {1})", "int text", "T T", "struct"),
    operation("CASE WHEN {0} THEN {1} ELSE {2} END", "bool struct struct", "C T T", "struct"),
    operation("if({0}, {1}, {2})", "bool struct struct", "C T T", "struct"),
    operation("COALESCE({0}, {1})", "struct struct", "T T", "struct"),
    operation("IFNULL({0}, {1})", "struct struct", "T T", "struct"),
    operation("([{0}, {1}])[1]", "struct struct", "I I", "struct"),
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
        operation("count(*)", "", "", "int"),
        operation("count({0})", "int", "N", "int"),
        operation("count(DISTINCT {0})", "text", "N", "int"),
        operation("sum({0})", "int", "U", "int"),
        operation("sum(DISTINCT {0})", "int", "U", "int"),
        operation("min({0})", "int", "A", "int"),
        operation("max({0})", "int", "A", "int"),
        operation("CAST(round(avg({0})) AS INTEGER)", "int", "U", "int"),
        operation("quantile_disc({0}, 0.5)", "int", "A", "int"),
        operation("percentile_disc(0.5) WITHIN GROUP (ORDER BY {0})", "int", "A", "int"),
        operation("sum({0}) FILTER (WHERE {1})", "int bool", "U F", "int"),
        operation("count(*) FILTER (WHERE {0})", "bool", "F", "int"),
        operation("count(DISTINCT {0}) FILTER (WHERE {1})", "int bool", "N F", "int"),
        operation("sum(CASE WHEN {0} THEN {1} ELSE 0 END)", "bool int", "C U", "int"),
        operation("first({0} ORDER BY {1}, {0})", "int int", "A+S S", "int"),
    ],
    "text": [
        operation("min({0})", "text", "A", "text"),
        operation("max({0})", "text", "A", "text"),
        operation("string_agg({0}, ',' ORDER BY {0})", "text", "A+S", "text"),
        operation("md5(max({0}))", "text", "M", "text"),
    ],
    "bool": [
        operation("bool_or({0})", "bool", "U", "bool"),
        operation("bool_and({0})", "bool", "U", "bool"),
    ],
    "list": [
        operation("max({0})", "list", "A", "list"),
        operation("list_sort(list({0}))", "int", "A", "list"),
    ],
    "struct": [
        operation("first({0} ORDER BY {1}, {2})", "struct int text", "A S S", "struct"),
        operation("arg_max({0}, {1})", "struct int", "A A", "struct"),
        operation("(list({0} ORDER BY {1}, {2}))[1]", "struct int text", "A S S", "struct"),
    ],
}

WINDOWS: dict[Type, list[Operation]] = {
    "int": [
        operation("sum({0}) OVER (PARTITION BY {1} ORDER BY {2})", "int text int", "U W W", "int"),
        operation("count(*) OVER (PARTITION BY {0})", "int", "W", "int"),
        operation("count({0}) OVER (PARTITION BY {1})", "text int", "N W", "int"),
        operation("rank() OVER (ORDER BY {0} DESC NULLS LAST)", "int", "W", "int"),
        operation("dense_rank() OVER (PARTITION BY {0}, {1} ORDER BY {2})", "int text int", "W W W", "int"),
        operation("max({0}) FILTER (WHERE {1}) OVER (PARTITION BY {2})", "int bool int", "A F W", "int"),
        operation("min({0}) OVER (ORDER BY {1} RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "int int", "A W", "int"),
        operation("max({0}) OVER ()", "int", "A", "int"),
        operation(
            "sum({0}) OVER (PARTITION BY {1} ORDER BY {2}, {0} GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
            *("int text int", "U+W W W", "int"),
        ),
        operation(
            "max({0}) OVER (ORDER BY {1} GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE GROUP)",
            *("int int", "A W", "int"),
        ),
        operation("first_value({0}) OVER (PARTITION BY {1} ORDER BY {0}, {2})", "int int int", "T+W W W", "int"),
        operation("nth_value({0}, 2) OVER (PARTITION BY {1} ORDER BY {0})", "int int", "T+W W", "int"),
        operation("CAST(9 * cume_dist() OVER (PARTITION BY {0} ORDER BY {1}) AS INTEGER)", "int int", "W W", "int"),
        operation("first_value({0}) OVER (PARTITION BY {1} ORDER BY {2}, {0})", "int text int", "T+W W W", "int"),
        operation(  # the comments: see `experiment.TURNED`
            "lag/* turned */({0}) OVER (ORDER BY {1} /* turned */, {0} /* turned */)", "int int", "T+W W", "int"
        ),
    ],
    "text": [
        operation("min({0}) OVER (PARTITION BY {1})", "text int", "A W", "text"),
        operation("last_value({0}) OVER (PARTITION BY {1} ORDER BY {0})", "text int", "T+W W", "text"),
    ],
    "bool": [operation("bool_or({0}) OVER (PARTITION BY {1})", "bool int", "U W", "bool")],
    "list": [operation("max({0}) OVER (PARTITION BY {1})", "list int", "A W", "list")],
    "struct": [
        operation(
            "last_value({0}) OVER (PARTITION BY {1} ORDER BY {2}, {3})", "struct int text int", "T W W W", "struct"
        ),
        operation("lag({0}) OVER (PARTITION BY {1} ORDER BY {2}, {3})", "struct int text int", "T W W W", "struct"),
    ],
}
