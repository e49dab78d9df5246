"""What an engine itself says of columns in its log, and our reading of the same statement, made one.

The engine knows which columns there are and which a value comes from: its names count. It says neither how a value is
made nor what decides the rows: kinds, references and spans in the text are ours. Where the two cannot both be right,
a diagnostic names them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import Naming, column_text, format_name, split_name
from lineage.model.statement import ColumnRef, Completeness, Edge, StatementLineage
from lineage.model.transformations import EdgeKind, Subtype
from lineage_ingest.query_log.pipeline.extraction_units import StatedColumn

__all__ = ["with_engine_lineage"]

_Sources: TypeAlias = "frozenset[ColumnRef]"


def with_engine_lineage(
    statements: Sequence[StatementLineage], source: str, stated: Iterable[StatedColumn], naming: Naming
) -> list[StatementLineage]:
    """Return a unit's statements, those of one part (`source`) with what the engine states of the columns it wrote."""
    temporary = {_last(name) for statement in statements for name in statement.temporary}
    listed = tuple(stated)
    written = {
        target: _Written(target, columns)
        for target, columns in _by_target(listed, naming).items()
        if _last(target) not in temporary
    }
    found: list[StatementLineage] = []
    writers: dict[str, list[int]] = defaultdict(list)
    for index, statement in enumerate(statements):
        if statement.source == source:
            for target in written:
                if target in statement.targets or any(edge.target.table == target for edge in statement.edges):
                    writers[target].append(index)
    # Of several statements of a script that write one table, it is not known which the engine speaks of.
    alone = {target: indexes[0] for target, indexes in writers.items() if len(indexes) == 1}
    for index, statement in enumerate(statements):
        for target in sorted(target for target, at in alone.items() if at == index):
            statement = _Reconciled(statement, written.pop(target), temporary).statement  # noqa: PLW2901
        found.append(statement)
    own = [s for s in statements if s.source == source]
    if own and all(s.completeness is Completeness.FULL for s in own):
        written = {target: said for target, said in written.items() if target not in writers}
    known = {(edge.source, edge.target) for s in own for edge in s.edges}
    for target, said in written.items():
        edges = [edge for edge in said.edges() if (edge.source, edge.target) not in known]
        if edges or target not in writers:
            own_files = (
                one for one in listed if one.source_column is None and _full(one.target_table, naming) == target
            )
            files = [one.source_table for one in own_files if one.source_table is not None]
            found.append(
                StatementLineage(
                    "WRITE",
                    target=target,
                    sources=list(dict.fromkeys([*(str(edge.source.table) for edge in edges), *files])),
                    output_columns=list(said.columns),
                    edges=edges,
                    source=source,
                )
            )
    return found


def _by_target(stated: Iterable[StatedColumn], naming: Naming) -> dict[str, dict[str, _Sources]]:
    """Return the sources of each column by table and column, in the engine's order, in our names."""
    found: dict[str, dict[str, _Sources]] = {}
    for one in stated:
        columns = found.setdefault(_full(one.target_table, naming), {})
        column = column_text(one.target_column)
        columns.setdefault(column, frozenset())
        if one.source_table is not None and one.source_column is not None:
            columns[column] |= {ColumnRef(_full(one.source_table, naming), column_text(one.source_column))}
    return found


def _full(table: str, naming: Naming) -> str:
    return naming.qualify([part for part, _ in split_name(table)])


def _last(table: str) -> str:
    """Return the last part of a name: engines and sessions have temporary tables in schemas of their own."""
    return split_name(table)[-1][0]


@dataclass(frozen=True, slots=True)
class _Written:
    """The columns that the engine says it wrote of a table, each with those that its value came from."""

    table: str
    columns: Mapping[str, _Sources]

    def edges(self, column: str | None = None) -> list[Edge]:
        """Return what leads to a column, or to all: not how the value is made, so it may be computed."""
        return [
            Edge(one, ColumnRef(self.table, name), EdgeKind.CONTRIBUTES, Subtype.TRANSFORMATION)
            for name in (self.columns if column is None else (column,))
            for one in sorted(self.columns[name])
        ]


@dataclass(slots=True)
class _Read:
    """What our reading has of a column: the sources of its value, and what else it depends on."""

    values: set[ColumnRef] = field(default_factory=set)
    references: set[ColumnRef] = field(default_factory=set)

    def fits(self, said: _Sources) -> bool:
        """Whether the engine can mean this column. Some engines count what decides a value among its sources."""
        values = _roots(self.values)
        return values <= said <= values | _roots(self.references)


class _Reconciled:
    """One statement and what the engine says of one table that it writes; `statement` is both."""

    def __init__(self, statement: StatementLineage, said: _Written, temporary: Collection[str]) -> None:
        self._said = said
        self._temporary = temporary
        self._read: dict[str, _Read] = defaultdict(_Read)
        is_main = statement.target == said.table
        if is_main:
            for name in statement.output_columns:
                self._read[name]  # those without sources too
        for edge in statement.edges:
            if isinstance(edge.target, ColumnRef) and edge.target.table == said.table:
                read = self._read[edge.target.column]
                (read.values if edge.kind is EdgeKind.CONTRIBUTES else read.references).add(edge.source)
        self._guessed = any(one.code is DiagnosticCode.TARGET_COLUMNS_UNKNOWN for one in statement.diagnostics)
        self._names = self._matched() if is_main else {}
        self._is_full = statement.completeness is Completeness.FULL
        self._problems: list[Diagnostic] = []
        self.statement = self._made(statement)

    def _matched(self) -> dict[str, str]:
        """Return what the engine calls our columns, where that is another name."""
        ours = list(self._read) if self._guessed else [name for name in self._read if name not in self._said.columns]
        theirs = [name for name in self._said.columns if self._guessed or name not in self._read]
        pairs = list(zip(ours, theirs, strict=False))
        if len(ours) == len(theirs) and all(self._read[one].fits(self._said.columns[other]) for one, other in pairs):
            return dict(pairs)
        found: dict[str, str] = {}
        for one in ours:
            fitting = [name for name in theirs if self._said.columns[name] and self._fit(one, name)]
            rivals = [name for name in ours if fitting and self._fit(name, fitting[0])]
            if len(fitting) == 1 and len(rivals) == 1:
                found[one] = fitting[0]
        return found

    def _fit(self, ours: str, theirs: str) -> bool:
        return self._read[ours].fits(self._said.columns[theirs])

    def _made(self, statement: StatementLineage) -> StatementLineage:
        table, said = self._said.table, self._said.columns
        edges: list[Edge] = []
        for edge in statement.edges:
            if not isinstance(edge.target, ColumnRef) or edge.target.table != table:
                edges.append(edge)
                continue
            name = self._name(edge.target.column)
            if name is None:
                continue  # a name that was guessed, and is none
            moved = edge if name == edge.target.column else edge._replace(target=ColumnRef(table, name))
            if edge.kind is EdgeKind.REFERENCES or name not in said or self._keeps(edge, said[name]):
                edges.append(moved)
        known = {(edge.source, edge.target) for edge in edges}
        read = {name: one for ours, one in self._read.items() if (name := self._name(ours)) is not None}
        roots = {name: _roots(one.values | one.references) for name, one in read.items()}
        for name, sources in said.items():
            for edge in self._said.edges(name):
                is_known = (edge.source, edge.target) in known or edge.source in roots.get(name, ())
                if not is_known and not self._is_temporary(edge.source):
                    edges.append(edge)
            self._compare(name, read.get(name), sources)
        self._compare_names()
        listed = [name for ours in statement.output_columns if (name := self._name(ours)) is not None]
        added = [name for name in said if name not in listed] if statement.target == table else []
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

    def _name(self, ours: str) -> str | None:
        """Return what a column of ours is called; None of one that was guessed and that the engine does not have."""
        name = self._names.get(ours)
        if name is None and (not self._guessed or (ours in self._said.columns and ours not in self._names.values())):
            return ours
        return name

    def _keeps(self, edge: Edge, said: _Sources) -> bool:
        """Whether a value's source stays: the engine names it too, or leaves out some of those that we read."""
        assert isinstance(edge.target, ColumnRef)
        values = self._read[edge.target.column].values
        is_of_temporary = any(map(self._is_temporary, said))
        return _root(edge.source) in said or is_of_temporary or (self._is_full and said <= _roots(values))

    def _is_temporary(self, column: ColumnRef) -> bool:
        return column.table is not None and _last(column.table) in self._temporary

    def _compare(self, name: str, read: _Read | None, said: _Sources) -> None:
        if read is None or not read.values or not self._is_full or any(map(self._is_temporary, said)):
            return
        ours = _roots(read.values)
        if not said <= ours | _roots(read.references) or (ours - said and not said <= ours):
            one, other = (", ".join(sorted(map(str, sources))) or "no column" for sources in (said, ours))
            self._problem(f"the engine says that {self._said.table}.{name} comes from {one}; the SQL reads as {other}")

    def _compare_names(self) -> None:
        """Say where columns that the SQL or a schema names are others for the engine, or which of them is not clear."""
        if not self._is_full:
            return
        if self._guessed:
            lost = [ours for ours, one in self._read.items() if (one.values or one.references) and not self._name(ours)]
            if lost:
                table, names = self._said.table, ", ".join(lost)
                self._problem(f"the engine writes other columns of {table}; which of them get {names} is not clear")
            return
        for ours, theirs in self._names.items():
            self._problem(f"the engine says that {self._said.table}.{theirs} is written, not {self._said.table}.{ours}")

    def _problem(self, message: str) -> None:
        hint = "what the engine says is taken; check the table's DDL, and the defaults and schemas of the session"
        self._problems.append(Diagnostic(DiagnosticCode.ENGINE_DIFFERS, Severity.WARNING, message, hint=hint))


def _roots(columns: Iterable[ColumnRef]) -> set[ColumnRef]:
    return set(map(_root, columns))


def _root(column: ColumnRef) -> ColumnRef:
    """Return the column that a field is in: engines speak of whole columns."""
    parts = split_name(column.column)
    return column if len(parts) == 1 else ColumnRef(column.table, format_name([parts[0][0]]))
