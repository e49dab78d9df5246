"""Names of a view's columns by position: the database knows them, and a definition's text does not always.

SQLite names `SELECT rowid` by the column that the row's number is, DuckDB the columns of VALUES; a star over files has
the columns that the view has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lineage.model.diagnostics import DiagnosticCode
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import column_text
from lineage.model.statement import ColumnRef, ColumnSchema, Completeness, Edge, StatementLineage, TableRef
from lineage.sql.resolve.column_names.unnamed_column import may_be_named

__all__ = ["named_by_position"]

_STAR = "*"
_UNCERTAIN = re.compile(r"_col\d+")
_RESHAPED = re.compile(
    r"\b(?:EXCLUDE|EXCEPT|REPLACE|RENAME|COLUMNS|PIVOT|UNPIVOT|UNNEST|JOIN|UNION|INTERSECT)\b", re.IGNORECASE
)
"""Words after which a star's columns may not be those of its source."""


def named_by_position(
    statement: StatementLineage, own: Sequence[ColumnSchema], text: str
) -> tuple[StatementLineage, tuple[ColumnSchema, ...]] | None:
    """Return a view's statement with the names of the database's columns, and these; None if they do not correspond.

    `text` is the view's definition. A name that the engine made of an expression stays masked.
    """
    if _STAR in statement.output_columns:
        expanded = _with_star_expanded(statement, own) if _RESHAPED.search(text) is None else None
        if expanded is None:
            return None
        statement = expanded
    outputs = statement.output_columns
    if len(outputs) != len(own) or len(set(outputs)) != len(outputs):
        return None
    named_by_source = _named_by_source(statement)
    if any(ours in named_by_source and ours != stated.name for ours, stated in zip(outputs, own, strict=True)):
        return None  # a table has other columns than it had when the view was made
    columns = tuple(map(_named, outputs, own))
    names = {
        column_text(before): column_text(after.name)
        for before, after in zip(outputs, columns, strict=True)
        if before != after.name
    }
    if names:
        statement = replace(
            statement,
            output_columns=[column.name for column in columns],
            edges=[edge._replace(target=_renamed(edge.target, names)) for edge in statement.edges],
            row_references=tuple(
                reference._replace(target=_renamed(reference.target, names)) for reference in statement.row_references
            ),
        )
    return statement, columns


def _named_by_source(statement: StatementLineage) -> set[str]:
    """Return the columns that have the name of the one column that they are, which no engine changes."""
    sources: dict[str, list[Edge]] = {}
    for edge in statement.edges:
        if isinstance(edge.target, ColumnRef) and edge.kind is EdgeKind.CONTRIBUTES:
            sources.setdefault(edge.target.column, []).append(edge)
    return {
        name
        for name in statement.output_columns
        if [edge.source.column for edge in sources.get(column_text(name), ())] == [column_text(name)]
    }


def _named(ours: str, stated: ColumnSchema) -> ColumnSchema:
    """Return the database's column, by our name where that is the masked form of its own."""
    is_masked = may_be_named(ours, stated.name) or _UNCERTAIN.fullmatch(ours) is not None
    return replace(stated, name=ours) if is_masked and ours != stated.name else stated


def _renamed(target: ColumnRef | TableRef, names: dict[str, str]) -> ColumnRef | TableRef:
    """Return the target of an edge with its column renamed."""
    if isinstance(target, ColumnRef) and target.column in names:
        return ColumnRef(target.table, names[target.column])
    return target


def _with_star_expanded(statement: StatementLineage, own: Sequence[ColumnSchema]) -> StatementLineage | None:
    """Return the statement with the one star that it selects expanded to the database's columns; None if it cannot be.

    Only a star over one table or set of files has the names of the source's columns.
    """
    outputs = statement.output_columns
    at = outputs.index(_STAR)
    behind = len(outputs) - at - 1
    stars = [edge for edge in statement.edges if edge.target[-1] == _STAR]
    if outputs.count(_STAR) > 1 or not stars or len(own) < at + behind or not all(map(_is_plain, stars)):
        return None
    names = [column.name for column in own[at : len(own) - behind]]
    if len(set(names)) != len(names) or any(name in names for name in (*outputs[:at], *outputs[at + 1 :])):
        return None
    diagnostics = [one for one in statement.diagnostics if one.code is not DiagnosticCode.UNRESOLVED_STAR]
    is_full = not diagnostics and len(statement.diagnostics) == 1
    return replace(
        statement,
        output_columns=[*outputs[:at], *names, *outputs[at + 1 :]],
        edges=list(_expanded(statement.edges, names)),
        diagnostics=diagnostics,
        unresolved=tuple(one for one in statement.unresolved if one.code is not DiagnosticCode.UNRESOLVED_STAR),
        completeness=Completeness.FULL if is_full else statement.completeness,
        reason=None if is_full else statement.reason,
    )


def _is_plain(star: Edge) -> bool:
    """Return whether an edge is of all columns of a source."""
    return (star.source.column, star.kind, star.subtype) == (_STAR, EdgeKind.CONTRIBUTES, Subtype.IDENTITY)


def _expanded(edges: Sequence[Edge], names: Sequence[str]) -> Iterator[Edge]:
    for edge in edges:
        if edge.target[-1] != _STAR:
            yield edge
            continue
        for name in names:
            column = column_text(name)
            yield edge._replace(
                source=ColumnRef(edge.source.table, column), target=ColumnRef(edge.target.table, column)
            )
