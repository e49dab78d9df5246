"""SQL texts of what a database's catalog states: a view's definition, a function's body, generated columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lineage.model.names import format_name, split_name
from lineage_ingest.live_database.postgres.objects import (
    LiveDatabase,
    LiveFunction,
    LiveRelation,
    RelationKind,
    quoted,
)

__all__ = ["StatedText", "function_name", "is_function", "schema_named", "stated_texts"]

_FUNCTION = "function "


@dataclass(frozen=True, slots=True)
class StatedText:
    """A text to resolve. `name` identifies it in the database, `source` is its name for display."""

    name: str
    source: str
    text: str
    relation: LiveRelation | None = None

    @property
    def is_view(self) -> bool:
        """Whether it defines a view."""
        return self.relation is not None and self.relation.kind.is_view


def stated_texts(database: LiveDatabase) -> Iterator[StatedText]:
    """Yield the texts: of tables with generated columns, of functions, and of views."""
    for relation in database.relations:
        if relation.generated:
            yield StatedText(database.full_name(relation), relation.local_name, _table_text(relation), relation)
    for function in database.functions:
        yield StatedText(function_name(database, function), function.signature, _function_text(function))
    for relation in database.relations:
        if relation.definition:
            yield StatedText(database.full_name(relation), relation.local_name, _view_text(relation), relation)


def function_name(database: LiveDatabase, function: LiveFunction) -> str:
    """Return the name that identifies a function, with its argument types: functions can be overloaded."""
    return f"{_FUNCTION}{format_name([database.name])}.{function.signature}"


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


def _name(relation: LiveRelation) -> str:
    return f"{quoted(relation.schema)}.{quoted(relation.name)}"


def _view_text(relation: LiveRelation) -> str:
    what = "MATERIALIZED VIEW" if relation.kind is RelationKind.MATERIALIZED_VIEW else "VIEW"
    query = str(relation.definition).strip().removesuffix(";")
    return f"CREATE {what} {_name(relation)} AS\n{query}"


def _table_text(relation: LiveRelation) -> str:
    columns = []
    for column in relation.columns:
        kept = "VIRTUAL" if column.is_virtual else "STORED"
        computed = f" GENERATED ALWAYS AS ({column.generated}) {kept}" if column.generated is not None else ""
        columns.append(f"  {quoted(column.name)} {column.data_type}{computed}")
    return f"CREATE TABLE {_name(relation)} (\n" + ",\n".join(columns) + "\n)"


def _function_text(function: LiveFunction) -> str:
    """Return the text of a function, after the search path by which it finds its tables."""
    path = ", ".join(map(quoted, function.search_path))
    text = function.definition.strip().removesuffix(";")
    return f"SET search_path = {path};\n{text}" if path else text
