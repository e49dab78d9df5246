"""Column-level data lineage: SQL in, a typed column graph out, impact and root cause back."""

from typing import TYPE_CHECKING

from lineage.lazy_names import lazy_names

if TYPE_CHECKING:
    from lineage.catalog import Catalog
    from lineage.sql import Budget, TableTrace, extract, extract_script, trace_tables

__all__ = ["Budget", "Catalog", "TableTrace", "extract", "extract_script", "trace_tables"]
__version__ = "0.1.0"

_MODULES = {**dict.fromkeys(__all__, "sql"), "Catalog": "catalog"}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
