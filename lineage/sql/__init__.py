"""SQL text into statement lineage: parsing, the resolver and its rules, scripts, masking."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    """Return a public name. Its module is imported on first use, because the catalog needs the parser only."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
