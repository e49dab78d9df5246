"""From the nodes of one plan to its lineage: for each dataset written, the sources of its columns and rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import Completeness
from lineage_ingest.spark_plan import rules as _rules  # noqa: F401  registers the rules
from lineage_ingest.spark_plan.expressions import variable_name
from lineage_ingest.spark_plan.extensions import Extensions, installed_extensions
from lineage_ingest.spark_plan.frames import CutFrame, KnownFrames
from lineage_ingest.spark_plan.plan_reader import PlanReader
from lineage_ingest.spark_plan.plan_tree import PlanNode, read_plan
from lineage_ingest.spark_plan.plan_writes import (
    DropOrRename,
    TargetedWrite,
    change_of,
    commands_of,
    is_silent,
    targets_of,
)
from lineage_ingest.spark_plan.row_changes.changed_rows import changed_columns
from lineage_ingest.spark_plan.session_variables import SessionVariables, has_parameters
from lineage_ingest.spark_plan.tables.datasets import Catalogs, Dataset
from lineage_ingest.spark_plan.tables.sources import Reads
from lineage_ingest.spark_plan.traced_values import OUTER, PlanRelation, PlanRows, PlanSource, Sources, Value

__all__ = ["PlanLineage", "WriteLineage", "read_lineage", "read_loop"]


@frozen
class WriteLineage:
    """The lineage of one write: the sources of each column of its target, and of the target's rows."""

    target: Dataset
    operation: str
    columns: tuple[tuple[str, Sources], ...]
    rows: Sources
    inputs: tuple[Dataset, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    completeness: Completeness = Completeness.FULL
    appends: bool = False
    creates: bool = False

    @property
    def digest(self) -> str:
        """A digest of the lineage: equal for two runs of one write."""
        content = (
            self.target.key,
            self.operation,
            [(name, sorted(map(repr, sources))) for name, sources in self.columns],
            sorted(map(repr, self.rows)),
        )
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


@dataclass(slots=True)
class PlanLineage:
    """What one execution did: its writes, the definitions of views that it read, a dataset that it dropped."""

    root: PlanNode
    writes: list[WriteLineage] = field(default_factory=list)
    views: list[WriteLineage] = field(default_factory=list)
    change: DropOrRename | None = None
    is_silent: bool = False
    output: tuple[int, ...] = ()
    """The ids of the attributes that the query has."""


def read_lineage(
    nodes: Sequence[Sequence[Any]],
    catalogs: Catalogs,
    frames: KnownFrames,
    *,
    variables: SessionVariables | None = None,
    sql: str | None = None,
    reduced: str | None = None,
    path: str | None = None,
    extensions: Extensions | None = None,
    keep: bool = False,
) -> PlanLineage:
    """Return the lineage of a plan as the listener wrote it.

    `reduced` says why the plan has no expressions, if it has none: the lineage is that of tables. `path` is where a
    table that the plan creates is stored. With `keep`, the columns of the query are kept in `frames`, for plans that
    begin with them. `variables` are those of the session, which the plan may set, and `sql` is the statement's text.

    Raises:
        ValueError: the nodes are not as the listener writes them.
    """
    plan = read_plan(nodes)
    root = plan[-1]
    known = extensions if extensions is not None else installed_extensions()
    session = variables if variables is not None else SessionVariables()
    reader = PlanReader(Reads(catalogs), frames, session, sql, known)
    reader.written = {id(table) for one in commands_of(root) if (table := one.node("table", "relation")) is not None}
    reader.read(plan)
    lineage = PlanLineage(root, change=change_of(root, catalogs), is_silent=is_silent(root))
    _set_variables(reader, root)
    if sql is not None and session.have_sources and has_parameters(sql):
        reader.report_parameters()
    for command in commands_of(root):
        targets = targets_of(command, catalogs, known, path)
        query = targets[0].query if targets else command.node("query", "plan", "inputQuery") or command
        if query is not None:
            lineage.output = tuple(reader.relation(query).output)
        if keep and query is not None:
            frames.add(reader.relation(query), reader.reads.datasets, reader.diagnostics)
        for target in targets:
            lineage.writes.append(_write(reader, command, target, reduced))
    for view in reader.reads.views.values():
        names = [one.name for one in view.dataset.columns]
        write = TargetedWrite(view.dataset, None, "CREATE_VIEW", tuple(names))
        lineage.views.append(
            _lineage(
                reader,
                write,
                list(zip(names, _sources(view.relation), strict=False)),
                view.relation.rows.flat(),
                reduced,
            )
        )
    return lineage


def _set_variables(reader: PlanReader, root: PlanNode) -> None:
    """Keep what DECLARE, SET and FOR set variables to. What FOR sets has no text."""
    if root.name == "SetVariable" and (source := root.node("sourceQuery")) is not None:
        names = [variable_name(one) for one in root.list("targetVariables")]
        if reader.sql is None and reader.relation(source).rows.flat() == {}:
            for name in names:
                reader.variables.set_of_row(name)
            return
        relation = reader.relation(source)
        values, rows = relation.columns(), relation.rows.flat()
    elif root.name == "CreateVariable":
        names = [variable_name(one) for one in root.list("names") or root.list("name")]
        default = root.node("defaultExpr")
        value = reader.scope(PlanRelation([], {}, PlanRows())).value(default) if default is not None else Value({})
        values, rows = [value] * len(names), {}
    else:
        reader.variables.end_start(reader.sql)
        return
    for name, value in zip(names, values, strict=False):
        datasets = {
            source.dataset: one
            for source, _ in (*value.sources, *rows)
            if (one := reader.reads.datasets.get(source.dataset))
        }
        reader.variables.set(name, CutFrame({0: value}, rows, datasets, tuple(reader.diagnostics)))


def read_loop(
    nodes: Sequence[Sequence[Any]], columns: Sequence[Sequence[Any]], catalogs: Catalogs, frames: KnownFrames,
    variables: SessionVariables,
) -> None:  # fmt: skip
    """Take note of a query whose rows the program iterates over: those of FOR in a SQL script, it may be."""
    plan = read_plan(nodes)
    reader = PlanReader(Reads(catalogs), frames, variables)
    reader.read(plan)
    relation = reader.relation(plan[-1])
    rows = relation.rows.flat()
    variables.start_loop(
        {
            str(name).lower(): CutFrame({0: value}, rows, dict(reader.reads.datasets), tuple(reader.diagnostics))
            for (_, name, _), value in zip(columns, relation.columns(), strict=False)
        }
    )


def _write(reader: PlanReader, root: PlanNode, write: TargetedWrite, reduced: str | None) -> WriteLineage:
    changed = changed_columns(reader, root, write.operation)
    if changed is not None:
        return _lineage(reader, write, changed.columns, changed.rows, reduced)
    relation = reader.relation(write.query) if write.query is not None else PlanRelation([], {}, PlanRows())
    columns = list(zip(write.names, _sources(relation), strict=False))
    return _lineage(reader, write, columns, relation.rows.flat(), reduced)


def _lineage(
    reader: PlanReader,
    write: TargetedWrite,
    columns: Iterable[tuple[str, Sources]],
    rows: Sources,
    reduced: str | None,
) -> WriteLineage:
    diagnostics = dict(reader.diagnostics)
    merged: dict[str, Sources] = {}
    for name, sources in columns:
        merged.setdefault(name, {}).update(_known(sources, diagnostics))
    rows = {key: None for key in _known(rows, diagnostics) if key[0] != PlanSource(write.target.key, None)}
    completeness = Completeness.FULL
    if any(one.severity is not Severity.INFO for one in diagnostics):
        completeness = Completeness.PARTIAL
    inputs = _inputs(reader.reads.datasets, [*merged.values(), rows])
    if reduced is not None:
        diagnostics = {_reduced(reduced): None}
        merged, completeness = {}, Completeness.TABLES
        rows = {key: None for key in rows if key[0].path is None}
    return WriteLineage(
        write.target, write.operation, tuple(merged.items()), rows, inputs, tuple(diagnostics), completeness,
        write.appends, write.creates,
    )  # fmt: skip


def _sources(relation: PlanRelation) -> list[Sources]:
    return [value.sources for value in relation.columns()]


def _known(sources: Sources, diagnostics: dict[Diagnostic, None]) -> Sources:
    """Return the sources that are columns and rows of datasets; report others."""
    if all(not source.dataset.startswith(OUTER) for source, _ in sources):
        return sources
    diagnostics[
        Diagnostic(
            DiagnosticCode.UNKNOWN_COLUMN,
            Severity.WARNING,
            "the plan reads an attribute that none of its inputs has: the sources behind it are missing",
            hint="please report the plan's nodes: df.explain(True)",
        )
    ] = None
    return {key: None for key in sources if not key[0].dataset.startswith(OUTER)}


def _inputs(datasets: Mapping[str, Dataset], all_sources: Iterable[Sources]) -> tuple[Dataset, ...]:
    keys = dict.fromkeys(source.dataset for sources in all_sources for source, _ in sources)
    return tuple(datasets[key] for key in keys if key in datasets)


def _reduced(reason: str) -> Diagnostic:
    return Diagnostic(
        DiagnosticCode.RESULT_TOO_LARGE,
        Severity.WARNING,
        f"{reason}: the lineage is that of tables, without columns",
        hint="raise spark.lineage.maxPlanCharacters or spark.lineage.timeBudgetMs",
    )
