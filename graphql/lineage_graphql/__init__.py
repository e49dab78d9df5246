"""The service: GraphQL over a store, OpenLineage events in, safe by default."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineage_graphql.app import make_app
    from lineage_graphql.settings import Settings

_MODULES = {"make_app": "app", "Settings": "settings"}

__all__ = ["Settings", "make_app"]


def __getattr__(name: str) -> Any:
    """Return a name of the public interface; its module is loaded when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
