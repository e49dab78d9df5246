"""How our lineage of a query differs from PostgreSQL's own analysis of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import ColumnPath
from lineage.model.statement import ColumnRef, StatementLineage
from lineage_ingest.live_database.verification.query_analysis import BaseColumn, QueryAnalysis

__all__ = ["ComparedView", "KnownRelations", "ViewVerdict", "VerificationReport", "compare", "revised_statement"]


class ViewVerdict(StrEnum):
    """What a comparison has found."""

    SAME = "same"
    EXPLAINED = "explained"
    """It differs in what the bodies of called functions read, or in what a diagnostic says is not read here."""
    DIFFERENT = "different"
    REJECTED = "rejected"
    """The database does not accept it: its SQL is wrong, or needs what is neither there nor given."""
    NOT_COMPARED = "not compared"


@frozen
class ComparedView:
    """A view or query that was compared: the differences, or why it was not compared."""

    name: str
    verdict: ViewVerdict
    differences: tuple[str, ...] = ()
    reason: str | None = None


@frozen
class VerificationReport:
    """The comparisons of one ingest."""

    views: tuple[ComparedView, ...] = field(repr=False)

    def having(self, verdict: ViewVerdict) -> list[ComparedView]:
        """Return the views with this verdict."""
        return [view for view in self.views if view.verdict is verdict]

    @property
    def has_failures(self) -> bool:
        """Whether a view differs and nothing explains it, or the database rejects it."""
        return any(view.verdict in (ViewVerdict.DIFFERENT, ViewVerdict.REJECTED) for view in self.views)

    def to_dict(self) -> dict[str, object]:
        """Return the number of views by verdict, and all that are not the same, as JSON values."""
        listed = [
            {
                "name": view.name,
                "verdict": str(view.verdict),
                "differences": list(view.differences),
                "reason": view.reason,
            }
            for view in self.views
            if view.verdict is not ViewVerdict.SAME
        ]
        return {**{str(one).replace(" ", "_"): len(self.having(one)) for one in ViewVerdict}, "found": listed}


class KnownRelations:
    """The names of relations and columns, by oid and number."""

    def __init__(self, relations: Mapping[int, tuple[str, Mapping[int, str]]]) -> None:
        """`relations` are the full name and the columns' names of each."""
        self._relations = relations
        self._names = {name for name, _ in relations.values()}

    def columns_of(self, oid: int) -> Iterable[int]:
        """Return the numbers of a relation's columns."""
        return self._relations[oid][1] if oid in self._relations else ()

    def has(self, table: str | None) -> bool:
        """Return whether it is one of these relations, by its full name."""
        return table in self._names

    def named(self, columns: Iterable[BaseColumn]) -> set[tuple[str, str]]:
        """Return the names of tables and columns; those of system tables are left out."""
        found = set()
        for oid, number in columns:
            known = self._relations.get(oid)
            if known is not None and number in known[1]:
                found.add((known[0], known[1][number]))
        return found


def compare(
    name: str,
    statement: StatementLineage,
    analysis: QueryAnalysis,
    known: KnownRelations,
    followed: Collection[int] = (),
) -> ComparedView:
    """Compare our lineage of a query with PostgreSQL's analysis.

    `followed` are the functions (by oid) whose bodies our lineage follows; the analysis does not show them.
    """
    lines = list(_differences(statement, analysis, known))
    if not lines:
        return ComparedView(name, ViewVerdict.SAME)
    errors = sorted({str(one.code) for one in statement.diagnostics if one.severity is Severity.ERROR})
    if errors:
        return ComparedView(
            name, ViewVerdict.EXPLAINED, tuple(lines), f"a part of it is not read here: {', '.join(errors)}"
        )
    if not analysis.functions.isdisjoint(followed):
        reason = "it calls functions whose bodies are followed here, and are not in the database's analysis"
        return ComparedView(name, ViewVerdict.EXPLAINED, tuple(lines), reason)
    return ComparedView(name, ViewVerdict.DIFFERENT, tuple(lines))


def revised_statement(view: ComparedView, statement: StatementLineage) -> StatementLineage:
    """Return the statement of a view that differs: partial, with a diagnostic."""
    shown = "; ".join(view.differences[:5]) + ("; …" if len(view.differences) > 5 else "")
    problem = Diagnostic(
        DiagnosticCode.DATABASE_DIFFERS,
        Severity.WARNING,
        f"PostgreSQL's analysis of {view.name} differs: {shown}",
        statement.span,
        "please report this bug with the definition, its names and literals replaced",
    )
    return statement.in_doubt(problem)


def _differences(statement: StatementLineage, analysis: QueryAnalysis, known: KnownRelations) -> Iterator[str]:
    reported: dict[str, set[tuple[str, str]]] = {}
    contributing: dict[str, set[tuple[str, str]]] = {}
    everywhere: set[tuple[str, str]] = set()
    for edge in statement.edges:
        if not known.has(edge.source.table):
            continue
        source = (str(edge.source.table), _top(edge.source.column))
        everywhere.add(source)
        if isinstance(edge.target, ColumnRef):
            column = _top(edge.target.column)
            reported.setdefault(column, set()).add(source)
            if edge.kind is EdgeKind.CONTRIBUTES:
                contributing.setdefault(column, set()).add(source)
    names = _output_names(statement, analysis)
    if len(names) != len(analysis.columns):
        yield f"{len(names)} columns instead of {len(analysis.columns)}"
        return
    for name, read in zip(names, analysis.columns, strict=True):
        must, every = known.named(read.must), known.named(read.every)
        ours = reported.get(name, set())
        yield from (f"{name}: {_text(one)} is missing" for one in sorted(must - ours))
        choices = sorted(sorted(sorted(known.named(one)) for one in alternatives) for alternatives in read.either)
        for choice in choices:
            if not any(map(ours.issuperset, choice)):
                yield f"{name}: {' or '.join(' and '.join(map(_text, one)) for one in choice)} is missing"
        yield from (f"{name}: {_text(one)} is too much" for one in sorted(contributing.get(name, set()) - every))
    rows = known.named(analysis.rows)
    yield from (f"rows: {_text(one)} is missing" for one in sorted(rows - everywhere))
    yield from (f"{_text(one)} is not read" for one in sorted(everywhere - known.named(analysis.reads)))


def _output_names(statement: StatementLineage, analysis: QueryAnalysis) -> list[str]:
    """Return the columns' names in our edges: those of the view, else of the query."""
    return [column.name for column in statement.schema] or list(statement.output_columns) or list(analysis.names)


def _top(path: str) -> str:
    """Return the column of a path; the database does not distinguish its fields."""
    return ColumnPath.parse(path).parts[0]


def _text(column: tuple[str, str]) -> str:
    return ".".join(column)
