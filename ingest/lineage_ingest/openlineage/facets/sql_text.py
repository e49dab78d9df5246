"""Lineage from a job's SQL, for outputs without column lineage in any event.

Table names in the SQL are matched to the datasets that the event lists: the agent knows which `orders` is meant. Only
listed outputs get lineage; a source that is not listed keeps its name in the SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from lineage.catalog import Catalog
from lineage.catalog.table import TableSchema
from lineage.frozen import frozen
from lineage.model.batch import EdgeRecord
from lineage.model.diagnostics import Diagnostic
from lineage.model.dialect import Dialect
from lineage.model.influence.edge_effects import merge_effects
from lineage.model.influence.transformations import EdgeKind, StepEffect
from lineage.model.names import column_key, parse_table_name, split_location
from lineage.model.statement import (
    ColumnRef,
    ColumnSchema,
    Completeness,
    DatasetKind,
    Edge,
    RowReference,
    StatementLineage,
)
from lineage.sql.budget import Budget
from lineage.sql.extraction import options_for
from lineage.sql.script.script import Script
from lineage_ingest.openlineage.dataset_ids import DatasetId, dataset_id_of

__all__ = ["Listed", "SqlLineage", "lineage_of_sql", "tables_written"]

_STAR = "*"
_WORST = (Completeness.FULL, Completeness.PARTIAL, Completeness.TABLES, Completeness.NONE)


@frozen
class Listed:
    """A dataset of an event: its other names, and its columns with their types, if they are known."""

    dataset_id: DatasetId
    names: tuple[str, ...] = ()
    columns: tuple[tuple[str, str | None], ...] = ()


@dataclass(slots=True)
class SqlLineage:
    """Lineage of one output from SQL. The spans of the edges are positions in the SQL."""

    edges: list[EdgeRecord] = field(default_factory=list)
    sources: dict[str, DatasetId] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    completeness: Completeness = Completeness.FULL
    operations: dict[str, None] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    """All columns of the output, in order, if a single statement defines it."""


def lineage_of_sql(
    sql: str,
    dialect: Dialect,
    outputs: Sequence[Listed],
    inputs: Sequence[Listed],
    budget: Budget,
) -> dict[str, SqlLineage]:
    """Return the lineage of each output (by key) that the SQL writes, without a job's key. It never raises."""
    matcher = _TableMatcher(dialect, outputs, inputs)
    statements = _resolve(sql, dialect.name, matcher.database, matcher.schema, matcher.tables(), budget)
    writing = [one for one in statements if _writes(one)]
    lineages: dict[str, SqlLineage] = {}
    for statement in writing:
        output = matcher.output(statement.target, is_only=len(writing) == 1)
        if output is not None:
            _add(statement, output, matcher, lineages.setdefault(output.key, SqlLineage()))
    if len(writing) == 1 and _defines_output(writing[0]):
        for lineage in lineages.values():
            lineage.columns = tuple(writing[0].output_columns)
    return lineages


def tables_written(sql: str, dialect: Dialect, budget: Budget) -> tuple[str, ...]:
    """Return the tables that the SQL writes, by their names in it. It never raises."""
    statements = _resolve(sql, dialect.name, None, None, (), budget)
    return tuple(dict.fromkeys(one.target for one in statements if one.target is not None and _writes(one)))


def _defines_output(statement: StatementLineage) -> bool:
    """Return whether the statement's columns are all columns of the output: a query or a definition."""
    return (statement.target is None or statement.defines) and _STAR not in statement.output_columns


def _writes(statement: StatementLineage) -> bool:
    """Return whether a statement may write an output. It may be a query whose rows the program writes."""
    if statement.target is not None:
        return statement.target_kind is not DatasetKind.TEMPORARY and not statement.changes
    return bool(statement.output_columns) and bool(statement.sources)


def _add(statement: StatementLineage, output: DatasetId, matcher: _TableMatcher, lineage: SqlLineage) -> None:
    lineage.operations[statement.operation] = None
    lineage.diagnostics += statement.diagnostics
    lineage.completeness = max(lineage.completeness, statement.completeness, key=_WORST.index)
    for name in statement.sources:
        if (dataset_id := matcher.source(name)) is not None and dataset_id.key != output.key:
            lineage.sources.setdefault(dataset_id.key, dataset_id)
    together: dict[tuple[str, str], list[Edge]] = {}
    for edge in statement.edges:
        if edge.target.table != statement.target or edge.source.table is None:
            continue
        dataset_id = matcher.source(edge.source.table)
        if dataset_id is None:
            lineage.completeness = max(lineage.completeness, Completeness.PARTIAL, key=_WORST.index)
            continue
        target = output.key
        if isinstance(edge.target, ColumnRef):
            target = column_key(output.key, edge.target.column)
        together.setdefault((column_key(dataset_id.key, edge.source.column), target), []).append(edge)
    for (source, target), edges in together.items():
        for kind in dict.fromkeys(edge.kind for edge in edges):
            of_kind = [edge for edge in edges if edge.kind is kind]
            lineage.edges.append(
                EdgeRecord(
                    source=source,
                    target=target,
                    kind=kind,
                    job="",
                    output=output.key,
                    **merge_effects(StepEffect(edge.subtype, edge.masking) for edge in of_kind)._asdict(),
                    limited=any(edge.limited for edge in of_kind),
                    ambiguous=all(edge.ambiguous for edge in of_kind),
                    spans=tuple(sorted({proof for edge in of_kind for proof in edge.proofs()})),
                )
            )
    lineage.edges += _row_references(statement, output, matcher)


def _row_references(statement: StatementLineage, output: DatasetId, matcher: _TableMatcher) -> Iterable[EdgeRecord]:
    found: dict[tuple[str, str], list[RowReference]] = {}
    for reference in statement.row_references:
        dataset_id = matcher.source(reference.source.table) if reference.source.table is not None else None
        if reference.target.table == statement.target and dataset_id is not None and dataset_id.key != output.key:
            target = (
                column_key(output.key, reference.target.column)
                if isinstance(reference.target, ColumnRef)
                else output.key
            )
            found.setdefault((dataset_id.key, target), []).append(reference)
    for (source, target), references in found.items():
        yield EdgeRecord(
            source=source,
            target=target,
            kind=EdgeKind.REFERENCES,
            job="",
            output=output.key,
            **merge_effects(StepEffect(one.subtype, one.masking) for one in references)._asdict(),
            spans=tuple(sorted({proof for one in references for proof in one.as_edge().proofs()})),
        )


class _TableMatcher:
    """Matches table names in SQL to the datasets of an event."""

    def __init__(self, dialect: Dialect, outputs: Sequence[Listed], inputs: Sequence[Listed]) -> None:
        self._dialect = dialect
        self._outputs = {one.dataset_id.key: (one.dataset_id, self._names(one)) for one in outputs}
        self._sources = {one.dataset_id.key: (one.dataset_id, self._names(one)) for one in (*inputs, *outputs)}
        self._listed = (*inputs, *outputs)
        warehouse = [one.dataset_id for one in (*outputs, *inputs) if one.dataset_id.dialect is not None]
        self._namespace = warehouse[0].namespace if warehouse else None
        named = [parse_table_name(one.name, dialect) for one in warehouse if one.namespace == self._namespace]
        self.database = _common(parts[-3] for parts in named if len(parts) > 2)
        self.schema = _common(parts[-2] for parts in named if len(parts) > 1)

    def tables(self) -> tuple[tuple[str, tuple[tuple[str, str | None], ...]], ...]:
        """Return the known columns by every name that the SQL may use."""
        return tuple(
            (".".join(name), one.columns) for one in self._listed if one.columns for name in sorted(self._names(one))
        )

    def output(self, name: str | None, *, is_only: bool) -> DatasetId | None:
        """Return the output with this name in the SQL; with a single output and a single write, that output."""
        found = None if name is None else self._find(name, self._outputs)
        if found is None and is_only and len(self._outputs) == 1:
            return next(iter(self._outputs.values()))[0]
        return found

    def source(self, name: str) -> DatasetId | None:
        """Return the dataset with this name in the SQL; an unlisted one is assumed to be in the event's warehouse."""
        found = self._find(name, self._sources)
        if found is None and self._namespace is not None:
            return dataset_id_of(self._namespace, name)
        return found

    def _find(self, name: str, among: Mapping[str, tuple[DatasetId, set[tuple[str, ...]]]]) -> DatasetId | None:
        parts = tuple(part.lower() for part in parse_table_name(name, self._dialect))
        whole = [dataset_id for dataset_id, names in among.values() if parts in names]
        ending = whole or [
            dataset_id
            for dataset_id, names in among.values()
            if any(one[-len(parts) :] == parts or parts[-len(one) :] == one for one in names)
        ]
        return ending[0] if len(ending) == 1 else None

    def _names(self, listed: Listed) -> set[tuple[str, ...]]:
        """Return the names of a dataset, split into parts; a path is represented by its last segment."""
        names = {listed.dataset_id.name, *listed.names}
        split_names = set()
        for name in names:
            last = name.rpartition("/")[2] if split_location(name) else name
            parts = tuple(part.lower() for part in parse_table_name(last, self._dialect))
            if parts:
                split_names.add(parts)
        return split_names


def _common(values: Iterable[str]) -> str | None:
    """Return the value that all have in common, or None."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=1_000)
def _resolve(
    sql: str,
    dialect: str,
    database: str | None,
    schema: str | None,
    tables: tuple[tuple[str, tuple[tuple[str, str | None], ...]], ...],
    budget: Budget,
) -> tuple[StatementLineage, ...]:
    # A job that runs every hour sends the same text every hour.
    options = options_for(dialect, default_database=database, default_schema=schema, budget=budget)
    catalog = Catalog((), options.naming.dialect)
    for name, columns in tables:
        known = tuple(ColumnSchema(column, data_type) for column, data_type in columns)
        catalog.add(TableSchema(catalog.full_name(name), known))
    return tuple(Script({"": sql}, options, catalog).resolve())
