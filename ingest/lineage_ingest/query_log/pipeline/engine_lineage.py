"""Merges the column lineage that an engine writes to its log with our own of the same statement.

The engine knows the columns and the sources of their values, so its names win. It does not log transformations or
references: edge kinds, references and spans come from the SQL. Where the two contradict each other, a diagnostic
reports it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import Naming, column_text, format_name, split_name
from lineage.model.statement import ColumnRef, Completeness, Edge, StatementLineage
from lineage_ingest.query_log.pipeline.extraction_units import StatedColumn

__all__ = ["with_engine_lineage"]

_Sources: TypeAlias = "frozenset[ColumnRef]"


def with_engine_lineage(
    statements: Sequence[StatementLineage], source: str, stated: Iterable[StatedColumn], naming: Naming
) -> list[StatementLineage]:
    """Return a unit's statements; those of one part (`source`) with the engine's lineage of the columns it wrote.

    A write that none of the part's statements explains becomes a statement "WRITE".
    """
    temporary = {_last(name) for statement in statements for name in statement.temporary}
    listed = tuple(stated)
    written = {
        target: _Written(target, columns)
        for target, columns in _by_target(listed, naming).items()
        if _last(target) not in temporary
    }
    writers = _writers(statements, source, written)
    # If several statements of a script write one table, it is unknown which of them the engine means.
    alone = {target: indexes[0] for target, indexes in writers.items() if len(indexes) == 1}
    all_statements: list[StatementLineage] = []
    for index, statement in enumerate(statements):
        for target in sorted(target for target, writer in alone.items() if writer == index):
            statement = _Reconciled(statement, written.pop(target), temporary).statement  # noqa: PLW2901
        all_statements.append(statement)
    own = [s for s in statements if s.source == source]
    if own and all(s.completeness is Completeness.FULL for s in own):
        written = {target: one for target, one in written.items() if target not in writers}
    known = {(edge.source, edge.target) for s in own for edge in s.edges}
    for target, one in written.items():
        edges = [edge for edge in one.edges() if (edge.source, edge.target) not in known]
        if edges or target not in writers:
            all_statements.append(_write(one, edges, _files(listed, naming, target), source))
    return all_statements


def _writers(statements: Iterable[StatementLineage], source: str, targets: Iterable[str]) -> dict[str, list[int]]:
    """Return the indexes of a part's statements that write each of these tables."""
    found: dict[str, list[int]] = defaultdict(list)
    for index, statement in enumerate(statements):
        if statement.source == source:
            for target in targets:
                if target in statement.targets or any(edge.target.table == target for edge in statement.edges):
                    found[target].append(index)
    return found


def _files(stated: Iterable[StatedColumn], naming: Naming, target: str) -> list[str]:
    """Return the files that a table was loaded from: sources without columns."""
    return [
        one.source_table
        for one in stated
        if one.source_column is None and one.source_table is not None and _full(one.target_table, naming) == target
    ]


def _write(written: _Written, edges: list[Edge], files: Iterable[str], source: str) -> StatementLineage:
    """Return a statement for what the engine wrote and the SQL does not show."""
    return StatementLineage(
        "WRITE",
        target=written.table,
        sources=list(dict.fromkeys([*(str(edge.source.table) for edge in edges), *files])),
        output_columns=list(written.columns),
        edges=edges,
        source=source,
    )


def _by_target(stated: Iterable[StatedColumn], naming: Naming) -> dict[str, dict[str, _Sources]]:
    """Return the sources of each column by table and column, in the engine's order, with qualified names."""
    found: dict[str, dict[str, _Sources]] = {}
    for stated_column in stated:
        columns = found.setdefault(_full(stated_column.target_table, naming), {})
        column = column_text(stated_column.target_column)
        columns.setdefault(column, frozenset())
        if stated_column.source_table is not None and stated_column.source_column is not None:
            columns[column] |= {
                ColumnRef(_full(stated_column.source_table, naming), column_text(stated_column.source_column))
            }
    return found


def _full(table: str, naming: Naming) -> str:
    return naming.qualify([part for part, _ in split_name(table)])


def _last(table: str) -> str:
    """Return the last part of a name: temporary tables are in schemas that differ by engine and session."""
    return split_name(table)[-1][0]


@frozen
class _Written:
    """The columns of a table that the engine wrote, each with its source columns."""

    table: str
    columns: Mapping[str, _Sources]

    def edges(self, column: str | None = None) -> list[Edge]:
        """Return the edges into a column, or into all. How a value is computed is unknown: all are TRANSFORMATION."""
        return [
            Edge(one, ColumnRef(self.table, name), EdgeKind.CONTRIBUTES, Subtype.TRANSFORMATION)
            for name in (self.columns if column is None else (column,))
            for one in sorted(self.columns[name])
        ]


@dataclass(slots=True)
class _Read:
    """The sources of a column in the SQL: those of its value, and those it only references."""

    values: set[ColumnRef] = field(default_factory=set)
    references: set[ColumnRef] = field(default_factory=set)

    def fits(self, stated: _Sources) -> bool:
        """Whether the engine can mean this column. Some engines list referenced columns among the sources."""
        values = _roots(self.values)
        return values <= stated <= values | _roots(self.references)


class _Reconciled:
    """One statement and the engine's lineage of one table that it writes; `statement` is the merged result."""

    def __init__(self, statement: StatementLineage, written: _Written, temporary: Collection[str]) -> None:
        self._written = written
        self._temporary = temporary
        self._read: dict[str, _Read] = defaultdict(_Read)
        is_main = statement.target == written.table
        if is_main:
            for name in statement.output_columns:
                self._read[name]  # columns without sources count too
        for edge in statement.edges:
            if isinstance(edge.target, ColumnRef) and edge.target.table == written.table:
                read = self._read[edge.target.column]
                (read.values if edge.kind is EdgeKind.CONTRIBUTES else read.references).add(edge.source)
        self._guessed = any(one.code is DiagnosticCode.TARGET_COLUMNS_UNKNOWN for one in statement.diagnostics)
        self._names = self._match_names() if is_main else {}
        if self._guessed and not any(map(_puts_in_doubt, statement.diagnostics)):
            statement = replace(statement, completeness=Completeness.FULL, reason=None)  # the engine names the columns
        self._is_full = statement.completeness is Completeness.FULL
        self._problems: list[Diagnostic] = []
        self.statement = self._reconcile(statement)

    def _match_names(self) -> dict[str, str]:
        """Return the engine's names of our columns, where they differ from ours."""
        ours = list(self._read) if self._guessed else [name for name in self._read if name not in self._written.columns]
        theirs = [name for name in self._written.columns if self._guessed or name not in self._read]
        pairs = list(zip(ours, theirs, strict=False))
        if len(ours) == len(theirs) and all(self._read[one].fits(self._written.columns[other]) for one, other in pairs):
            return dict(pairs)
        found: dict[str, str] = {}
        for one in ours:
            fitting = [name for name in theirs if self._written.columns[name] and self._fit(one, name)]
            rivals = [name for name in ours if fitting and self._fit(name, fitting[0])]
            if len(fitting) == 1 and len(rivals) == 1:
                found[one] = fitting[0]
        return found

    def _fit(self, ours: str, theirs: str) -> bool:
        return self._read[ours].fits(self._written.columns[theirs])

    def _reconcile(self, statement: StatementLineage) -> StatementLineage:
        edges = [edge for one in statement.edges if (edge := self._ours(one)) is not None]
        edges += self._added_edges(edges)
        self._compare_names()
        listed = [name for ours in statement.output_columns if (name := self._name(ours)) is not None]
        is_main = statement.target == self._written.table
        added = [name for name in self._written.columns if name not in listed] if is_main else []
        reads = dict.fromkeys((*statement.sources, *(str(e.source.table) for e in edges if e.source.table is not None)))
        diagnostics = [
            one
            for one in statement.diagnostics
            if not (self._guessed and one.code is DiagnosticCode.TARGET_COLUMNS_UNKNOWN)
        ]
        completeness, reason = statement.completeness, statement.reason
        if self._problems and completeness is Completeness.FULL:
            completeness, reason = Completeness.PARTIAL, self._problems[0].message
        elif completeness in (Completeness.TABLES, Completeness.NONE) and edges:
            completeness = Completeness.PARTIAL
        return replace(
            statement,
            edges=edges,
            sources=list(reads),
            output_columns=[*listed, *added],
            diagnostics=[*diagnostics, *self._problems],
            completeness=completeness,
            reason=reason,
        )

    def _ours(self, edge: Edge) -> Edge | None:
        """Return an edge of the SQL under the engine's column name; None if the engine rules it out."""
        table, columns = self._written.table, self._written.columns
        if not isinstance(edge.target, ColumnRef) or edge.target.table != table:
            return edge
        name = self._name(edge.target.column)
        if name is None:
            return None  # a guessed name that does not exist
        if edge.kind is not EdgeKind.REFERENCES and name in columns and not self._keeps(edge, columns[name]):
            return None
        return edge if name == edge.target.column else edge._replace(target=ColumnRef(table, name))

    def _added_edges(self, edges: Iterable[Edge]) -> list[Edge]:
        """Return the engine's edges that the SQL does not have, and report where the two contradict each other."""
        known = {(edge.source, edge.target) for edge in edges}
        read = {name: one for ours, one in self._read.items() if (name := self._name(ours)) is not None}
        roots = {name: _roots(one.values | one.references) for name, one in read.items()}
        added: list[Edge] = []
        for name, sources in self._written.columns.items():
            for edge in self._written.edges(name):
                is_known = (edge.source, edge.target) in known or edge.source in roots.get(name, ())
                if not is_known and not self._is_temporary(edge.source):
                    added.append(edge)
            self._compare(name, read.get(name), sources)
        return added

    def _name(self, ours: str) -> str | None:
        """Return the engine's name of our column; None for a guessed column that the engine does not have."""
        name = self._names.get(ours)
        if name is None and (not self._guessed or (ours in self._written.columns and ours not in self._names.values())):
            return ours
        return name

    def _keeps(self, edge: Edge, stated: _Sources) -> bool:
        """Whether to keep a value's source: the engine lists it too, or lists only a subset of ours."""
        assert isinstance(edge.target, ColumnRef)
        values = self._read[edge.target.column].values
        is_of_temporary = any(map(self._is_temporary, stated))
        return _root(edge.source) in stated or is_of_temporary or (self._is_full and stated <= _roots(values))

    def _is_temporary(self, column: ColumnRef) -> bool:
        return column.table is not None and _last(column.table) in self._temporary

    def _compare(self, name: str, read: _Read | None, stated: _Sources) -> None:
        if read is None or not read.values or not self._is_full or any(map(self._is_temporary, stated)):
            return
        ours = _roots(read.values)
        if not stated <= ours | _roots(read.references) or (ours - stated and not stated <= ours):
            one, other = (", ".join(sorted(map(str, sources))) or "no column" for sources in (stated, ours))
            self._problem(
                f"the engine says that {self._written.table}.{name} comes from {one}; the SQL reads as {other}"
            )

    def _compare_names(self) -> None:
        """Report columns that have other names in the engine, and columns that cannot be matched."""
        if not self._is_full:
            return
        if self._guessed:
            lost = [ours for ours, one in self._read.items() if (one.values or one.references) and not self._name(ours)]
            if lost:
                table, names = self._written.table, ", ".join(lost)
                self._problem(f"the engine writes other columns of {table}; which of them get {names} is not clear")
            return
        for ours, theirs in self._names.items():
            self._problem(
                f"the engine says that {self._written.table}.{theirs} is written, not {self._written.table}.{ours}"
            )

    def _problem(self, message: str) -> None:
        hint = "the engine's answer is used; check the table's DDL, and the defaults and schemas of the session"
        self._problems.append(Diagnostic(DiagnosticCode.ENGINE_DIFFERS, Severity.WARNING, message, hint=hint))


def _puts_in_doubt(finding: Diagnostic) -> bool:
    """Return whether a finding is about more than the names of the target's columns."""
    return finding.severity is not Severity.INFO and finding.code is not DiagnosticCode.TARGET_COLUMNS_UNKNOWN


def _roots(columns: Iterable[ColumnRef]) -> set[ColumnRef]:
    return set(map(_root, columns))


def _root(column: ColumnRef) -> ColumnRef:
    """Return the top-level column of a field: engines log whole columns."""
    parts = split_name(column.column)
    return column if len(parts) == 1 else ColumnRef(column.table, format_name([parts[0][0]]))
