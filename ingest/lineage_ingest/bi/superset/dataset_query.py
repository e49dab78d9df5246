"""The query of a dataset: a table or SQL of its own, with its calculated columns and metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from lineage.model.diagnostics import Diagnostic
from lineage_ingest.bi.connections import BiConnection
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.json_objects import objects_in
from lineage_ingest.bi.templates.sql_templates import choice_of, parses, template_texts
from lineage_ingest.bi.templates.written_sql import quote_any_case, table_reference

__all__ = ["dataset_sql", "metric_column", "names_of", "schema_of_queries", "with_datasets", "with_metrics"]

_SCHEMA_FOR_QUERIES = frozenset(
    ("postgres", "mysql", "snowflake", "trino", "presto", "hive", "spark", "databricks", "clickhouse", "doris",
     "starrocks", "ansi")
)  # fmt: skip
"""Dialects of databases for which Superset sets the dataset's schema before it runs the dataset's SQL."""
_METRIC_MACRO = re.compile(r"\{\{-?\s*metric\(\s*(['\"])(?P<name>[^'\"]*)\1\s*\)\s*-?\}\}")
"""A metric of the dataset in another one: `{{ metric('total') }}`; with a second argument, it is another dataset's."""
_DATASET_MACRO = re.compile(r"\{\{-?\s*dataset\(\s*(?P<id>\d+)\s*(?:,\s*columns\s*=\s*\[[^\]{}]*\]\s*)?\)\s*-?\}\}")
"""The query of another dataset: https://superset.apache.org/docs/configuration/sql-templating/#datasets"""
_MAX_DEPTH = 20
_MAX_CHARACTERS = 100_000


def schema_of_queries(dataset: Mapping[str, Any], connection: BiConnection) -> BiConnection:
    """Return the connection of a dataset with SQL of its own: names without a schema are in the dataset's schema.

    https://superset.apache.org/docs/configuration/databases (`supports_dynamic_schema` of the engine)
    """
    schema, catalog = dataset.get("schema"), dataset.get("catalog")
    if not _own_sql(dataset) or connection.dialect not in _SCHEMA_FOR_QUERIES:
        return connection
    return replace(
        connection,
        schema=str(schema) if schema else connection.schema,
        database=str(catalog) if catalog else connection.database,
    )


def dataset_sql(dataset: Mapping[str, Any], dialect: str) -> tuple[str, list[Diagnostic]]:
    """Return the SQL of a dataset: its columns, then its metrics; and what of it is in doubt."""
    problems: dict[Diagnostic, None] = {}
    columns, metrics = objects_in(dataset.get("columns")), objects_in(dataset.get("metrics"))

    def expression(text: str) -> str:
        texts, found = template_texts(text, "Jinja", lambda one: parses(f"SELECT {one}", dialect), dialect=dialect)
        problems.update(dict.fromkeys(found))
        return choice_of([f"({one.strip()}\n)" for one in texts])

    own = _own_sql(dataset)
    if own is not None:
        text = own.strip().rstrip(";")
        texts, found = template_texts(text, "Jinja", lambda one: parses(one, dialect), dialect=dialect)
        problems.update(dict.fromkeys(found))
        sources = [f"(\n{text.strip().rstrip(';')}\n)" for text in texts]
    else:
        parts = (dataset.get("catalog"), dataset.get("schema"), dataset.get("table_name"))
        sources = [table_reference([str(part) for part in parts if part], dialect, quote_any_case)]
    outputs: list[str] = []
    for column in columns:
        name, text = str(column.get("column_name") or ""), _text(column.get("expression"))
        if text:
            outputs.append(f"{expression(text)} AS {quote_any_case(name, dialect)}")
        elif name:
            outputs.append(f"t.{quote_any_case(name, dialect)} AS {quote_any_case(name, dialect)}")
    names = names_of(columns, "column_name")
    expressions = {str(one.get("metric_name") or ""): _text(one.get("expression")) for one in metrics}
    for name, text in expressions.items():
        if name and text:
            written, is_read = _expanded(text, expressions)
            if not is_read:
                problems[not_read(f"the metric {name!r} is made of itself")] = None
            outputs.append(f"{expression(written)} AS {quote_any_case(metric_column(name, names), dialect)}")
    head = "SELECT " + (",\n  ".join(outputs) or "*")
    return "\nUNION ALL ".join(f"{head}\nFROM {source} AS t" for source in sources), list(problems)


def metric_column(metric: str, columns: Collection[str]) -> str:
    """Return the column of a dataset that a metric is; a metric may have the name of a column."""
    return f"{metric} (metric)" if metric in columns else metric


def names_of(rows: Iterable[Mapping[str, Any]], key: str) -> frozenset[str]:
    """Return the names in a list of a dataset's columns or metrics."""
    return frozenset(str(row[key]) for row in rows if row.get(key))


def with_metrics(text: str, metric: Callable[[str], str | None]) -> str:
    """Return SQL in which `{{ metric('x') }}` is what `metric` returns; None leaves it."""
    return _METRIC_MACRO.sub(lambda found: metric(found["name"]) or found[0], text)


def with_datasets(text: str, query: Callable[[str], str | None]) -> str:
    """Return SQL in which `{{ dataset(42) }}` is what `query` returns for its number; None leaves it.

    >>> with_datasets("SELECT a FROM {{ dataset(42, columns=['a']) }}", lambda number: "SELECT a FROM t")
    'SELECT a FROM (SELECT a FROM t\\n) AS dataset_42'
    """

    def written(found: re.Match[str]) -> str:
        inner = query(found["id"])
        return found[0] if inner is None else f"({inner}\n) AS dataset_{found['id']}"

    return _DATASET_MACRO.sub(written, text)


def _expanded(text: str, metrics: Mapping[str, str]) -> tuple[str, bool]:
    """Return a metric's expression with those of the metrics that it is made of, and whether that has an end."""
    for _ in range(_MAX_DEPTH):
        written = with_metrics(text, lambda name: f"({metrics[name]})" if metrics.get(name) else None)
        if written == text or len(written) > _MAX_CHARACTERS:
            return text, written == text
        text = written
    return text, False


def _own_sql(dataset: Mapping[str, Any]) -> str | None:
    return _text(dataset.get("sql")) or None


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value.strip() else ""
