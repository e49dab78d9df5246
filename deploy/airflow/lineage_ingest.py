"""Airflow 2.4 or newer: ingest a dbt project after its build, and the warehouse's query log every hour.

The tasks run `lineage` on the worker, and write through the service: the connection `lineage_service` has its address
and, as the password, a token with the roles `reader` and `ingester`. Airflow's own OpenLineage provider may send its
events to the same service: `transport = {"type": "http", "url": "http://lineage:8000", "endpoint": "api/v1/lineage"}`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator

ENVIRONMENT = {
    "NAMESPACE": "snowflake://account",
    "LINEAGE_STORE": "http://{{ conn.lineage_service.host }}:{{ conn.lineage_service.port }}",
    "LINEAGE_TOKEN": "{{ conn.lineage_service.password }}",
}
DEFAULTS = {"retries": 3, "retry_delay": timedelta(minutes=5), "execution_timeout": timedelta(hours=2)}

with DAG(
    "lineage_of_dbt", schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False, default_args=DEFAULTS
):  # fmt: skip
    build = BashOperator(task_id="dbt_build", bash_command="cd /opt/dbt/shop && dbt build")
    ingest = BashOperator(
        task_id="ingest_dbt",
        bash_command="lineage ingest dbt /opt/dbt/shop/target --namespace $NAMESPACE",
        env=ENVIRONMENT,
        append_env=True,
        trigger_rule="all_done",  # what was built before a failure is known, too
    )
    build >> ingest

with DAG(
    "lineage_of_query_log", schedule="@hourly", start_date=datetime(2026, 1, 1), catchup=False, default_args=DEFAULTS,
    max_active_runs=1,
):  # fmt: skip
    # Rows that were read before change nothing: an overlap of an hour loses none that came late.
    BashOperator(
        task_id="ingest_log",
        bash_command=(
            "lineage ingest log /exports/query_history/*.parquet --source snowflake "
            "--namespace $NAMESPACE --fail-on file"
        ),
        env=ENVIRONMENT,
        append_env=True,
    )
