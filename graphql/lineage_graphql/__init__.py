"""The service: GraphQL over a store, OpenLineage events in, safe by default."""

from typing import TYPE_CHECKING

from lineage.lazy_names import lazy_names

if TYPE_CHECKING:
    from lineage_graphql.app import make_app
    from lineage_graphql.settings import Settings

_MODULES = {"make_app": "app", "Settings": "settings"}

__all__ = ["Settings", "make_app"]

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
