"""Expressions of MBQL: filters, calculations and aggregations. Values become one literal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lineage_ingest.bi.exported import QueryProblems
from lineage_ingest.bi.metabase.clauses import (
    AGGREGATIONS,
    CALLS,
    FIELDS,
    call_of,
    clauses_in,
    operation_of,
    operator_of,
)
from lineage_ingest.bi.metabase.column_references import SOURCE, ColumnReferences, MbqlScope
from lineage_ingest.bi.metabase.mbql5 import as_legacy, is_mbql5
from lineage_ingest.bi.metabase.metadata import MetabaseObjects, as_id
from lineage_ingest.bi.templates.written_sql import LITERAL, quote

__all__ = ["ExpressionWriter"]

_AGGREGATED = frozenset(
    (*AGGREGATIONS, "distinct", "count-where", "sum-where", "distinct-where", "share", "percentile", "metric", "offset")
)
"""Operators of aggregations, which also stand in expressions of them."""
_MAX_NESTING = 60
_MAX_METRIC_NESTING = 5
"""How deep in an expression a metric is read: metrics can be made of each other."""


class ExpressionWriter:
    """Writes expressions of one query."""

    def __init__(self, metadata: MetabaseObjects, dialect: str, problems: QueryProblems) -> None:
        self._metadata = metadata
        self._dialect = dialect
        self._problems = problems
        self._columns = ColumnReferences(metadata, dialect, problems)

    def expression(self, clause: Any, scope: MbqlScope, depth: int = 0) -> str:
        """Return the SQL of a clause; values become one literal."""
        if depth > _MAX_NESTING:
            self._problems.add_not_read("an expression nests too deeply to be read")
            return "NULL"
        if not isinstance(clause, list):
            return "NULL" if clause is None else LITERAL
        operator, rest = operator_of(clause), clause[1:]
        if operator in FIELDS:
            return self._columns.column(clause, scope)[0]
        if operator == "expression":
            return self.named_expression(str(rest[0]) if rest else "", scope, depth)
        if operator in ("aggregation-options", "named"):
            return self.expression(rest[0] if rest else None, scope, depth + 1)
        if operator in _AGGREGATED:
            return self.aggregation(clause, scope, depth)
        if operator in ("case", "if"):
            return self._case(rest, scope, depth)
        if operator == "segment":
            return self._segment(rest, scope, depth)
        number = rest[0] if rest and isinstance(rest[0], int) else 0
        if operator == "aggregation" and 0 <= number < len(scope.aggregations):
            return self._once(number, scope, lambda: self.aggregation(scope.aggregations[number], scope, depth + 1))
        return self._operation(operator, rest, scope, depth)

    def _operation(self, operator: str, rest: list[Any], scope: MbqlScope, depth: int) -> str:
        """Return the SQL of an operator over its arguments; one that is not known is a function of them."""
        arguments = [self.expression(one, scope, depth + 1) for one in rest if not isinstance(one, Mapping)]
        written = operation_of(operator, arguments)
        if written is None and operator not in CALLS:
            self._problems.add_not_read(f"the clause {operator!r} is not known")
        return call_of(operator, arguments) if written is None else written

    def _case(self, rest: list[Any], scope: MbqlScope, depth: int) -> str:
        branches = rest[0] if rest and isinstance(rest[0], list) else []
        whole = [one for one in branches if isinstance(one, list) and len(one) == 2]
        if len(whole) < len(branches) or not whole:
            self._problems.add_not_read("a branch of a case is not of a known form")
        written = [
            f"WHEN {self.expression(one[0], scope, depth + 1)} THEN {self.expression(one[1], scope, depth + 1)}"
            for one in whole
        ]
        options = rest[1] if len(rest) > 1 and isinstance(rest[1], Mapping) else {}
        default = f" ELSE {self.expression(options['default'], scope, depth + 1)}" if "default" in options else ""
        return f"CASE {' '.join(written)}{default} END" if written else "NULL"

    def named_expression(self, name: str, scope: MbqlScope, depth: int = 0) -> str:
        """Return the SQL of an expression by its name; one that the query does not define is a column of its source."""
        if name in scope.expressions:
            written = self._once(name, scope, lambda: self.expression(scope.expressions[name], scope, depth + 1))
            return f"({written})"
        return f"{quote(SOURCE, self._dialect)}.{quote(name, self._dialect)}"

    def _once(self, own: str | int, scope: MbqlScope, write: Callable[[], str]) -> str:
        """Return what `write` returns; NULL if it is reached from itself."""
        if own in scope.being_written:
            what = f"the expression {own!r}" if isinstance(own, str) else "an aggregation"
            self._problems.add_not_read(f"{what} reads itself")
            return "NULL"
        scope.being_written.add(own)
        try:
            return write()
        finally:
            scope.being_written.discard(own)

    def _segment(self, rest: list[Any], scope: MbqlScope, depth: int) -> str:
        segment = self._metadata.segments.get(as_id(rest[0])) if rest else None
        definition = segment.get("definition") if segment is not None else None
        if isinstance(definition, Mapping):
            query = definition
            if is_mbql5(definition):
                query = as_legacy(definition)["query"]
            elif isinstance(definition.get("query"), Mapping):
                query = definition["query"]
            return self.expression(query.get("filter"), scope, depth + 1)
        hint = "add the JSON of /api/segment"
        self._problems.add_not_read(f"the segment {rest[0] if rest else ''} is not in the export", hint)
        return LITERAL

    def aggregation(self, clause: Any, scope: MbqlScope, depth: int = 0) -> str:
        """Return the SQL of an aggregation."""
        if operator_of(clause) in ("aggregation-options", "named") and len(clause) > 1:
            return self.aggregation(clause[1], scope, depth + 1)
        operator = operator_of(clause)
        rest = [one for one in clause[1:] if not isinstance(one, Mapping)] if isinstance(clause, list) else []
        arguments = [self.expression(one, scope, depth + 1) for one in rest]
        first = arguments[0] if arguments else "*"
        if operator == "metric":
            return self._metric(rest, scope, depth)
        if operator == "count-where":
            return f"COUNT(CASE WHEN {first} THEN 1 END)"
        if operator == "sum-where" and len(arguments) == 2:
            return f"SUM(CASE WHEN {arguments[1]} THEN {first} END)"
        if operator == "distinct-where" and len(arguments) == 2:
            return f"COUNT(DISTINCT CASE WHEN {arguments[1]} THEN {first} END)"
        if operator == "share":
            return f"AVG(CASE WHEN {first} THEN 1 ELSE 0 END)"
        if operator == "distinct":
            return f"COUNT(DISTINCT {first})"
        if operator == "percentile":
            return f"MEDIAN({first})"
        if operator in AGGREGATIONS and (arguments or operator in ("count", "cum-count")):
            return f"{AGGREGATIONS[operator]}({first})"
        if operator == "offset":
            self._problems.add_not_read("the clause 'offset' is not read: the row before or after decides the value")
            return first
        return self.expression(clause, scope, depth + 1)

    def _metric(self, rest: list[Any], scope: MbqlScope, depth: int) -> str:
        """Return the aggregation of a metric, which is a card; its filters decide which values count."""
        inner = self._metadata.query_of_metric(rest[0]) if rest else None
        card = self._metadata.card(rest[0]) if rest else None
        is_source = card is not None and card.key == scope.source_metric
        if inner is not None and depth < _MAX_METRIC_NESTING:
            clauses = clauses_in(inner.get("aggregation"))
            if is_source or not (inner.get("joins") or inner.get("source-query")):
                own = MbqlScope(
                    scope.columns, inner.get("expressions") or {}, clauses,
                    implicit=scope.implicit, source_metric=scope.source_metric,
                )  # fmt: skip
                written = self.aggregation(clauses[0], own, depth + 1)
                if inner.get("filter") and not is_source:
                    condition = self.expression(inner["filter"], own, depth + 1)
                    return f"MAX(CASE WHEN {condition} THEN ({written}) END)"
                return written
        self._problems.add_not_read(f"the metric {rest[0] if rest else ''} is not in the export, or has joins")
        return "NULL"

    def order(self, clause: Any, scope: MbqlScope) -> str:
        """Return the SQL of a clause of `order-by`."""
        direction = "DESC" if operator_of(clause) == "desc" else "ASC"
        inner = clause[1] if isinstance(clause, list) and len(clause) > 1 else None
        return f"{self.expression(inner, scope)} {direction}"
