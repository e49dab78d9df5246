"""One column from a PostgreSQL table through a view, a query log, dbt and a Spark job into a card of a dashboard.

The database, its log and Spark are real; dbt's manifest and Metabase's card are in their documented forms.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lineage.neo4j_server.ports import free_port
from tests.cli.running import lineage
from tests.dbt.manifests import manifest, model, source, write
from tests.live_database.postgres_database import ServedDatabase
from tests.maven_jars import fetched
from tests.query_logs.servers.postgres_server import running_postgres

pytestmark = pytest.mark.xdist_group("postgres")
DRIVER = ("org.postgresql:postgresql:42.7.8",)
CONTACTS = "CREATE TABLE staging.contacts AS SELECT id, mail AS contact FROM raw.people"
DOMAINS = "select id, split_part(contact, '@', 2) as domain from staging.contacts"
TAGS = {"d": {"name": "d", "display-name": "Domain", "type": "text"}}
CARD = {
    "id": 7, "name": "Reach by domain", "display": "bar", "database_id": 2, "query_type": "native",
    "dataset_query": {
        "database": 2, "type": "native",
        "native": {"query": "select domain, people from mart.reach [[where domain = {{d}}]]", "template-tags": TAGS},
    },
}  # fmt: skip
SPARK = """
import sys
from pyspark.sql import SparkSession, functions as f
from lineage_ingest import spark_plan

jar, url, store, spool = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]").config("spark.jars", jar).config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1").config("spark.lineage.spool", spool).getOrCreate()
)
tables = {"url": url, "driver": "org.postgresql.Driver", "user": "postgres"}
with spark_plan.lineage_of(spark, store, job="reach"):
    domains = spark.read.format("jdbc").options(**tables, dbtable="main.domains").load()
    reach = domains.groupBy("domain").agg(f.count_distinct("id").alias("people"))
    reach.write.format("jdbc").options(**tables, dbtable="mart.reach").mode("append").save()
spark.stop()
"""


def test_the_card_is_named_and_each_step_is_proven(tmp_path: Path) -> None:
    store, port = tmp_path / "graph.db", str(free_port())
    namespace = f"postgres://127.0.0.1:{port}"
    naming = ("--namespace", namespace, "--store", store)
    settings = {"log_destination": "csvlog", "log_statement": "all", "listen_addresses": "127.0.0.1"}
    with running_postgres(**settings, port=port) as server:
        ServedDatabase("postgres", "127.0.0.1", port).run("CREATE DATABASE wh")
        database = ServedDatabase("wh", "127.0.0.1", port)
        database.run("CREATE SCHEMA raw; CREATE SCHEMA staging; CREATE SCHEMA main; CREATE SCHEMA mart")
        database.run("CREATE TABLE raw.customers (id int, email text)")
        database.run("INSERT INTO raw.customers VALUES (1, 'ana@example.org')")
        database.run("CREATE VIEW raw.people AS SELECT id, lower(email) AS mail FROM raw.customers")
        done = [lineage("ingest", "postgres", database.uri, *naming)]
        database.run(CONTACTS)
        database.run(f"CREATE TABLE main.domains AS {DOMAINS}")
        database.run("CREATE TABLE mart.reach (domain text, people bigint)")
        [log] = server.logs.glob("*.csv")
        done.append(lineage("ingest", "log", log, "--source", "postgres_csv", "--engine", "local", *naming))
        contacts = source("contacts", {"id": "int", "contact": "text"}, schema="staging")
        built = manifest(model("domains", DOMAINS, "source.shop.staging.contacts"), contacts)
        done.append(lineage("ingest", "dbt", write(tmp_path / "target", built), *naming))
        [jar] = fetched("postgresql", DRIVER).glob("postgresql-*.jar")
        job = (sys.executable, "-c", SPARK, jar, f"jdbc:postgresql://127.0.0.1:{port}/wh", store, tmp_path / "spool")
        subprocess.run(job, check=True, capture_output=True, timeout=180)
        (tmp_path / "card.json").write_text(json.dumps(CARD), encoding="utf-8")
        connection = ("--connection", f"2={namespace},dialect=postgres,database=wh", "--server", "bi.example.org")
        done.append(lineage("ingest", "bi", "metabase", tmp_path / "card.json", *connection, "--store", store))
    assert [one.code for one in done] == [0] * len(done), done
    answer = lineage("impact", "wh.raw.customers.email", "--store", store, "--format", "json")
    assert ("card/7-Reach-by-domain", "domain") in {(one["table"], one["column"]) for one in answer.json["columns"]}
    path = lineage("path", "wh.raw.customers.email", "card/7-Reach-by-domain.domain", "--store", store, columns=200)
    steps = path.out.split("\n\n")[0]
    for proof in (
        'CREATE VIEW "raw"."people" AS SELECT id, lower(email) AS mail FROM raw.customers',
        CONTACTS,
        "split_part(contact, '*', ?) as domain from staging.contacts",
        "spark/reach.insert.reach: stated without SQL",
        "select domain, people from mart.reach",
    ):
        assert proof in steps
