"""Column-level data lineage: SQL in, a typed column graph out, impact and root cause back."""

from lineage.catalog import Catalog
from lineage.sql import extract, extract_script, trace_tables

__all__ = ["Catalog", "extract", "extract_script", "trace_tables"]
__version__ = "0.1.0"
