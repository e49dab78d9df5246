"""What the generator computes with in Spark: https://spark.apache.org/docs/latest/api/sql/"""

from __future__ import annotations

from tests.soundness.operations import Operation, operation
from tests.soundness.tree import Type

__all__ = ["AGGREGATES", "CONSTANTS", "OPERATIONS", "WINDOWS"]

CONSTANTS: dict[Type, tuple[str, ...]] = {
    "int": ("0", "1", "2", "3", "CAST(NULL AS INT)"),
    "text": ("'1'", "'12'", "'x'", "''"),
    "bool": ("true", "false"),
    "list": ("array(1, 2)", "array(3)", "CAST(array() AS ARRAY<INT>)"),
    "struct": ("named_struct('x', 1, 'y', 'x')",),
}

OPERATIONS: dict[Type, list[Operation]] = {
    "int": [
        operation("({0} + {1})", "int int", "T T", "int"),
        operation("({0} - {1})", "int int", "T T", "int"),
        operation("({0} * 2)", "int", "T", "int"),
        operation("({0} % 3)", "int", "T", "int"),
        operation("abs({0})", "int", "T", "int"),
        operation("(-{0})", "int", "T", "int"),
        operation("length({0})", "text", "T", "int"),
        operation("size({0})", "list", "T", "int"),
        operation("({0})[1]", "list", "T", "int"),
        operation("element_at({0}, {1})", "list int", "T T", "int"),
        operation("TRY_CAST({0} AS INT)", "text", "T", "int"),
        operation("CAST({0} AS INT)", "bool", "T", "int"),
        operation("CAST({0} AS BIGINT)", "int", "T", "int"),
        operation("COALESCE({0}, {1})", "int int", "T T", "int"),
        operation("nvl({0}, {1})", "int int", "T T", "int"),
        operation("nvl2({0}, {1}, {2})", "text int int", "C T T", "int"),
        operation("greatest({0}, {1})", "int int", "T T", "int"),
        operation("least({0}, {1}, 2)", "int int", "T T", "int"),
        operation("NULLIF({0}, {1})", "int int", "T C", "int"),
        operation("CASE WHEN {0} THEN {1} ELSE {2} END", "bool int int", "C T T", "int"),
        operation("CASE WHEN {0} THEN {1} WHEN {2} THEN 0 END", "bool int bool", "C T C", "int"),
        operation("CASE {0} WHEN {1} THEN {2} ELSE 4 END", "int int int", "C C T", "int"),
        operation("if({0}, {1}, {2})", "bool int int", "C T T", "int"),
        operation("aggregate({0}, 0, (q, r) -> CAST(q + r + {1} AS INT))", "list int", "T T", "int"),
    ],
    "text": [
        operation("upper({0})", "text", "T", "text"),
        operation("({0} || {1})", "text text", "T T", "text"),
        operation("concat({0}, '-', {1})", "text text", "T T", "text"),
        operation("substring({0}, 1, 1)", "text", "T", "text"),
        operation("replace({0}, '1', '2')", "text", "T", "text"),
        operation("trim({0})", "text", "T", "text"),
        operation("CAST({0} AS STRING)", "int", "T", "text"),
        operation("COALESCE({0}, 'none')", "text", "T", "text"),
        operation("md5({0})", "text", "H", "text"),
        operation("sha2({0}, 256)", "text", "H", "text"),
        operation("NULLIF({0}, {1})", "text text", "T C", "text"),
        operation("CASE WHEN {0} THEN {1} ELSE {2} END", "bool text text", "C T T", "text"),
        operation("CASE {0} WHEN 1 THEN {1} END", "int text", "C T", "text"),
    ],
    "bool": [
        operation("({0} = {1})", "int int", "T T", "bool"),
        operation("({0} <> {1})", "int int", "T T", "bool"),
        operation("({0} < {1})", "int int", "T T", "bool"),
        operation("({0} >= {1})", "int int", "T T", "bool"),
        operation("({0} = {1})", "text text", "T T", "bool"),
        operation("({0} <=> {1})", "int int", "T T", "bool"),
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
        operation("({0} RLIKE {1})", "text text", "T T", "bool"),
        operation("array_contains({0}, {1})", "list int", "T T", "bool"),
        operation("exists({0}, q -> q > {1})", "list int", "T T", "bool"),
        operation("CASE WHEN {0} THEN {1} ELSE false END", "bool bool", "C T", "bool"),
        operation("COALESCE({0}, false)", "bool", "T", "bool"),
    ],
    "list": [
        operation("array({0}, {1})", "int int", "T T", "list"),
        operation("array_append({0}, {1})", "list int", "T T", "list"),
        operation("COALESCE({0}, array({1}))", "list int", "T T", "list"),
        operation("transform({0}, q -> q + {1})", "list int", "T T", "list"),
        operation("transform({0}, (q, i) -> q + i + {1})", "list int", "T T", "list"),
        operation("CASE WHEN {0} THEN {1} END", "bool list", "C T", "list"),
        operation("filter({0}, q -> q > {1})", "list int", "T T", "list"),
    ],
    "struct": [
        operation("named_struct('x', {0}, 'y', {1})", "int text", "T T", "struct"),
        operation("struct({0} AS x, {1} AS y)", "int text", "T T", "struct"),
        operation("CASE WHEN {0} THEN {1} ELSE {2} END", "bool struct struct", "C T T", "struct"),
        operation("if({0}, {1}, {2})", "bool struct struct", "C T T", "struct"),
        operation("COALESCE({0}, {1})", "struct struct", "T T", "struct"),
        operation("greatest({0}, {1})", "struct struct", "T T", "struct"),
    ],
}

AGGREGATES: dict[Type, list[Operation]] = {
    "int": [
        operation("count(*)", "", "", "int"),
        operation("count({0})", "int", "N", "int"),
        operation("count(DISTINCT {0})", "text", "N", "int"),
        operation("count_if({0})", "bool", "N", "int"),
        operation("sum({0})", "int", "A", "int"),
        operation("sum(DISTINCT {0})", "int", "A", "int"),
        operation("min({0})", "int", "A", "int"),
        operation("max({0})", "int", "A", "int"),
        operation("CAST(round(avg({0})) AS INT)", "int", "A", "int"),
        operation("max_by({0}, {1})", "int int", "A A", "int"),
        operation("percentile_disc(0.5) WITHIN GROUP (ORDER BY {0})", "int", "A", "int"),
        operation("sum({0}) FILTER (WHERE {1})", "int bool", "A F", "int"),
        operation("count(*) FILTER (WHERE {0})", "bool", "F", "int"),
        operation("count(DISTINCT {0}) FILTER (WHERE {1})", "int bool", "N F", "int"),
        operation("sum(CASE WHEN {0} THEN {1} ELSE 0 END)", "bool int", "C A", "int"),
    ],
    "text": [
        operation("min({0})", "text", "A", "text"),
        operation("max({0})", "text", "A", "text"),
        operation("listagg({0}, ',') WITHIN GROUP (ORDER BY {0})", "text", "A+S", "text"),
        operation("md5(max({0}))", "text", "M", "text"),
    ],
    "bool": [
        operation("bool_or({0})", "bool", "A", "bool"),
        operation("every({0})", "bool", "A", "bool"),
    ],
    "list": [
        operation("max({0})", "list", "A", "list"),
        operation("sort_array(collect_list({0}))", "int", "A", "list"),
    ],
    "struct": [
        operation("max({0})", "struct", "A", "struct"),
        operation("first({0})", "struct", "A", "struct"),
        operation("max_by({0}, {1})", "struct int", "A A", "struct"),
        operation("any_value({0}) FILTER (WHERE {1})", "struct bool", "A F", "struct"),
    ],
}

WINDOWS: dict[Type, list[Operation]] = {
    "int": [
        operation("sum({0}) OVER (PARTITION BY {1} ORDER BY {2})", "int text int", "A W W", "int"),
        operation("count(*) OVER (PARTITION BY {0})", "int", "W", "int"),
        operation("count({0}) OVER (PARTITION BY {1})", "text int", "N W", "int"),
        operation("rank() OVER (ORDER BY {0} DESC NULLS LAST)", "int", "W", "int"),
        operation("dense_rank() OVER (PARTITION BY {0}, {1} ORDER BY {2})", "int text int", "W W W", "int"),
        operation("max({0}) FILTER (WHERE {1}) OVER (PARTITION BY {2})", "int bool int", "A F W", "int"),
        operation("min({0}) OVER (ORDER BY {1} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", "int int", "A W", "int"),
        operation("max({0}) OVER ()", "int", "A", "int"),
        operation("first_value({0}) OVER (PARTITION BY {1} ORDER BY {0}, {2})", "int int int", "T+W W W", "int"),
        operation("nth_value({0}, 2) OVER (PARTITION BY {1} ORDER BY {0})", "int int", "T+W W", "int"),
        operation("lag({0}, 1, {2}) OVER (ORDER BY {1}, {0})", "int int int", "T+W W T", "int"),
        operation("CAST(9 * cume_dist() OVER (PARTITION BY {0} ORDER BY {1}) AS INT)", "int int", "W W", "int"),
    ],
    "text": [
        operation("min({0}) OVER (PARTITION BY {1})", "text int", "A W", "text"),
        operation("last_value({0}) OVER (PARTITION BY {1} ORDER BY {0})", "text int", "T+W W", "text"),
    ],
    "bool": [operation("bool_or({0}) OVER (PARTITION BY {1})", "bool int", "A W", "bool")],
    "list": [operation("max({0}) OVER (PARTITION BY {1})", "list int", "A W", "list")],
    "struct": [
        operation("max({0}) OVER (PARTITION BY {1})", "struct int", "A W", "struct"),
        operation("last_value({0}) OVER (PARTITION BY {1} ORDER BY {2})", "struct int text", "T W W", "struct"),
    ],
}
