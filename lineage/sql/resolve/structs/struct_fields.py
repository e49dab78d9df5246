"""The fields of a value whose type is known: from the catalog, for columns of base tables and what is below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineage.model.names import ColumnPath
from lineage.sql.resolve.relations import BaseTable, Composite, Sources
from lineage.sql.resolve.structs.struct_types import element_type, fields_of_type, has_parts
from lineage.sql.resolve.structs.value_fields import known_names
from lineage.sql.resolve.transformation_codes import IDENTITY

if TYPE_CHECKING:
    from lineage.sql.resolve.resolver import Resolver

__all__ = ["fields_of", "is_structured", "structured_type", "type_of"]


def fields_of(resolver: Resolver, value: Sources) -> tuple[str, ...] | None:
    """Return the names of a value's fields, folded; an empty tuple if it has none, None if that is not known."""
    if isinstance(value, Composite) and value.fields is not None:
        return () if value.lists else known_names(value)
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


def is_structured(resolver: Resolver, value: Sources) -> bool:
    """Return whether a column is known to have fields."""
    if isinstance(value, Composite):
        return True
    for source, effect in value:
        table = resolver.base_table(source.table) if effect == IDENTITY else None
        known = table.known if isinstance(table, BaseTable) else None
        data_type = known.get(source.column) if known is not None else None
        if data_type is not None and has_parts(data_type):
            return True
    return False


def structured_type(resolver: Resolver, value: Sources) -> str | None:
    """Return the type of a struct or an array of structs, with `?` for types that are not known; None for others."""
    if isinstance(value, Composite) and value.fields is not None:
        names = known_names(value)
        if not names or value.closed:
            return None
        fields = ((name, value.fields[name]) for name in names)
        listed = [
            f"{_quoted(name)} {structured_type(resolver, field) or type_of(resolver, field) or '?'}"
            for name, field in fields
        ]
        in_brackets = resolver.naming.dialect.unnests_structs
        kind = f"STRUCT({', '.join(listed)})" if in_brackets else f"STRUCT<{', '.join(listed)}>"
        for _ in range(value.lists):
            kind = f"{kind}[]" if in_brackets else f"ARRAY<{kind}>"
        return kind
    return type_of(resolver, value) if is_structured(resolver, value) else None


def _quoted(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
