"""The stage "extract": returns the lineage of units, and a summary of each for the next stages."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from lineage.catalog import Catalog, TableSchema
from lineage.frozen import frozen
from lineage.model.batch import JobKind, LineageBatch, definition_job_key, query_job_key
from lineage.model.dialects import dialect_named
from lineage.model.names import ColumnPath, Naming, split_name
from lineage.model.statement import (
    ChangeKind,
    ColumnSchema,
    Completeness,
    DatasetKind,
    StatementLineage,
)
from lineage.sql import Budget
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.parse.statements import parse_statements
from lineage.sql.procedural.variables import Names
from lineage.sql.resolve.resolver import SetOperationReferences
from lineage.sql.resolve.targets import SHARED_PREFIX
from lineage.sql.scan.leading import LEADING
from lineage.sql.script.script import Decision, Script
from lineage.sql.script.script_diagnostics import ambiguous_columns
from lineage.sql.script.sessions.session import SessionDefaults, session_defaults
from lineage.sql.script.sessions.temporary_ends import discards_temporary, drops_on_commit, empties_on_commit
from lineage.sql.script.sessions.transactions import DDL, TransactionStep, may_not_run, settled, step_of
from lineage.sql.script.sources import ScriptPart
from lineage_ingest.batch.builder import Attribution, BatchBuilder, Use
from lineage_ingest.batch.renamed_tables import table_after
from lineage_ingest.query_log.pipeline.created_routines import Call, Routine, calls_of, routines_of
from lineage_ingest.query_log.pipeline.display_names import DisplayNames
from lineage_ingest.query_log.pipeline.engine_lineage import with_engine_lineage
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement, units_from
from lineage_ingest.query_log.pipeline.versions.names_of_parts import (
    NamesOfPart,
    keeps_what_is_there,
    last_part,
    names_of_parts,
)

__all__ = [
    "RESULT_SCHEMA",
    "Extractor",
    "UnitSummary",
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
_SETS = re.compile(r"\b(?:use|search_path|schema|current_schema|(?:reset|discard)\s+all)\b", re.IGNORECASE)
_MAX_SETTING = 2_000
_TRANSACTION = re.compile(
    rf"(?:^|;){LEADING}(?:begin|start|commit|end|rollback|abort|save|savepoint|"
    r"prepare|xa|bt|et|(?:alter\s+session\s+)?set\s+(?:@@)?(?:session[\s.]+)?autocommit)\b",
    re.IGNORECASE,
)
_STAR = "*"
_VARIABLE = re.compile(r"'(?:[^'\\]|\\.|'')*'|(?<![@$\w])([@$][A-Za-z_][\w$]*)")
"""A session variable, or a text in quotes: MySQL's `@m`, Snowflake's `$m`."""
_SET = re.compile(rf"{LEADING}set\b", re.IGNORECASE)
_MAX_WITH_VARIABLES = 100_000
_REMOVALS = frozenset(("DELETE", "TRUNCATE"))
_T = TypeVar("_T")


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


class SessionEffects(NamedTuple):
    """A template's effects on its session, and the last parts of the names of all tables that it mentions."""

    tables: tuple[str, ...] = ()
    database: str | None = None
    schema: str | None = None
    transaction: str = ""
    temporary: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    writes: bool = False
    rebuilds: tuple[str, ...] = ()
    """The temporary tables that are created from a table of the same name."""
    search_path: tuple[str, ...] = ()
    """The schemas searched after `schema`. Setting `schema` replaces the earlier path, even if this is empty."""
    alters: tuple[str, ...] = ()
    """Tables whose columns it adds, renames or drops."""
    reads: tuple[str, ...] = ()
    resets: bool = False
    """Whether the search path is reset to its value at the start of the session."""
    is_local: bool = False
    """Whether the settings are local to the transaction."""
    savepoint: str = ""
    chain: bool = False
    """Whether a new transaction begins when this one ends (AND CHAIN)."""
    discards: bool = False
    """Whether it drops all temporary tables of the session."""
    until_commit: bool = False
    """Whether the temporary tables that it creates are dropped when the transaction ends."""
    rows_until_commit: bool = False
    """Whether they are emptied when a transaction ends."""
    unless_there: bool = False
    """Whether it creates temporary tables only if the session does not have them."""
    empties: bool = False
    """Whether it only removes rows."""
    assigns: tuple[str, ...] = ()
    """The session variables that it assigns to."""
    variables: tuple[str, ...] = ()
    """Those whose earlier value it reads."""
    commits: bool = False
    """Whether it commits by itself, as DDL of some dialects does."""

    @property
    def stateful(self) -> bool:
        """Whether it can change the meaning of later statements of the session."""
        names = self.database or self.schema or self.search_path or self.resets
        return bool(names or self.transaction or self.temporary or self.assigns)


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
        summary = _summarize(unit, naming, statements, script.decisions())._replace(
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
        found = self._options.get(dialect)
        if found is None:
            context = self._context
            found = self._options[dialect] = options_for(
                dialect,
                namespace=context.namespace,
                default_database=context.database,
                default_schema=context.schema,
                functions=context.functions,
                set_operation_references=context.set_operations,
                budget=context.budget,
            )
        return found

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
        found = self._catalogs.get(naming.dialect.name)
        if found is None:
            own = self._known_schemas.by_namespace.get(namespace, ())
            found = self._catalogs[naming.dialect.name] = Catalog((*self._known_schemas.given, *own), naming.dialect)
        if not unit.overlay:
            return found
        kept = (table for table in found if table.name not in unit.overlay)
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
            # A statement that reads its own target, or leaves it as it is, adds rows: earlier lineage stays valid.
            replaces = statement.target not in statement.sources and not keeps_what_is_there(part.text)
            if target is not None and statement.defines and replaces:
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


def _summarize(
    unit: ExtractionUnit, naming: Naming, statements: list[StatementLineage], decided: list[Decision]
) -> UnitSummary:
    # The columns of a table that is renamed belong to its new name.
    defining = [
        s for s in statements if s.target is not None and s.schema and s.target_kind is not DatasetKind.TEMPORARY
    ]
    ambiguous = _unique(column for statement in statements for column in ambiguous_columns(statement.edges))
    return UnitSummary(
        unit.key,
        naming.dataset_namespace,
        reads=_unique(source for statement in statements for source in statement.sources),
        fills=_unique(s.target for s in statements if s.target is not None and not s.defines),
        defines=tuple((str(table_after(s)), tuple(column.name for column in s.schema)) for s in defining),
        inferred=_inferred_columns(statements),
        open=bool(ambiguous) or any(map(_is_open, statements)),
        ambiguous=ambiguous,
        decided=tuple(decided),
        completeness=tuple((int(s.source or 0), str(s.completeness)) for s in statements),
        problems=tuple(s.reason for s in statements if s.completeness is not Completeness.FULL and s.reason),
        session=_session_effects(unit.parts[0], statements) if len(unit.parts) == 1 else SessionEffects(),
        makes=_unique(s.target for s in statements if s.defines and s.target is not None),
        before=tuple(
            (s.target, _columns_before(s))
            for s in statements
            if s.target is not None and s.schema and (s.added or any(change.kind.of_column for change in s.changes))
        ),
        defined_in=tuple(int(statement.source or 0) for statement in defining),
        parts=names_of_parts(
            [part.text for part in unit.parts], unit.parts[0].dialect, naming.dataset_namespace, statements
        ),
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


def _session_effects(part: LogStatement, statements: list[StatementLineage]) -> SessionEffects:
    changed = _changed_tables(statements)
    creates = [
        (last_part(s.target), s)
        for s in statements
        if s.target is not None
        and s.defines
        and (s.target_kind is DatasetKind.TEMPORARY or s.target.startswith(SHARED_PREFIX))
    ]
    defaults = SessionDefaults()
    step = _transaction(part)
    if len(part.text) <= _MAX_SETTING and _SETS.search(part.text):
        defaults = session_defaults(part.text, dialect_named(part.dialect))
    return SessionEffects(
        tables=changed.tables,
        database=defaults.database,
        schema=defaults.schema,
        transaction=step.verb if step is not None else "",
        temporary=_unique(table for table, _ in creates),
        drops=changed.drops,
        renames=changed.renames,
        writes=any(statement.target is not None or statement.changes for statement in statements),
        rebuilds=_unique(table for table, statement in creates if table in map(last_part, statement.sources)),
        search_path=defaults.search_path,
        alters=changed.alters,
        reads=_unique(last_part(source) for statement in statements for source in statement.sources),
        resets=defaults.resets,
        is_local=defaults.local,
        savepoint=step.savepoint if step is not None else "",
        chain=step is not None and step.chain,
        discards=discards_temporary(part.text),
        until_commit=bool(creates) and drops_on_commit(part.text),
        rows_until_commit=bool(creates) and empties_on_commit(part.text),
        unless_there=bool(creates) and keeps_what_is_there(part.text),
        empties=bool(statements) and all(statement.operation in _REMOVALS for statement in statements),
        **_session_variables(part),
        commits=dialect_named(part.dialect).ddl_commits and any(map(_is_lasting_ddl, statements)),
    )


def _session_variables(part: LogStatement) -> dict[str, tuple[str, ...]]:
    """Return the session variables that a text assigns to, and whose earlier values it reads."""
    dialect = dialect_named(part.dialect)
    if not (dialect.select_into_variables or dialect.search_path_has_variables) or len(part.text) > _MAX_WITH_VARIABLES:
        return {}  # DuckDB's getvariable('m') is left out: the names are literals, in which statements may differ
    mentioned = Counter(name for name in _VARIABLE.findall(part.text) if name)
    if not mentioned and not _SET.match(part.text):
        return {}
    names = Names(dialect)
    steps = [one.step for one in parse_statements(part.text, dialect) if one.step is not None]
    assigned = [name for step in steps if not step.blocks for name in step.assigns]
    written = Counter(name for name in assigned if name.startswith("@"))
    read = Counter({names.fold(name.lstrip("$")): count for name, count in mentioned.items()}) - written
    return {"assigns": _unique(assigned), "variables": tuple(read)}


def _is_lasting_ddl(statement: StatementLineage) -> bool:
    return statement.operation.partition("_")[0] in DDL and statement.target_kind is not DatasetKind.TEMPORARY


class _ChangedTables(NamedTuple):
    """The last parts of the names of all tables in a text, and what it changes in which of them."""

    tables: tuple[str, ...]
    drops: tuple[str, ...]
    alters: tuple[str, ...]
    renames: tuple[tuple[str, str], ...]


def _changed_tables(statements: Iterable[StatementLineage]) -> _ChangedTables:
    tables: dict[str, None] = {}
    drops: dict[str, None] = {}
    alters: dict[str, None] = {}
    renames: list[tuple[str, str]] = []
    for statement in statements:
        if statement.altered and statement.target is not None:
            alters[last_part(statement.target)] = None
        names = [*statement.sources, *([statement.target] if statement.target else [])]
        tables.update(dict.fromkeys(map(last_part, names)))
        for change in statement.changes:
            tables[last_part(change.table)] = None
            if change.kind.of_column:
                alters[last_part(change.table)] = None
            if change.kind is ChangeKind.DROP:
                drops[last_part(change.table)] = None
            elif not change.kind.of_column and change.other is not None:
                tables[last_part(change.other)] = None
                renames.append((last_part(change.table), last_part(change.other)))
    return _ChangedTables(tuple(tables), tuple(drops), tuple(alters), tuple(renames))


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


def _transaction(part: LogStatement) -> TransactionStep | None:
    """Return the combined effect of a text's statements on the transaction of its session."""
    text = part.text
    if len(text) > _MAX_SETTING or not _TRANSACTION.search(text):
        return None
    parsed = list(parse_statements(text, dialect_named(part.dialect)))
    steps = [step for one in parsed if not may_not_run(one) and (step := step_of(one)) is not None]
    if len(parsed) == 1:
        return steps[0] if steps else None
    ended: TransactionStep | None = None
    is_open = False
    for step in steps:
        if step.verb == "begin":
            is_open = True
        elif settled(step.verb, begun=is_open) in ("commit", "rollback"):
            ended = ended if is_open or ended is not None else step
            is_open = step.chain
    if ended is not None:
        return ended._replace(chain=is_open)
    return TransactionStep("begin") if is_open else None
