"""Ingest lineage from SQL files, dbt projects, query logs and events into a store; compare projects and opinions."""

from typing import TYPE_CHECKING

from lineage.lazy_names import lazy_names

if TYPE_CHECKING:
    from lineage_ingest.api import ingest_dbt, ingest_openlineage, ingest_sql
    from lineage_ingest.compare.verdicts import Comparison
    from lineage_ingest.compare_api import CompareOptions, compare_lineage
    from lineage_ingest.dbt.project_summary import DbtSummary
    from lineage_ingest.diff.project_diff import ProjectDiff
    from lineage_ingest.diff.revisions import RevisionOptions
    from lineage_ingest.diff_api import diff_revisions
    from lineage_ingest.log_api import FollowSummary, follow_log, ingest_log, plan_log
    from lineage_ingest.openlineage.files import EventSummary
    from lineage_ingest.options import DbtOptions, OptionError, SqlOptions
    from lineage_ingest.query_log.ingest import LogSummary
    from lineage_ingest.query_log.pipeline.engines import EngineKind, SparkOptions
    from lineage_ingest.query_log.pipeline.log_input import Jdbc
    from lineage_ingest.query_log.streaming.stream_input import Kafka
    from lineage_ingest.query_log_options import FollowOptions, LogOptions
    from lineage_ingest.sql_files.summary import IngestSummary

_MODULES = {
    "ingest_sql": "api",
    "ingest_dbt": "api",
    "ingest_log": "log_api",
    "ingest_openlineage": "api",
    "follow_log": "log_api",
    "plan_log": "log_api",
    "compare_lineage": "compare_api",
    "diff_revisions": "diff_api",
    "CompareOptions": "compare_api",
    "RevisionOptions": "diff.revisions",
    "Comparison": "compare.verdicts",
    "ProjectDiff": "diff.project_diff",
    "SqlOptions": "options",
    "DbtOptions": "options",
    "LogOptions": "query_log_options",
    "FollowOptions": "query_log_options",
    "Jdbc": "query_log.pipeline.log_input",
    "Kafka": "query_log.streaming.stream_input",
    "EngineKind": "query_log.pipeline.engines",
    "SparkOptions": "query_log.pipeline.engines",
    "IngestSummary": "sql_files.summary",
    "DbtSummary": "dbt.project_summary",
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
    "LogOptions",
    "FollowOptions",
    "Jdbc",
    "Kafka",
    "EngineKind",
    "SparkOptions",
    "IngestSummary",
    "DbtSummary",
    "LogSummary",
    "EventSummary",
    "FollowSummary",
    "OptionError",
]

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
