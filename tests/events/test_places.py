"""One place has one name, however it is written."""

from __future__ import annotations

import pytest

from lineage.model.namespaces import normal_namespace
from lineage_ingest.openlineage.dataset_ids import dataset_id_of

SAME = [
    ("postgres://db:5432", ["postgresql://DB", "postgres://db/", "jdbc:postgresql://db:5432", "postgresql://me:pw@db"]),
    ("mssql://h:1433", ["sqlserver://H", "mssql://h", "jdbc:sqlserver://h:1433;databaseName=x;user=y"]),
    ("mysql://h:3306", ["mysql://h", "mariadb://H:3306", "jdbc:mysql://h:3306/?user=x"]),
    ("snowflake://org-acct", ["snowflake://ORG-ACCT", "snowflake://org-acct.snowflakecomputing.com/"]),
    ("s3://Lake", ["s3a://Lake", "s3n://Lake/", "S3://Lake"]),
    ("abfss://c@acct.dfs.core.windows.net", ["abfs://c@ACCT.dfs.core.windows.net"]),
    ("wasbs://c@acct.blob.core.windows.net", ["wasb://c@acct.blob.core.windows.net/"]),
    ("hdfs://nn", ["hdfs://nn:8020", "HDFS://NN/"]),
    ("hdfs://nn:9000", ["hdfs://NN:9000/"]),
    ("file", ["file:", "file://", "file:///"]),
    ("dbfs", ["dbfs:", "dbfs:/"]),
    ("bigquery", ["bigquery", "bigquery:"]),
    ("gs://b", ["gcs://b/"]),
    ("redshift://c.eu:5439", ["redshift://c.EU"]),
    ("oracle://h:1521", ["oracle://h"]),
    ("hive://ms:10000", ["hive2://ms"]),
    ("kafka://a:9092", ["kafka://A:9092/"]),
    ("arn:aws:glue:eu:123", ["arn:aws:glue:eu:123"]),
    ("my own: place", ["my own: place"]),
    ("pg", ["pg", "pg/"]),
]


@pytest.mark.parametrize(("normal", "spellings"), SAME, ids=[normal for normal, _ in SAME])
def test_namespaces(normal: str, spellings: list[str]) -> None:
    assert {normal_namespace(one) for one in spellings} == {normal}
    assert normal_namespace(normal) == normal


KEYS = [
    ("file", "/data/x/", "file//data/x"),
    ("file:/wh", "t", "file//wh/t"),
    ("file", "file:/data/x", "file//data/x"),
    ("s3a://b", "/raw/X/", "s3://b/raw/X"),
    ("s3://b", "/", "s3://b//"),
    ("hdfs://nn:8020", "/data/x", "hdfs://nn/data/x"),
    ("postgres://db", 'Shop.public."Odd Name"', 'postgres://db:5432/shop.public."Odd Name"'),
    ("bigquery", "p.d.events_20240101", "bigquery/p.d.events_*"),
    ("bigquery", "my-project.D.T", "bigquery/my-project.D.T"),
    ("snowflake://o-a", "db.s.t", "snowflake://o-a/DB.S.T"),
    ("kafka://k:9092", "Clicks", "kafka://k:9092/Clicks"),
    ("arn:aws:glue:eu:1", "table/Db/T", "arn:aws:glue:eu:1/table/Db/T"),
    ("custom", "Any Thing#1", "custom/Any Thing%231"),
    ("postgres://db:5432", "", "postgres://db:5432/"),
]


@pytest.mark.parametrize(("namespace", "name", "key"), KEYS)
def test_keys(namespace: str, name: str, key: str) -> None:
    assert dataset_id_of(namespace, name).key == key


def test_our_own_names_stay() -> None:
    assert dataset_id_of("postgres://db:5432", "Shop.T", exact=True).key == "postgres://db:5432/Shop.T"
    assert dataset_id_of("postgres://db:5432", "Shop.T", exact=True).fold("Id") == "Id"
    assert dataset_id_of("postgres://db:5432", "Shop.T").fold("Id") == "id"
