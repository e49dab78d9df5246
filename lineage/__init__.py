"""Column-level data lineage: SQL in, a typed column graph out, impact and root cause back."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineage.catalog import Catalog
    from lineage.sql import Budget, TableTrace, extract, extract_script, trace_tables

__all__ = ["Budget", "Catalog", "TableTrace", "extract", "extract_script", "trace_tables"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Return a name of the public interface; what it needs (the SQL parser) is loaded when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module("lineage.catalog" if name == "Catalog" else "lineage.sql"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
