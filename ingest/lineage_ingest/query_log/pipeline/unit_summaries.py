"""The facts about a unit that the stages after its extraction use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from lineage.model.names import ColumnPath, Naming
from lineage.model.statement import ChangeKind, Completeness, DatasetKind, StatementLineage
from lineage.sql.script.script import Decision
from lineage.sql.script.script_diagnostics import ambiguous_columns
from lineage_ingest.batch.renamed_tables import table_after
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit
from lineage_ingest.query_log.pipeline.routines.created_routines import Call, Routine
from lineage_ingest.query_log.pipeline.sessions.session_effects import SessionEffects, session_effects
from lineage_ingest.query_log.pipeline.versions.names_of_parts import NamesOfPart, names_of_parts

__all__ = ["UnitSummary", "summarize"]

_STAR = "*"
_T = TypeVar("_T")


class UnitSummary(NamedTuple):
    """The facts about a unit that the stages after extraction use."""

    key: int
    namespace: str
    reads: tuple[str, ...]
    fills: tuple[str, ...]
    """Tables that are written but not defined: their columns may be matched by position."""
    defines: tuple[tuple[str, tuple[str, ...]], ...]
    inferred: tuple[tuple[str, tuple[str, ...]], ...]
    open: bool
    """Whether schemas from other statements may change the result: it has a star, ambiguous columns or is partial."""
    ambiguous: tuple[Decision, ...]
    """Unqualified columns, each with the tables that it may belong to."""
    decided: tuple[Decision, ...]
    """The ambiguous columns that were resolved by the columns known from use at that time."""
    completeness: tuple[tuple[int, str], ...]
    """For each statement, the number of its part and the completeness of its lineage."""
    problems: tuple[str, ...]
    """The problems with its lineage, for the summary: "CODE: message"."""
    session: SessionEffects
    makes: tuple[str, ...] = ()
    """Tables that are created, whether their columns are known or not."""
    before: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Tables whose columns are added, renamed or dropped, with their earlier columns."""
    searched: tuple[tuple[str, ...], ...] = ()
    """For each name without a schema, its candidates in the order of the search path, or the one in a view's schema."""
    bound: bool = False
    """Whether its names are already bound to versions of tables."""
    defined_in: tuple[int, ...] = ()
    """For each of `defines`, the number of the part that defines it."""
    parts: tuple[NamesOfPart, ...] = ()
    """The tables that each part mentions."""
    routines: tuple[Routine, ...] = ()
    calls: tuple[Call, ...] = ()


def summarize(
    unit: ExtractionUnit, naming: Naming, statements: Sequence[StatementLineage], decided: Sequence[Decision]
) -> UnitSummary:
    """Return what the lineage of a unit's statements means for others; `decided` are its ambiguous columns by use."""
    defining = [
        s for s in statements if s.target is not None and s.schema and s.target_kind is not DatasetKind.TEMPORARY
    ]
    writing = [(s.target, s) for s in statements if s.target is not None]
    parts = [part.text for part in unit.parts]
    ambiguous = _unique(column for statement in statements for column in ambiguous_columns(statement.edges))
    return UnitSummary(
        unit.key,
        naming.dataset_namespace,
        reads=_unique(source for statement in statements for source in statement.sources),
        fills=_unique(target for target, s in writing if not s.defines),
        # The columns of a table that is renamed belong to its new name.
        defines=tuple((str(table_after(s)), tuple(column.name for column in s.schema)) for s in defining),
        inferred=_inferred_columns(statements),
        open=bool(ambiguous) or any(map(_is_open, statements)),
        ambiguous=ambiguous,
        decided=tuple(decided),
        completeness=tuple((int(s.source or 0), str(s.completeness)) for s in statements),
        problems=tuple(s.reason for s in statements if s.completeness is not Completeness.FULL and s.reason),
        session=session_effects(unit.parts[0], statements) if len(unit.parts) == 1 else SessionEffects(),
        makes=_unique(target for target, s in writing if s.defines),
        before=tuple((target, _columns_before(s)) for target, s in writing if s.schema and _changes_columns(s)),
        defined_in=tuple(int(statement.source or 0) for statement in defining),
        parts=names_of_parts(parts, unit.parts[0].dialect, naming.dataset_namespace, statements),
    )


def _unique(values: Iterable[_T]) -> tuple[_T, ...]:
    """Return values without duplicates, in order."""
    return tuple(dict.fromkeys(values))


def _inferred_columns(statements: Iterable[StatementLineage]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the columns of each table that the statements use."""
    inferred: dict[str, dict[str, None]] = {}
    for statement in statements:
        for reference in statement.inferred:
            if reference.table is not None:
                inferred.setdefault(reference.table, {})[reference.column] = None
    return tuple((table, tuple(columns)) for table, columns in inferred.items())


def _is_open(statement: StatementLineage) -> bool:
    """Return whether other tables' schemas may change the lineage of a statement."""
    return (
        statement.completeness is not Completeness.FULL
        or bool(statement.unresolved)
        or statement.presumed
        or any(edge.source.column == _STAR for edge in statement.edges)
    )


def _changes_columns(statement: StatementLineage) -> bool:
    return bool(statement.added) or any(change.kind.of_column for change in statement.changes)


def _columns_before(statement: StatementLineage) -> tuple[str, ...]:
    """Return the columns that a table had before an ALTER TABLE; those that it drops come last."""
    columns = [column.name for column in statement.schema]
    for change in reversed(statement.changes):
        if change.column is None:
            continue
        old = ColumnPath.parse(change.column).name
        if change.kind is ChangeKind.DROP_COLUMN:
            columns.append(old)
        elif change.kind is ChangeKind.RENAME_COLUMN and change.other is not None:
            new = ColumnPath.parse(change.other).name
            columns = [old if column == new else column for column in columns]
    return tuple(column for column in columns if column not in statement.added)
