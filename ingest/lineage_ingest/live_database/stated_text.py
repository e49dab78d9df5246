"""A text of a database's catalog that states lineage, and the names that identify objects of a database."""

from __future__ import annotations

from lineage.frozen import frozen
from lineage.model.names import format_name, split_name
from lineage_ingest.live_database.objects import LiveDatabase, LiveFunction, LiveRelation

__all__ = ["StatedText", "function_name", "is_function", "schema_named"]

_FUNCTION = "function "


@frozen
class StatedText:
    """A text to resolve. `name` identifies it in the database, `source` is its name for display."""

    name: str
    source: str
    text: str
    relation: LiveRelation | None = None
    has_condition: bool = False
    """Whether a condition outside its statements decides whether they run: WHEN of a trigger."""

    @property
    def is_view(self) -> bool:
        """Whether it defines a view."""
        return self.relation is not None and self.relation.kind.is_view


def function_name(database: LiveDatabase, function: LiveFunction) -> str:
    """Return the name that identifies a function, with its argument types: functions can be overloaded."""
    return _FUNCTION + ".".join(filter(None, (database.name and format_name([database.name]), function.signature)))


def is_function(name: str) -> bool:
    """Return whether a name that identifies an object is a function's."""
    return name.startswith(_FUNCTION)


def schema_named(name: str) -> str:
    """Return the schema in a name that identifies an object.

    >>> schema_named("shop.mart.orders"), schema_named("function shop.mart.total(integer, numeric)")
    ('mart', 'mart')
    """
    parts = split_name(name.removeprefix(_FUNCTION).partition("(")[0] if is_function(name) else name)
    return parts[1][0] if len(parts) > 1 else ""
