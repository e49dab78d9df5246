"""What is known of functions: which depend on their arguments alone, which on the order of rows, which on neither.

A function that is not listed may do anything: return several rows, aggregate, or return another value each time.
"""

from __future__ import annotations

from sqlglot import exp

__all__ = ["AGGREGATES", "ORDERED", "PLAIN", "PLAIN_BY_NAME", "RANKS", "VOLATILE"]


def _classes(names: str) -> frozenset[type[exp.Expr]]:
    return frozenset(getattr(exp, name) for name in names.split())


PLAIN = _classes(
    """Add Sub Mul Div IntDiv Mod Neg Pow DPipe BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitwiseLeftShift
    BitwiseRightShift Not Is NullSafeNEQ Like ILike SimilarTo Glob Escape RegexpLike RegexpILike Between In Xor
    Tuple Array Struct PropertyEQ StructExtract Case If Coalesce Nullif Nvl2 Greatest Least Cast TryCast Interval
    IntervalSpan Var DataType DataTypeParam Boolean Null Literal Any All
    Abs Cbrt Ceil Exp Floor IsInf IsNan Ln Log Round Sign Sqrt Trunc Degrees Radians Acos Asin Atan Atan2 Cos Sin Tan
    SafeDivide Pi
    Ascii BitLength ByteLength Chr Concat ConcatWs Contains EndsWith Initcap Left Length Levenshtein Lower
    Overlay Pad Repeat Replace Reverse Right SplitPart StartsWith StrPosition Substring SubstringIndex Translate Trim
    Unicode Upper Hex LowerHex Unhex RegexpCount RegexpExtract RegexpExtractAll RegexpFullMatch RegexpReplace Split
    MD5 MD5Digest SHA SHA2
    AddMonths DateAdd DateBin DateDiff DateSub DatetimeAdd DatetimeDiff DatetimeSub MonthsBetween TimeAdd TimeSub
    TimestampAdd TimestampDiff TimestampSub TsOrDsAdd TsOrDsDiff DatetimeTrunc DateTrunc TimestampTrunc Day DayOfMonth
    DayOfWeek DayOfWeekIso DayOfYear Dayname Extract Hour Minute Month Monthname Quarter Second Week WeekOfYear Year
    LastDay DateFromParts StrToDate StrToTime StrToUnix TimeStrToDate TimeStrToTime TimeToStr TimeToUnix
    TsOrDsToDate TsOrDsToTimestamp UnixToTime UnixToStr Date Timestamp
    ArraySize ArrayContains JSONExtract JSONExtractScalar JSONPath JSONPathRoot JSONPathKey JSONPathSubscript
    WidthBucket Dot Bracket AtTimeZone Filter WithinGroup Order Ordered Distinct Where"""
)
"""Their value depends on that of their arguments, in the same row."""

PLAIN_BY_NAME = frozenset(("hash", "printf", "strlen", "ifnull", "isnull", "nvl", "div0", "date_part", "to_varchar"))
"""Likewise, of functions for which the parser has no class."""

AGGREGATES = _classes(
    """Sum Count CountIf Min Max Avg Stddev StddevPop StddevSamp Variance VariancePop Corr CovarPop CovarSamp
    LogicalAnd LogicalOr BitwiseAndAgg BitwiseOrAgg BitwiseXorAgg Median PercentileCont PercentileDisc Quantile
    Grouping GroupingId Skewness Kurtosis RegrSlope RegrIntercept RegrR2 RegrCount"""
)
"""Aggregates that do not depend on the order of rows. Sums of floating-point numbers do, in their last digits."""

RANKS = _classes("Rank DenseRank PercentRank CumeDist")
"""Window functions whose value is the same for rows that are equal in the window's order."""

ORDERED = _classes(
    """RowNumber Ntile Lag Lead FirstValue LastValue NthValue ArrayAgg GroupConcat AnyValue First Last ArgMax ArgMin
    Mode ArrayConcatAgg JSONArrayAgg JSONObjectAgg"""
)
"""Aggregates and window functions that depend on the order of rows where it leaves several rows equal."""

VOLATILE = _classes(
    """Rand Randn Uuid CurrentDate CurrentDatetime CurrentTime CurrentTimestamp CurrentTimestampLTZ Localtime
    Localtimestamp Systimestamp UtcDate UtcTime UtcTimestamp CurrentUser SessionUser CurrentSchema CurrentCatalog
    CurrentDatabase CurrentRole NextValueFor"""
)
"""They return something else each time, in each environment, or for each user."""
