"""Spark judges random queries by its analysed plan: nothing is run."""

from __future__ import annotations

from contextlib import ExitStack

from lineage.model.statement import StatementLineage
from tests.referees.reading import differences
from tests.referees.spark_plan import UnreadPlanError
from tests.referees.spark_session import running_spark
from tests.soundness.check import Finding
from tests.soundness.experiment import RejectedError
from tests.soundness.grammar import SPARK
from tests.soundness.render import statements
from tests.soundness.tree import TABLES, Statement

__all__ = ["SparkReferee"]


class SparkReferee:
    """Compares the sources of each output column, and what decides the rows, with those of the plan."""

    def __init__(self) -> None:
        self.runs = 0
        self._stack = ExitStack()
        self._spark = self._stack.enter_context(running_spark())
        for table, columns in TABLES.items():
            listed = ", ".join(f"{name} {SPARK.column_types[kind]}" for name, kind in columns.items())
            self._spark.run(f"CREATE TABLE {table} ({listed}) USING parquet")

    def judge(self, statement: Statement, lineage: list[StatementLineage], _: int | None) -> Finding | None:
        spark, found = self._spark, []
        *before, last = statements(statement)
        try:
            readings = []
            for text in before:
                readings += spark.analyse(text)
                spark.run(text)
            readings += spark.analyse(last)
            self.runs += len(readings)
            for ours, reading in zip(lineage, readings, strict=True):
                found += differences(ours, reading)
        except UnreadPlanError as error:
            raise RejectedError(f"not read: {error}") from error
        finally:
            for temporary in statement.temporaries:
                spark.run(f"DROP VIEW IF EXISTS {temporary.name}")
        return Finding("plan", tuple(found)) if found else None

    def close(self) -> None:
        self._stack.close()
