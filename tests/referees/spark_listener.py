"""The lineage that the Spark listener reads from Spark's analysed plan of a case, against that of its SQL."""

from __future__ import annotations

import json
from typing import Any

from lineage.model.diagnostics import Diagnostic, Severity
from lineage.model.names import ColumnPath
from lineage.model.statement import StatementLineage
from lineage_ingest.spark_plan.frames import KnownFrames
from lineage_ingest.spark_plan.listener.jvm_listener import _compile
from lineage_ingest.spark_plan.plan_lineage import read_lineage
from lineage_ingest.spark_plan.plan_reader import PlanReader
from lineage_ingest.spark_plan.plan_tree import read_plan
from lineage_ingest.spark_plan.session_variables import SessionVariables
from lineage_ingest.spark_plan.tables.datasets import Catalogs
from lineage_ingest.spark_plan.tables.sources import Reads
from lineage_ingest.spark_plan.traced_values import Sources
from tests.referees.case_tables import ReadCase
from tests.referees.comparison import composed_tables
from tests.referees.spark_engine import SparkEngine
from tests.referees.spark_session import SparkAnalyser
from tests.spark_plan.lineage_text import edge_lines, edges_by_sql

__all__ = ["SparkListener"]

_CHARACTERS, _FOREVER = 16_000_000, 2**63 - 1


class SparkListener(SparkEngine):
    """Spark with a second answer: each difference is a line, `plan: ` what only the plan has, `sql: ` only the SQL."""

    def __init__(self, spark: SparkAnalyser) -> None:
        super().__init__(spark)
        self._catalogs = Catalogs({"spark.sql.warehouse.dir": "file:/warehouse"})
        [self._writer] = _compile(spark.spark).loadClass("lineage.spark.PlanWriter").getConstructors()

    def begin(self, read: ReadCase, default_type: str) -> None:
        """Create the tables of a case, empty."""
        super().begin(read, default_type)
        self._variables = SessionVariables()
        self._composed = composed_tables(read)

    def compare(self, text: str, statements: list[StatementLineage]) -> list[str]:
        """Return how the lineage of a statement's plan differs from that of its SQL.

        Raises:
            RejectedError: Spark does not accept the statement.
        """
        analysed = self._spark.analysed(text)
        nodes = self._nodes(analysed)
        found = read_lineage(nodes, self._catalogs, KnownFrames(), variables=self._variables, sql=text)
        if found.writes:
            lines = [edge_lines(write.columns, write.rows) for write in found.writes]
            extra = [one for write in found.writes for one in write.diagnostics]
        elif statements[0].operation == "SELECT":
            answer, extra = self._answer(analysed, nodes, text, statements[0].output_columns)
            lines = [answer]
        elif statements[0].target and statements[0].target.rpartition(".")[2].lower() in self._composed:
            return []  # a temporary view: what reads it has the lineage
        else:
            return [f"plan: {statements[0].operation} writes nothing"]
        listed = [f"plan: ! {one.code}" for one in extra if one.severity is not Severity.INFO]
        if len(lines) != len(statements):
            lines = [[line for one in lines for line in one]]
        for statement, plan in zip(statements, lines, strict=True):
            sql = edges_by_sql(statement)
            listed += [f"plan: {line}" for line in sorted(set(plan) - sql)]
            listed += [f"sql: {line}" for line in sorted(sql - set(plan))]
        return listed

    def _answer(self, plan: Any, nodes: list[Any], text: str, names: list[str]) -> tuple[list[str], list[Diagnostic]]:
        """Return the edges of a query, whose columns are called as we call them."""
        tree = read_plan(nodes)
        reader = PlanReader(Reads(self._catalogs), KnownFrames(), self._variables, text)
        reader.read(tree)
        relation = reader.relation(tree[-1])
        theirs = list(plan.schema().fieldNames())
        columns: dict[str, Sources] = {}
        for name, value in zip(names if len(names) == len(theirs) else theirs, relation.columns(), strict=True):
            columns.setdefault(name, {}).update(value.sources)
        named = [(str(ColumnPath((name,))), sources) for name, sources in columns.items()]
        return edge_lines(named, relation.rows.flat()), list(reader.diagnostics)

    def _nodes(self, plan: Any) -> list[Any]:
        gateway, jvm = self._spark.spark.sparkContext._gateway, self._spark.spark._jvm
        assert gateway is not None
        assert jvm is not None
        arguments = gateway.new_array(jvm.java.lang.Object, 3)
        for index, value in enumerate((_CHARACTERS, jvm.java.lang.Long.valueOf(_FOREVER), False)):
            arguments[index] = value
        return list(json.loads(self._writer.newInstance(arguments).write(plan)))
