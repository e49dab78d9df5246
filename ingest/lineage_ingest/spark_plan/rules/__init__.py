"""Rules for the nodes of plans, one file a subject. Importing them registers them."""

from lineage_ingest.spark_plan.rules import (
    cut_plans,
    joins,
    lambdas,
    merged_rows,
    nested_values,
    opaque,
    query_blocks,
    row_generators,
    unions,
)

__all__ = [
    "cut_plans",
    "row_generators",
    "joins",
    "lambdas",
    "merged_rows",
    "nested_values",
    "opaque",
    "query_blocks",
    "unions",
]
