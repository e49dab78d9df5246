"""Ingest lineage from SQL, dbt, query logs, databases, dashboards and events; compare projects and opinions."""

from typing import TYPE_CHECKING

from lineage.lazy_names import lazy_names

if TYPE_CHECKING:
    from lineage_ingest.api import (
        ingest_bi,
        ingest_dbt,
        ingest_duckdb,
        ingest_openlineage,
        ingest_postgres,
        ingest_sql,
        ingest_sqlite,
    )
    from lineage_ingest.bi.ingest import BiSummary
    from lineage_ingest.compare.verdicts import Comparison
    from lineage_ingest.compare_api import CompareOptions, compare_lineage
    from lineage_ingest.dbt.project_summary import DbtSummary
    from lineage_ingest.diff.project_diff import ProjectDiff
    from lineage_ingest.diff.revisions.revisions import RevisionOptions
    from lineage_ingest.diff_api import diff_revisions
    from lineage_ingest.live_database.database_ingest import DatabaseSummary
    from lineage_ingest.log_api import FollowSummary, follow_log, ingest_log, plan_log
    from lineage_ingest.openlineage.files import EventSummary
    from lineage_ingest.options import (
        BiOptions,
        DatabaseFileOptions,
        DatabaseOptions,
        DbtOptions,
        OptionError,
        SqlOptions,
    )
    from lineage_ingest.query_log.ingest import LogSummary
    from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions
    from lineage_ingest.query_log.pipeline.log_input import Jdbc
    from lineage_ingest.query_log.streaming.stream_input import Kafka
    from lineage_ingest.query_log_options import FollowOptions, LogOptions
    from lineage_ingest.sql_files.summary import IngestSummary

_MODULES = {
    "ingest_sql": "api",
    "ingest_dbt": "api",
    "ingest_log": "log_api",
    "ingest_openlineage": "api",
    "ingest_postgres": "api",
    "ingest_duckdb": "api",
    "ingest_sqlite": "api",
    "ingest_bi": "api",
    "follow_log": "log_api",
    "plan_log": "log_api",
    "compare_lineage": "compare_api",
    "diff_revisions": "diff_api",
    "CompareOptions": "compare_api",
    "RevisionOptions": "diff.revisions.revisions",
    "Comparison": "compare.verdicts",
    "ProjectDiff": "diff.project_diff",
    "SqlOptions": "options",
    "DbtOptions": "options",
    "DatabaseOptions": "options",
    "DatabaseFileOptions": "options",
    "BiOptions": "options",
    "LogOptions": "query_log_options",
    "FollowOptions": "query_log_options",
    "Jdbc": "query_log.pipeline.log_input",
    "Kafka": "query_log.streaming.stream_input",
    "EngineKind": "query_log.pipeline.engines.opening",
    "SparkOptions": "query_log.pipeline.engines.opening",
    "IngestSummary": "sql_files.summary",
    "DbtSummary": "dbt.project_summary",
    "DatabaseSummary": "live_database.database_ingest",
    "BiSummary": "bi.ingest",
    "LogSummary": "query_log.ingest",
    "EventSummary": "openlineage.files",
    "FollowSummary": "log_api",
    "OptionError": "options",
}

__all__ = [
    "ingest_sql",
    "ingest_dbt",
    "ingest_log",
    "ingest_openlineage",
    "ingest_postgres",
    "ingest_duckdb",
    "ingest_sqlite",
    "ingest_bi",
    "follow_log",
    "plan_log",
    "compare_lineage",
    "diff_revisions",
    "CompareOptions",
    "RevisionOptions",
    "Comparison",
    "ProjectDiff",
    "SqlOptions",
    "DbtOptions",
    "DatabaseOptions",
    "DatabaseFileOptions",
    "BiOptions",
    "LogOptions",
    "FollowOptions",
    "Jdbc",
    "Kafka",
    "EngineKind",
    "SparkOptions",
    "IngestSummary",
    "DbtSummary",
    "DatabaseSummary",
    "BiSummary",
    "LogSummary",
    "EventSummary",
    "FollowSummary",
    "OptionError",
]

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
