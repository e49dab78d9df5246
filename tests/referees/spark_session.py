"""A Spark that analyses statements and runs none of them, over empty tables."""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.referees.reading import Reading
from tests.referees.spark_plan import readings_of_plan
from tests.soundness.experiment import RejectedError

__all__ = ["SparkAnalyser", "running_spark"]


_CONDITION = re.compile(r"\[[A-Z_.]{5,}\].*?(?=\. |$)")
"""How Spark's errors begin: the name of the condition, and a sentence."""


class SparkAnalyser:
    """Analyses statements in one session."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        session: Any = spark._jsparkSession
        self._state = session.sessionState()
        jvm: Any = spark._jvm
        self._skip = jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()

    def analyse(self, sql: str) -> list[Reading]:
        """Return what Spark's analysed plan of a statement says.

        Raises:
            RejectedError: Spark does not accept the statement.
            UnreadPlanError: the plan has an operator that we do not read.
        """
        plan = self.analysed(sql)
        return readings_of_plan(plan.toJSON(), _listed(plan))

    def analysed(self, sql: str) -> Any:
        """Return Spark's analysed plan of a statement.

        Raises:
            RejectedError: Spark does not accept the statement.
        """
        try:
            execution = self._state.executePlan(self._state.sqlParser().parsePlan(sql), self._skip)
            execution.assertAnalyzed()
            return execution.analyzed()
        except (PySparkException, Py4JJavaError) as error:
            raise RejectedError(_message(error)) from error

    def drop_views(self) -> None:
        """Drop all temporary views."""
        self._state.catalog().clearTempTables()

    def run(self, sql: str) -> None:
        """Run a statement that defines something.

        Raises:
            RejectedError: Spark does not accept it.
        """
        try:
            self.spark.sql(sql)
        except (PySparkException, Py4JJavaError) as error:
            raise RejectedError(_message(error)) from error


def _listed(plan: Any) -> list[str]:
    """Return the column list of CREATE VIEW."""
    if not plan.nodeName().startswith("CreateView"):
        return []
    columns = plan.userSpecifiedColumns()
    return [columns.apply(position)._1() for position in range(columns.size())]


def _message(error: Exception) -> str:
    """Return the line that says what is wrong, without places."""
    lines = [line for line in str(error).splitlines() if _CONDITION.search(line)]
    if not lines:
        return next(line for line in str(error).splitlines() if line.strip())[:100]
    return _CONDITION.search(lines[0])[0]  # type: ignore[index]


@contextmanager
def running_spark() -> Iterator[SparkAnalyser]:
    """Run Spark until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="lineage-spark-") as home:
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.warehouse.dir": str(Path(home) / "warehouse"),
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.legacy.createHiveTableByDefault": "false",
        }
        builder = SparkSession.builder.master("local[1]").appName("referee")
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        logging.getLogger("SQLQueryContextLogger").disabled = True  # that a statement is rejected is an answer
        try:
            yield SparkAnalyser(spark)
        finally:
            spark.stop()
