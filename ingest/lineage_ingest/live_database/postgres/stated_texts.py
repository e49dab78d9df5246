"""SQL texts of what a database's catalog states: a view's definition, a function's body, generated columns."""

from __future__ import annotations

from collections.abc import Iterator

from lineage_ingest.live_database.objects import (
    LiveDatabase,
    LiveFunction,
    LiveRelation,
    RelationKind,
    quoted,
)
from lineage_ingest.live_database.stated_text import StatedText, function_name

__all__ = ["stated_texts"]


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


def _name(relation: LiveRelation) -> str:
    return f"{quoted(relation.schema)}.{quoted(relation.name)}"


def _view_text(relation: LiveRelation) -> str:
    what = "MATERIALIZED VIEW" if relation.kind is RelationKind.MATERIALIZED_VIEW else "VIEW"
    query = str(relation.definition).strip().removesuffix(";")
    return f"CREATE {what} {_name(relation)} AS\n{query}"


def _table_text(relation: LiveRelation) -> str:
    columns = []
    for column in relation.columns:
        kept = "" if column.is_virtual else " STORED"
        computed = f" GENERATED ALWAYS AS ({column.generated}){kept}" if column.generated is not None else ""
        columns.append(f"  {quoted(column.name)} {column.data_type}{computed}")
    return f"CREATE TABLE {_name(relation)} (\n" + ",\n".join(columns) + "\n)"


def _function_text(function: LiveFunction) -> str:
    """Return the text of a function, after the search path by which it finds its tables."""
    path = ", ".join(map(quoted, function.search_path))
    text = function.definition.strip().removesuffix(";")
    return f"SET search_path = {path};\n{text}" if path else text
