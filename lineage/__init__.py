"""Column-level data lineage: SQL in, a typed column graph out, impact and root cause back."""

from lineage.catalog import Catalog
from lineage.sql import Budget, TableTrace, extract, extract_script, trace_tables

__all__ = ["Budget", "Catalog", "TableTrace", "extract", "extract_script", "trace_tables"]
__version__ = "0.1.0"
