"""Rules for the nodes of plans, one file a subject. Importing them registers them."""

from lineage_ingest.spark_plan.rules import (
    cut_plans,
    generators,
    joins,
    opaque,
    query_blocks,
    set_operations,
)

__all__ = ["cut_plans", "generators", "joins", "opaque", "query_blocks", "set_operations"]
