"""Account for the syntax of a statement: what no rule reads is reported, so that the statement is not `full`.

A rule reads certain arguments of its node; other arguments cannot influence lineage (a hint, a lock). Whatever is in
neither list is a clause that this version does not know, for example one that a newer parser understands. Expressions
without a rule of their own are accounted for by type: their operands are their only arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.scan.implementation import chosen_engine

if TYPE_CHECKING:
    from lineage.sql.resolve.resolution import Resolution

__all__ = [
    "ARGUMENTS",
    "CLAUSES",
    "READ",
    "STATEMENTS",
    "account",
    "account_in_python",
    "has_only_operands",
    "report_type",
    "report_unread",
]

_Arguments: TypeAlias = Mapping[type[exp.Expr], Set[str]]

_OF_QUERY = "with_ order limit offset"
_NOT_OF_LINEAGE = "locks settings format options for_"

_RULES = """
Alias: this alias
Anonymous: this expressions
Any: this
ArrayFilter: this expression
Bracket: this expressions; offset safe returns_list_for_maps json_access
Case: this ifs default
Columns: this unpack
CombinedAggFunc: this expressions
CombinedParameterizedAgg: this expressions params
Comprehension: this expression iterator condition
DecodeCase: expressions
Dot: this expression
Elt: this expressions
Exists: this expression
Explode: this expressions
ExplodingGenerateSeries: start end step; is_end_exclusive
_ExplodeOuter: this expressions
Filter: this expression
GetExtract: this expression
GroupingId: expressions
HashAgg: this expressions
If: this true false
In: this expressions query unnest field; is_global
Inline: this
JSONBExtract: this expression
JSONBExtractScalar: this expression; json_type
JSONExtract: this expression expressions json_query variant_extract only_json_types requires_json option; \
    quote on_condition emits
JSONExtractScalar: this expression expressions only_json_types; json_type scalar_only json_subtype
JSONObject: expressions; null_handling unique_keys return_type encoding
JSONValue: this path on_condition; returning
Kwarg: this expression
Lambda: this expressions
ModelAttribute: this expression
Nullif: this expression
Nvl2: this true false
Order: this expressions; siblings
Ordered: this with_fill; desc nulls_first
Parameter: this expression; temporary
Paren: this
Placeholder: this; kind widget jdbc
PositionalColumn: this
Posexplode: this expressions
PosexplodeOuter: this expressions
PropertyEQ: this expression
Reduce: this initial merge finish
StarMap: this
Struct: expressions
StructExtract: this expression
Transform: this expression
Window: this partition_by order spec alias; over first
WithinGroup: this expression
"""
"""Expressions with a rule: the arguments that it reads; after a semicolon, those without influence on lineage."""

_QUERIES = f"""
Except: {_OF_QUERY} this expression by_name side kind on sort cluster distribute; distinct {_NOT_OF_LINEAGE}
Intersect: {_OF_QUERY} this expression by_name side kind on sort cluster distribute; distinct {_NOT_OF_LINEAGE}
Union: {_OF_QUERY} this expression by_name side kind on distinct sort cluster distribute; {_NOT_OF_LINEAGE}
Select: {_OF_QUERY} kind expressions distinct into exclude from_ match laterals joins connect prewhere where group \
    having qualify windows distribute sort cluster; hint operation_modifiers sample {_NOT_OF_LINEAGE}
Subquery: {_OF_QUERY} this alias joins laterals pivots sort cluster distribute; sample {_NOT_OF_LINEAGE}
Table: this alias db catalog laterals joins pivots version pattern format rows_from sample partition changes; \
    hints system_time ordinality when only indexed
TableFromRows: this alias joins pivots; sample
Lateral: this alias ordinality joins laterals; view outer cross_apply
Unnest: expressions alias offset; explode_array
Values: expressions alias order limit offset pivots
Pivot: this alias expressions fields unpivot using group columns into with_ identify_pivot_strings \
    prefixed_pivot_columns pivot_column_naming value_columns_first include_nulls default_on_null
"""

_STATEMENTS = """
Alter: this kind actions options; exists only cluster not_valid check cascade iceberg
Cache: this expression; lazy options
Copy: this kind files; credentials format params
Create: with_ this kind expression properties clone; exists replace refresh unique indexes no_schema_binding begin \
    concurrently clustered
Delete: with_ this using where returning order limit tables; cluster hint
Drop: kind tables expressions; exists temporary materialized cascade restrict constraints purge cluster concurrently \
    sync iceberg force
Export: this options; connection
Insert: with_ this expression conflict returning overwrite where by_name source default using; hint is_function exists \
    alternative ignore stored partition settings
LoadData: this inpath files; overwrite temp local partition input_format serde
Merge: with_ this using on whens returning
MultitableInserts: with_ expressions kind source
TruncateTable: expressions; is_database exists only cluster identity option partition
Update: with_ this expressions from_ where returning order limit; options hint
"""

_CLAUSES = """
CTE: this alias scalar key_expressions; materialized
Changes: information at_before end
Cluster: expressions
ConditionalInsert: this expression else_
Connect: start connect; nocycle
Cube: expressions
Distinct: expressions on
Distribute: expressions; siblings
Fetch: count; direction limit_options
Filter: this expression
From: this
Group: expressions grouping_sets cube rollup all; totals
GroupingSets: expressions
Having: this
Join: this on side kind using method match_condition expressions pivots; global_ hint directed nearest
Limit: this expression offset expressions; limit_options
MatchRecognize: partition_by order measures rows define alias; after pattern
MatchRecognizeMeasure: this; window_frame
Offset: this expression expressions
Order: this expressions; siblings
OnConflict: expressions where; action duplicate conflict_keys index_predicate constraint
Ordered: this with_fill; desc nulls_first
PreWhere: this
Qualify: this
RecursiveWithSearch: this expression using; kind to default
Rollup: expressions
Sort: expressions; siblings
TableAlias: this columns
TableSample: expressions bucket_field; method bucket_numerator bucket_denominator percent rows size seed
When: matched source condition then
Whens: expressions
Where: this
Window: this partition_by order spec alias; over first
WindowSpec: start end; kind start_side end_side exclude
With: expressions recursive search cycle udfs
WithFill: ; from_ to step
"""
"""The clauses of queries and statements, which rules read together with the node that has them."""


def _table(*texts: str, with_irrelevant: bool = True) -> dict[type[exp.Expr], frozenset[str]]:
    found: dict[type[exp.Expr], frozenset[str]] = {}
    for line in filter(None, "\n".join(texts).splitlines()):
        name, _, listed = line.partition(":")
        read, _, irrelevant = listed.partition(";")
        found[getattr(exp, name)] = frozenset((read + irrelevant if with_irrelevant else read).split())
    return found


STATEMENTS = _table(_STATEMENTS)
ARGUMENTS = _table(_RULES, _QUERIES, _STATEMENTS)
"""The arguments that are accounted for of nodes with a rule, by the node's type."""
CLAUSES = _table(_CLAUSES, _STATEMENTS)
"""Likewise for clauses and for statements within statements, which the node's rule reads itself."""
READ = _table(_CLAUSES, _RULES, _QUERIES, _STATEMENTS, with_irrelevant=False)
"""The arguments that rules read, without those that cannot influence lineage."""
_EITHER = {**CLAUSES, **ARGUMENTS, exp.Ordered: CLAUSES[exp.Ordered]}

_WITHOUT_CLAUSES = frozenset((exp.From, exp.Where, exp.Having, exp.Qualify))
"""Clauses that have no clauses within them."""

_OPERATORS = (exp.Binary, exp.Unary, exp.Func, exp.SubqueryPredicate, exp.JSONPathPart)
_OPERANDS_ONLY = frozenset(
    getattr(exp, name)
    for name in re.findall(
        r"\w+",
        """
        Aliases AtTimeZone Between BitString ByteString ColumnConstraint ColumnDef Distinct Fetch FormatJson
        FromTimeZone HavingMax HexString IgnoreNulls Interval IntervalSpan Introducer JSON JSONColumnDef JSONKeyValue
        JSONPath JSONSchema Limit LimitOptions National Offset OnCondition OpenJSONColumnDef
        OverflowTruncateBehavior PathColumnConstraint Prior RawString RespectNulls Slice Table
        TranslateCharacters Tuple UnicodeString Variadic XMLNamespace
        """,
    )
)
"""Expressions besides operators and functions whose arguments are operands, literals or words.

A table as an operand (`f(TABLE t)`) is read by the rule for table functions.
"""


def has_only_operands(kind: type[exp.Expr]) -> bool:
    """Return whether the value of an expression without a rule is computed from all its arguments alike."""
    return kind in _OPERANDS_ONLY or (issubclass(kind, _OPERATORS) and kind not in ARGUMENTS)


def account(resolution: Resolution, node: exp.Expr) -> None:
    """Report what no rule reads of a query or statement: arguments of the node and of its clauses."""
    native = _native()
    if native is None or not native(node, _EITHER, CLAUSES):
        account_in_python(resolution, node)


@cache
def _native() -> Callable[[exp.Expr, _Arguments, _Arguments], bool] | None:
    """Return the native function that finds nothing to report, nearly always; None if it is not installed."""
    return getattr(chosen_engine().arrays, "all_in_sets", None)


def account_in_python(resolution: Resolution, node: exp.Expr) -> None:
    """Do the same as `account` without the native wheel, and report."""
    stack = [node]
    push = stack.append
    clauses, without_clauses, either = CLAUSES, _WITHOUT_CLAUSES, _EITHER
    while stack:
        node = stack.pop()
        args = node.args
        if not args.keys() <= either[type(node)]:
            report_unread(resolution, node)
        for value in args.values():
            if value is None:
                continue
            kind = type(value)
            if kind in without_clauses:
                if not value.args.keys() <= either[kind]:
                    report_unread(resolution, value)
            elif kind is list:
                if value and type(value[0]) in clauses:
                    for item in value:
                        if type(item) in clauses:
                            push(item)
            elif kind in clauses:
                push(value)


def report_unread(resolution: Resolution, node: exp.Expr) -> None:
    """Report the arguments of a node that no rule reads, and that are present."""
    accounted = _EITHER.get(type(node), frozenset())
    for key, value in node.args.items():
        if value and key not in accounted:
            _report(resolution, f"`{key.strip('_')}` of {_words(node)}", value if isinstance(value, exp.Expr) else node)


def report_type(resolution: Resolution, node: exp.Expr) -> None:
    """Report an expression of a type that no rule reads."""
    _report(resolution, _words(node), node)


def _report(resolution: Resolution, what: str, node: exp.Expr) -> None:
    resolution.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"no rule reads {what}: its influence on lineage is unknown",
        node,
        hint="check what it reads; please report the syntax, with names and literals replaced",
        lasts=True,
    )


def _words(node: exp.Expr) -> str:
    """Return the type of a node in words: `WITH FILL` for WithFill."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).upper()
