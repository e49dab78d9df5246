"""The stage "extract": returns the lineage of units, and a summary of each for the next stages."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa

from lineage.catalog import Catalog, TableSchema
from lineage.frozen import frozen
from lineage.model.batch import JobKind, LineageBatch, definition_job_key, query_job_key
from lineage.model.names import Naming, split_name
from lineage.model.statement import (
    ChangeKind,
    ColumnSchema,
    StatementLineage,
)
from lineage.sql import Budget
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.resolve.resolver import SetOperationReferences
from lineage.sql.script.script import Script
from lineage.sql.script.sources import ScriptPart
from lineage_ingest.batch.builder import Attribution, BatchBuilder, Use
from lineage_ingest.query_log.pipeline.display_names import DisplayNames
from lineage_ingest.query_log.pipeline.engine_lineage import with_engine_lineage
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement, units_from
from lineage_ingest.query_log.pipeline.routines.created_routines import calls_of, routines_of
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary, summarize
from lineage_ingest.query_log.pipeline.versions.names_of_parts import keeps_what_is_there

__all__ = [
    "RESULT_SCHEMA",
    "Extractor",
    "KnownSchemas",
    "TableId",
    "LogContext",
    "UnitLineage",
    "extract_batch",
    "extract_batches",
    "microseconds",
    "moment",
    "results_from",
]

TableId = tuple[str, str]
"""A table: namespace and full name."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class LogContext:
    """The settings of an ingest."""

    source: str
    """The log's name in diagnostics."""
    at: datetime
    """The time of the ingest."""
    namespace: str = ""
    database: str | None = None
    schema: str | None = None
    functions: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    observed_at: datetime | None = None
    """The time that the user gave for runs without one; None if not given."""
    begins_at: datetime | None = None
    """The earliest time of a run. Runs without a time get it, so that they never count as newer than others."""
    goes_on: bool = False
    """Whether more of the log follows, which is read later: its sessions do not end where it does."""
    set_operations: SetOperationReferences = "exact"
    """What the output of a set operation references."""

    @property
    def undated_at(self) -> datetime:
        """The time used for lineage whose runs have no time."""
        return self.observed_at or self.begins_at or self.at


@frozen(slots=False)
class KnownSchemas:
    """The tables known before a unit is extracted, by namespace and name.

    `given` are known in every namespace. The columns of a table that was only seen in use are `inferred`.
    """

    given: tuple[TableSchema, ...] = ()
    tables: Mapping[TableId, TableSchema] = field(default_factory=dict)

    @cached_property
    def by_namespace(self) -> dict[str, list[TableSchema]]:
        """The tables of each namespace."""
        found: dict[str, list[TableSchema]] = {}
        for (namespace, _), table in self.tables.items():
            found.setdefault(namespace, []).append(table)
        return found


class UnitLineage(NamedTuple):
    """The lineage of a unit, and its uses of tables; the `source` of a use is the number of the part."""

    batch: LineageBatch
    uses: tuple[Use, ...]


RESULT_SCHEMA = pa.schema(
    [pa.field("key", pa.int64()), pa.field("summary", pa.binary()), pa.field("lineage", pa.binary())]
)


def extract_batches(batches: Iterable[Any], extractor: Extractor) -> Iterator[Any]:
    """Yield record batches of units as batches of `RESULT_SCHEMA`."""
    for batch in batches:
        yield extract_batch(batch, extractor)


def extract_batch(batch: Any, extractor: Extractor) -> Any:
    """Return a record batch of units as a batch of `RESULT_SCHEMA`."""
    keys, summaries, lineage = [], [], []
    for unit in units_from(batch):
        found, stated = extractor.unit(unit)
        keys.append(unit.key)
        summaries.append(pickle.dumps(found))
        lineage.append(pickle.dumps(stated))
    columns = [pa.array(keys, pa.int64()), pa.array(summaries, pa.binary()), pa.array(lineage, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, schema=RESULT_SCHEMA)


def results_from(batch: Any) -> Iterator[tuple[UnitSummary, bytes]]:
    """Yield the summary and the pickled lineage of each unit in a batch of `RESULT_SCHEMA`."""
    for summary, lineage in zip(batch.column("summary"), batch.column("lineage"), strict=True):
        yield pickle.loads(summary.as_buffer()), lineage.as_py()  # trusted: `extract_batches` pickled it in this run


class Extractor:
    """Extracts units one by one; catalogs and options are created once."""

    def __init__(self, context: LogContext, known_schemas: KnownSchemas) -> None:
        self._context = context
        self._known_schemas = known_schemas
        self._options: dict[str, ExtractionOptions] = {}
        self._catalogs: dict[str, Catalog] = {}
        self._seen: dict[str, dict[str, set[str]]] = {}
        """Columns used by earlier units, by namespace and table: they resolve most ambiguous columns at first."""

    def unit(self, unit: ExtractionUnit) -> tuple[UnitSummary, UnitLineage]:
        """Return the summary and lineage of a unit. Invalid SQL produces diagnostics, never an exception."""
        options = self._options_for(unit.parts[0].dialect)
        naming = options.naming
        namings = [self._naming(naming, part) for part in unit.parts]
        parts = [
            ScriptPart(part.text, str(number), own, _destination(part, own), part.truncated)
            for number, (part, own) in enumerate(zip(unit.parts, namings, strict=True))
        ]
        seen = self._seen.setdefault(naming.dataset_namespace, {})
        catalog = self._catalog(naming, unit)
        script = Script(
            {"": parts}, options, catalog, lambda t, c: c in seen.get(t, ()), alone=False, checks_calls=False
        )
        statements = [_with_effect(one, unit) for one in script.resolve()]
        for number, part in enumerate(unit.parts):
            if part.stated is not None:
                statements = with_engine_lineage(statements, str(number), part.stated, namings[number])
        builder = BatchBuilder(
            naming, Catalog(), self._context.undated_at, self._attribution(unit), self._context.source
        )
        bound = any(part.bindings.versions for part in unit.parts)
        lasting = list(_without_moves(statements)) if bound else statements
        builder.add_texts({part.name: part.text for part in parts}, lasting)
        batch = builder.batch("unit", self._context.source, ())
        summary = summarize(unit, naming, statements, script.decisions())._replace(
            searched=tuple(script.searched),
            bound=bound,
            routines=tuple(routines_of(statements, unit.parts, namings)),
            calls=tuple(calls_of(statements, unit.parts, namings)),
        )
        if bound:
            display = DisplayNames(unit.parts)
            batch = replace(batch, diagnostics=tuple(map(display.diagnostic, batch.diagnostics)))
            summary = summary._replace(problems=tuple(map(display.text, summary.problems)))
        for table, columns in summary.inferred:
            seen.setdefault(table, set()).update(columns)
        return summary, UnitLineage(batch, tuple(builder.uses))

    def _options_for(self, dialect: str) -> ExtractionOptions:
        options = self._options.get(dialect)
        if options is None:
            context = self._context
            options = self._options[dialect] = options_for(
                dialect,
                namespace=context.namespace,
                default_database=context.database,
                default_schema=context.schema,
                functions=context.functions,
                set_operation_references=context.set_operations,
                budget=context.budget,
            )
        return options

    def _naming(self, naming: Naming, part: LogStatement) -> Naming:
        database, schema = (
            naming.dialect.fold_table(n, quoted=True) if n else None for n in (part.database, part.schema)
        )
        return Naming(
            naming.dialect,
            naming.namespace,
            database or naming.default_database,
            schema or naming.default_schema,
            search_path=part.search_path,
            versions=part.bindings.versions,
            remade=part.bindings.remade,
        )

    def _catalog(self, naming: Naming, unit: ExtractionUnit) -> Catalog:
        namespace = naming.dataset_namespace
        catalog = self._catalogs.get(naming.dialect.name)
        if catalog is None:
            own = self._known_schemas.by_namespace.get(namespace, ())
            catalog = self._catalogs[naming.dialect.name] = Catalog((*self._known_schemas.given, *own), naming.dialect)
        if not unit.overlay:
            return catalog
        kept = (table for table in catalog if table.name not in unit.overlay)
        given = {table.name for table in self._known_schemas.given}
        anew = (
            TableSchema(name, tuple(map(ColumnSchema, columns)), exact=name not in given)
            for name, columns in unit.overlay.items()
            if columns is not None
        )
        return Catalog((*kept, *anew), naming.dialect)

    def _attribution(self, unit: ExtractionUnit) -> Any:
        undated_at = self._context.undated_at

        def attribute(statement: StatementLineage, target: str | None) -> Attribution:
            number = int(statement.source or 0)
            part, (start, end) = unit.parts[number], unit.span(number)
            first, last = moment(start, undated_at), moment(end, undated_at)
            # What reads its own target adds rows; IF NOT EXISTS without a query says nothing: earlier lineage stays.
            keeps = statement.target in statement.sources or (not statement.sources and keeps_what_is_there(part.text))
            if target is not None and statement.defines and not keeps:
                return Attribution(definition_job_key(target), JobKind.DEFINITION, None, first, last)
            key = query_job_key(part.fingerprint, part.database, part.schema, *part.search_path)
            return Attribution(key, JobKind.QUERY, None, first, last)

        return attribute


def _without_moves(statements: Iterable[StatementLineage]) -> Iterator[StatementLineage]:
    """Yield statements without RENAME and SWAP: each version of a table has its own name (see `Versions`)."""
    for statement in statements:
        kept = tuple(one for one in statement.changes if one.kind not in (ChangeKind.RENAME, ChangeKind.SWAP))
        if kept or statement.edges or statement.altered or not statement.changes:
            yield replace(statement, changes=kept) if len(kept) < len(statement.changes) else statement


def moment(since_1970: int | None, otherwise: datetime) -> datetime:
    """Return the time of microseconds since 1970, or `otherwise` for None."""
    return otherwise if since_1970 is None else EPOCH + timedelta(microseconds=since_1970)


def microseconds(at: datetime) -> int:
    """Return a time as microseconds since 1970."""
    return (at - EPOCH) // timedelta(microseconds=1)


def _destination(part: LogStatement, naming: Naming) -> str | None:
    return naming.qualify([one for one, _ in split_name(part.destination)]) if part.destination else None


def _with_effect(statement: StatementLineage, unit: ExtractionUnit) -> StatementLineage:
    """Return a statement; one that only appends rows according to the log does not define its target.

    One that found its table there (IF NOT EXISTS) did nothing.
    """
    part = unit.parts[int(statement.source or 0)]
    if part.bindings.idle and statement.defines:
        return replace(
            statement, target=None, other_targets=(), sources=[], edges=[], schema=(), inferred=(), defines=False
        )
    if not part.appends:
        return statement
    return replace(statement, defines=False, schema=())
