"""Lineage of Spark jobs from the plans that ran: `enable(spark, target)`, and every write is in the graph."""

from typing import TYPE_CHECKING

from lineage.lazy_names import lazy_names

if TYPE_CHECKING:
    from lineage_ingest.spark_plan.extensions import Extensions
    from lineage_ingest.spark_plan.listener.spark_lineage import SparkLineage, disable, enable, lineage_of

__all__ = ["Extensions", "SparkLineage", "disable", "enable", "lineage_of"]

_MODULES = {
    "Extensions": "extensions",
    "SparkLineage": "listener.spark_lineage",
    "disable": "listener.spark_lineage",
    "enable": "listener.spark_lineage",
    "lineage_of": "listener.spark_lineage",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
