"""TPC-DS by plan and by SQL: the same edges, column by column and for the rows."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from lineage import Catalog, extract
from lineage.model.statement import ColumnRef
from tests.spark_plan.conftest import SparkProcess, lineages
from tests.spark_plan.lineage_text import edges_of

TPCDS = Path(__file__).parents[1] / "data" / "tpcds"
SCHEMA = json.loads((TPCDS / "schema.json").read_text())
pytestmark = pytest.mark.xdist_group("spark_plan")

# ANSI is off: q84 adds strings. One request: each view is made and read in some 80 ms.
_VIEWS = """
import json
spark.conf.set("spark.sql.ansi.enabled", "false")
spark.sql("create database if not exists tpcds")
spark.sql("use tpcds")
for name, columns in json.loads({tables!r}).items():
    listed = ", ".join(f"{{column}} {{kind}}" for column, kind in columns.items())
    spark.sql(f"create table {{name}} ({{listed}}) using parquet")
for name, (count, query) in json.loads({queries!r}).items():
    names = ", ".join(f"c{{i}}" for i in range(count))
    spark.sql(f"create view v_{{name}} ({{names}}) as {{query}}")
spark.sql("use default")
spark.conf.set("spark.sql.ansi.enabled", "true")
"""


def test_plans_equal_sql(spark: SparkProcess) -> None:
    catalog = Catalog.from_dict({f"tpcds.{name}": columns for name, columns in SCHEMA.items()}, "spark")
    queries = {path.stem: path.read_text().strip().rstrip(";") for path in sorted(TPCDS.glob("*.sql"))}
    assert len(queries) == 105
    by_sql = {}
    for name, query in queries.items():
        [by_sql[name]] = extract(query, "spark", catalog, default_schema="tpcds")
    listed = {name: (len(by_sql[name].output_columns), query) for name, query in queries.items()}
    ran = spark.run("tpcds", _VIEWS.format(tables=json.dumps(SCHEMA), queries=json.dumps(listed)))
    assert ran.error is None, ran.error
    by_plan = {
        write.target.name.rpartition("v_")[2]: write
        for one in lineages(ran.frames, spark.catalogs)
        for write in one.writes
        if ".v_" in write.target.name
    }
    assert by_plan.keys() == queries.keys()
    differences = {}
    columns = 0
    for name, statement in by_sql.items():
        # Columns by position: several of a query may have one name.
        positions: dict[str, list[str]] = defaultdict(list)
        for index, column in enumerate(statement.output_columns):
            positions[column].append(f"c{index}")
        expected: set[str] = set()
        for edge in (*statement.edges, *(one.as_edge() for one in statement.row_references)):
            head, mark, tail = str(edge).replace(". ~>", " ~>").partition(f" {edge.target} [")
            assert mark
            for target in positions[edge.target.column] if isinstance(edge.target, ColumnRef) else ["*"]:
                expected.add(f"{head.replace('tpcds.', '')} {target} [{tail}")
        found = set(edges_of(by_plan[name]))
        if all(len(one) == 1 for one in positions.values()):
            if found != expected:
                differences[name] = (sorted(found - expected), sorted(expected - found))
        else:  # by SQL, columns of one name share their sources
            extra = {one for one in expected - found if not _is_of_twin(one, expected, positions)}
            if found - expected or extra:
                differences[name] = (sorted(found - expected), sorted(extra))
        columns += len(statement.output_columns)
        assert by_plan[name].diagnostics == ()
    assert differences == {}
    assert columns == 667


def _is_of_twin(edge: str, expected: set[str], positions: dict[str, list[str]]) -> bool:
    """Return whether an edge of a column stands for another column of the same name, too."""
    head, _, tail = edge.partition(" [")
    before, _, target = head.rpartition(" ")
    twins = next((listed for listed in positions.values() if target in listed), [])
    return any(f"{before} {twin} [{tail}" in expected for twin in twins if twin != target)
