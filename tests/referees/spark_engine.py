"""Spark, asked about cases: what its analysed plan says of the columns and of the rows."""

from __future__ import annotations

from lineage.model.statement import StatementLineage
from tests.referees.case_tables import ReadCase
from tests.referees.reading import Reading
from tests.referees.spark_session import SparkAnalyser

__all__ = ["SparkEngine"]


class SparkEngine:
    default_types: tuple[str, ...] = ("int", "string", "array<int>")

    def __init__(self, spark: SparkAnalyser) -> None:
        self._spark = spark
        self._schemas: list[str] = []

    def begin(self, read: ReadCase, default_type: str) -> None:
        self._schemas = ["case", *read.schemas]
        for schema in self._schemas:
            self._spark.run(f"CREATE DATABASE IF NOT EXISTS {schema}")
        self._spark.run("USE case")
        for table in read.tables:
            self._spark.run(table.create(default_type, "USING parquet"))

    def read(self, text: str, statements: list[StatementLineage]) -> list[Reading]:
        return self._spark.analyse(text)

    def define(self, text: str) -> None:
        self._spark.run(text)

    def end(self) -> None:
        self._spark.run("USE default")
        for schema in self._schemas:
            self._spark.run(f"DROP DATABASE IF EXISTS {schema} CASCADE")
        self._spark.drop_views()
