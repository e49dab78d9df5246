"""UNNEST in FROM: the elements of arrays, and the fields of their structs."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import (
    Composite,
    Elements,
    Relation,
    Rows,
    RowSources,
    Sources,
    absorb,
)
from lineage.sql.resolve.resolver import Resolver, relation_rule
from lineage.sql.resolve.rules.aliased_columns import alias_columns
from lineage.sql.resolve.rules.nested import element_of
from lineage.sql.resolve.rules.select_list import value_of
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.structs.struct_fields import fields_of
from lineage.sql.resolve.transformation_codes import IDENTITY, JOIN

__all__ = ["rows_made"]


@relation_rule(exp.Unnest)
def unnest(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`UNNEST(a, b) WITH ORDINALITY AS t(x, y, n)`: one column per array; the ordinal has no source."""
    names = alias_columns(resolver, node)
    columns = [element_of(value_of(resolver, array, scope)) for array in node.expressions]
    alias = node.args.get("alias")
    offset = node.args.get("offset")
    if len(columns) == 1 and resolver.naming.dialect.unnests_rows:
        own = names[0] if names else resolver.identifiers.alias(alias.this) if alias and alias.this else None
        return _elements(resolver, columns[0], node, own, [resolver.identifiers.alias(offset)] if offset else [])
    if resolver.naming.dialect.unnests_fields:
        return _unnest_fields(resolver, node, columns, names)
    if not names and alias is not None and alias.this is not None:
        names = [resolver.identifiers.alias(alias.this)]
    if offset:
        names = [*names[: len(columns)], *(["ordinality"] if offset is True else [resolver.identifiers.alias(offset)])]
        columns.append(Composite({}))
    while len(names) > len(columns):  # an array of rows has several columns
        columns.append(columns[0] if columns else Composite({}))
    names += ["unnest"] * (len(columns) - len(names))
    rows = rows_made([*columns], node)
    return Relation(names, [*columns], rows)


def _elements(resolver: Resolver, element: Composite, node: exp.Expr, alias: str | None, offset: list[str]) -> Relation:
    """BigQuery's UNNEST: its columns are the fields of the elements if these are structs, and its alias is an element.

    https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax#unnest_operator
    """
    rows = rows_made([element], node)
    names = fields_of(resolver, element)
    if names:
        fields = [resolver.field(element, [name]) for name in names]
        return Rows([*names, *offset], [*fields, *({} for _ in offset)], rows, element).under(alias)
    if names is not None or (element.fields is None and element.whole is not None and not _is_stored(element)):
        return Relation([alias or "f0_", *offset], [element, *({} for _ in offset)], rows)
    made = Elements(element, rows, resolver.field, alias)
    made.names, made.sources = [*made.names, *offset], [*made.sources, *({} for _ in offset)]
    return made


def _is_stored(element: Composite) -> bool:
    """Return whether an array is a column of a table, or a part of one: only a schema tells what it consists of."""
    value: Sources = element
    while isinstance(value, Composite) and value.fields is None and value.whole is not None:
        value = value.whole
    return any(effect == IDENTITY for _, effect in value)


def _unnest_fields(resolver: Resolver, node: exp.Expr, elements: list[Composite], names: list[str]) -> Relation:
    """Trino's UNNEST: an array of rows has a column for each field, a map one for the key and one for the value.

    https://trino.io/docs/current/sql/select.html#unnest
    """
    rows = rows_made([*elements], node)
    columns: list[str] = []
    sources: list[Sources] = []
    for position, element in enumerate(elements):
        fields = fields_of(resolver, element)
        if fields:
            columns += fields
            sources += (resolver.field(element, [name]) for name in fields)
        elif fields is None and len(elements) == 1:
            if not names:
                return Elements(element, rows, resolver.field)
            # It may be an array of rows or a map: any column may be from any part.
            width = max(1, len(names))
            columns += [f"_col{position + number}" for number in range(width)]
            sources += [element] * width
        else:
            columns.append(f"_col{position}")
            sources.append(element)
    if offset := node.args.get("offset"):
        columns.append("ordinality" if offset is True else resolver.identifiers.alias(offset))
        sources.append({})
    while len(names) > len(columns):
        columns.append("")
        sources.append(sources[0] if sources else {})
    return Relation(columns, sources, rows).renamed(names)


def rows_made(values: list[Sources], mention: exp.Expr) -> RowSources | None:
    """Return the influences on a function's number of rows: its arguments, whichever of its columns are read."""
    rows = RowSources()
    for value in values:
        absorb(rows.own, value, JOIN, mention)
    return rows if rows.own else None
