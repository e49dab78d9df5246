"""Tables of a Hive metastore: Derby, in the session's own process."""

from __future__ import annotations

import pytest

from tests.spark_plan.conftest import running_spark
from tests.spark_plan.lineage_text import edges_of

_CODE = """
spark.sql("set hive.exec.dynamic.partition.mode = nonstrict")
spark.sql("create table persons (id int, name string) stored as textfile")
spark.sql("create table names (shown string, next int) stored as orc")
spark.sql("create table by_day (id int) partitioned by (day string) stored as textfile")
spark.sql("insert into names select upper(name), id + 1 from persons where id > 0")
spark.sql("insert overwrite table by_day partition (day) select id, name from persons")
spark.sql("create table copied stored as textfile as select id as key from persons")
spark.sql(f"insert overwrite directory '{B}/files' stored as textfile select id from persons")
"""
_EDGES = {
    "names": [
        "persons ~> * [ROWS]", "persons.id -> next [TRANSFORMATION]", "persons.id ~> * [FILTER]",
        "persons.name -> shown [TRANSFORMATION]",
    ],
    "by_day": ["persons ~> * [ROWS]", "persons.id -> id [IDENTITY]", "persons.name -> day [IDENTITY]"],
    "copied": ["persons ~> * [ROWS]", "persons.id -> key [IDENTITY]"],
    "files": ["persons ~> * [ROWS]", "persons.id -> id [IDENTITY]"],
}  # fmt: skip


def test_tables_of_a_metastore_are_read_and_written(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("hive")
    confs = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
        "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={folder}/derby.log",
    }
    with running_spark(folder, (), confs) as spark:
        ran = spark.lineage("hive", _CODE)
    writes = [write for execution in ran for write in execution.writes]
    assert {write.target.name.rpartition("/")[2].rpartition(".")[2]: edges_of(write) for write in writes} == _EDGES
    assert not any(write.diagnostics for write in writes)
