"""One query, checked: the extractor's edges against what they must be, and against what DuckDB shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeAlias

from lineage import Catalog, extract_script
from lineage.model.statement import ColumnRef, StatementLineage
from tests.soundness.experiment import Change, Laboratory, Outcome, RejectedError
from tests.soundness.meaning import expected
from tests.soundness.render import script, statements
from tests.soundness.tree import TABLES, TARGET, Statement

__all__ = ["CATALOG", "Finding", "Reach", "check_experiment", "check_precision", "missed"]

_NAMES = re.compile(r"\w+\.\w+|`\w+'*`")

CATALOG = Catalog.from_dict({table: list(columns) for table, columns in TABLES.items()}, "duckdb")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a query: `kind` names the check that failed."""

    kind: str
    details: tuple[str, ...]

    @property
    def sign(self) -> tuple[str, str]:
        """What two findings of one cause have in common: the kind, and the first detail without its names."""
        return self.kind, _NAMES.sub("_", self.details[0])[:34]


@dataclass(slots=True)
class Reach:
    """Which of a statement's outputs an input column has an edge to."""

    rows: set[str] = field(default_factory=set)
    columns: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, lineage: StatementLineage) -> Reach:
        """Return the reach of each source by an edge of any kind."""
        reach = cls()
        for edge in lineage.edges:
            if isinstance(edge.target, ColumnRef):
                reach.columns.setdefault(str(edge.source), set()).add(edge.target.column)
            else:
                reach.rows.add(str(edge.source))
        return reach

    def covers(self, source: str, change: Change, names: list[str]) -> bool:
        """Return whether the edges from a source explain a change: rows by the table, values by their column."""
        if source in self.rows:
            return True
        reached = self.columns.get(source, set())
        if change.count:
            return False
        if not change.columns:
            return bool(reached)
        return all(names[position] in reached for position in change.columns)


def extracted(statement: Statement) -> list[StatementLineage]:
    """Return the lineage of each statement of a script."""
    schemas = {table: list(columns) for table, columns in TABLES.items()}
    if statement.schema:
        schemas[TARGET] = [name for name, _ in statement.schema]
    catalog = Catalog.from_dict(schemas, "duckdb") if statement.schema else CATALOG
    return extract_script(script(statement), "duckdb", catalog)


def check_precision(statement: Statement, lineage: list[StatementLineage]) -> Finding | None:
    """Return what differs from the edges that the query must have."""
    wanted = expected(statement)
    if len(wanted) != len(lineage):
        return Finding("statements", (f"{len(lineage)} statements instead of {len(wanted)}",))
    for ours, theirs in zip(lineage, wanted, strict=True):
        if ours.diagnostics or ours.completeness != "full":
            return Finding(
                "diagnostics", tuple(f"{d.code}: {d.message}" for d in ours.diagnostics) or (ours.completeness,)
            )
        if tuple(ours.output_columns) != theirs.columns:
            return Finding("columns", (f"{ours.output_columns} instead of {list(theirs.columns)}",))
        listed = [str(edge) for edge in ours.edges]
        missing, extra = theirs.edges - set(listed), set(listed) - theirs.edges
        if missing or extra:
            signs = [f"missing: {edge}" for edge in sorted(missing)] + [f"too much: {edge}" for edge in sorted(extra)]
            return Finding("edges", tuple(signs))
        if len(listed) != len(set(listed)):
            return Finding(
                "edges", tuple(f"twice: {edge}" for edge in sorted({e for e in listed if listed.count(e) > 1}))
            )
    return None


Run: TypeAlias = "tuple[list[str], list[str], str | None]"


def prepared(statement: Statement) -> Run:
    """Return a script's statements for DuckDB, what cleans up after them, and what reads the target."""
    run = statements(statement)
    cleanup = [f"DROP TABLE IF EXISTS {temporary.name}" for temporary in statement.temporaries]
    if statement.form == "QUERY":
        return run, cleanup, None
    cleanup.append(f"DROP {'VIEW' if statement.form == 'VIEW' else 'TABLE'} IF EXISTS {TARGET}")
    if statement.schema:
        columns = ", ".join(f"{name} {kind}" for name, kind in statement.schema)
        run = [f"CREATE TABLE {TARGET} ({columns})", *run]
    return run, cleanup, f"FROM {TARGET}"


def check_experiment(
    statement: Statement,
    lineage: list[StatementLineage],
    laboratory: Laboratory,
    ways: int | None = None,
    patience: float = 1.0,
) -> Finding | None:
    """Return what a changed input changes without an edge that says so; it looks for `patience` seconds at most.

    Raises:
        RejectedError: DuckDB does not run the statement.
    """
    run, cleanup, read = prepared(statement)
    begun = perf_counter()
    before = laboratory.run(run, cleanup, read)
    last = lineage[-1]
    names = list(last.output_columns)
    if statement.form.startswith("INSERT"):
        names = [name for name, _ in statement.schema]
    elif list(before.names) != names:
        return Finding("names", (f"{names}, DuckDB says {list(before.names)}",))
    if len(names) != len(before.names):
        return Finding("names", (f"{names}, DuckDB says {list(before.names)}",))
    reach = Reach.of(last)
    for table in sorted({source for one in lineage for source in one.sources}):
        for column in TABLES.get(table, ()):
            source = f"{table}.{column}"
            if source in reach.rows:
                continue
            if perf_counter() - begun > patience:
                return None
            for schema in laboratory.changed(table, column, ways):
                problem = missed(laboratory, (run, cleanup, read), schema, before, reach, source, names)
                if problem is not None:
                    return problem
    return None


def missed(
    laboratory: Laboratory, prepared_run: Run, schema: str, before: Outcome, reach: Reach, source: str, names: list[str]
) -> Finding | None:
    """Return the finding that a change of one source shows, if its edges do not cover it."""
    run, cleanup, read = prepared_run
    try:
        change = Change.between(before, laboratory.run(run, cleanup, read, schema))
    except RejectedError:
        return None  # a value out of range: nothing is learnt
    if change is None or reach.covers(source, change, names):
        return None
    if laboratory.run(run, cleanup, read, "shuffled").rows != before.rows:
        return None  # the result depends on the order of the rows: nothing is learnt either
    what = (
        "the number of rows" if change.count else ", ".join(names[i] for i in change.columns) or "the pairing of values"
    )
    return Finding("unsound", (f"{source} changes {what} ({schema})",))
