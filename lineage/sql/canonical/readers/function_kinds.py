"""What the value of a function depends on: its arguments alone, the order of rows, or something outside of the query.

A function that is not known may do anything: return several rows, aggregate, or return another value each time.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from importlib.resources import files

from sqlglot import exp

from lineage.sql.canonical.forms.digests import spelling

__all__ = ["FunctionKind", "FunctionKinds"]


class FunctionKind(StrEnum):
    """What a function depends on."""

    DETERMINISTIC = "deterministic"
    """The value depends on the arguments, in the same row."""
    AGGREGATE = "aggregates"
    """An aggregate that does not depend on the order of rows. Sums of floating-point numbers do, in the last digits."""
    RANK = "ranks"
    """A window function whose value is the same for rows that are equal in the order of the window."""
    ORDERED = "ordered"
    """An aggregate or window function that depends on the order of rows where it leaves several rows equal."""
    VOLATILE = "volatile"
    """The value differs each time."""
    MOMENT = "moment"
    """The time, the user or the environment of the run: another value in another run."""
    ROWS = "rows"
    """It returns several rows."""
    UNKNOWN = "unknown"


def _classes(names: str) -> frozenset[type[exp.Expr]]:
    return frozenset(getattr(exp, name) for name in names.split())


_BY_CLASS = {
    FunctionKind.DETERMINISTIC: _classes(
        """DPipe Is NullSafeNEQ Glob Escape Between In Xor Not Neg BitwiseNot
        Tuple Array Struct PropertyEQ StructExtract Case If Coalesce Nullif Nvl2 Greatest Least Cast TryCast Interval
        IntervalSpan Var DataType DataTypeParam Boolean Null Literal Any All Lambda Kwarg Slice Collate
        Abs Cbrt Ceil Exp Floor IsInf IsNan Ln Log Round Sign Sqrt Trunc Degrees Radians Acos Asin Atan Atan2 Cos Sin
        Tan SafeDivide Pi NetFunc SafeFunc
        Ascii BitLength ByteLength Chr Concat ConcatWs Contains EndsWith Initcap Left Length Levenshtein Lower
        Overlay Pad Repeat Replace Reverse Right SplitPart StartsWith StrPosition Substring SubstringIndex Translate
        Trim Unicode Upper Hex LowerHex Unhex RegexpCount RegexpExtract RegexpExtractAll RegexpFullMatch RegexpReplace
        RegexpLike RegexpILike Split MD5 MD5Digest SHA SHA2
        AddMonths DateAdd DateBin DateDiff DateSub DatetimeAdd DatetimeDiff DatetimeSub MonthsBetween TimeAdd TimeSub
        TimestampAdd TimestampDiff TimestampSub TsOrDsAdd TsOrDsDiff DatetimeTrunc DateTrunc TimestampTrunc Day
        DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Dayname Extract Hour Minute Month Monthname Quarter Second Week
        WeekOfYear Year LastDay DateFromParts StrToDate StrToTime StrToUnix TimeStrToDate TimeStrToTime TimeToStr
        TimeToUnix TsOrDsToDate TsOrDsToTimestamp UnixToTime UnixToStr Date Timestamp
        ArraySize ArrayContains ArrayContainsAll ArrayOverlaps JSONExtract JSONExtractScalar JSONBExtract
        JSONBExtractScalar JSONBContains JSONObject JSONArray JSONPath JSONPathRoot JSONPathKey JSONPathSubscript
        JSONKeyValue WidthBucket Dot Bracket AtTimeZone Filter WithinGroup Order Ordered Distinct Where"""
    ),
    FunctionKind.AGGREGATE: _classes(
        """Sum Count CountIf Min Max Avg Stddev StddevPop StddevSamp Variance VariancePop Corr CovarPop CovarSamp
        LogicalAnd LogicalOr BitwiseAndAgg BitwiseOrAgg BitwiseXorAgg Median PercentileCont PercentileDisc Quantile
        Grouping GroupingId Skewness Kurtosis RegrSlope RegrIntercept RegrR2 RegrCount"""
    ),
    FunctionKind.RANK: _classes("Rank DenseRank PercentRank CumeDist"),
    FunctionKind.ORDERED: _classes(
        """RowNumber Ntile Lag Lead FirstValue LastValue NthValue ArrayAgg GroupConcat AnyValue First Last ArgMax
        ArgMin Mode ArrayConcatAgg JSONArrayAgg JSONObjectAgg IgnoreNulls RespectNulls"""
    ),
    FunctionKind.VOLATILE: _classes("Rand Randn Uuid NextValueFor"),
    FunctionKind.MOMENT: _classes(
        """CurrentDate CurrentDatetime CurrentTime CurrentTimestamp CurrentTimestampLTZ Localtime Localtimestamp
        Systimestamp UtcDate UtcTime UtcTimestamp CurrentUser SessionUser CurrentSchema CurrentCatalog CurrentDatabase
        CurrentRole"""
    ),
}
_KIND_OF_CLASS = {one: kind for kind, classes in _BY_CLASS.items() for one in classes}
_LIKE = {
    "athena": "trino", "databricks": "spark", "doris": "mysql", "fabric": "tsql", "materialize": "postgres",
    "presto": "trino", "redshift": "postgres", "risingwave": "postgres", "singlestore": "mysql", "spark2": "spark",
    "starrocks": "mysql",
}  # fmt: skip
"""Dialects whose functions are those of another one, and more."""
_COMBINATORS = re.compile(
    r"(if|array|map|simplestate|state|merge|mergestate|foreach|distinct|ordefault|ornull|resample|argmin|argmax)$"
)
"""What ClickHouse appends to an aggregate: https://clickhouse.com/docs/sql-reference/aggregate-functions/combinators"""


class FunctionKinds:
    """The functions of a dialect; `declared` are the user's own that depend on their arguments alone."""

    def __init__(self, dialect: str, declared: frozenset[str] = frozenset()) -> None:
        self._deterministic, self._others = _names(dialect)
        self._declared = declared

    def kind(self, node: exp.Expr, text: str) -> FunctionKind:
        """Return what the value of a node of the syntax tree depends on, beside that of its operands."""
        kind = _KIND_OF_CLASS.get(type(node))
        if kind is not None and kind is not FunctionKind.UNKNOWN and not isinstance(node, exp.Dot):
            return kind
        if not isinstance(node, (exp.Func, exp.Dot)):
            plain = isinstance(node, (exp.Binary, exp.Unary, exp.Predicate)) and not isinstance(node, exp.Query)
            return FunctionKind.DETERMINISTIC if plain else FunctionKind.UNKNOWN
        if isinstance(node, exp.Dot) and not isinstance(node.expression, exp.Func):
            return FunctionKind.DETERMINISTIC
        found = (self.of_name(name) for name in function_names(node, text))
        return next((kind for kind in found if kind is not FunctionKind.UNKNOWN), FunctionKind.UNKNOWN)

    def of_name(self, name: str) -> FunctionKind:
        """Return what a function depends on.

        >>> FunctionKinds("postgres").of_name("to_jsonb"), FunctionKinds("postgres").of_name("my_function")
        (<FunctionKind.DETERMINISTIC: 'deterministic'>, <FunctionKind.UNKNOWN: 'unknown'>)
        """
        name = name.lower().removeprefix("pg_catalog.")
        if name in self._declared or name in self._deterministic:
            return FunctionKind.DETERMINISTIC
        return self._others.get(name, FunctionKind.UNKNOWN)


def function_names(node: exp.Expr, text: str) -> Iterator[str]:
    """Yield the names under which a function may be listed: as it is written, or else those that the parser has."""
    if isinstance(node, exp.Dot):
        yield ".".join([*(part.name for part in node.parts[:-1]), next(function_names(node.expression, text))])
    elif isinstance(node, exp.CombinedAggFunc):
        name = node.name
        while (stripped := _COMBINATORS.sub("", name.lower())) != name:
            yield name
            name = stripped
        yield name
    elif isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        yield node.name
    elif isinstance(node, exp.Func):
        written = spelling(node, text).strip()
        yield from [written] if written.replace("_", "").isalnum() else node.sql_names()


@cache
def _names(dialect: str) -> tuple[frozenset[str], dict[str, FunctionKind]]:
    data = tomllib.loads(
        files("lineage.sql.canonical.readers").joinpath("function_kinds.toml").read_text(encoding="utf-8")
    )
    listed = data["deterministic"]
    own = {name for one in (dialect, _LIKE.get(dialect, "")) for name in listed.get(one, "").split()}
    others = {name: FunctionKind(kind) for kind, names in data["other"].items() for name in names.split()}
    shared = {name for name in listed["any"].split() if name not in others}
    if dialect == "ansi":  # no particular dialect: the functions of all of them
        own = {name for names in listed.values() for name in names.split()} - others.keys()
    return frozenset(own | shared), others
