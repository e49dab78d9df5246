"""Queries that a plan sends to a database over JDBC: read by the SQL extraction, in the database's dialect."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.influence.transformations import StepEffect, Subtype
from lineage.model.names import ColumnPath, split_name
from lineage.model.statement import ColumnRef, Completeness
from lineage.sql import extract
from lineage.sql.resolve.transformation_codes import LIMITED_SORT, SORT, STEPS
from lineage_ingest.spark_plan.tables.datasets import Dataset
from lineage_ingest.spark_plan.tables.jdbc_names import jdbc_dataset, jdbc_dialect
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, PlanSource, Sources, Value

if TYPE_CHECKING:
    from lineage_ingest.spark_plan.tables.leaf_reader import LeafReader

__all__ = ["is_query", "query_relation"]

_ALIAS = re.compile(r"(?:as\s)?\s*[\w\"`\[\]]*", re.IGNORECASE)


def is_query(text: str) -> bool:
    """Return whether JDBC's `dbtable` is a query in brackets: Spark makes one of the option `query`, too.

    >>> is_query("(SELECT a FROM t) SPARK_GEN_SUBQ_0"), is_query("shop.orders")
    (True, False)
    """
    return _query_in(text) is not None


def query_relation(reader: LeafReader, url: str, text: str, columns: Sequence[Sequence[Any]]) -> PlanRelation | None:
    """Return the relation of a query, with the plan's attributes as its columns; None if it cannot be read."""
    query = _query_in(text)
    dialect = jdbc_dialect(url)
    found = extract(query, dialect.name if dialect is not None else "ansi") if query is not None else []
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
        source = PlanSource(datasets[edge.source.table].key, ColumnPath.parse(edge.source.column).parts)
        code = STEPS.index(StepEffect(edge.subtype, edge.masking)) + (LIMITED_SORT - SORT if edge.limited else 0)
        if isinstance(edge.target, ColumnRef):
            index = names.get(split_name(edge.target.column)[0][0].lower())
            if index is not None and index < len(by_column):
                by_column[index][source, code] = None
        else:
            rows[source, code] = None
    for reference in statement.row_references:
        if reference.source.table in datasets and not isinstance(reference.target, ColumnRef):
            rows[PlanSource(datasets[str(reference.source.table)].key, None), STEPS.index(StepEffect(Subtype.ROWS))] = (
                None
            )
    output = [int(one[0]) for one in columns]
    values = {key: Value(sources) for key, sources in zip(output, by_column, strict=True)}
    return PlanRelation(output, values, PlanRows(rows))


def _query_in(text: str) -> str | None:
    """Return the query in the brackets, behind which only an alias may stand."""
    whole = text.strip()
    end = whole.rfind(")")
    is_one = whole.startswith("(") and _ALIAS.fullmatch(whole[end + 1 :].strip()) is not None
    return whole[1:end].strip() if is_one else None
