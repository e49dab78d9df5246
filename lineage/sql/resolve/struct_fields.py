"""The fields of a value whose type is known: from the catalog, for columns of base tables and what is below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineage.model.names import ColumnPath
from lineage.sql.resolve.relations import BaseTable, Composite, Sources
from lineage.sql.resolve.struct_types import element_type, fields_of_type
from lineage.sql.resolve.transformation_codes import IDENTITY

if TYPE_CHECKING:
    from lineage.sql.resolve.resolver import Resolver

__all__ = ["fields_of", "type_of"]


def fields_of(resolver: Resolver, value: Sources) -> tuple[str, ...] | None:
    """Return the names of a value's fields, folded; an empty tuple if it has none, None if that is not known."""
    kind = type_of(resolver, value)
    fields = fields_of_type(kind) if kind is not None else None
    if fields is None:
        return None
    fold = resolver.naming.dialect.fold_column
    return tuple(fold(name) for name, _ in fields)


def type_of(resolver: Resolver, value: Sources) -> str | None:
    """Return the type of a value that is a column, a field of a column, or an element of one; None if not known."""
    unnested = 0
    while isinstance(value, Composite) and value.fields is None and value.whole is not None:
        value = value.whole
        unnested += 1
    if isinstance(value, Composite):
        return None
    types = {
        _type_of_column(resolver, source.table, source.column) if effect == IDENTITY else None
        for source, effect in value
    }
    kind = types.pop() if len(types) == 1 else None
    for _ in range(unnested):
        kind = element_type(kind) if kind is not None else None
    return kind


def _type_of_column(resolver: Resolver, table: str, column: str) -> str | None:
    """Return the type of a column or field of a base table, from the table's schema."""
    relation = resolver.base_table(table)
    if not isinstance(relation, BaseTable) or relation.known is None:
        return None
    name, *path = ColumnPath.parse(column).parts
    kind = relation.known.get(name)
    fold = resolver.naming.dialect.fold_column
    for part in path:
        while kind is not None and (element := element_type(kind)) is not None:
            kind = element  # a field of an array's elements
        fields = fields_of_type(kind) if kind is not None else None
        kind = next((own for field, own in fields or () if fold(field) == part), None)
    return kind
