"""Queries that a plan sends to a database over JDBC: read by the SQL extraction, in the database's dialect."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.names import ColumnPath, split_name
from lineage.model.statement import ColumnRef, Completeness
from lineage.model.transformations import StepEffect, Subtype
from lineage.sql import extract
from lineage.sql.resolve.transformation_codes import LIMITED_SORT, SORT, STEPS
from lineage_ingest.spark_plan.datasets import Dataset
from lineage_ingest.spark_plan.jdbc_names import jdbc_dataset, jdbc_dialect
from lineage_ingest.spark_plan.values import Relation, RowSources, Source, Sources, Value

if TYPE_CHECKING:
    from lineage_ingest.spark_plan.plan_reader import PlanReader

__all__ = ["is_query", "query_relation"]

_QUERY = re.compile(r"\s*\(\s*(.*?)\s*\)\s*(?:as\s+)?[\w\"`\[\]]*\s*$", re.IGNORECASE | re.DOTALL)


def is_query(text: str) -> bool:
    """Return whether JDBC's `dbtable` is a query in brackets: Spark makes one of the option `query`, too.

    >>> is_query("(SELECT a FROM t) SPARK_GEN_SUBQ_0"), is_query("shop.orders")
    (True, False)
    """
    return _QUERY.match(text) is not None


def query_relation(reader: PlanReader, url: str, text: str, columns: Sequence[Sequence[Any]]) -> Relation | None:
    """Return the relation of a query, with the plan's attributes as its columns; None if it cannot be read."""
    match = _QUERY.match(text)
    dialect = jdbc_dialect(url)
    found = extract(match.group(1), dialect.name if dialect is not None else "ansi") if match is not None else []
    if len(found) != 1 or found[0].completeness is Completeness.NONE:
        return None
    [statement] = found
    for diagnostic in statement.diagnostics:
        # The base tables are the database's: their schema is not known here, and need not be.
        if diagnostic.severity is Severity.ERROR or diagnostic.code is DiagnosticCode.AMBIGUOUS_COLUMN:
            reader.report(
                diagnostic.code, diagnostic.severity, f"in a JDBC query: {diagnostic.message}", diagnostic.hint or ""
            )
    datasets = {name: Dataset(*jdbc_dataset(url, name)) for name in statement.sources}
    for dataset in datasets.values():
        reader.reads.add(dataset)
    names = {name.lower(): index for index, name in enumerate(statement.output_columns)}
    by_column: list[Sources] = [{} for _ in columns]
    rows: Sources = {}
    for edge in statement.edges:
        if edge.source.table is None or edge.source.table not in datasets:
            continue
        source = Source(datasets[edge.source.table].key, ColumnPath.parse(edge.source.column).parts)
        code = STEPS.index(StepEffect(edge.subtype, edge.masking)) + (LIMITED_SORT - SORT if edge.limited else 0)
        if isinstance(edge.target, ColumnRef):
            index = names.get(split_name(edge.target.column)[0][0].lower())
            if index is not None and index < len(by_column):
                by_column[index][source, code] = None
        else:
            rows[source, code] = None
    for reference in statement.row_references:
        if reference.source.table in datasets and not isinstance(reference.target, ColumnRef):
            rows[Source(datasets[str(reference.source.table)].key, None), STEPS.index(StepEffect(Subtype.ROWS))] = None
    output = [int(one[0]) for one in columns]
    values = {key: Value(sources) for key, sources in zip(output, by_column, strict=True)}
    return Relation(output, values, RowSources(rows))
