"""SQL text into statement lineage: parsing, the resolver and its rules, scripts, masking."""

from typing import TYPE_CHECKING

from lineage.lazy_names import lazy_names

if TYPE_CHECKING:
    from lineage.sql.budget import Budget
    from lineage.sql.extraction import extract
    from lineage.sql.scan import mask_for_parsing, mask_literals
    from lineage.sql.script.extract_script import extract_script
    from lineage.sql.table_tracing import TableTrace, trace_tables

__all__ = ["Budget", "TableTrace", "extract", "extract_script", "mask_for_parsing", "mask_literals", "trace_tables"]

_MODULES = {
    "Budget": "budget",
    "TableTrace": "table_tracing",
    "extract": "extraction",
    "extract_script": "script.extract_script",
    "mask_for_parsing": "scan",
    "mask_literals": "scan",
    "trace_tables": "table_tracing",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
