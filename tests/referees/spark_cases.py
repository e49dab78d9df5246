"""The cases of Spark's dialects, as Spark reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from tests.referees.case_tables import CaseTable, ReadCase
from tests.referees.reading import differences
from tests.soundness.experiment import RejectedError
from tests.referees.spark_plan import UnreadPlanError
from tests.referees.spark_session import SparkAnalyser

__all__ = ["compare_with_spark"]

_DEFAULT_TYPES = ("int", "string", "array<int>", "timestamp")
"""Of columns whose type a case does not give: the first with which Spark accepts the case."""
_DEFINES = re.compile(r"CREATE|ALTER|DROP|CACHE|USE|RENAME|DECLARE|SET")


def compare_with_spark(read: ReadCase, spark: SparkAnalyser) -> list[str]:
    """Return how our lineage of a case differs from Spark's plan of it.

    That Spark rejects it is a difference too, unless we report something.
    """
    said: list[str] = []
    for default in _DEFAULT_TYPES:
        try:
            return _compare(read, spark, default)
        except RejectedError as error:
            said.append(f"rejected: {error}")
        except UnreadPlanError as error:
            return [f"not read: {error}"]
    return [] if read.case.diagnostics else said[:1]


def _compare(read: ReadCase, spark: SparkAnalyser, default: str) -> list[str]:
    found: list[str] = []
    schemas = sorted({schema for table in read.tables for schema in _schema_of(table)})
    try:
        for schema in ("case", *schemas):
            spark.run(f"CREATE DATABASE IF NOT EXISTS {schema}")
        spark.run("USE case")
        for table in read.tables:
            spark.run(table.create(default, "USING parquet"))
        for text, group in groupby(read.statements, key=lambda pair: pair[0]):
            statements = [statement for _, statement in group]
            if any(one.edges or one.operation == "SELECT" for one in statements):
                readings = spark.analyse(text)
                if len(readings) != len(statements):
                    found.append(f"{len(statements)} statements instead of {len(readings)}")
                for statement, reading in zip(statements, readings, strict=False):
                    found += differences(statement, reading)
            if any(_DEFINES.match(one.operation) for one in statements):
                spark.run(text)
    finally:
        spark.run("USE default")
        for schema in ("case", *schemas):
            spark.run(f"DROP DATABASE IF EXISTS {schema} CASCADE")
        for view in spark.spark.catalog.listTables():
            spark.run(f"DROP VIEW IF EXISTS {view.name}")
    return found


def _schema_of(table: CaseTable) -> Iterator[str]:
    parts = table.name.split(".")
    if len(parts) > 1:
        yield parts[-2]
