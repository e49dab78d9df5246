"""What an engine says of a statement, and how our lineage of it differs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import ColumnRef, StatementLineage

__all__ = ["Reading", "combined", "differences", "short_column"]


@dataclass(frozen=True, slots=True)
class Reading:
    """Base columns are `table.column`, without schema, in lower case. What an engine does not say is None."""

    columns: tuple[str, ...] | None = None
    """The names of the output columns."""
    sources: tuple[frozenset[str], ...] | None = None
    """Of each output column: the base columns that its expression reads."""
    rows: frozenset[str] | None = None
    """The base columns that decide which rows there are."""
    reads: frozenset[str] | None = None
    """All base columns that are read."""
    whole: frozenset[str] = frozenset()
    """Tables whose rows are read, and of which no column is named."""
    changes: tuple[str, ...] = ()
    """What a changed column changes without an edge."""


_UNNAMED = re.compile(r"_col\d+")
"""What we call a column whose name we do not know."""


def combined(readings: Sequence[Reading]) -> Reading:
    """Return the reading of a statement that an engine reads as several: one FROM, many INSERTs."""
    columns = tuple(name for one in readings for name in one.columns or ())
    sources = tuple(read for one in readings for read in one.sources or ())
    rows = frozenset(name for one in readings for name in one.rows or ())
    return Reading(columns, sources, rows, frozenset(name for one in readings for name in one.reads or ()))


def short_column(table: str, column: str) -> str:
    """Return a column by the last part of its table's name and the first of its own: engines give no fields."""
    path = column.split(".", maxsplit=1)[0] if '"' not in column.split(".", maxsplit=1)[0] else column.split('"')[1]
    return f"{table.rsplit('.', maxsplit=1)[-1]}.{path}".replace('"', "").lower()


def differences(statement: StatementLineage, reading: Reading, composed: frozenset[str] = frozenset()) -> list[str]:
    """Return in what our lineage of a statement differs from an engine's reading; nothing if it is the same.

    `composed` are temporary tables, through which our edges run: what a statement reads behind one is not compared.
    """
    found: list[str] = []
    if reading.columns is not None and not statement.target:
        ours = [name.lower().replace('"', "") for name in statement.output_columns]
        theirs = [name.lower() for name in reading.columns]
        named = [b if _UNNAMED.fullmatch(a) else a for a, b in zip(ours, theirs, strict=False)]
        if "*" not in ours and (len(ours) != len(theirs) or named != theirs):
            found.append(f"columns {ours} instead of {theirs}")
    if reading.columns is not None and reading.sources is not None:
        found += _column_differences(statement, _by_name(reading.columns, reading.sources))
    if reading.rows is not None:
        decisive = {_source(edge.source) for edge in statement.edges if edge.kind is not EdgeKind.CONTRIBUTES}
        found += [f"rows: {source} is missing" for source in sorted(reading.rows - decisive)]
    found += reading.changes
    if reading.reads is None:
        return found
    known = {_source(edge.source) for edge in statement.edges}
    reads = {one for one in reading.reads if one.split(".")[0] not in composed}
    found += [f"{source} is not reported" for source in sorted(reads - known)]
    if reads == reading.reads and not reading.whole & composed:
        extra = {source for source in known - reads if source.split(".")[0] not in reading.whole}
        found += [f"{source} is not read" for source in sorted(extra)]
    return found


def _by_name(names: Iterable[str], sources: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    merged: dict[str, frozenset[str]] = {}
    for name, read in zip(names, sources, strict=True):
        merged[name.lower()] = merged.get(name.lower(), frozenset()) | read
    return merged


def _column_differences(statement: StatementLineage, theirs: dict[str, frozenset[str]]) -> Iterator[str]:
    reported: dict[str, set[str]] = {}
    contributing: dict[str, set[str]] = {}
    for edge in statement.edges:
        if isinstance(edge.target, ColumnRef):
            target = short_column("", edge.target.column).removeprefix(".")
            reported.setdefault(target, set()).add(_source(edge.source))
            if edge.kind is EdgeKind.CONTRIBUTES:
                contributing.setdefault(target, set()).add(_source(edge.source))
    for name, sources in theirs.items():
        yield from (f"{name}: {source} is missing" for source in sorted(sources - reported.get(name, set())))
        yield from (f"{name}: {source} is too much" for source in sorted(contributing.get(name, set()) - sources))
    yield from (f"{name} is not a column" for name in sorted(reported.keys() - theirs.keys()))


def _source(column: ColumnRef) -> str:
    return short_column(column.table or "", column.column)
