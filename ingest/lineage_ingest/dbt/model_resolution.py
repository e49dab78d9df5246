"""Resolve the models of a project against each other; what each one looked up is recorded.

A model's lineage depends on its text, the options, and the answers to its look-ups of tables, and on nothing else. So a
model whose text is the same and whose look-ups would be answered as before has the same lineage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import Naming
from lineage.model.statement import ColumnSchema, Completeness, DatasetKind, Edge, StatementLineage
from lineage.model.text.name_lists import name_list
from lineage.sql.extraction import ExtractionOptions, resolve_statement
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.trees import take_apart
from lineage.sql.resolve.relations import BaseTables
from lineage.sql.resolve.tables import NeedsDefinitionError, TableEntry
from lineage.sql.script.definitions import is_bare_query
from lineage_ingest.dbt.builds.project_hooks import temporary_reads
from lineage_ingest.dbt.project_functions import ProjectFunction, functions_for
from lineage_ingest.dbt.table_columns import TableColumns, in_contract_order, with_lacking_sources, with_table_columns

__all__ = ["Earlier", "ModelLookups", "ModelInput", "ProjectResolution", "ResolvedModel", "digest_columns"]


@frozen
class ModelInput:
    """A model to resolve: its key, its table's full name, its SQL, the tables that the manifest says it reads.

    `doubts` is what is not known of the SQL, `unread` what builds the table besides.
    `other_builds` are the queries that it runs in other builds, if these are known to differ. `functions` are the
    project's own that it calls.
    """

    key: str
    table: str
    text: str
    kind: DatasetKind = DatasetKind.TABLE
    reads: tuple[str, ...] = ()
    doubts: tuple[Diagnostic, ...] = ()
    unread: tuple[Diagnostic, ...] = ()
    other_builds: tuple[str, ...] = ()
    functions: tuple[ProjectFunction, ...] = ()
    read_by_hooks: tuple[str, ...] = ()
    """The tables that its hooks read, which are jobs of their own."""
    hooks_temporary: tuple[str, ...] = ()
    """The temporary tables that its hooks create."""
    contract: tuple[str, ...] = ()
    """The columns of an enforced contract, in whose order dbt creates the table, whatever that of its query is."""
    table_columns: TableColumns | None = None
    """What its table had before, if later builds depend on it."""


@frozen
class ModelLookups:
    """The questions that resolving a model asked, with digests of the answers.

    `tables` has the columns of each table by full name, `schemas` whether a schema has a table, `seen` which of some
    tables have a column.
    """

    tables: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[str, bool] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)


@frozen
class ResolvedModel:
    """The lineage of a model, the columns of its table (None: not known), and what it looked up.

    Without `statement`, the model was not resolved again: its lineage is as before. `other_builds` are those of its
    other queries that state more, by their number. `kept` are the columns that only earlier builds made, `lacking`
    those (paths) that the table has only after it is built anew.
    """

    statement: StatementLineage | None
    columns: tuple[str, ...] | None
    lookups: ModelLookups
    other_builds: Mapping[int, StatementLineage] = field(default_factory=dict)
    kept: tuple[ColumnSchema, ...] = ()
    lacking: tuple[str, ...] = ()


def digest_columns(columns: Collection[str] | None, lacking: Collection[str] = ()) -> str:
    """Return a digest of a table's columns in order, and of those (paths) of them that it is `lacking`.

    That of a table without known schema is empty.
    """
    if columns is None:
        return ""
    text = "\x1f".join(columns) + ("\x1e" + "\x1f".join(lacking) if lacking else "")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


Earlier = Callable[[ModelInput], ResolvedModel | None]
"""Returns what is known of a model with exactly this input, if anything; it is used if its look-ups still agree."""


class ProjectResolution:
    """The tables of a warehouse as its models see them, resolved on demand."""

    def __init__(
        self,
        models: Sequence[ModelInput],
        options: ExtractionOptions,
        schemas: Mapping[str, Collection[str]],
        described: Callable[[str], Collection[str]],
        learnt: Callable[[str], Collection[str] | None] = lambda _: None,
        earlier: Earlier = lambda _: None,
    ) -> None:
        """Create a resolution.

        `schemas` are complete columns by full name; those of a model count only if its SQL does not determine them.
        `described` returns further columns, from descriptions; `learnt` returns the columns of any other table.
        """
        self.models = models
        self._options = options
        self._schemas = schemas
        self._described = described
        self._learnt = learnt
        self._earlier = earlier
        self._position = {model.table: number for number, model in enumerate(models)}
        self._open: dict[int, None] = {}
        self._cyclic: dict[int, dict[str, None]] = {}
        self._own: dict[int, dict[str, str | None] | None] = {}
        """The columns of models that read themselves."""
        self._columns: dict[str, dict[str, str | None] | None] = {}
        self.results: dict[str, ResolvedModel] = {}
        """The models resolved so far, by key."""
        self.shared = BaseTables()

    def resolve(
        self, progress: Callable[[int, int], None] | None = None, only: Collection[str] | None = None
    ) -> dict[str, ResolvedModel]:
        """Return the models by key; a model that others need is resolved before them.

        With `only`, these are the models of those tables, and what they need.
        """
        for number, model in enumerate(self.models):
            if only is not None and model.table not in only:
                continue
            self._settle(number)
            if progress is not None and (number % 50 == 0 or number == len(self.models) - 1):
                progress(number + 1, len(self.models))
            assert model.key in self.results, model.key
        return self.results

    def _settle(self, number: int) -> None:
        stack = [number]
        parsed: dict[int, list[list[ParsedStatement]]] = {}
        while stack:
            current = stack[-1]
            model = self.models[current]
            if model.key in self.results:
                stack.pop()
                continue
            self._open[current] = None
            try:
                self.results[model.key] = self._resolve(current, model, parsed)
            except NeedsDefinitionError as needed:
                stack.append(needed.position[0])
                continue
            del self._open[current]
            for one in (each for listed in parsed.pop(current, ()) for each in listed):
                if one.tree is not None:
                    take_apart(one.tree)
            stack.pop()

    def _resolve(self, number: int, model: ModelInput, parsed: dict[int, list[list[ParsedStatement]]]) -> ResolvedModel:
        known = self._earlier(model)
        if known is not None:
            self._own[number] = dict.fromkeys(known.columns) if known.columns is not None else None
            if self._still_holds(number, known.lookups):
                return known
        self._own.pop(number, None)
        self._cyclic.pop(number, None)
        if number not in parsed:
            dialect, budget = self._options.naming.dialect, self._options.budget
            texts = (model.text, *model.other_builds)
            functions = functions_for(model.functions, self._options)
            parsed[number] = [
                [functions.inline(one) for one in parse_statements(text, dialect, budget)] for text in texts
            ]
        tables = _ModelTables(self, number, self._options.naming)
        statement = in_contract_order(self._lineage(model, parsed[number][0], tables), model.contract)
        columns = tuple(column.name for column in statement.schema) or None
        if columns is not None and model.table in statement.sources:  # an incremental model reads what it wrote before
            self._own[number] = dict.fromkeys(columns)
            tables = _ModelTables(self, number, self._options.naming)
            statement = in_contract_order(self._lineage(model, parsed[number][0], tables), model.contract)
        columns = tuple(column.name for column in statement.schema) or None
        before = model.table_columns if columns else None
        kept = before.kept_beside(columns) if before is not None and columns else ()
        lacking = before.lacking(columns) if before is not None and columns else ()
        statement = with_table_columns(statement, model.table_columns)
        columns = tuple(column.name for column in statement.schema) or None
        others = self._other_builds(number, model, parsed[number][1:], tables, statement, columns)
        statement = _with_cycles(statement, self._cyclic.pop(number, {}))
        completeness = max((statement, *others.values()), key=lambda one: _WORST.index(one.completeness)).completeness
        statement = _with_unread(replace(statement, completeness=completeness), model, others.values())
        for problem in temporary_reads("the model", (statement, *others.values()), model.hooks_temporary):
            statement = statement.in_doubt(problem)
        statement, also_lacking = with_lacking_sources(statement, self.lacking)
        lacking = tuple(dict.fromkeys((*lacking, *also_lacking)))
        return ResolvedModel(statement, columns, tables.lookups(), others, tuple(kept), lacking)

    def _other_builds(
        self,
        number: int,
        model: ModelInput,
        parsed: Sequence[list[ParsedStatement]],
        tables: _ModelTables,
        statement: StatementLineage,
        columns: tuple[str, ...] | None,
    ) -> dict[int, StatementLineage]:
        """Return the lineage of the queries of other builds, of those that state more than the first one."""
        if parsed and columns is not None:
            self._own[number] = dict.fromkeys(columns)
        known = {_what_is_stated(edge) for edge in statement.edges}
        rows = {one.source for one in statement.row_references}
        reported = {(one.code, one.message) for one in statement.diagnostics}
        found = {}
        for position, statements in enumerate(parsed):
            other = self._lineage(replace(model, doubts=(), unread=()), statements, tables)
            stated = {_what_is_stated(edge) for edge in other.edges}
            if not (stated <= known and {one.source for one in other.row_references} <= rows):
                problems = [one for one in other.diagnostics if (one.code, one.message) not in reported]
                found[position] = replace(other, schema=(), diagnostics=problems)
                reported |= {(one.code, one.message) for one in problems}
                known |= stated
                rows |= {one.source for one in other.row_references}
        return found

    def _lineage(self, model: ModelInput, statements: list[ParsedStatement], tables: _ModelTables) -> StatementLineage:
        """Return the lineage of the model's query; what cannot be parsed is traced by its keywords."""
        queries = [one for one in statements if is_bare_query(one.tree)]
        chosen = queries[-1] if queries else statements[-1] if statements else None
        if chosen is None:
            message = "the model has no SQL"
            problem = Diagnostic(DiagnosticCode.EMPTY_INPUT, Severity.WARNING, message)
            lineage = StatementLineage("SELECT", diagnostics=[problem], completeness=Completeness.TABLES)
        else:
            lineage, _ = resolve_statement(chosen, self._options, tables, model.table)
        doubts = (*model.doubts, *model.unread)
        problems = [*doubts, *lineage.diagnostics]
        if any(one.code is DiagnosticCode.NOT_COMPILED and one.severity is Severity.WARNING for one in model.doubts):
            # What was guessed of the template may have these columns.
            problems = [replace(one, severity=Severity.INFO) if one.code is _UNKNOWN else one for one in problems]
        completeness = lineage.completeness
        if len(statements) > 1:
            message = f"{len(statements)} statements define this model: only its query is read"
            problems.append(Diagnostic(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message))
        if lineage.target != model.table or completeness in (Completeness.TABLES, Completeness.NONE):
            reads = dict.fromkeys((*lineage.sources, *model.reads))
            lineage = replace(lineage, sources=[one for one in reads if one != model.table])
            completeness = Completeness.TABLES
        elif any(doubt.severity is not Severity.INFO for doubt in doubts) or len(statements) > 1:
            completeness = max(completeness, Completeness.PARTIAL, key=_WORST.index)
        return replace(
            lineage,
            target=model.table,
            target_kind=model.kind,
            defines=True,
            diagnostics=problems,
            completeness=completeness,
            source=model.key,
        )

    def _still_holds(self, number: int, lookups: ModelLookups) -> bool:
        """Return whether all look-ups would be answered as they were.

        Raises:
            NeedsDefinitionError: another model must be resolved first.
        """
        if any(
            digest_columns(self.columns(name, number), self.lacking(name)) != digest
            for name, digest in lookups.tables.items()
        ):
            return False
        if self._cyclic.get(number):
            return False
        if any(self.has_table(name) != answer for name, answer in lookups.schemas.items()):
            return False
        return all(
            "\x1f".join(sorted(self.seen(tables.split("\x1f"), column))) == answer
            for (column, _, tables), answer in ((key.partition("\x1e"), found) for key, found in lookups.seen.items())
        )

    # The tables

    def columns(self, name: str, use: int) -> dict[str, str | None] | None:
        """Return the columns of a table as a model sees them; None if they are not known.

        Raises:
            NeedsDefinitionError: the model that defines the table must be resolved first.
        """
        number = self._position.get(name)
        if number is not None and number == use and self._own.get(number) is not None:
            return self._own[number]
        if number is None or number == use:
            return self._complete(name)
        resolved = self.results.get(self.models[number].key)
        if resolved is None:
            if number in self._open:
                self._cyclic.setdefault(use, {})[name] = None
                return self._complete(name)
            raise NeedsDefinitionError((number, 0))
        return dict.fromkeys(resolved.columns) if resolved.columns is not None else self._complete(name)

    def _complete(self, name: str) -> dict[str, str | None] | None:
        if name not in self._columns:
            columns = self._schemas.get(name) or (None if name in self._position else self._learnt(name))
            self._columns[name] = dict.fromkeys(columns) if columns else None
        return self._columns[name]

    def lacking(self, name: str) -> Collection[str]:
        """Return the columns (paths) that the table of a model has only after it is built anew."""
        number = self._position.get(name)
        resolved = self.results.get(self.models[number].key) if number is not None else None
        return resolved.lacking if resolved is not None else ()

    def has_table(self, name: str) -> bool:
        """Return whether a table of this full name is known."""
        return name in self._position or name in self._schemas or bool(self._described(name))

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of these tables have a column by their description."""
        return {table for table in tables if column in self._described(table)}


_UNKNOWN = DiagnosticCode.UNKNOWN_COLUMN
_WORST = (Completeness.FULL, Completeness.PARTIAL, Completeness.TABLES, Completeness.NONE)


def _what_is_stated(edge: Edge) -> tuple[object, ...]:
    return edge.source, edge.target, edge.kind, edge.subtype, edge.masking


def _with_unread(
    statement: StatementLineage, model: ModelInput, others: Collection[StatementLineage]
) -> StatementLineage:
    """Return the lineage with the tables that dbt lists for the model and that none of its SQL reads.

    A macro may have queried them while dbt compiled the model, a hook may read them, or another branch of the template.
    """
    read = {name for one in (statement, *others) for name in one.sources}
    read |= {model.table, *model.read_by_hooks}
    unread = [name for name in model.reads if name not in read]
    if not unread:
        return statement
    names = name_list(unread, 5)
    message = (
        f"dbt lists {names} as needed, but the model's SQL does not read it: a macro, a hook or another branch may"
    )
    hint = "if it only sets the order of the builds (`-- depends_on`), nothing is missing"
    problem = Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint=hint)
    return replace(statement, sources=[*statement.sources, *unread]).in_doubt(problem)


def _with_cycles(statement: StatementLineage, names: Collection[str]) -> StatementLineage:
    if not names:
        return statement
    message = f"the model reads {', '.join(names)}, which reads the model: its columns are not known there"
    problem = Diagnostic(DiagnosticCode.CYCLIC_DEFINITION, Severity.WARNING, message, statement.span)
    return statement.in_doubt(problem)


class _ModelTables:
    """The tables that one model looks up; records each question with its answer."""

    def __init__(self, warehouse: ProjectResolution, use: int, naming: Naming) -> None:
        self._warehouse = warehouse
        self._use = use
        self._naming = naming
        self.shared = warehouse.shared
        self._tables: dict[str, str] = {}
        self._schemas: dict[str, bool] = {}
        self._seen: dict[str, str] = {}

    def lookups(self) -> ModelLookups:
        """Return the questions asked so far, with the answers."""
        return ModelLookups(self._tables, self._schemas, self._seen)

    def name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table."""
        return str(self._naming.qualify(parts))

    def existing_name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table."""
        return self.name(parts)

    def find(self, parts: Sequence[str]) -> TableEntry:
        """Return a table's full name, and its columns if they are known."""
        name = self.name(parts)
        columns = self._warehouse.columns(name, self._use)
        self._tables[name] = digest_columns(columns, self._warehouse.lacking(name))
        return TableEntry(name, columns)

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether a schema has a table."""
        name = str(self._naming.qualify([*schema, *parts]))
        answer = self._schemas[name] = self._warehouse.has_table(name)
        return answer

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of these tables have a column by their description."""
        listed = sorted(tables)
        found = self._warehouse.seen(listed, column)
        self._seen[f"{column}\x1e{chr(31).join(listed)}"] = "\x1f".join(sorted(found))
        return found
