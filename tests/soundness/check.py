"""One query, checked: the extractor's edges against what they must be, and against what DuckDB shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lineage import Catalog, extract_script
from lineage.model.statement import ColumnRef, StatementLineage
from tests.soundness.experiment import WAYS, Change, Laboratory, Outcome, RejectedError
from tests.soundness.grammar import GRAMMARS
from tests.soundness.meaning import expected
from tests.soundness.render import query_text, script, statements
from tests.soundness.tree import TABLES, TARGET, Statement

__all__ = ["CATALOGS", "Finding", "Reach", "check_experiment", "check_precision", "missed"]

_NAMES = re.compile(r"\w+\.\w+|`\w+'*`")

Run: TypeAlias = "tuple[Sequence[str], Sequence[str], str | None]"
"""What a laboratory runs: a script, what cleans up after it, and what reads its result."""

CATALOGS = {
    dialect: Catalog.from_dict({table: list(columns) for table, columns in TABLES.items()}, dialect)
    for dialect in GRAMMARS
}


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

    def covers(self, source: str, change: Change, names: Sequence[str]) -> bool:
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
    dialect = statement.dialect
    catalog = Catalog.from_dict(schemas, dialect) if statement.schema else CATALOGS[dialect]
    return extract_script(script(statement), dialect, catalog)


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


@dataclass(frozen=True, slots=True)
class Experiment:
    """What DuckDB runs: the script as it stands, and what gives the rows that it writes, without writing them."""

    script: tuple[str, ...]
    cleanup: tuple[str, ...]
    read: str | None
    bare: Run
    names: tuple[str, ...]
    """Which column each column of `bare` goes to."""


def prepared(statement: Statement, columns: Sequence[str]) -> Experiment:
    """Return the experiment with a statement whose output columns are these."""
    script = statements(statement)
    cleanup = tuple(f"DROP TABLE IF EXISTS {temporary.name}" for temporary in statement.temporaries)
    bare = ((*script[:-1], query_text(statement)), cleanup, None)
    if statement.form == "QUERY":
        return Experiment(tuple(script), cleanup, None, bare, tuple(columns))
    cleanup += (f"DROP {'VIEW' if statement.form == 'VIEW' else 'TABLE'} IF EXISTS {TARGET}",)
    if statement.schema:
        listed = ", ".join(f"{name} {kind}" for name, kind in statement.schema)
        script = [f"CREATE TABLE {TARGET} ({listed})", *script]
    return Experiment(tuple(script), cleanup, f"FROM {TARGET}", bare, tuple(columns))


def check_experiment(
    statement: Statement, lineage: list[StatementLineage], laboratory: Laboratory, ways: int | None = None
) -> Finding | None:
    """Return what a changed input changes without an edge that says so.

    All columns that reach the same outputs are changed at once: whatever they do not reach must stay as it was. Which
    of them is to blame is looked for where it does not. `ways` is how often each column is changed.

    Raises:
        RejectedError: DuckDB does not run the statement.
    """
    last = lineage[-1]
    experiment = prepared(statement, last.output_columns)
    whole = laboratory.run(experiment.script, experiment.cleanup, experiment.read)
    wanted = [name for name, _ in statement.schema] or list(last.output_columns)
    if list(whole.names) != wanted:
        return Finding("names", (f"{wanted}, DuckDB says {list(whole.names)}",))
    if not set(experiment.names) <= set(wanted):
        return Finding("names", (f"{list(experiment.names)} of {wanted}",))
    before = whole
    if statement.schema:  # what was written stands in the order of the table
        order = [wanted.index(name) for name in experiment.names]
        before = Outcome(experiment.names, [tuple(row[position] for position in order) for row in whole.rows])
    reach = Reach.of(last)
    for reached, columns in _alike(lineage, reach).items():
        kept = [position for position, name in enumerate(experiment.names) if name not in reached]
        for turn in range(len(WAYS) if ways is None else ways):
            first = turn + len(last.edges)
            changes = {column: WAYS[(first + i) % len(WAYS)] for i, column in enumerate(columns)}
            try:
                if before.same(laboratory.run(*experiment.bare, changes), kept):
                    continue
            except RejectedError:
                pass  # a value out of range: each is tried alone
            for (table, column), way in changes.items():
                problem = missed(laboratory, experiment.bare, (table, column, way), before, reach, experiment.names)
                if problem is not None:
                    return problem
    return None


_ORDERS = range(1, 9)
"""In so many orders of the rows a result has to be the same: that it depends on them may show in few."""


def _alike(lineage: list[StatementLineage], reach: Reach) -> dict[frozenset[str], list[tuple[str, str]]]:
    """Return the columns of the tables that are read and do not decide the rows, by the outputs that they reach."""
    found: dict[frozenset[str], list[tuple[str, str]]] = {}
    for table in sorted({source for one in lineage for source in one.sources}):
        for column in TABLES.get(table, ()):
            source = f"{table}.{column}"
            if source not in reach.rows:
                found.setdefault(frozenset(reach.columns.get(source, ())), []).append((table, column))
    return found


def missed(
    laboratory: Laboratory,
    run: Run,
    changed: tuple[str, str, str],
    before: Outcome,
    reach: Reach,
    names: Sequence[str],
) -> Finding | None:
    """Return the finding that a change of one source shows, if its edges do not cover it."""
    table, column, way = changed
    try:
        change = Change.between(before, laboratory.run(*run, {(table, column): way}))
    except RejectedError:
        return None  # a value out of range: nothing is learnt
    if change is None or reach.covers(f"{table}.{column}", change, names):
        return None
    if not all(laboratory.run(*run, order=order).same_rows(before) for order in _ORDERS):
        return None  # the result depends on the order of the rows: nothing is learnt either
    what = (
        "the number of rows" if change.count else ", ".join(names[i] for i in change.columns) or "the pairing of values"
    )
    return Finding("unsound", (f"{table}.{column} changes {what} ({way})",))
